-- A contract, like 0001: once released, nothing in this file may change.
--
-- The search index is ordered by time, not by row, as in migration 0007 of SQLite. A daemon fills it in the background.

DROP TABLE message_search;

-- The words of what can be searched, as SQLite would find them, with those of its `scope`. The rowid is a `key` of
-- `searched_messages`.
CREATE TABLE message_search (
    rowid BIGINT PRIMARY KEY,
    vector tsvector NOT NULL
);
CREATE INDEX message_search_by_word ON message_search USING gin (vector);

-- The messages that are in the index. A key is the time of its message in milliseconds since 2015, times 512, plus four
-- times a number that tells messages of the same millisecond apart, plus the size of the message, from 0 (at most 16
-- words) to 3 (more than 256).
CREATE TABLE searched_messages (
    key BIGINT PRIMARY KEY,
    message BIGINT NOT NULL UNIQUE
);

-- At most one row: the messages, by `n`, that are still to be put into the index.
CREATE TABLE search_refill (
    next BIGINT NOT NULL,
    last BIGINT NOT NULL
);
INSERT INTO search_refill (next, last)
    SELECT min(n), max(n) FROM messages HAVING count(*) > 0;
