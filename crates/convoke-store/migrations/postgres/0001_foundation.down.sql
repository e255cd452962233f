-- A contract, like the other half: once released, nothing in this file may change.

DROP FUNCTION json_extract;
DROP TABLE message_search;
DROP TABLE generation;
DROP TABLE history_consents;
DROP TABLE histories;
DROP TABLE team_pairs;
DROP TABLE rules;
DROP TABLE permission_rules;
DROP TABLE human_requests;
DROP TABLE agent_session_ids;
DROP FUNCTION agent_session_ids_stay;
DROP FUNCTION agent_session_id_becomes_current;
DROP TABLE session_state;
DROP TABLE deltas;
DROP TABLE messages;
DROP VIEW session_counts;
DROP TABLE agent_sessions;
DROP TABLE projects;
