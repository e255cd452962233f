//! Plays a script: lines of JSON are what the agent says, other lines are orders. `$1` is the first id that was made.

use std::cell::Cell;

use convoke_core::question::Answer;
use convoke_core::session::{Reply, ToolUpdate};
use convoke_core::time::Timestamp;

use super::super::*;

thread_local! {
    static MADE: Cell<u8> = const { Cell::new(0) };
}

/// Ids that count.
fn count() -> [u8; 16] {
    [MADE.replace(MADE.get() + 1) + 1; 16]
}

/// What becomes of the script, line by line.
pub(super) fn play(script: &str) -> String {
    Scene::new().play(script)
}

pub(super) struct Scene {
    pub(super) conversation: Conversation,
    turns: u64,
}

impl Scene {
    pub(super) fn new() -> Self {
        MADE.set(0);
        Self { conversation: Conversation::new("ses".to_owned(), count), turns: 0 }
    }

    pub(super) fn play(&mut self, script: &str) -> String {
        let lines = script.lines().map(str::trim).filter(|line| !line.is_empty());
        let steps = lines.flat_map(|line| self.step(line));
        steps.map(|step| show(&step)).collect::<Vec<_>>().join("\n")
    }

    fn step(&mut self, line: &str) -> Vec<Step> {
        let line = (1..=MADE.get()).fold(line.to_owned(), |line, made| {
            line.replace(&format!("${made}"), &id(made).to_string())
        });
        if line.starts_with('{') {
            let frame = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
            return self.conversation.handle(&frame);
        }
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match word {
            "greet" => self.conversation.initialize(),
            "leave" => self.conversation.leave(),
            _ => {
                let order = self.order(word, rest);
                self.conversation.handle_order(order)
            }
        }
    }

    fn order(&mut self, word: &str, rest: &str) -> Order {
        match word {
            "prompt" => {
                self.turns += 1;
                Order::Prompt {
                    turn: Seq::new(self.turns),
                    text: rest.to_owned(),
                    attachments: Vec::new(),
                }
            }
            "cancel" => Order::Cancel,
            "mode" => Order::SetMode { mode: rest.to_owned() },
            "setting" => {
                let (setting, choice) = rest.split_once(' ').unwrap();
                Order::SetSetting { setting: setting.to_owned(), choice: choice.to_owned() }
            }
            "reply" => {
                let (request, words) = rest.split_once(' ').unwrap();
                Order::Reply { request: request.parse().unwrap(), reply: reply(words) }
            }
            other => panic!("unknown word {other}"),
        }
    }
}

fn reply(words: &str) -> Reply {
    match words.split_once(' ').unwrap_or((words, "")) {
        ("choose", option) => Reply::Chosen { option_id: option.to_owned() },
        ("reject", "") => Reply::Rejected { reason: None },
        ("reject", reason) => Reply::Rejected { reason: Some(reason.to_owned()) },
        ("timeout", _) => Reply::TimedOut,
        ("cancelled", _) => Reply::Cancelled,
        ("answer", label) => Reply::Answered(vec![Answer {
            question_index: 0,
            selected_option: Some(label.to_owned()),
            selected_options: None,
            custom_text: None,
            timestamp: Timestamp::from_millis(0),
        }]),
        other => panic!("unknown reply {other:?}"),
    }
}

fn id(made: u8) -> RequestId {
    RequestId::from_random([made; 16])
}

fn show(step: &Step) -> String {
    let text = match step {
        Step::Send(frame) => format!("> {frame}"),
        Step::Report(report) => show_report(report),
    };
    (1..=MADE.get())
        .fold(text, |text, made| text.replace(&id(made).to_string(), &format!("${made}")))
}

fn show_report(report: &Report) -> String {
    match report {
        Report::Said(text) => format!("said {text:?}"),
        Report::Thought(text) => format!("thought {text:?}"),
        Report::ToolCalled(update) => format!("tool {}", show_tool(update)),
        Report::Noticed(Notice { event, text }) => {
            format!("notice {}: {text}", serde_json::to_string(event).unwrap())
        }
        Report::Asked(request) => format!("asked {}", serde_json::to_string(request).unwrap()),
        Report::Withdrew(id) => format!("withdrew {id}"),
        Report::TurnEnded { turn, stop } => format!("ended {turn}: {}", stop.sentence()),
        Report::State(state) => format!("state {}", serde_json::to_string(state).unwrap()),
        Report::Renewed { agent_session } => format!("renewed {agent_session}"),
        Report::Planned(_)
        | Report::Resumed(_)
        | Report::Exited(_)
        | Report::Stopped
        | Report::Failed { .. } => {
            format!("{report:?}")
        }
    }
}

fn show_tool(update: &ToolUpdate) -> String {
    let ToolUpdate { tool_call_id, tool, title, kind, args, status, result } = update;
    let known = json!({
        "tool": tool, "title": title, "kind": kind, "args": args, "status": status, "result": result,
    });
    let known: Vec<String> = known
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    format!("{tool_call_id} {}", known.join(" "))
}
