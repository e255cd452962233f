-- A contract, like 0001: once released, nothing in this file may change.
--
-- What a session changed in its project, and the work tree that it has for itself.

-- JSON: `files`, `added` and `removed`.
ALTER TABLE agent_sessions ADD COLUMN changes TEXT;
-- JSON: `path`, `branch` and `base`.
ALTER TABLE agent_sessions ADD COLUMN worktree TEXT;
