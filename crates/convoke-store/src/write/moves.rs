//! Moves sessions from one node to another.

use convoke_core::id::{NodeId, ProjectId, SessionId};

use super::record::{ROLES, role_word};
use super::sessions::{not_own, own_number};
use super::{Change, Durability};
use crate::db::{Db, Optional as _, SqlResult, params};
use crate::error::{Error, Fault};
use crate::moves::{HandOver, MovePart, Owner};
use crate::postgres::application_name;
use crate::search::lexemes::bare_scope_lexeme;
use crate::search::scope::project_words;

/// Records the remotes of projects.
#[derive(Debug)]
pub(crate) struct SetRemotes(pub(crate) Vec<(ProjectId, Option<String>)>);

impl Change for SetRemotes {
    type Outcome = ();

    // The remotes are read again at every start, so a lost write does no harm.
    fn durability(&self) -> Durability {
        Durability::Soon
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        for (project, remote) in &self.0 {
            let project = project.to_string();
            match remote {
                Some(remote) => {
                    let sql = "INSERT INTO project_remotes (project_id, remote) VALUES (?1, ?2)
                         ON CONFLICT (project_id) DO UPDATE SET remote = excluded.remote
                         WHERE project_remotes.remote <> excluded.remote";
                    db.prepare_cached(sql)?.execute([&project, remote])?;
                }
                None => {
                    let sql = "DELETE FROM project_remotes WHERE project_id = ?1";
                    db.prepare_cached(sql)?.execute([&project])?;
                }
            }
        }
        Ok(())
    }
}

/// Begins a move, before its files are stored.
#[derive(Debug)]
pub(crate) struct BeginMove {
    pub(crate) session: SessionId,
    pub(crate) target: NodeId,
}

impl Change for BeginMove {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Soon
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        own_number(db, self.session)?;
        forget(db, self.session)?;
        let sql = "INSERT INTO session_moves (session_id, source, target, stage, cargo)
             VALUES (?1, current_setting('convoke.node'), ?2, 'packing', '')";
        db.prepare_cached(sql)?.execute([self.session.to_string(), self.target.to_string()])?;
        Ok(())
    }
}

/// Stores a piece of a file that is transferred.
#[derive(Debug)]
pub(crate) struct AddPart {
    pub(crate) session: SessionId,
    pub(crate) part: MovePart,
    pub(crate) number: u64,
    pub(crate) bytes: Vec<u8>,
}

impl Change for AddPart {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Soon
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        own_number(db, self.session)?;
        let sql = "INSERT INTO session_move_parts (session_id, kind, number, bytes)
             VALUES (?1, ?2, ?3, ?4)";
        let (session, kind) = (self.session.to_string(), self.part.as_str());
        let of = params![session, kind, self.number, self.bytes];
        db.prepare_cached(sql)?.execute(of)?;
        Ok(())
    }
}

/// Deletes moves that were given up.
#[derive(Debug)]
pub(crate) struct AbandonMoves {
    pub(crate) node: NodeId,
    /// `None` for all moves of this node.
    pub(crate) session: Option<SessionId>,
}

impl Change for AbandonMoves {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Soon
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        let whose = "stage = 'packing' AND source = ?1
             AND (CAST(?2 AS TEXT) IS NULL OR session_id = ?2)";
        let of = (self.node.to_string(), self.session.map(|id| id.to_string()));
        let parts = format!(
            "DELETE FROM session_move_parts
             WHERE session_id IN (SELECT session_id FROM session_moves WHERE {whose})"
        );
        db.prepare_cached(&parts)?.execute(params![of.0, of.1])?;
        let moves = format!("DELETE FROM session_moves WHERE {whose}");
        db.prepare_cached(&moves)?.execute(params![of.0, of.1])?;
        Ok(())
    }
}

/// Deletes the move of a session, with its files. Databases in files have no moves.
pub(super) fn forget(db: Db<'_>, session: SessionId) -> Result<(), Fault> {
    let Db::Postgres(_) = db else { return Ok(()) };
    for table in ["session_move_parts", "session_moves"] {
        let sql = format!("DELETE FROM {table} WHERE session_id = ?1");
        db.prepare_cached(&sql)?.execute([session.to_string()])?;
    }
    Ok(())
}

/// Changes the owner of a session.
#[derive(Debug)]
pub(crate) struct ChangeOwner(pub(crate) HandOver);

/// The row of the session that moves.
struct Moved {
    n: i64,
    project: String,
    agent: String,
}

