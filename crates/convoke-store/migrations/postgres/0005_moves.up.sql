-- A contract, like 0001: once released, nothing in this file may change.
--
-- Sessions that move from one daemon to another.

-- Where the repository of a project comes from, in a form in which the addresses of one repository are equal.
CREATE TABLE project_remotes (
    project_id TEXT COLLATE "C" PRIMARY KEY REFERENCES projects (id),
    remote TEXT COLLATE "C" NOT NULL
);

-- A command about a session goes with it when it moves. None for a command about something else.
ALTER TABLE node_commands ADD COLUMN session_id TEXT COLLATE "C";
CREATE INDEX node_commands_by_session ON node_commands (session_id)
    WHERE finished_at IS NULL AND session_id IS NOT NULL;

-- One row while a session moves.
CREATE TABLE session_moves (
    session_id TEXT COLLATE "C" PRIMARY KEY,
    source TEXT COLLATE "C" NOT NULL REFERENCES nodes (id),
    target TEXT COLLATE "C" NOT NULL REFERENCES nodes (id),
    -- `packing`: it belongs to the source, which stores the parts. `arriving`: it belongs to the target, which has not
    -- applied them yet.
    stage TEXT COLLATE "C" NOT NULL CHECK (stage IN ('packing', 'arriving')),
    -- JSON, as the daemons agree on it.
    cargo TEXT NOT NULL,
    begun_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX session_moves_by_target ON session_moves (target);

-- The files that go along, in pieces.
CREATE TABLE session_move_parts (
    session_id TEXT COLLATE "C" NOT NULL REFERENCES session_moves (session_id),
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('checkpoint', 'agent')),
    number BIGINT NOT NULL,
    bytes BYTEA NOT NULL,
    PRIMARY KEY (session_id, kind, number)
);
