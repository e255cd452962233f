-- A contract, like 0001: once released, nothing in this file may change.
--
-- The search index is ordered by time, not by row: an imported old conversation is old. The writer fills it in the
-- background, from `messages`, since a large history takes a while.

DROP TABLE message_search;

-- The rowid is a `key` of `searched_messages`. `scope` has a word for the session of a message, and one for each
-- combination of its project, its agent and its role, so that filters are answered by the index alone; and one for each
-- word that the message repeats, so that the index alone ranks hits. Beginnings of three and four letters have entries of
-- their own; for longer ones, which match less, those of all their words are merged.
CREATE VIRTUAL TABLE message_search USING fts5 (
    text,
    scope,
    content = '',
    contentless_delete = 1,
    prefix = '3 4',
    tokenize = 'unicode61 remove_diacritics 2'
);

-- The messages that are in the index. A key is the time of its message in milliseconds since 2015, times 512, plus four
-- times a number that tells messages of the same millisecond apart, plus the size of the message, from 0 (at most 16
-- words) to 3 (more than 256). It is less than 2^50: three bits of a rank make it a cursor that JavaScript can use.
CREATE TABLE searched_messages (
    key INTEGER PRIMARY KEY,
    message INTEGER NOT NULL UNIQUE
) STRICT;

-- At most one row: the messages, by `n`, that are still to be put into the index.
CREATE TABLE search_refill (
    next INTEGER NOT NULL,
    last INTEGER NOT NULL
) STRICT;
INSERT INTO search_refill (next, last)
    SELECT min(n), max(n) FROM messages HAVING count(*) > 0;
