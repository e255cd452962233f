-- A contract, like the other half: once released, nothing in this file may change.
--
-- Of projects with the same path on several machines only the first added stays one.

DROP TABLE node_commands;

DROP INDEX agent_sessions_by_node;
DROP INDEX histories_by_place;
DELETE FROM histories AS h WHERE h.standing <> 'replaced' AND EXISTS (
    SELECT 1 FROM histories AS o WHERE o.standing <> 'replaced' AND o.n < h.n
        AND (o.agent, o.root, o.path, o.entry) = (h.agent, h.root, h.path, h.entry)
);
ALTER TABLE histories DROP COLUMN node;
CREATE UNIQUE INDEX histories_by_place ON histories (agent, root, path, entry)
    WHERE standing <> 'replaced';

DELETE FROM history_consents AS h WHERE EXISTS (
    SELECT 1 FROM history_consents AS o WHERE o.node < h.node
        AND (o.agent, o.since, o.folder) = (h.agent, h.since, h.folder)
);
ALTER TABLE history_consents DROP CONSTRAINT history_consents_pkey;
ALTER TABLE history_consents DROP COLUMN node;
ALTER TABLE history_consents ADD PRIMARY KEY (agent, since, folder);

DROP INDEX projects_by_path;
UPDATE projects AS p SET removed_at = p.added_at WHERE p.removed_at IS NULL AND EXISTS (
    SELECT 1 FROM projects AS o
    WHERE o.removed_at IS NULL AND o.path = p.path AND o.rowid < p.rowid
);
ALTER TABLE projects DROP COLUMN node;
CREATE UNIQUE INDEX projects_by_path ON projects (path) WHERE removed_at IS NULL;
DROP VIEW session_counts;
ALTER TABLE agent_sessions DROP COLUMN node;
CREATE VIEW session_counts AS
    SELECT project_id, archived, kind, status, count(*) AS count
    FROM agent_sessions GROUP BY project_id, archived, kind, status;

DROP TABLE nodes;
