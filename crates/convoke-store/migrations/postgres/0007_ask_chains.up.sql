-- A contract, like 0001: once released, nothing in this file may change.
--
-- How many asks have followed from one so far, on all nodes: a chain of asks that crosses machines has one limit.

CREATE TABLE ask_chains (
    id TEXT COLLATE "C" PRIMARY KEY,
    asks BIGINT NOT NULL,
    -- By the clock of the server.
    used_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX ask_chains_by_use ON ask_chains (used_at);
