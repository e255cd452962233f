-- A contract: databases out there were made by this very text, and each keeps its checksum.
-- Once released, nothing in this file may change, not even a comment; what must be different is a new migration.
--
-- Rows are joined by small integers (`n`), and known outside by UUIDs. Moments are milliseconds since 1970.

CREATE TABLE projects (
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    path TEXT NOT NULL,
    added_at INTEGER NOT NULL,
    -- A removed project stays for its sessions, which remain readable.
    removed_at INTEGER
) STRICT;

CREATE UNIQUE INDEX projects_by_path ON projects (path) WHERE removed_at IS NULL;

CREATE TABLE agent_sessions (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project_id TEXT NOT NULL REFERENCES projects (id),
    agent TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('session', 'team')),
    created_at INTEGER NOT NULL,
    -- The newest of its agent_session_ids.
    agent_session_id TEXT,
    -- What lists show, kept in step with the log by every append.
    status TEXT NOT NULL CHECK (status IN ('active', 'completed', 'cancelled', 'error')),
    reason TEXT,
    archived INTEGER NOT NULL CHECK (archived IN (0, 1)),
    title TEXT,
    last_seq INTEGER NOT NULL CHECK (last_seq >= 0),
    settled_seq INTEGER NOT NULL CHECK (settled_seq BETWEEN 0 AND last_seq),
    updated_at INTEGER NOT NULL,
    last_active_at INTEGER NOT NULL
) STRICT;

-- A list is a merge of ranges of one of these four: one range for each wanted combination of the leading columns.
CREATE INDEX agent_sessions_by_creation
    ON agent_sessions (archived, kind, status, created_at);
CREATE INDEX agent_sessions_by_activity
    ON agent_sessions (archived, kind, status, last_active_at);
CREATE INDEX agent_sessions_by_project_and_creation
    ON agent_sessions (project_id, archived, kind, status, created_at);
CREATE INDEX agent_sessions_by_project_and_activity
    ON agent_sessions (project_id, archived, kind, status, last_active_at);
-- What must be recovered when Convoke starts.
CREATE INDEX agent_sessions_unsettled ON agent_sessions (n) WHERE settled_seq <> last_seq;

