-- A contract: databases out there were made by this very text, and each keeps its checksum.
-- Once released, nothing in this file may change, not even a comment; what must be different is a new migration.
--
-- The same tables as in SQLite, so that the same statements work on both. Flags are numbers, moments are milliseconds since
-- 1970, and texts are compared byte by byte. Rows that SQLite numbers by itself have a column `rowid`.

CREATE TABLE projects (
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    added_at BIGINT NOT NULL,
    removed_at BIGINT,
    found SMALLINT NOT NULL DEFAULT 0 CHECK (found IN (0, 1))
);

CREATE UNIQUE INDEX projects_by_path ON projects (path) WHERE removed_at IS NULL;
CREATE INDEX projects_by_any_path ON projects (path);

CREATE TABLE agent_sessions (
    n BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    agent TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('session', 'team')),
    created_at BIGINT NOT NULL,
    agent_session_id TEXT COLLATE "C",
    status TEXT COLLATE "C" NOT NULL
        CHECK (status IN ('active', 'completed', 'cancelled', 'error')),
    reason TEXT,
    archived SMALLINT NOT NULL CHECK (archived IN (0, 1)),
    title TEXT,
    last_seq BIGINT NOT NULL CHECK (last_seq >= 0),
    settled_seq BIGINT NOT NULL CHECK (settled_seq BETWEEN 0 AND last_seq),
    updated_at BIGINT NOT NULL,
    last_active_at BIGINT NOT NULL,
    rev BIGINT NOT NULL DEFAULT 0,
    input_tokens BIGINT NOT NULL DEFAULT 0,
    output_tokens BIGINT NOT NULL DEFAULT 0,
    ended_rev BIGINT NOT NULL DEFAULT 0,
    seen_rev BIGINT NOT NULL DEFAULT 0,
    running_since BIGINT,
    failure TEXT,
    step TEXT,
    last_line TEXT,
    cost TEXT,
    changes TEXT,
    worktree TEXT
    -- Half of every page is left for new versions of its rows, which then need no new entries in the indexes.
) WITH (fillfactor = 50);

CREATE INDEX agent_sessions_by_creation
    ON agent_sessions (archived, kind, status, created_at, n);
CREATE INDEX agent_sessions_by_activity
    ON agent_sessions (archived, kind, status, last_active_at, n);
CREATE INDEX agent_sessions_by_project_and_creation
    ON agent_sessions (project_id, archived, kind, status, created_at, n);
CREATE INDEX agent_sessions_by_project_and_activity
    ON agent_sessions (project_id, archived, kind, status, last_active_at, n);
CREATE INDEX agent_sessions_unsettled ON agent_sessions (n) WHERE settled_seq <> last_seq;
CREATE INDEX agent_sessions_unseen ON agent_sessions (last_active_at)
    WHERE ended_rev > seen_rev AND archived = 0 AND kind = 'session';

-- A table of counts would make writers on several machines wait for each other.
CREATE VIEW session_counts AS
    SELECT project_id, archived, kind, status, count(*) AS count
    FROM agent_sessions GROUP BY project_id, archived, kind, status;

CREATE TABLE messages (
    n BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session BIGINT NOT NULL REFERENCES agent_sessions (n) DEFERRABLE,
    seq BIGINT NOT NULL CHECK (seq >= 1),
    rev BIGINT NOT NULL,
    id BYTEA NOT NULL CHECK (length(id) = 16),
    role TEXT COLLATE "C" NOT NULL CHECK (role IN ('user', 'agent', 'system')),
    content TEXT NOT NULL,
    turn TEXT,
    open SMALLINT NOT NULL CHECK (open IN (0, 1)),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (session, seq)
);

CREATE INDEX messages_by_rev ON messages (session, rev);
CREATE INDEX messages_open ON messages (session, seq) WHERE open = 1;
CREATE INDEX messages_prompts ON messages (id) WHERE role = 'user';

CREATE TABLE deltas (
    session BIGINT NOT NULL REFERENCES agent_sessions (n) DEFERRABLE,
    rev BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (session, rev)
);

CREATE TABLE session_state (
    session BIGINT NOT NULL REFERENCES agent_sessions (n) DEFERRABLE,
    kind TEXT COLLATE "C" NOT NULL
        CHECK (kind IN ('queue', 'commands', 'modes', 'settings', 'usage')),
    body TEXT NOT NULL,
    rev BIGINT NOT NULL,
    PRIMARY KEY (session, kind)
);

CREATE TABLE agent_session_ids (
    n BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session BIGINT NOT NULL REFERENCES agent_sessions (n) DEFERRABLE,
    agent_session_id TEXT COLLATE "C" NOT NULL CHECK (agent_session_id <> ''),
    why TEXT NOT NULL,
    recorded_at BIGINT NOT NULL
);

CREATE INDEX agent_session_ids_by_session ON agent_session_ids (session);
CREATE INDEX agent_session_ids_by_id ON agent_session_ids (agent_session_id);

CREATE FUNCTION agent_session_id_becomes_current() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE convoke.agent_sessions SET agent_session_id = new.agent_session_id
    WHERE n = new.session;
    RETURN NULL;
END
$$;

CREATE TRIGGER agent_session_ids_become_current AFTER INSERT ON agent_session_ids
    FOR EACH ROW EXECUTE FUNCTION agent_session_id_becomes_current();

