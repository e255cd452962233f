//! At least one content of every variant.

use serde_json::json;

use crate::content::{
    Content, Cost, Diff, PlanPriority, PlanStatus, PlanStep, Tool, ToolResult, ToolStatus, Usage,
};
use crate::evidence::Evidence;
use crate::files::Removal;
use crate::id::{MessageId, RequestId, RuleId, SessionId};
use crate::message::Seq;
use crate::notice::{
    AgentEvent, Event, FilesEvent, ImportedTurn, LifecycleEvent, MovedFiles, MovedMemory, Notice,
    ProcessEvent, Resumed, RuleEvent, SessionMove, TurnEvent,
};
use crate::process::Exit;
use crate::question::{Answer, Choice as Offered, Question};
use crate::request::{
    Answers, Choice, PermissionKind, PermissionOption, PermissionRecord, QuestionRecord, State,
};
use crate::rule::{Matcher, Proposal};
use crate::session::EndReason;
use crate::state::{OfferedChoice, OfferedCommand, OfferedSetting, QueuedPrompt, SessionState};
use crate::time::Timestamp;
use crate::turn::{FailureKind, Stop};

pub(super) fn all() -> Vec<Content> {
    [words_plans_and_tools(), requests(), permissions(), notices()].concat()
}

pub(super) fn words_plans_and_tools() -> Vec<Content> {
    let text = |text: &str, partial: bool| match partial {
        true => Content::partial_text(text),
        false => Content::text(text),
    };
    let step = |content: &str, status, priority| PlanStep {
        content: content.to_owned(),
        status,
        priority,
    };
    let steps = vec![
        step("read", PlanStatus::Completed, Some(PlanPriority::High)),
        step("write", PlanStatus::InProgress, Some(PlanPriority::Medium)),
        step("rest", PlanStatus::Pending, Some(PlanPriority::Low)),
        step("dream", PlanStatus::Pending, None),
    ];
    let tool = |id: &str, tool: &str, status, result| Tool {
        tool_call_id: id.to_owned(),
        tool: tool.to_owned(),
        title: None,
        kind: None,
        args: json!({}),
        status,
        result,
    };
    let diff = |path: &str, old: Option<&str>, new: &str| Diff {
        path: path.to_owned(),
        old_text: old.map(str::to_owned),
        new_text: new.to_owned(),
    };
    let edited = ToolResult {
        text: Some("done".to_owned()),
        diffs: vec![diff("a.txt", Some("a"), "b"), diff("new.txt", None, "c")],
        error: None,
    };
    let failed = ToolResult { error: Some("no such file".to_owned()), ..ToolResult::default() };
    vec![
        text("user's prompt", false),
        text("agent's response", true),
        Content::Thinking { text: "so be it".to_owned(), partial: false },
        Content::Thinking { text: "hm".to_owned(), partial: true },
        Content::Plan { steps },
        Content::Tool(tool("call_1", "Bash", ToolStatus::Running, None)),
        Content::Tool(Tool {
            title: Some("Edit a.txt".to_owned()),
            kind: Some("edit".to_owned()),
            args: json!({"path": "a.txt"}),
            ..tool("call_2", "write", ToolStatus::Complete, Some(edited))
        }),
        Content::Tool(tool("call_3", "read", ToolStatus::Error, Some(failed))),
    ]
}

