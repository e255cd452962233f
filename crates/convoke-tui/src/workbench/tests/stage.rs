//! A workbench without a terminal and a daemon: messages go in, and what a person would see comes out.

use convoke_api::bodies::{
    Activity, AgentLogin, AgentLoginState, InboxItem, InboxKind, Repo, Session,
};
use convoke_api::entry::{
    AskedQuestion, Entry, EntryBody, Older, Permission, PromptState, Prompted, QueuedEntry, Words,
};
use convoke_api::frames::{AgentItem, ClientFrame, Envelope, ServerFrame, SessionItem};
use convoke_core::evidence::Evidence;
use convoke_core::id::{MessageId, ProjectId, RequestId, SessionId};
use convoke_core::message::{Rev, Seq};
use convoke_core::question::Choice;
use convoke_core::request::{PermissionKind, PermissionOption, Status as RequestStatus};
use convoke_core::rule::{Matcher, Proposal};
use convoke_core::session::{Attention, Status};
use convoke_core::state::OfferedChoice;
use convoke_core::time::Timestamp;
use ratatui::layout::Size;

use crate::Colour;
use crate::stage::{keys, letters, position_of, screen};
use crate::workbench::message::{Effect, Message};
use crate::workbench::model::Model;
use crate::workbench::update::update;
use crate::workbench::view;
use crate::workbench::worktrees::{WorktreeCall, WorktreeReturned};

pub(super) struct Stage {
    pub(super) model: Model,
    /// What was to be done outside since it was last looked.
    effects: Vec<Effect>,
    /// What the last thing that was said to the daemon is known by.
    asked: Option<String>,
    now: Timestamp,
}

/// 2026-11-15T10:45:00Z.
const NOW: i64 = 1_794_739_500_000;

impl Stage {
    /// A screen that has not heard of the daemon yet.
    pub(super) fn new(width: u16, height: u16) -> Self {
        let now = Timestamp::from_millis(NOW);
        let home = Some("/home/ann".to_owned());
        let mut model = Model::new("/home/ann/src/new".to_owned(), home, Colour::On, now);
        model.size = Size { width, height };
        Self { model, effects: Vec::new(), asked: None, now }
    }

    /// The list of two projects and four sessions.
    pub(super) fn with_sessions(width: u16, height: u16) -> Self {
        let mut stage = Self::at_home(width, height);
        stage.keys("2");
        stage.effects.clear();
        stage
    }

    /// The start screen with two projects and four sessions.
    pub(super) fn at_home(width: u16, height: u16) -> Self {
        let mut stage = Self::new(width, height);
        stage.send(Message::Linked);
        stage.receive(ServerFrame::AgentList { agents: agents() });
        stage.receive(ServerFrame::ProjectList { projects: vec![shop(), site()], editor: None });
        stage.receive(ServerFrame::SessionList {
            project_id: shop().id,
            sessions: vec![
                session(1, 2, "Fix the parser of prices", Activity::Running),
                session(2, 90, "Write the release notes", Activity::Idle),
                SessionItem {
                    status: Status::Completed,
                    attention: Attention::Ended,
                    accepts_prompts: false,
                    ..session(3, 3000, "Old things\u{1b}[2J", Activity::Idle)
                },
            ],
        });
        let blog = SessionItem {
            project_id: site().id,
            ..session(4, 30, "A blog about 日本", Activity::Waiting)
        };
        stage.receive(ServerFrame::SessionList { project_id: site().id, sessions: vec![blog] });
        stage.effects.clear();
        stage
    }

    /// A screen with a session open in which this was said.
    pub(super) fn talking(width: u16, height: u16, entries: Vec<Entry>) -> Self {
        let mut stage = Self::with_sessions(width, height);
        stage.keys("enter");
        stage.open(entries, Older::Nothing);
        stage.effects.clear();
        stage
    }