impl Change for ChangeOwner {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn session(&self) -> Option<SessionId> {
        Some(self.0.session)
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        let HandOver { session, from, target, project, cargo } = &self.0;
        let (id, target, to) = (session.to_string(), target.to_string(), project.to_string());
        let moved = locked(db, *session, *from)?;
        let known = "SELECT 1 FROM projects WHERE id = ?1 AND node = ?2 AND removed_at IS NULL";
        if !db.prepare_cached(known)?.exists([&to, &target])? {
            return Err(Error::UnknownProject { id: *project }.into());
        }
        db.prepare_cached("UPDATE agent_sessions SET node = ?2, project_id = ?3 WHERE n = ?1")?
            .execute(params![moved.n, target, to])?;
        find_in_project(db, &moved, &to)?;
        // The file of an imported conversation stays on the old machine, and is no longer followed.
        let followed = "UPDATE histories SET standing = 'own'
             WHERE session = ?1 AND standing = 'imported'";
        db.prepare_cached(followed)?.execute([moved.n])?;
        let waiting = match from {
            // The old owner forwards the commands that it has begun and cannot execute any more.
            Owner::Own => " AND begun_at IS NULL",
            Owner::Away(_) => "",
        };
        let commands = format!(
            "UPDATE node_commands SET node = ?2
             WHERE session_id = ?1 AND finished_at IS NULL{waiting}"
        );
        db.prepare_cached(&commands)?.execute([&id, &target])?;
        // The target also polls for arrivals.
        db.notify(&format!("command {target}"))?;
        set_out(db, &id, &target, cargo, *from)
    }
}

/// Locks the session, which must belong to `from`.
fn locked(db: Db<'_>, session: SessionId, from: Owner) -> Result<Moved, Fault> {
    let whose = match from {
        Owner::Own => db.own("agent_sessions"),
        Owner::Away(node) => {
            let sql = "SELECT name FROM nodes WHERE id = ?1 AND lease_until > clock_timestamp()";
            let running = db.prepare_cached(sql)?.query_row([node.to_string()], |row| row.get(0));
            if let Some(name) = running.optional()? {
                return Err(Error::NodeRuns { name }.into());
            }
            end_transactions(db, node)?;
            // A node id contains no quote.
            format!(" AND node = '{node}'")
        }
    };
    let sql =
        format!("SELECT n, project_id, agent FROM agent_sessions WHERE id = ?1{whose} FOR UPDATE");
    let found = db.prepare_cached(&sql)?.query_row([session.to_string()], |row| {
        Ok(Moved { n: row.get(0)?, project: row.get(1)?, agent: row.get(2)? })
    });
    match found.optional()? {
        Some(moved) => Ok(moved),
        None => Err(not_own(db, session)?),
    }
}

/// Terminates transactions of a node that is away: they would hold their locks for a minute.
fn end_transactions(db: Db<'_>, node: NodeId) -> SqlResult<()> {
    db.execute_batch("SET LOCAL lock_timeout = '3s'")?;
    let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = ?1 AND datname = current_database()
             AND usename = current_user AND state LIKE 'idle in transaction%'";
    db.prepare_cached(sql)?.exists([application_name(Some(node))])?;
    Ok(())
}

/// Records that the session is on its way.
fn set_out(db: Db<'_>, id: &str, target: &str, cargo: &str, from: Owner) -> Result<(), Fault> {
    let source = match from {
        Owner::Own => None,
        Owner::Away(node) => {
            // The node was stopped while it stored the files, so they are incomplete.
            let parts = "DELETE FROM session_move_parts WHERE session_id IN (
                 SELECT session_id FROM session_moves WHERE session_id = ?1 AND stage = 'packing')";
            db.prepare_cached(parts)?.execute([id])?;
            Some(node.to_string())
        }
    };
    // A session that is taken from a node at which it never arrived is moved on with the original cargo. A node that
    // hands it back itself says why in the new cargo. Either way it comes from the node that packed it.
    let sql = "INSERT INTO session_moves (session_id, source, target, stage, cargo)
         VALUES (?1, coalesce(?4, current_setting('convoke.node')), ?2, 'arriving', ?3)
         ON CONFLICT (session_id) DO UPDATE SET target = excluded.target, stage = 'arriving',
             source = CASE WHEN session_moves.stage = 'packing' THEN excluded.source
                 ELSE session_moves.source END,
             cargo = CASE WHEN session_moves.stage = 'packing' OR CAST(?4 AS TEXT) IS NULL
                 THEN excluded.cargo ELSE session_moves.cargo END";
    db.prepare_cached(sql)?.execute(params![id, target, cargo, source])?;
    Ok(())
}

/// Updates the search index, so that searches in the new project find the session.
fn find_in_project(db: Db<'_>, moved: &Moved, project: &str) -> SqlResult<()> {
    if moved.project == project {
        return Ok(());
    }
    for role in ROLES.map(role_word) {
        let old = project_words(&moved.project, &moved.agent, role);
        let new = project_words(project, &moved.agent, role);
        let new = new.map(|word| format!("'{}'", bare_scope_lexeme(&word))).join(" ");
        let [a, b, c, d] = old.map(|word| bare_scope_lexeme(&word));
        let sql = "UPDATE message_search SET vector = CAST(CAST(?3 AS TEXT) AS tsvector)
                 || ts_delete(vector, ARRAY[CAST(?4 AS TEXT), ?5, ?6, ?7])
             WHERE rowid IN (SELECT k.key FROM searched_messages AS k
                 WHERE k.message IN (SELECT n FROM messages WHERE session = ?1 AND role = ?2))";
        db.prepare_cached(sql)?.execute(params![moved.n, role, new, a, b, c, d])?;
    }
    Ok(())
}
