//! However a list is filtered, it walks along an index.

use convoke_core::id::ProjectId;
use convoke_core::time::Timestamp;

use rusqlite::{Connection, params_from_iter};

use super::*;
use crate::sqlite::open::DatabasePaths;

/// How the database would go about a list.
fn plan(db: &Connection, filter: &SessionFilter, order: SessionOrder) -> Vec<(u32, String)> {
    let sql = format!("EXPLAIN QUERY PLAN {}", page_sql(Db::Sqlite(db), filter, order));
    let mut params = vec!["20", "0"];
    params.extend(filter.project.map(|_| "p"));
    let mut statement = db.prepare(&sql).unwrap();
    let lines = statement.query_map(params_from_iter(params), |row| Ok((row.get(1)?, row.get(3)?)));
    lines.unwrap().map(|line| line.unwrap()).collect()
}

#[test]
fn s4_no_filter_makes_a_list_scan_or_sort_all_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let (paths, _) = DatabasePaths::find(&folder.path().join("convoke.db")).unwrap();
    let lock = paths.lock().unwrap();
    let now = Timestamp::from_millis(0);
    let db = crate::schema::migrate_to_latest(&paths, &lock, now).unwrap();
    let project = ProjectId::from_random([1; 16]);
    for project in [None, Some(project)] {
        for statuses in [vec![], vec![Status::Active], vec![Status::Error, Status::Completed]] {
            for archived in [Archived::Hidden, Archived::Shown, Archived::Only] {
                for kind in [None, Some(SessionKind::Session)] {
                    let statuses = statuses.clone();
                    let filter =
                        SessionFilter { project, statuses, archived, kind, of: NodeScope::Own };
                    for order in [SessionOrder::Created, SessionOrder::Active] {
                        assert_walks(&plan(&db, &filter, order));
                    }
                }
            }
        }
    }
}

/// Nothing is scanned but the keys in the window, and nothing is sorted but they.
fn assert_walks(plan: &[(u32, String)]) {
    for (parent, step) in plan {
        let allowed = match step.split(' ').next() {
            Some("SCAN") => step == "SCAN key",
            Some("USE") => *parent == 0,
            Some("SEARCH") => {
                step.contains("USING COVERING INDEX agent_sessions_by_")
                    && step.contains("archived=? AND kind=? AND status=?")
                    || step == "SEARCH s USING INTEGER PRIMARY KEY (rowid=?)"
            }
            Some(_) | None => true,
        };
        assert!(allowed, "{step} in {plan:#?}");
    }
    assert!(plan.iter().any(|(_, step)| step.starts_with("SEARCH s")), "{plan:#?}");
}
