-- A contract, like 0001: once released, nothing in this file may change.
--
-- People who use the daemon besides its owner, what they may do, and what each of them did.

CREATE TABLE users (
    name TEXT COLLATE "C" PRIMARY KEY,
    role TEXT NOT NULL CHECK (role IN ('viewer', 'member', 'owner')),
    created_at BIGINT NOT NULL,
    -- Browsers remember it when they sign in, and are signed out when it changes.
    epoch BIGINT NOT NULL
);

-- Roles in single projects, in place of the general one.
CREATE TABLE user_roles (
    user_name TEXT COLLATE "C" NOT NULL REFERENCES users (name),
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
    role TEXT NOT NULL CHECK (role IN ('viewer', 'member', 'owner')),
    PRIMARY KEY (user_name, project_id)
);

-- Tokens of programs that act for a user.
CREATE TABLE user_tokens (
    id TEXT COLLATE "C" PRIMARY KEY,
    user_name TEXT COLLATE "C" NOT NULL REFERENCES users (name),
    label TEXT NOT NULL,
    -- SHA-256 of the token, in hexadecimal digits; the token itself is not stored.
    digest TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT
);

CREATE TABLE audit (
    n BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL,
    -- The user, who may be removed since; none for the owner of the daemon.
    user_name TEXT COLLATE "C",
    -- The device and the address that it was done from.
    origin TEXT NOT NULL,
    -- The daemon that did it.
    node TEXT COLLATE "C" REFERENCES nodes (id)
        DEFAULT nullif(current_setting('convoke.node', true), ''),
    action TEXT NOT NULL,
    session_id TEXT COLLATE "C",
    project_id TEXT COLLATE "C",
    request_id TEXT COLLATE "C",
    -- What it was about, as it was called then.
    subject TEXT NOT NULL
);

CREATE INDEX audit_by_user ON audit (user_name, n);
CREATE INDEX audit_by_session ON audit (session_id, n) WHERE session_id IS NOT NULL;

-- A rule holds for the prompts of one user, or of everyone.
ALTER TABLE rules ADD COLUMN user_name TEXT COLLATE "C";
DROP INDEX rules_once;
CREATE UNIQUE INDEX rules_once ON rules
    (md5(matcher), effect, coalesce(agent, ''), coalesce(project_id, ''), coalesce(user_name, ''));
