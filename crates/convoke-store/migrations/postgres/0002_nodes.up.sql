-- A contract, like 0001: once released, nothing in this file may change.
--
-- Daemons on several machines, each with projects and sessions of its own. A connection names its daemon in the setting
-- `convoke.node`, so that every row that it inserts belongs to it.

CREATE TABLE nodes (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    version TEXT NOT NULL,
    -- Grows with every start. A daemon whose epoch is not the newest writes nothing: another one runs with its id.
    epoch BIGINT NOT NULL,
    -- By the clock of the server: until then others take it for running, and it may write.
    lease_until TIMESTAMPTZ NOT NULL,
    started_at TIMESTAMPTZ NOT NULL
);

ALTER TABLE projects ADD COLUMN node TEXT COLLATE "C" REFERENCES nodes (id)
    DEFAULT nullif(current_setting('convoke.node', true), '');
ALTER TABLE agent_sessions ADD COLUMN node TEXT COLLATE "C" REFERENCES nodes (id)
    DEFAULT nullif(current_setting('convoke.node', true), '');
ALTER TABLE histories ADD COLUMN node TEXT COLLATE "C" REFERENCES nodes (id)
    DEFAULT nullif(current_setting('convoke.node', true), '');
ALTER TABLE history_consents ADD COLUMN node TEXT COLLATE "C" NOT NULL
    DEFAULT coalesce(current_setting('convoke.node', true), '');

DROP VIEW session_counts;
CREATE VIEW session_counts AS
    SELECT project_id, archived, kind, status, node, count(*) AS count
    FROM agent_sessions GROUP BY project_id, archived, kind, status, node;

-- Folders of the same path on two machines are two folders.
DROP INDEX projects_by_path;
CREATE UNIQUE INDEX projects_by_path ON projects (path, coalesce(node, ''))
    WHERE removed_at IS NULL;
DROP INDEX histories_by_place;
CREATE UNIQUE INDEX histories_by_place
    ON histories (agent, root, path, entry, coalesce(node, '')) WHERE standing <> 'replaced';
ALTER TABLE history_consents DROP CONSTRAINT history_consents_pkey;
ALTER TABLE history_consents ADD PRIMARY KEY (agent, since, folder, node);

CREATE INDEX agent_sessions_by_node ON agent_sessions (node, n);

-- What one daemon asks another one to do, in the order in which it is to be done.
CREATE TABLE node_commands (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    node TEXT COLLATE "C" NOT NULL REFERENCES nodes (id),
    -- Who asks, and waits for the response.
    asker TEXT COLLATE "C" NOT NULL REFERENCES nodes (id),
    -- JSON, as the daemons agree on it.
    request TEXT NOT NULL,
    asked_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    -- Set before it is carried out. One that was begun and not finished by a daemon that was killed is not begun again,
    -- unless it can be repeated.
    begun_at TIMESTAMPTZ,
    finished_at TIMESTAMPTZ,
    response TEXT
);

CREATE INDEX node_commands_waiting ON node_commands (node, id) WHERE finished_at IS NULL;
CREATE INDEX node_commands_finished ON node_commands (finished_at)
    WHERE finished_at IS NOT NULL;