    /// The first session is opened with these entries.
    pub(super) fn open(&mut self, entries: Vec<Entry>, older: Older) {
        let rev = entries.iter().map(|entry| entry.rev).max().unwrap_or_default();
        self.receive(ServerFrame::SessionHistory {
            session_id: "claude-code:1".to_owned(),
            uid: session_id(1),
            rev,
            generation: "1".to_owned(),
            entries,
            more: older == Older::More,
            newer: false,
            session: session(1, 2, "Fix the parser of prices", Activity::Running),
        });
    }

    pub(super) fn update(&mut self, entry: Entry) {
        let (session_id, uid, rev) = ("claude-code:1".to_owned(), session_id(1), entry.rev);
        self.receive(ServerFrame::SessionUpdate { session_id, uid, rev, entry });
    }

    /// More words of an entry, at the next revision.
    pub(super) fn chunk(&mut self, entry_id: &str, content: &str) {
        let rev = self.rev().next();
        self.receive(ServerFrame::SessionChunk {
            session_id: "claude-code:1".to_owned(),
            uid: session_id(1),
            rev,
            entry_id: entry_id.to_owned(),
            content: content.to_owned(),
            html: None,
        });
    }

    /// The revision up to which the open session is known.
    pub(super) fn rev(&self) -> Rev {
        let cursor = self.model.chat.as_ref().and_then(|chat| chat.entries().cursor());
        cursor.map(|cursor| cursor.rev).unwrap_or_default()
    }

    pub(super) fn send(&mut self, message: Message) {
        for effect in update(&mut self.model, self.now, message) {
            if let Effect::SendFrame(envelope) = &effect {
                self.asked.clone_from(&envelope.request_id);
            }
            self.effects.push(effect);
        }
    }

    /// The daemon pushes a frame.
    pub(super) fn receive(&mut self, frame: ServerFrame) {
        self.send(Message::Frame(Box::new(Envelope::push(frame))));
    }

    /// The daemon answers what was said last.
    pub(super) fn answer(&mut self, frame: ServerFrame) {
        let request_id = self.asked.clone();
        self.send(Message::Frame(Box::new(Envelope { request_id, frame })));
    }

    /// The daemon refuses what was said last.
    pub(super) fn refuse(&mut self, message: &str) {
        self.answer(ServerFrame::Error { message: message.to_owned(), hint: None });
    }

    /// What was said to the daemon since it was last looked.
    pub(super) fn said(&mut self) -> Vec<ClientFrame> {
        let effects = std::mem::take(&mut self.effects);
        let frame = |effect| match effect {
            Effect::SendFrame(envelope) => Some(envelope.frame),
            Effect::Call(_)
            | Effect::CallWorktree(_)
            | Effect::FetchTeams
            | Effect::FetchNodes
            | Effect::Attach { .. }
            | Effect::Announce(_)
            | Effect::Quit => None,
        };
        effects.into_iter().filter_map(frame).collect()
    }

    pub(super) fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// What was asked about work trees and comparisons since it was last looked.
    pub(super) fn called(&mut self) -> Vec<WorktreeCall> {
        let call = |effect| if let Effect::CallWorktree(call) = effect { Some(call) } else { None };
        self.effects().into_iter().filter_map(call).collect()
    }

    /// The daemon answers what was asked about work trees and comparisons.
    pub(super) fn returns(&mut self, call: WorktreeCall, returned: WorktreeReturned) {
        self.send(Message::WorktreeCalled { call, returned: Ok(Box::new(returned)) });
    }

    /// Presses keys: names and single letters, separated by spaces.
    pub(super) fn keys(&mut self, script: &str) -> &mut Self {
        keys(script).for_each(|key| self.send(Message::Key(key)));
        self
    }

    /// Types a text letter by letter.
    pub(super) fn types(&mut self, text: &str) -> &mut Self {
        letters(text).for_each(|key| self.send(Message::Key(key)));
        self
    }

    /// Time passes.
    pub(super) fn pass(&mut self, millis: i64) -> &mut Self {
        self.now = Timestamp::from_millis(self.now.as_millis() + millis);
        self.send(Message::Ticked);
        self
    }