pub(super) fn states() -> Vec<SessionState> {
    let usage = Usage {
        input_tokens: Some(10),
        output_tokens: Some(20),
        context_used: Some(1234),
        context_size: Some(200_000),
        cost: Some(Cost { amount: 0.14, currency: "USD".to_owned() }),
    };
    let choice = OfferedChoice {
        id: "plan".to_owned(),
        name: "Plan".to_owned(),
        description: Some("think first".to_owned()),
    };
    let prompt = QueuedPrompt {
        by: None,
        id: MessageId::from_random([7; 16]),
        text: "next".to_owned(),
        attachments: Vec::new(),
        files: Vec::new(),
        review: Vec::new(),
        timestamp: Timestamp::from_millis(0),
        waits_for: None,
    };
    vec![
        SessionState::Queue { prompts: vec![prompt.clone()], held: false },
        SessionState::Queue { prompts: vec![prompt], held: true },
        SessionState::Commands {
            commands: vec![OfferedCommand {
                name: "compact".to_owned(),
                description: "make room".to_owned(),
                hint: Some("[focus]".to_owned()),
            }],
        },
        SessionState::Modes { current: "plan".to_owned(), available: vec![choice.clone()] },
        SessionState::Settings {
            settings: vec![OfferedSetting {
                id: "model".to_owned(),
                name: "Model".to_owned(),
                category: Some("model".to_owned()),
                current: "plan".to_owned(),
                choices: vec![choice],
            }],
        },
        SessionState::Usage(Usage::default()),
        SessionState::Usage(usage),
    ]
}

pub(super) fn requests() -> Vec<Content> {
    let request_id = RequestId::from_random([0; 16]);
    let option = |option_id: &str, name: &str, kind| PermissionOption {
        option_id: option_id.to_owned(),
        name: name.to_owned(),
        kind,
    };
    let permission = |state| PermissionRecord {
        by: None,
        request_id,
        tool_call_id: None,
        tool: None,
        evidence: None,
        rules: Vec::new(),
        title: "Run tests".to_owned(),
        options: Vec::new(),
        state,
    };
    let question = |state| QuestionRecord { by: None, request_id, questions: Vec::new(), state };
    let asked = Question {
        prompt: "Which?".to_owned(),
        title: "Which".to_owned(),
        options: vec![
            Offered { label: "A".to_owned(), description: None },
            Offered { label: "B".to_owned(), description: Some("second".to_owned()) },
        ],
        multi_select: true,
    };
    let several = Answer {
        question_index: 0,
        selected_option: None,
        selected_options: Some(vec!["A".to_owned(), "B".to_owned()]),
        custom_text: Some("C".to_owned()),
        timestamp: Timestamp::from_millis(1_794_736_800_000),
    };
    let one = Answer {
        question_index: 0,
        selected_option: Some("A".to_owned()),
        selected_options: None,
        custom_text: None,
        timestamp: several.timestamp,
    };
    vec![
        Content::Permission(PermissionRecord {
            tool_call_id: Some("call_1".to_owned()),
            tool: Some("Bash".to_owned()),
            evidence: Some(Evidence::command("cargo test".to_owned())),
            rules: vec![
                Proposal {
                    label: "`cargo test …` in harbour".to_owned(),
                    matcher: Matcher::Command {
                        words: vec!["cargo".to_owned(), "test".to_owned()],
                        more: true,
                    },
                    everywhere: false,
                },
                Proposal {
                    label: "fetches from `docs.rs` everywhere".to_owned(),
                    matcher: Matcher::Fetch { domain: "docs.rs".to_owned() },
                    everywhere: true,
                },
            ],
            options: vec![
                option("1", "Allow", PermissionKind::AllowOnce),
                option("2", "Always", PermissionKind::AllowAlways),
                option("3", "Deny", PermissionKind::RejectOnce),
                option("4", "Never", PermissionKind::RejectAlways),
            ],
            ..permission(State::Pending)
        }),
        Content::Permission(permission(State::Answered(Choice { option_id: "1".to_owned() }))),
        Content::Permission(permission(State::Rejected { reason: None })),
        Content::Question(QuestionRecord { questions: vec![asked], ..question(State::Pending) }),
        Content::Question(question(State::Answered(Answers { answers: vec![several, one] }))),
        Content::Question(question(State::Rejected { reason: Some("not now".to_owned()) })),
        Content::Question(question(State::TimedOut)),
        Content::Question(question(State::Abandoned)),
    ]
}

