-- A contract, like the other half: once released, nothing in this file may change.
--
-- Makes the old index, whose rowids are those of the messages; Rust code fills it.

DROP TABLE search_refill;
DROP TABLE searched_messages;
DROP TABLE message_search;
CREATE TABLE message_search (
    rowid BIGINT PRIMARY KEY,
    vector tsvector NOT NULL
);
CREATE INDEX message_search_by_word ON message_search USING gin (vector);