    pub(super) fn resize(&mut self, width: u16, height: u16) {
        self.send(Message::Resized(Size { width, height }));
    }

    /// Clicks on the first place where a text stands on the screen.
    pub(super) fn clicks(&mut self, text: &str) -> &mut Self {
        let at = position_of(&self.screen(), text);
        if let Some((target, column)) = view::target_at(&self.model, at) {
            self.send(Message::Clicked { target, column });
        }
        self
    }

    pub(super) fn screen(&self) -> String {
        screen(self.model.size, |frame| view::view(&self.model, frame))
    }
}

pub(super) fn session_id(number: u8) -> SessionId {
    SessionId::from_random([number; 16])
}

fn project(number: u8, name: &str) -> Repo {
    Repo {
        id: ProjectId::from_random([number; 16]),
        name: name.to_owned(),
        path: format!("/home/ann/src/{name}"),
        added_at: Timestamp::from_millis(NOW - 10_000_000),
        node: None,
    }
}

pub(super) fn shop() -> Repo {
    project(101, "shop")
}

pub(super) fn site() -> Repo {
    project(102, "site")
}

/// A session of the shop that was active so many minutes ago.
pub(super) fn session(number: u8, minutes: i64, title: &str, activity: Activity) -> SessionItem {
    SessionItem {
        id: format!("claude-code:{number}"),
        uid: session_id(number),
        project_id: shop().id,
        cli_type: "claude-code".parse().unwrap(),
        title: title.to_owned(),
        last_active_at: Timestamp::from_millis(NOW - minutes * 60_000),
        created_at: Timestamp::from_millis(NOW - minutes * 60_000),
        status: Status::Active,
        reason: None,
        accepts_prompts: true,
        archived: false,
        activity,
        message_count: 10,
        attention: match activity {
            Activity::Idle => Attention::Idle,
            Activity::Running => Attention::Working,
            Activity::Waiting => Attention::NeedsYou,
        },
        unseen: false,
        failure: None,
        running_since: None,
        step: None,
        last_line: None,
        cost: None,
        changes: None,
        worktree: None,
        node: None,
    }
}

/// A session of the shop as REST shows it.
pub(super) fn full_session(number: u8, title: &str) -> Session {
    let item = session(number, 0, title, Activity::Idle);
    serde_json::from_value(serde_json::json!({
        "id": item.uid, "repoId": item.project_id, "agent": item.cli_type, "agentSessionId": null,
        "title": item.title, "status": item.status, "acceptsPrompts": true, "archived": false,
        "createdAt": item.created_at, "updatedAt": item.created_at,
        "lastActiveAt": item.last_active_at, "messageCount": 1, "metadata": {},
        "activity": item.activity, "attention": item.attention, "unseen": false,
    }))
    .unwrap()
}

fn agents() -> Vec<AgentItem> {
    let choice = |id: &str, name: &str| OfferedChoice {
        id: id.to_owned(),
        name: name.to_owned(),
        description: None,
    };
    let agent = |name: &str, title: &str, badge: &str, installed| AgentItem {
        cli_type: name.parse().unwrap(),
        title: title.to_owned(),
        badge: badge.to_owned(),
        installed,
        version: None,
        login: AgentLogin { state: AgentLoginState::Unknown, hint: None },
        modes: vec![choice("default", "Default"), choice("plan", "Plan")],
        mode: Some("default".to_owned()),
        models: vec![choice("opus", "Opus")],
        model: None,
        install: Some(format!("npm install -g {name}")),
    };
    vec![
        agent("codex", "Codex", "CX", false),
        agent("claude-code", "Claude Code", "CC", true),
        agent("demo", "Demo", "DM", true),
    ]
}

/// An entry whose revision is as high as its place.
pub(super) fn entry(entry_id: &str, seq: u64, body: EntryBody) -> Entry {
    Entry {
        entry_id: entry_id.to_owned(),
        seq: Seq::new(seq),
        rev: Rev::new(seq),
        timestamp: Timestamp::from_millis(NOW),
        body,
    }
}

