-- A contract, like the other half: once released, nothing in this file may change.
--
-- Makes the old table; Rust code fills it from `messages`, and then drops what 0002 made.

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

CREATE INDEX agent_messages_by_timestamp ON agent_messages (timestamp);

DROP TABLE message_search;
CREATE VIRTUAL TABLE message_search USING fts5 (
    text,
    scope,
    prefix = '3 4',
    tokenize = 'unicode61 remove_diacritics 2'
);
