-- A contract, like the other half: once released, nothing in this file may change.

DROP INDEX team_pairs_once;
-- Of several pairs with the same names the one that was used last stays.
UPDATE team_pairs SET status = 'archived' WHERE status <> 'archived' AND EXISTS (
    SELECT 1 FROM team_pairs AS other
    WHERE other.to_team = team_pairs.to_team
        AND coalesce(other.from_team, '') = coalesce(team_pairs.from_team, '')
        AND coalesce(other.thread, '') = coalesce(team_pairs.thread, '')
        AND other.status <> 'archived'
        AND (other.last_used_at, other.id) > (team_pairs.last_used_at, team_pairs.id)
);
ALTER TABLE team_pairs DROP COLUMN node;
CREATE UNIQUE INDEX team_pairs_once
    ON team_pairs (to_team, coalesce(from_team, ''), coalesce(thread, ''))
    WHERE status <> 'archived';
DROP TABLE team_waits;
DROP TABLE node_teams;
DROP TABLE blob_pieces;
DROP TABLE blobs;