/// A permission with each sort of evidence.
pub(super) fn permissions() -> Vec<Content> {
    let permission = |evidence| {
        Content::Permission(PermissionRecord {
            by: None,
            request_id: RequestId::from_random([0; 16]),
            tool_call_id: None,
            tool: None,
            title: "Run tests".to_owned(),
            evidence: Some(evidence),
            rules: Vec::new(),
            options: Vec::new(),
            state: State::Pending,
        })
    };
    let diff =
        Diff { path: "a.rs".to_owned(), old_text: Some("a".to_owned()), new_text: "b".to_owned() };
    let all = [
        Evidence::Command {
            command: "make".to_owned(),
            working_directory: Some("/srv".to_owned()),
            arguments: Some(json!({"env": {"A": "b"}})),
            omitted_bytes: 7,
        },
        Evidence::Changes { diffs: vec![diff], omitted_bytes: 0 },
        Evidence::Read { paths: vec!["a.rs".to_owned()], omitted_bytes: 0 },
        Evidence::Fetch { url: "https://docs.rs".to_owned(), omitted_bytes: 0 },
        Evidence::Tool {
            server: Some("github".to_owned()),
            tool: "list".to_owned(),
            args: json!({"n": 1}),
            omitted_bytes: 0,
        },
    ];
    all.map(permission).to_vec()
}

pub(super) fn notices() -> Vec<Content> {
    let turn = Seq::new(3);
    let failed = |why| Stop::failed(why, "boom");
    let stops = [
        Stop::EndTurn,
        Stop::Cancelled,
        Stop::Refusal,
        Stop::MaxTokens,
        Stop::MaxTurnRequests,
        failed(FailureKind::Interrupted),
        failed(FailureKind::ProcessExited),
        failed(FailureKind::AgentError),
        failed(FailureKind::NotStarted),
        failed(FailureKind::Internal),
    ];
    let resumed = [
        Resumed::Native,
        Resumed::Replay,
        Resumed::Summary,
        Resumed::Afresh,
        Resumed::Forked,
        Resumed::ForkedReplay,
    ];
    let session = SessionId::from_random([0; 16]);
    let rule_id = RuleId::from_random([0; 16]);
    let rule = "Allow `cargo test …` in harbour".to_owned();
    let exits = [
        Exit::default(),
        Exit { exit_code: Some(1), stderr_tail: Some("panicked".to_owned()), signal: None },
        Exit { signal: Some(9), ..Exit::default() },
    ];
    let events = stops
        .map(|stop| Event::from(TurnEvent::Ended { turn, stop }))
        .into_iter()
        .chain(resumed.map(|how| ProcessEvent::Resumed { how }.into()))
        .chain(exits.map(|exit| ProcessEvent::Exited { exit }.into()))
        .chain([
            AgentEvent::Compacted.into(),
            RuleEvent::Dropped { tool: "Bash".to_owned() }.into(),
            TurnEvent::Limit { max: 67_108_864 }.into(),
            TurnEvent::Refused { prompt: "go on".into(), why: "the session is completed".into() }
                .into(),
            FilesEvent::CheckpointFailed { error: "git is not installed".to_owned() }.into(),
            FilesEvent::FilesRestored { turn: Some(turn), number: Some(2), written: 2, removed: 1 }
                .into(),
            FilesEvent::FilesRestored { turn: None, number: None, written: 1, removed: 0 }.into(),
            FilesEvent::RestoreCompleted { files: 3, left: 1 }.into(),
        ])
        .chain(worktrees(session))
        .chain([
            LifecycleEvent::Completed { reason: EndReason::IdleTimeout }.into(),
            LifecycleEvent::Cancelled { reason: EndReason::User }.into(),
            LifecycleEvent::Failed { error: "no such program".to_owned() }.into(),
            LifecycleEvent::Reopened.into(),
            LifecycleEvent::Renamed { title: "Parser".to_owned() }.into(),
            LifecycleEvent::Archived.into(),
            LifecycleEvent::Unarchived.into(),
            TurnEvent::Waiting { place: 2 }.into(),
            ProcessEvent::Unconfined.into(),
            RuleEvent::Made { rule_id: Some(rule_id), rule: rule.clone() }.into(),
            RuleEvent::Applied { rule_id: Some(rule_id), rule, what: "cargo test".to_owned() }
                .into(),
            RuleEvent::Denied {
                rule_id,
                rule: "Deny `rm` everywhere".to_owned(),
                what: "rm -rf /".to_owned(),
            }
            .into(),
            LifecycleEvent::Continues { session }.into(),
            LifecycleEvent::ContinuedIn { session }.into(),
        ])
        .chain(moves())
        .chain(imports(session))
        .chain([
            AgentEvent::Advice { severity: "warning".to_owned() }.into(),
            AgentEvent::Unknown { kind: "sparkle".to_owned(), payload: json!({"glitter": 1}) }
                .into(),
        ]);
    events.map(|event| Content::Notice(Notice::new(event))).collect()
}

