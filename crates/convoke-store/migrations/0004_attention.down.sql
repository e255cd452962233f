-- A contract, like the other half: once released, nothing in this file may change.

DROP INDEX human_requests_by_session;
DROP TRIGGER agent_session_ids_go_with_their_session;
CREATE TRIGGER agent_session_ids_never_go BEFORE DELETE ON agent_session_ids
BEGIN
    SELECT RAISE(ABORT, 'agent session ids are only ever appended');
END;

DROP INDEX agent_sessions_unseen;
ALTER TABLE agent_sessions DROP COLUMN cost;
ALTER TABLE agent_sessions DROP COLUMN last_line;
ALTER TABLE agent_sessions DROP COLUMN step;
ALTER TABLE agent_sessions DROP COLUMN failure;
ALTER TABLE agent_sessions DROP COLUMN running_since;
ALTER TABLE agent_sessions DROP COLUMN seen_rev;
ALTER TABLE agent_sessions DROP COLUMN ended_rev;
