-- A contract, like 0001: once released, nothing in this file may change.
--
-- One row per message instead of one per piece. This makes the new tables; Rust code fills them from `agent_messages`,
-- which it then drops.

CREATE TABLE messages (
    n INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES agent_sessions (n),
    seq INTEGER NOT NULL CHECK (seq >= 1),
    -- Of the row itself; an open answer has deltas with newer ones.
    rev INTEGER NOT NULL,
    id BLOB NOT NULL CHECK (length(id) = 16),
    role TEXT NOT NULL CHECK (role IN ('user', 'agent', 'system')),
    -- JSON, told apart by `type`.
    content TEXT NOT NULL,
    -- JSON; for prompts only.
    turn TEXT,
    -- Whether more changes are expected.
    open INTEGER NOT NULL CHECK (open IN (0, 1)),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (session, seq)
) STRICT;

CREATE INDEX messages_by_rev ON messages (session, rev);
CREATE INDEX messages_open ON messages (session, seq) WHERE open = 1;
-- A request that is sent again names the prompt that it made.
CREATE INDEX messages_prompts ON messages (id) WHERE role = 'user';

-- Words that were appended to open messages, and are not in their rows yet.
CREATE TABLE deltas (
    session INTEGER NOT NULL REFERENCES agent_sessions (n),
    rev INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (session, rev)
) STRICT, WITHOUT ROWID;

CREATE TABLE session_state (
    session INTEGER NOT NULL REFERENCES agent_sessions (n),
    kind TEXT NOT NULL CHECK (kind IN ('queue', 'commands', 'modes', 'settings', 'usage')),
    -- JSON, told apart by `kind`.
    body TEXT NOT NULL,
    rev INTEGER NOT NULL,
    PRIMARY KEY (session, kind)
) STRICT, WITHOUT ROWID;

ALTER TABLE agent_sessions ADD COLUMN rev INTEGER NOT NULL DEFAULT 0;
-- The sums over all turns.
ALTER TABLE agent_sessions ADD COLUMN input_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agent_sessions ADD COLUMN output_tokens INTEGER NOT NULL DEFAULT 0;
-- The place of the message.
ALTER TABLE human_requests ADD COLUMN seq INTEGER;

-- One row. Revisions of another generation mean nothing: a migration, a restored backup and a restart of the operating
-- system begin a new one. A power cut loses revisions that readers have seen and that were not synced yet.
CREATE TABLE generation (
    value INTEGER NOT NULL,
    boot TEXT
) STRICT;
INSERT INTO generation (value) VALUES (abs(random() % 1000000000000));

DROP INDEX agent_messages_by_timestamp;

-- Without a copy of the texts, which are in `messages`. Beginnings of three and four letters have entries of their own; for
-- longer ones, which match less, those of all their words are merged.
DROP TABLE message_search;
CREATE VIRTUAL TABLE message_search USING fts5 (
    text,
    scope,
    content = '',
    contentless_delete = 1,
    prefix = '3 4',
    tokenize = 'unicode61 remove_diacritics 2'
);
