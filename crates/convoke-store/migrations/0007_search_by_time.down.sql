-- A contract, like the other half: once released, nothing in this file may change.
--
-- Makes the old index, whose rowids are those of the messages; Rust code fills it.

DROP TABLE search_refill;
DROP TABLE searched_messages;
DROP TABLE message_search;
CREATE VIRTUAL TABLE message_search USING fts5 (
    text,
    scope,
    content = '',
    contentless_delete = 1,
    prefix = '3 4',
    tokenize = 'unicode61 remove_diacritics 2'
);
