-- A contract, like 0001: once released, nothing in this file may change.
--
-- The commits of a work tree's branch go along with a session that moves.

ALTER TABLE session_move_parts DROP CONSTRAINT session_move_parts_kind_check;
ALTER TABLE session_move_parts ADD CONSTRAINT session_move_parts_kind_check
    CHECK (kind IN ('checkpoint', 'agent', 'commits'));
