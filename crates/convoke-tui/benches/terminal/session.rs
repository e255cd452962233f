//! A workbench with a session of so many messages open, whose pages come from here as a daemon would send them.

use convoke_api::bodies::{Activity, Repo};
use convoke_api::entry::{Entry, EntryBody, PromptState, Prompted, ToolCall, Words};
use convoke_api::frames::{ClientFrame, ServerFrame, SessionItem};
use convoke_core::content::{Diff, ToolStatus};
use convoke_core::id::{ProjectId, SessionId};
use convoke_core::message::{Rev, Seq};
use convoke_core::session::{Attention, Status};
use convoke_core::time::Timestamp;
use convoke_testkit::bench::Result;
use crossterm::event::KeyCode;
use ratatui::layout::Size;
use serde_json::json;

use crate::screen::Screen;

pub(crate) struct Session {
    screen: Screen,
    /// How many messages the session has.
    count: u64,
    /// The revision of its newest change.
    rev: Rev,
}

const NOW: i64 = 1_794_739_500_000;
/// A terminal on a large monitor.
const SIZE: Size = Size { width: 160, height: 50 };

impl Session {
    pub(crate) fn open(count: usize) -> Result<Self> {
        let screen = Screen::open(SIZE, Timestamp::from_millis(NOW))?;
        let count = u64::try_from(count)?;
        let mut session = Self { screen, count, rev: Rev::new(count) };
        let repo = Repo {
            id: project(),
            name: "shop".to_owned(),
            path: "/srv/shop".to_owned(),
            added_at: Timestamp::from_millis(NOW),
            node: None,
        };
        session.screen.receive(ServerFrame::ProjectList { projects: vec![repo], editor: None })?;
        let sessions = vec![item(session.count)?];
        session.screen.receive(ServerFrame::SessionList { project_id: project(), sessions })?;
        let said = session.screen.press(KeyCode::Enter)?;
        session.serve(said)?;
        Ok(session)
    }

    pub(crate) fn press(&mut self, key: KeyCode) -> Result<()> {
        let said = self.screen.press(key)?;
        self.serve(said)
    }

    /// More words of the newest answer.
    pub(crate) fn stream(&mut self, content: &str) -> Result<()> {
        self.rev = self.rev.next();
        self.screen.receive(ServerFrame::SessionChunk {
            session_id: uid().to_string(),
            uid: uid(),
            rev: self.rev,
            entry_id: format!("m{}", self.count),
            content: content.to_owned(),
            html: None,
        })?;
        Ok(())
    }

    /// Answers as a daemon does: at least as many entries as are asked for.
    fn serve(&mut self, said: Vec<ClientFrame>) -> Result<()> {
        for frame in said {
            if let ClientFrame::SessionPage { before, limit, .. } = frame {
                let first = before.get().saturating_sub(u64::from(limit.unwrap_or(100))).max(1);
                let entries = (first..before.get()).map(entry).collect();
                let more = first > 1;
                let session_id = uid().to_string();
                self.screen.receive(ServerFrame::SessionPage {
                    session_id,
                    uid: uid(),
                    entries,
                    more,
                })?;
            } else if let ClientFrame::SessionOpen { limit, .. } = frame {
                let first = self.count.saturating_sub(u64::from(limit.unwrap_or(100))).max(1);
                self.screen.receive(ServerFrame::SessionHistory {
                    session_id: uid().to_string(),
                    uid: uid(),
                    rev: self.rev,
                    generation: "1".to_owned(),
                    entries: (first..=self.count).map(entry).collect(),
                    more: first > 1,
                    newer: false,
                    session: item(self.count)?,
                })?;
            }
        }
        Ok(())
    }
}

fn uid() -> SessionId {
    SessionId::from_random([1; 16])
}

fn project() -> ProjectId {
    ProjectId::from_random([2; 16])
}

fn item(count: u64) -> Result<SessionItem> {
    Ok(SessionItem {
        id: uid().to_string(),
        uid: uid(),
        project_id: project(),
        cli_type: "claude-code".parse()?,
        title: "A long session".to_owned(),
        last_active_at: Timestamp::from_millis(NOW),
        created_at: Timestamp::from_millis(NOW),
        status: Status::Active,
        reason: None,
        accepts_prompts: true,
        archived: false,
        activity: Activity::Running,
        message_count: count,
        attention: Attention::Working,
        unseen: false,
        failure: None,
        running_since: None,
        step: None,
        last_line: None,
        cost: None,
        changes: None,
        worktree: None,
        node: None,
    })
}

/// What stands at a place: prompts, tool calls with changed files, and long answers.
fn entry(seq: u64) -> Entry {
    let (entry_id, body) = match seq % 4 {
        1 => (format!("m{seq}"), prompt(seq)),
        2 | 3 => (format!("t{seq}"), tool(seq)),
        _ => (format!("m{seq}"), answer(seq)),
    };
    let (seq, rev, timestamp) = (Seq::new(seq), Rev::new(seq), Timestamp::from_millis(NOW));
    Entry { entry_id, seq, rev, timestamp, body }
}

fn prompt(seq: u64) -> EntryBody {
    let content = format!("Please look at seq {seq}, and at what stands around it.");
    EntryBody::User(Prompted {
        by: None,
        content,
        html: None,
        attachments: Vec::new(),
        files: Vec::new(),
        review: Vec::new(),
        state: PromptState::Done,
    })
}

fn tool(seq: u64) -> EntryBody {
    let old: String = (0..60).map(|line| format!("let value_{line} = {line};\n")).collect();
    let new = old.replace("value_30 = 30", "value_30 = 31").replace("value_5 ", "other_5 ");
    EntryBody::ToolCall(ToolCall {
        tool_call_id: format!("c{seq}"),
        name: "edit".to_owned(),
        title: Some(format!("Edit src/place_{seq}.rs")),
        kind: Some("edit".to_owned()),
        status: ToolStatus::Complete,
        args: json!({"path": format!("src/place_{seq}.rs")}),
        result: Some("ok\n".repeat(40)),
        diffs: vec![Diff {
            path: format!("src/place_{seq}.rs"),
            old_text: Some(old),
            new_text: new,
        }],
        error: None,
        html: None,
    })
}

fn answer(seq: u64) -> EntryBody {
    let mut content = format!("# Place {seq}\n\n");
    for number in 0..12 {
        content.push_str(&format!(
            "Paragraph {number} has **bold** words, `code`, and [a link](https://example.org/{seq}), \
             and goes on for longer than a line of the terminal is wide.\n\n- one\n- two\n\n"
        ));
    }
    content.push_str("```rust\nfn main() {\n    println!(\"{}\", 42);\n}\n```\n");
    EntryBody::Assistant(Words { content, html: None, partial: true })
}
