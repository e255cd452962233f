-- A contract, like the other half: once released, nothing in this file may change.

DROP INDEX rules_once;
-- Without the column they would hold for everyone.
DELETE FROM rules WHERE user_name IS NOT NULL;
ALTER TABLE rules DROP COLUMN user_name;
CREATE UNIQUE INDEX rules_once
    ON rules (md5(matcher), effect, coalesce(agent, ''), coalesce(project_id, ''));
DROP TABLE audit;
DROP TABLE user_tokens;
DROP TABLE user_roles;
DROP TABLE users;
