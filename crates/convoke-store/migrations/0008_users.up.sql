-- A contract, like 0001: once released, nothing in this file may change.
--
-- People who use the daemon besides its owner, what they may do, and what each of them did.

CREATE TABLE users (
    name TEXT PRIMARY KEY NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('viewer', 'member', 'owner')),
    created_at INTEGER NOT NULL,
    -- Browsers remember it when they sign in, and are signed out when it changes.
    epoch INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Roles in single projects, in place of the general one.
CREATE TABLE user_roles (
    user_name TEXT NOT NULL REFERENCES users (name),
    project_id TEXT NOT NULL REFERENCES projects (id),
    role TEXT NOT NULL CHECK (role IN ('viewer', 'member', 'owner')),
    PRIMARY KEY (user_name, project_id)
) STRICT, WITHOUT ROWID;

-- Tokens of programs that act for a user.
CREATE TABLE user_tokens (
    id TEXT PRIMARY KEY NOT NULL,
    user_name TEXT NOT NULL REFERENCES users (name),
    label TEXT NOT NULL,
    -- SHA-256 of the token, in hexadecimal digits; the token itself is not stored.
    digest TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
    n INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    -- The user, who may be removed since; none for the owner of the daemon.
    user_name TEXT,
    -- The device and the address that it was done from.
    origin TEXT NOT NULL,
    action TEXT NOT NULL,
    session_id TEXT,
    project_id TEXT,
    request_id TEXT,
    -- What it was about, as it was called then.
    subject TEXT NOT NULL
) STRICT;

CREATE INDEX audit_by_user ON audit (user_name, n);
CREATE INDEX audit_by_session ON audit (session_id, n) WHERE session_id IS NOT NULL;

-- A rule holds for the prompts of one user, or of everyone.
ALTER TABLE rules ADD COLUMN user_name TEXT;
DROP INDEX rules_once;
CREATE UNIQUE INDEX rules_once ON rules
    (matcher, effect, coalesce(agent, ''), coalesce(project_id, ''), coalesce(user_name, ''));
