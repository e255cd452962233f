-- A contract, like the other half: once released, nothing in this file may change.
--
-- Imported sessions stay; what is not known any more is where they came from.

DROP INDEX projects_by_any_path;
ALTER TABLE projects DROP COLUMN found;
DROP TABLE history_consents;
DROP TABLE histories;
