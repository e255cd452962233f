-- A contract, like 0001: once released, nothing in this file may change.
--
-- What daemons share besides sessions: attachments of prompts, and the teams that each of them has.

-- A file that is attached to prompts, by the SHA-256 of its bytes.
CREATE TABLE blobs (
    hash TEXT COLLATE "C" PRIMARY KEY,
    bytes BIGINT NOT NULL,
    -- Whether all of its pieces are there.
    whole SMALLINT NOT NULL DEFAULT 0 CHECK (whole IN (0, 1)),
    -- By the clock of the server: when it was last stored, or attached to a prompt.
    used_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE blob_pieces (
    hash TEXT COLLATE "C" NOT NULL REFERENCES blobs (hash) ON DELETE CASCADE,
    n BIGINT NOT NULL,
    bytes BYTEA NOT NULL,
    PRIMARY KEY (hash, n)
);

-- The teams of each daemon, so that others can ask them.
CREATE TABLE node_teams (
    node TEXT COLLATE "C" NOT NULL REFERENCES nodes (id)
        DEFAULT nullif(current_setting('convoke.node', true), ''),
    name TEXT COLLATE "C" NOT NULL,
    -- JSON, as the daemons agree on it.
    body TEXT NOT NULL,
    PRIMARY KEY (node, name)
);

-- Agents that wait for others to answer, while their own turn goes on: none may wait for itself through others.
CREATE TABLE team_waits (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    node TEXT COLLATE "C" NOT NULL REFERENCES nodes (id)
        DEFAULT nullif(current_setting('convoke.node', true), ''),
    -- The pair whose turn the agent is in, and the pair in which it asks; each with its daemon.
    of_pair TEXT COLLATE "C" NOT NULL,
    for_pair TEXT COLLATE "C" NOT NULL
);

-- A pair belongs to the daemon that has the team's folder. Teams of the same name on two machines are two teams.
ALTER TABLE team_pairs ADD COLUMN node TEXT COLLATE "C" REFERENCES nodes (id);
UPDATE team_pairs SET node = s.node FROM agent_sessions AS s WHERE s.id = team_pairs.session_id;
ALTER TABLE team_pairs ALTER COLUMN node
    SET DEFAULT nullif(current_setting('convoke.node', true), '');
DROP INDEX team_pairs_once;
CREATE UNIQUE INDEX team_pairs_once
    ON team_pairs (to_team, coalesce(from_team, ''), coalesce(thread, ''), coalesce(node, ''))
    WHERE status <> 'archived';
