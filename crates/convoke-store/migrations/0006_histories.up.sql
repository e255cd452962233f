-- A contract, like 0001: once released, nothing in this file may change.
--
-- Conversations that other programs keep, and how much of them is stored here. A row changes in the same transaction as
-- the messages of its session.

CREATE TABLE histories (
    n INTEGER PRIMARY KEY,
    agent TEXT NOT NULL,
    -- The agent's store, the file below it, and the conversation in it if it is a database.
    root TEXT NOT NULL,
    path TEXT NOT NULL,
    entry TEXT NOT NULL,
    -- The agent's own ids of the conversation and of the one whose subagent it is.
    agent_session_id TEXT NOT NULL,
    parent TEXT,
    -- None if the session was erased here; then the conversation is not imported again.
    session INTEGER REFERENCES agent_sessions (n),
    -- `imported`; `own`, if Convoke's agents wrote it; `replaced`, if the file was rewritten since.
    standing TEXT NOT NULL CHECK (standing IN ('imported', 'own', 'replaced', 'erased')),
    -- JSON of the reader: what changes with the file, and how far it was read.
    stamp TEXT NOT NULL,
    cursor TEXT NOT NULL,
    -- Tokens that are part of the session's sums.
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX histories_by_place ON histories (agent, root, path, entry)
    WHERE standing <> 'replaced';
CREATE INDEX histories_by_session ON histories (session);
CREATE INDEX histories_by_parent ON histories (agent, parent) WHERE parent IS NOT NULL;

-- What the user agreed to have imported; later conversations that fit are imported, too.
CREATE TABLE history_consents (
    agent TEXT NOT NULL,
    -- Changed at this time or later; 0 for any time.
    since INTEGER NOT NULL,
    -- In this folder or below; empty for all.
    folder TEXT NOT NULL,
    given_at INTEGER NOT NULL,
    PRIMARY KEY (agent, since, folder)
) STRICT, WITHOUT ROWID;

-- A project that only imported sessions name. It counts as removed until a human adds it.
ALTER TABLE projects ADD COLUMN found INTEGER NOT NULL DEFAULT 0 CHECK (found IN (0, 1));
CREATE INDEX projects_by_any_path ON projects (path);
