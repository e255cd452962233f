-- A contract, like the other half: once released, nothing in this file may change.

DROP TABLE ask_chains;