-- How many sessions there are of each sort, since counting them row by row takes milliseconds.
CREATE TABLE session_counts (
    project_id TEXT NOT NULL,
    archived INTEGER NOT NULL,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    count INTEGER NOT NULL CHECK (count >= 0),
    PRIMARY KEY (project_id, archived, kind, status)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER session_counts_after_insert AFTER INSERT ON agent_sessions
BEGIN
    INSERT INTO session_counts (project_id, archived, kind, status, count)
    VALUES (new.project_id, new.archived, new.kind, new.status, 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;

CREATE TRIGGER session_counts_after_update
AFTER UPDATE OF project_id, archived, kind, status ON agent_sessions
WHEN (old.project_id, old.archived, old.kind, old.status)
    <> (new.project_id, new.archived, new.kind, new.status)
BEGIN
    UPDATE session_counts SET count = count - 1
    WHERE (project_id, archived, kind, status)
        = (old.project_id, old.archived, old.kind, old.status);
    INSERT INTO session_counts (project_id, archived, kind, status, count)
    VALUES (new.project_id, new.archived, new.kind, new.status, 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;

CREATE TRIGGER session_counts_after_delete AFTER DELETE ON agent_sessions
BEGIN
    UPDATE session_counts SET count = count - 1
    WHERE (project_id, archived, kind, status)
        = (old.project_id, old.archived, old.kind, old.status);
END;

CREATE TABLE agent_messages (
    n INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES agent_sessions (n),
    seq INTEGER NOT NULL CHECK (seq >= 1),
    id BLOB NOT NULL CHECK (length(id) = 16),
    role TEXT NOT NULL CHECK (role IN ('user', 'agent', 'system')),
    -- JSON, told apart by `type`.
    content TEXT NOT NULL,
    timestamp INTEGER NOT NULL,
    UNIQUE (session, seq)
) STRICT;

-- Across sessions. Within one, the places are in order of time already, and a second index with a page of its own for
-- every session would nearly halve the speed of appending.
CREATE INDEX agent_messages_by_timestamp ON agent_messages (timestamp);

-- The ids by which agents know a session. The newest row counts; older ones stay, since links may still name them.
CREATE TABLE agent_session_ids (
    n INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES agent_sessions (n),
    agent_session_id TEXT NOT NULL CHECK (agent_session_id <> ''),
    why TEXT NOT NULL,
    recorded_at INTEGER NOT NULL
) STRICT;

CREATE INDEX agent_session_ids_by_session ON agent_session_ids (session);
CREATE INDEX agent_session_ids_by_id ON agent_session_ids (agent_session_id);

CREATE TRIGGER agent_session_ids_become_current AFTER INSERT ON agent_session_ids
BEGIN
    UPDATE agent_sessions SET agent_session_id = new.agent_session_id WHERE n = new.session;
END;

CREATE TRIGGER agent_session_ids_never_change BEFORE UPDATE ON agent_session_ids
BEGIN
    SELECT RAISE(ABORT, 'agent session ids are only ever appended');
END;

CREATE TRIGGER agent_session_ids_never_go BEFORE DELETE ON agent_session_ids
BEGIN
    SELECT RAISE(ABORT, 'agent session ids are only ever appended');
END;

-- Permissions and questions as their newest message has them.
CREATE TABLE human_requests (
    id TEXT PRIMARY KEY NOT NULL,
    session INTEGER REFERENCES agent_sessions (n),
    kind TEXT NOT NULL CHECK (kind IN ('permission', 'questions')),
    status TEXT NOT NULL
        CHECK (status IN ('pending', 'answered', 'rejected', 'timed_out', 'abandoned')),
    -- JSON, told apart by `kind`.
    body TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT;

CREATE INDEX human_requests_pending ON human_requests (asked_at) WHERE status = 'pending';
-- Questions whose asker has gone, which a human may still answer.
CREATE INDEX human_requests_left ON human_requests (asked_at)
    WHERE kind = 'questions' AND status IN ('timed_out', 'abandoned');
CREATE INDEX human_requests_pending_by_session
    ON human_requests (session, asked_at) WHERE status = 'pending';

-- What an agent may do in a project without asking, because a human said so.
CREATE TABLE permission_rules (
    project_id TEXT NOT NULL REFERENCES projects (id),
    agent TEXT NOT NULL,
    tool TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, agent, tool)
) STRICT, WITHOUT ROWID;

CREATE TABLE team_pairs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- A caller from outside has no team.
    from_team TEXT,
    to_team TEXT NOT NULL,
    thread TEXT,
    session_id TEXT NOT NULL REFERENCES agent_sessions (id),
    created_at INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    message_count INTEGER NOT NULL CHECK (message_count >= 0),
    status TEXT NOT NULL CHECK (status IN (
        'active', 'idle', 'compact_pending', 'compacting', 'archived', 'error', 'migrating'
    )),
    error TEXT
) STRICT;

-- NULLs would never collide, so they are spelled out; archived predecessors may stay beside their successor.
CREATE UNIQUE INDEX team_pairs_once
    ON team_pairs (to_team, coalesce(from_team, ''), coalesce(thread, ''))
    WHERE status <> 'archived';
CREATE INDEX team_pairs_by_use ON team_pairs (last_used_at);
CREATE INDEX team_pairs_by_session ON team_pairs (session_id);

-- What can be searched: prompts, whole answers, questions. `scope` names session and project (`s7 p0f3…`), so that a
-- search within one of them is answered by the index alone. The rowid is that of the message. Beginnings of three and
-- four letters have entries of their own; for longer ones, which match far less, those of all their words are merged.
CREATE VIRTUAL TABLE message_search USING fts5 (
    text,
    scope,
    prefix = '3 4',
    tokenize = 'unicode61 remove_diacritics 2'
);
