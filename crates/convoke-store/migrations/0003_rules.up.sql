-- A contract, like 0001: once released, nothing in this file may change.
--
-- Rules that name commands, paths, tools or domains. Rows of `permission_rules` held for every use of a tool, or for one
-- exact call. They are not applied any more: the former stay until the session in which they would have applied says so,
-- the latter, which no release made, are dropped here.

CREATE TABLE rules (
    id TEXT PRIMARY KEY NOT NULL,
    effect TEXT NOT NULL CHECK (effect IN ('allow', 'deny')),
    -- JSON, told apart by `kind`.
    matcher TEXT NOT NULL,
    -- Any agent, and everywhere, where there is none.
    agent TEXT,
    project_id TEXT REFERENCES projects (id),
    created_at INTEGER NOT NULL,
    -- The request whose answer made it; both may be gone.
    request_id TEXT,
    session_id TEXT,
    used_count INTEGER NOT NULL CHECK (used_count >= 0),
    last_used_at INTEGER
) STRICT;

-- NULLs would never collide, so they are spelled out.
CREATE UNIQUE INDEX rules_once
    ON rules (matcher, effect, coalesce(agent, ''), coalesce(project_id, ''));

DELETE FROM permission_rules WHERE tool LIKE 'exact:%';
