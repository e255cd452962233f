//! `convoke audit`: the audit trail.

use convoke_api::AuditQuery;
use convoke_api::bodies::{Audit, AuditEntry};
use convoke_core::time::relative;

use super::World;
use crate::args::{GlobalArgs, number};
use crate::clock;
use crate::daemon::{self, DaemonArgs};
use crate::output::{Output, plain, table};

/// Entries of one request.
const PAGE: u64 = 1000;

/// Show what people did: who, what, when, and from where
///
/// Prompts, answers to agents, and changes of sessions, rules, settings and users, the newest first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke audit
  convoke audit --user ada --since 2026-11-01
  convoke audit --session 3fa8 --json | jq '.entries[] | select(.action == \"answer request\")'")]
pub(crate) struct AuditArgs {
    /// Only what this user did
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Only what concerned this session: its id, its canonical id, or a unique prefix of its id
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only since this date or time
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// How many entries at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = number(1_u64..))]
    limit: u64,
    #[command(flatten)]
    daemon: DaemonArgs,
}

pub(crate) fn run(
    args: &AuditArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    daemon::with(world, global, &args.daemon, output, async |client, _| {
        let mut audit = Audit { entries: Vec::new(), next: None };
        loop {
            let left = args.limit.saturating_sub(audit.entries.len() as u64);
            if left == 0 {
                break;
            }
            let query = AuditQuery {
                user: args.user.clone(),
                session: args.session.clone(),
                since: args.since.clone(),
                before: audit.next,
                limit: Some(left.min(PAGE)),
            };
            let page = client.audit(&query).await?;
            audit.entries.extend(page.entries);
            audit.next = page.next;
            if audit.next.is_none() {
                break;
            }
        }
        output.show(&audit, |Audit { entries, .. }, _| {
            if entries.is_empty() {
                return "Nothing was done.\n".to_owned();
            }
            table(["WHEN", "WHO", "WHAT", "ABOUT", "FROM"], entries.iter().map(row).collect())
        })
    })
}

fn row(entry: &AuditEntry) -> [String; 5] {
    let node = entry.node.as_ref().map(|node| format!(", {}", plain(node))).unwrap_or_default();
    [
        relative(entry.at, clock::now()),
        entry.user.as_ref().map_or_else(|| "owner".to_owned(), ToString::to_string),
        plain(&entry.action),
        plain(&entry.subject).replace(['\n', '\t'], " "),
        format!("{}{node}", plain(&entry.from)),
    ]
}
