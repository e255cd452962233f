-- A contract, like the other half: once released, nothing in this file may change.
--
-- Of sessions that have not arrived yet, the commits of their work trees are lost.

DELETE FROM session_move_parts WHERE kind = 'commits';
ALTER TABLE session_move_parts DROP CONSTRAINT session_move_parts_kind_check;
ALTER TABLE session_move_parts ADD CONSTRAINT session_move_parts_kind_check
    CHECK (kind IN ('checkpoint', 'agent'));
