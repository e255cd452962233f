//! A session as the engine keeps it, without the store: reports go in, orders come out, and the log must fold.

use convoke_agents::driver::Order;
use convoke_api::entry::{Entries, Fold};
use convoke_core::id::{MessageId, SessionId};
use convoke_core::message::Message;
use convoke_core::question::Answer;
use convoke_core::request::{Answers, Choice, Request, Verdict};
use convoke_core::session::{Command, Effect, Report, Session};
use convoke_core::time::Timestamp;

/// Prompts that a conversation has at most.
const PROMPTS_MAX: u32 = 4;

/// A session, and all that was said in it.
pub struct Conversation {
    session: Session,
    log: Vec<Message>,
    prompts: u32,
    asked: u32,
}

impl Conversation {
    /// A session, and the order that begins its first turn.
    pub fn begin() -> (Self, Vec<Order>) {
        let session = Session::new(Timestamp::from_millis(0));
        let mut conversation = Self { session, log: Vec::new(), prompts: 0, asked: 0 };
        let orders = conversation.prompt();
        (conversation, orders)
    }

    /// What follows from a report.
    pub fn hear(&mut self, report: Report) -> Vec<Order> {
        let asked = if let Report::Asked(request) = &report { Some(request.clone()) } else { None };
        let mut orders = self.follow(Command::Agent(report));
        if let Some(request) = asked {
            let (request, verdict) = (request.id(), self.verdict(&request));
            orders.extend(self.follow(Command::Settle { request, verdict }));
        }
        if self.session.is_idle() && self.prompts < PROMPTS_MAX {
            orders.extend(self.prompt());
        }
        orders
    }

    /// The log folds into the session that wrote it, survives JSON, and can be shown.
    pub fn check(&self) {
        let mut folded = Session::new(Timestamp::from_millis(0));
        let (mut fold, mut entries) = (Fold::new(), Entries::new());
        for message in &self.log {
            let json = serde_json::to_string(message).expect("a message can be written");
            let read: Message = serde_json::from_str(&json).expect("a message can be read");
            assert_eq!(&read, message);
            folded.apply(&read);
            for change in fold.apply(&read) {
                entries.apply(change);
            }
        }
        assert_eq!(folded, self.session);
    }

    fn prompt(&mut self) -> Vec<Order> {
        self.prompts += 1;
        // Every other prompt is followed by a wish to stop.
        let mut orders = self.follow(Command::Prompt { text: format!("prompt {}", self.prompts) });
        if self.prompts % 2 == 0 {
            orders.extend(self.follow(Command::CancelTurn));
        }
        orders
    }

    fn follow(&mut self, command: Command) -> Vec<Order> {
        let Ok(decision) = self.session.handle(command) else { return Vec::new() };
        for draft in decision.drafts {
            let seq = self.session.summary().last_seq.next();
            let (id, of) = (MessageId::from_random([1; 16]), SessionId::from_random([2; 16]));
            let message = draft.stamp(id, of, seq, Timestamp::from_millis(seq.get() as i64));
            self.session.apply(&message);
            self.log.push(message);
        }
        decision.effects.into_iter().filter_map(order).collect()
    }

    /// Something else each time.
    fn verdict(&mut self, request: &Request) -> Verdict {
        self.asked += 1;
        match (self.asked % 4, request) {
            (0, _) => Verdict::Reject { reason: Some("no".to_owned()) },
            (1, _) => Verdict::TimeOut,
            (_, Request::Permission(record)) => match record.options.first() {
                Some(option) => Verdict::Choose(Choice { option_id: option.option_id.clone() }),
                None => Verdict::Abandon,
            },
            (_, Request::Questions(record)) => {
                let answer = |question_index| Answer {
                    question_index,
                    selected_option: None,
                    selected_options: None,
                    custom_text: Some("as you like".to_owned()),
                    timestamp: Timestamp::from_millis(0),
                };
                Verdict::Answer(Answers { answers: (0..record.questions.len()).map(answer).collect() })
            }
        }
    }
}

fn order(effect: Effect) -> Option<Order> {
    match effect {
        Effect::StartTurn { turn } => Some(Order::Prompt { turn, text: "go on".to_owned() }),
        Effect::CancelTurn { .. } => Some(Order::Cancel),
        Effect::Reply { request, reply } => Some(Order::Reply { request, reply }),
        Effect::StopProcess | Effect::RecordAgentSession { .. } => None,
    }
}
