-- A contract, like 0001: once released, nothing in this file may change.
--
-- What lists show of the agents' work, and what of it a human has seen. Sessions that were there before count as seen.

ALTER TABLE agent_sessions ADD COLUMN ended_rev INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agent_sessions ADD COLUMN seen_rev INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agent_sessions ADD COLUMN running_since INTEGER;
-- JSON: `why` and `detail`.
ALTER TABLE agent_sessions ADD COLUMN failure TEXT;
ALTER TABLE agent_sessions ADD COLUMN step TEXT;
ALTER TABLE agent_sessions ADD COLUMN last_line TEXT;
-- JSON: `amount` and `currency`.
ALTER TABLE agent_sessions ADD COLUMN cost TEXT;

CREATE INDEX agent_sessions_unseen ON agent_sessions (last_active_at)
    WHERE ended_rev > seen_rev AND archived = 0 AND kind = 'session';

-- An erased session takes its ids with it: its row is deleted first, in the same transaction.
DROP TRIGGER agent_session_ids_never_go;
CREATE TRIGGER agent_session_ids_go_with_their_session BEFORE DELETE ON agent_session_ids
WHEN EXISTS (SELECT 1 FROM agent_sessions WHERE n = old.session)
BEGIN
    SELECT RAISE(ABORT, 'agent session ids are only ever appended');
END;

-- The requests of one session, to erase them.
CREATE INDEX human_requests_by_session ON human_requests (session);
