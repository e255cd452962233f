-- A contract, like the other half: once released, nothing in this file may change.
--
-- Of sessions that have not arrived yet, the files that were to go along are lost.

DROP TABLE session_move_parts;
DROP TABLE session_moves;
DROP INDEX node_commands_by_session;
ALTER TABLE node_commands DROP COLUMN session_id;
DROP TABLE project_remotes;