fn moves() -> Vec<Event> {
    let why = "laptop was away".to_owned();
    let moved = |by: Option<&str>, files, memory| {
        let (from, to) = ("laptop".to_owned(), "server".to_owned());
        let by = by.map(|name| name.parse().unwrap());
        let left_behind = Vec::from_iter(by.is_some().then(|| "big.bin".to_owned()));
        LifecycleEvent::Moved(SessionMove { from, to, by, files, left_behind, memory }).into()
    };
    let path = "/home/me/trees/web/3fa8".to_owned();
    let stayed = |why: Option<&str>| {
        let (path, why) = (path.clone(), why.map(str::to_owned));
        MovedFiles::Stayed { path, why }
    };
    let branch = "convoke/3fa8/work".to_owned();
    let worktree = MovedFiles::Worktree { path: path.clone(), branch };
    vec![
        moved(Some("ada"), MovedFiles::Written { written: 2, removed: 1 }, MovedMemory::Record),
        moved(None, MovedFiles::Same, MovedMemory::Record),
        moved(None, MovedFiles::Kept { why: why.clone() }, MovedMemory::Record),
        moved(None, worktree, MovedMemory::Record),
        moved(None, stayed(Some("the commit 1a2b is missing")), MovedMemory::Record),
        moved(Some("ada"), stayed(None), MovedMemory::Record),
        moved(None, MovedFiles::Left { why: why.clone() }, MovedMemory::Transcript { why }),
    ]
}

fn worktrees(session: SessionId) -> Vec<Event> {
    let (path, branch) = ("/data/app/fix".to_owned(), "convoke/fix".to_owned());
    let set_up = |code| FilesEvent::WorktreeSetUp {
        command: "npm ci".to_owned(),
        code,
        output: "done\n".to_owned(),
    };
    let removed = |how| FilesEvent::WorktreeRemoved {
        how,
        branch: branch.clone(),
        base: Some("main".to_owned()).filter(|_| how != Removal::Discard),
    };
    let left_out = vec!["big.bin".to_owned()];
    let made = FilesEvent::WorktreeMade {
        path: path.clone(),
        branch: branch.clone(),
        copied: 2,
        left_out,
    };
    let what = "Merging was interrupted and undone.".to_owned();
    let events = [
        made,
        set_up(Some(0)),
        set_up(Some(1)),
        set_up(None),
        FilesEvent::FolderShared { session, git: true },
        removed(Removal::Merge),
        removed(Removal::Squash),
        removed(Removal::Rebase),
        removed(Removal::Keep),
        removed(Removal::Discard),
        removed(Removal::Remove),
        FilesEvent::WorktreeRestored { path },
        FilesEvent::WorktreeRecovered { what },
    ];
    events.map(Event::from).into()
}

fn imports(session: SessionId) -> [Event; 3] {
    [
        LifecycleEvent::Imported {
            transcript: session.to_string(),
            after: 0,
            turns: Vec::new(),
            forked_from: Some(session),
        }
        .into(),
        LifecycleEvent::Imported {
            transcript: "try-out".to_owned(),
            after: 2,
            turns: vec![ImportedTurn {
                seq: Seq::new(4),
                timestamp: Timestamp::from_millis(0),
                tokens: 7,
            }],
            forked_from: None,
        }
        .into(),
        LifecycleEvent::ImportedFrom {
            agent: "Claude Code".to_owned(),
            file: "/home/me/.claude/projects/-p/a.jsonl".to_owned(),
            before: Some(session),
            parent: Some("a0".to_owned()),
        }
        .into(),
    ]
}