-- They are only ever appended; an erased session takes its ids with it: its row is deleted first.
CREATE FUNCTION agent_session_ids_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND NOT EXISTS (
        SELECT 1 FROM convoke.agent_sessions WHERE n = old.session
    ) THEN
        RETURN old;
    END IF;
    RAISE EXCEPTION 'agent session ids are only ever appended';
END
$$;

CREATE TRIGGER agent_session_ids_never_change BEFORE UPDATE OR DELETE ON agent_session_ids
    FOR EACH ROW EXECUTE FUNCTION agent_session_ids_stay();

CREATE TABLE human_requests (
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    id TEXT COLLATE "C" PRIMARY KEY,
    session BIGINT REFERENCES agent_sessions (n) DEFERRABLE,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('permission', 'questions')),
    status TEXT COLLATE "C" NOT NULL
        CHECK (status IN ('pending', 'answered', 'rejected', 'timed_out', 'abandoned')),
    body TEXT NOT NULL,
    asked_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    seq BIGINT
);

CREATE INDEX human_requests_pending ON human_requests (asked_at) WHERE status = 'pending';
CREATE INDEX human_requests_left ON human_requests (asked_at)
    WHERE kind = 'questions' AND status IN ('timed_out', 'abandoned');
CREATE INDEX human_requests_pending_by_session
    ON human_requests (session, asked_at) WHERE status = 'pending';
CREATE INDEX human_requests_by_session ON human_requests (session);

-- Rules of an older version than any on PostgreSQL; a copy of such a database may have some.
CREATE TABLE permission_rules (
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    agent TEXT COLLATE "C" NOT NULL,
    tool TEXT COLLATE "C" NOT NULL,
    made_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, agent, tool)
);

CREATE TABLE rules (
    id TEXT COLLATE "C" PRIMARY KEY,
    effect TEXT COLLATE "C" NOT NULL CHECK (effect IN ('allow', 'deny')),
    matcher TEXT COLLATE "C" NOT NULL,
    agent TEXT COLLATE "C",
    project_id TEXT COLLATE "C" REFERENCES projects (id),
    created_at BIGINT NOT NULL,
    request_id TEXT COLLATE "C",
    session_id TEXT COLLATE "C",
    used_count BIGINT NOT NULL CHECK (used_count >= 0),
    last_used_at BIGINT
);

-- By a digest: a matcher may be longer than what an index holds.
CREATE UNIQUE INDEX rules_once
    ON rules (md5(matcher), effect, coalesce(agent, ''), coalesce(project_id, ''));

CREATE TABLE team_pairs (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    from_team TEXT COLLATE "C",
    to_team TEXT COLLATE "C" NOT NULL,
    thread TEXT COLLATE "C",
    session_id TEXT COLLATE "C" NOT NULL REFERENCES agent_sessions (id),
    created_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,
    message_count BIGINT NOT NULL CHECK (message_count >= 0),
    status TEXT COLLATE "C" NOT NULL CHECK (status IN (
        'active', 'idle', 'compact_pending', 'compacting', 'archived', 'error', 'migrating'
    )),
    error TEXT
);

CREATE UNIQUE INDEX team_pairs_once
    ON team_pairs (to_team, coalesce(from_team, ''), coalesce(thread, ''))
    WHERE status <> 'archived';
CREATE INDEX team_pairs_by_use ON team_pairs (last_used_at);
CREATE INDEX team_pairs_by_session ON team_pairs (session_id);

CREATE TABLE histories (
    n BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    agent TEXT COLLATE "C" NOT NULL,
    root TEXT COLLATE "C" NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    entry TEXT COLLATE "C" NOT NULL,
    agent_session_id TEXT COLLATE "C" NOT NULL,
    parent TEXT COLLATE "C",
    session BIGINT REFERENCES agent_sessions (n) DEFERRABLE,
    standing TEXT COLLATE "C" NOT NULL
        CHECK (standing IN ('imported', 'own', 'replaced', 'erased')),
    stamp TEXT NOT NULL,
    cursor TEXT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL
);

CREATE UNIQUE INDEX histories_by_place ON histories (agent, root, path, entry)
    WHERE standing <> 'replaced';
CREATE INDEX histories_by_session ON histories (session);
CREATE INDEX histories_by_parent ON histories (agent, parent) WHERE parent IS NOT NULL;

CREATE TABLE history_consents (
    agent TEXT COLLATE "C" NOT NULL,
    since BIGINT NOT NULL,
    folder TEXT COLLATE "C" NOT NULL,
    given_at BIGINT NOT NULL,
    PRIMARY KEY (agent, since, folder)
);

-- One row. Revisions of another generation mean nothing: a restored backup and a restart of the server begin a new one.
CREATE TABLE generation (
    value BIGINT NOT NULL,
    boot TEXT
);
INSERT INTO generation (value) VALUES (CAST(floor(random() * 1000000000000) AS BIGINT));

-- The words of what can be searched, as SQLite would find them, with the words of the session and the project.
CREATE TABLE message_search (
    rowid BIGINT PRIMARY KEY,
    vector tsvector NOT NULL
);
CREATE INDEX message_search_by_word ON message_search USING gin (vector);

-- The function of SQLite, as far as it is used. `json` and not `jsonb`, which takes no text with a NUL in it.
CREATE FUNCTION json_extract(document text, path text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT document::json #>> string_to_array(substr(path, 3), '.') $$;
