-- A contract, like the other half: once released, nothing in this file may change.

DROP TABLE message_search;
DROP TABLE team_pairs;
DROP TABLE permission_rules;
DROP TABLE human_requests;
DROP TABLE agent_session_ids;
DROP TABLE agent_messages;
DROP TABLE session_counts;
DROP TABLE agent_sessions;
DROP TABLE projects;
