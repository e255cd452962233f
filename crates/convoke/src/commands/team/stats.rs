//! `convoke team stats`: statistics, and on a terminal a matrix of askers and teams.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IsTerminal};

use convoke_api::bodies::{TeamSession, TeamStats};
use convoke_api::{Client, TeamSessionQuery};

use crate::colour::Colour;
use crate::output::{Format, Output};

/// Teams that a matrix shows; more would not fit on a terminal.
const TEAMS_MAX: usize = 12;
/// Characters of a name in the head of a column.
const NAME_CHARS: usize = 10;
/// The shades of the matrix, from none to most.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];

/// Count the conversations of teams and their messages
///
/// On a terminal, also prints a matrix of message counts by asking and answering team.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke team stats
  convoke team stats --json | jq .totalMessages")]
pub(super) struct StatsArgs {}

pub(super) async fn run(client: &Client, _: &StatsArgs, output: &Output) -> anyhow::Result<()> {
    let stats = client.team_stats().await?;
    let sessions = if output.format == Format::Human && io::stdout().is_terminal() {
        client
            .team_sessions(&TeamSessionQuery { limit: Some(10_000), ..Default::default() })
            .await?
    } else {
        convoke_api::bodies::TeamSessions { sessions: Vec::new() }
    };
    output.show(&stats, |stats, colour| counted(stats) + &matrix(&sessions.sessions, colour))
}

fn counted(stats: &TeamStats) -> String {
    let TeamStats { total, active, compact_pending, archived, total_messages } = stats;
    format!(
        "conversations    {total}\n\
         active           {active}\n\
         compact pending  {compact_pending}\n\
         archived         {archived}\n\
         messages         {total_messages}\n"
    )
}

/// The matrix: askers in rows, answering teams in columns.
fn matrix(sessions: &[TeamSession], colour: Colour) -> String {
    let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
    for session in sessions {
        let from = session.from_team.as_ref().map_or_else(String::new, ToString::to_string);
        *counts.entry((from, session.to_team.to_string())).or_default() += session.message_count;
    }
    let all = |part: fn(&(String, String)) -> &String| -> Vec<String> {
        let names: BTreeSet<&String> = counts.keys().map(part).collect();
        names.into_iter().take(TEAMS_MAX).cloned().collect()
    };
    let (askers, answerers) = (all(|pair| &pair.0), all(|pair| &pair.1));
    let most = counts.values().copied().max().unwrap_or_default();
    if answerers.is_empty() || most == 0 {
        return String::new();
    }
    let cut = |name: &str| -> String {
        let name = if name.is_empty() { "(outside)" } else { name };
        name.chars().take(NAME_CHARS).collect()
    };
    let head: String =
        answerers.iter().map(|name| format!("  {:>NAME_CHARS$}", cut(name))).collect();
    let mut text = format!("\n{:NAME_CHARS$}{}\n", "", colour.faint(head));
    for from in &askers {
        text.push_str(&format!("{:NAME_CHARS$}", cut(from)));
        for to in &answerers {
            let count = counts.get(&(from.clone(), to.clone())).copied().unwrap_or_default();
            let shown = if count == 0 { String::new() } else { count.to_string() };
            text.push_str(&format!(
                "  {shown:>width$} {}",
                shade(count, most),
                width = NAME_CHARS - 2
            ));
        }
        text.push('\n');
    }
    text
}

fn shade(count: u64, most: u64) -> char {
    let step = match count {
        0 => 0,
        // The maximum is the darkest, and any other count is visible.
        _ => (count * (SHADES.len() as u64 - 1)).div_ceil(most.max(1)),
    };
    usize::try_from(step).ok().and_then(|step| SHADES.get(step)).copied().unwrap_or('█')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn session(from: Option<&str>, to: &str, messages: u64) -> TeamSession {
        serde_json::from_value(json!({
            "id": 1, "fromTeam": from, "toTeam": to, "thread": null,
            "sessionId": "00000000-0000-4000-8000-000000000001", "agentSessionId": null,
            "createdAt": "2026-11-15T10:00:00Z", "lastUsedAt": "2026-11-15T10:00:00Z",
            "messageCount": messages, "status": "active",
        }))
        .unwrap()
    }

    #[test]
    fn t16_the_matrix_shows_who_talks_to_whom() {
        let sessions = [
            session(None, "backend", 4),
            session(Some("frontend"), "backend", 100),
            session(Some("frontend"), "backend", 20),
            session(Some("a-team-with-a-long-name"), "frontend", 60),
            session(Some("backend"), "frontend", 0),
        ];
        insta::assert_snapshot!(matrix(&sessions, Colour::Off), @r"

                       backend    frontend
        (outside)          4 ░           ·
        a-team-wit           ·        60 ▒
        backend              ·           ·
        frontend         120 █           ·
        ");
        assert_eq!(matrix(&sessions[4..], Colour::Off), "");
    }
}
