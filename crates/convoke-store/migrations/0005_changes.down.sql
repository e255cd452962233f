-- A contract, like the other half: once released, nothing in this file may change.

ALTER TABLE agent_sessions DROP COLUMN worktree;
ALTER TABLE agent_sessions DROP COLUMN changes;