pub(super) fn prompt(seq: u64, text: &str) -> Entry {
    let state = PromptState::Done;
    let body = EntryBody::User(Prompted {
        by: None,
        content: text.to_owned(),
        html: None,
        attachments: Vec::new(),
        files: Vec::new(),
        review: Vec::new(),
        state,
    });
    entry(&format!("m{seq}"), seq, body)
}

/// State at a revision.
pub(super) fn state(kind: &str, rev: u64, body: EntryBody) -> Entry {
    Entry { seq: Seq::START, ..entry(kind, rev, body) }
}

/// The prompts that wait.
pub(super) fn queue(rev: u64, prompts: &[(u8, &str)]) -> Entry {
    let prompt = |(number, content): &(u8, &str)| QueuedEntry {
        by: None,
        id: MessageId::from_random([*number; 16]),
        content: (*content).to_owned(),
        html: None,
        attachments: Vec::new(),
        files: Vec::new(),
        review: Vec::new(),
        timestamp: Timestamp::from_millis(NOW),
        waits_for: None,
    };
    state(
        "queue",
        rev,
        EntryBody::Queue { prompts: prompts.iter().map(prompt).collect(), held: false },
    )
}

pub(super) fn words(seq: u64, text: &str) -> Entry {
    let words = Words { content: text.to_owned(), html: None, partial: false };
    entry(&format!("m{seq}"), seq, EntryBody::Assistant(words))
}

/// A permission that the first session waits for.
pub(super) fn permission(number: u8) -> InboxItem {
    let option = |id: &str, name: &str, kind| PermissionOption {
        option_id: id.to_owned(),
        name: name.to_owned(),
        kind,
    };
    InboxItem {
        permission: Some(Permission {
            by: None,
            permission_id: RequestId::from_random([number; 16]),
            title: "cargo test --workspace --all-targets".to_owned(),
            tool_call_id: None,
            tool: Some("execute".to_owned()),
            evidence: Some(Evidence::Command {
                command: "cargo test --workspace --all-targets".to_owned(),
                working_directory: Some("/home/ann/src/shop".to_owned()),
                arguments: None,
                omitted_bytes: 0,
            }),
            rules: vec![
                rule("`cargo test …` in shop", &["cargo", "test"]),
                rule("`cargo …` in shop", &["cargo"]),
            ],
            options: vec![
                option("yes", "Allow", PermissionKind::AllowOnce),
                option("no", "Deny", PermissionKind::RejectOnce),
            ],
            status: RequestStatus::Pending,
            option_id: None,
            reason: None,
        }),
        ..questions(number, InboxKind::Permission, "cargo test --workspace --all-targets")
    }
}

fn rule(label: &str, words: &[&str]) -> Proposal {
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    Proposal {
        label: label.to_owned(),
        matcher: Matcher::Command { words, more: true },
        everywhere: false,
    }
}

/// Questions that the second session waits for.
pub(super) fn question(number: u8) -> InboxItem {
    let choice =
        |label: &str| Choice { label: label.to_owned(), description: Some("Good.".to_owned()) };
    let asked = AskedQuestion {
        prompt: "Which **database**?".to_owned(),
        title: "Database".to_owned(),
        options: vec![choice("PostgreSQL"), choice("SQLite")],
        multi_select: false,
        html: None,
    };
    InboxItem {
        uid: Some(session_id(2)),
        questions: Some(vec![asked]),
        ..questions(number, InboxKind::Questions, "Database")
    }
}

fn questions(number: u8, kind: InboxKind, title: &str) -> InboxItem {
    InboxItem {
        id: RequestId::from_random([number; 16]),
        kind,
        session_id: Some("claude-code:1".to_owned()),
        uid: Some(session_id(1)),
        title: title.to_owned(),
        created_at: Timestamp::from_millis(NOW - 300_000),
        agent: Some("claude-code".parse().unwrap()),
        project: Some("shop".to_owned()),
        project_id: Some(shop().id),
        permission: None,
        questions: None,
        asked_by: None,
        working_directory: None,
        status: RequestStatus::Pending,
    }
}
