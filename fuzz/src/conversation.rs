//! A session as the engine keeps it, without the store: reports go in, orders come out, and readers see what is stored.

use std::collections::BTreeMap;

use convoke_agents::driver::Order;
use convoke_api::entry::{Entries, Entry};
use convoke_core::id::{MessageId, SessionId};
use convoke_core::message::{Message, Seq};
use convoke_core::prompt::Prompt;
use convoke_core::question::Answer;
use convoke_core::request::{Answers, Choice, Request, Verdict};
use convoke_core::session::{Change, Command, Effect, QueueChoice, Report, Session, Stamp};
use convoke_core::state::{SessionState, StateKind};
use convoke_core::time::Timestamp;
use convoke_core::update::{OpenMessages, Update, UpdateStamp, append};

/// Prompts that a conversation has at most.
const PROMPTS_MAX: u32 = 4;

/// A session, what a store would have of it, and a reader that followed it from the beginning.
pub struct Conversation {
    session: Session,
    open: OpenMessages,
    messages: BTreeMap<Seq, Message>,
    states: BTreeMap<StateKind, SessionState>,
    reader: Entries,
    prompts: u32,
    asked: u32,
}

impl Conversation {
    /// A session, and the order that begins its first turn.
    pub fn begin() -> (Self, Vec<Order>) {
        let mut conversation = Self {
            session: Session::new(Timestamp::from_millis(0)),
            open: OpenMessages::default(),
            messages: BTreeMap::new(),
            states: BTreeMap::new(),
            reader: Entries::new(),
            prompts: 0,
            asked: 0,
        };
        let orders = conversation.prompt();
        (conversation, orders)
    }

    /// What follows from a report.
    pub fn handle_report(&mut self, report: Report) -> Vec<Order> {
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

    /// What is stored survives JSON, restores the session, and is what a reader has that followed it.
    pub fn check(&self) {
        for message in self.messages.values() {
            let json = serde_json::to_string(message).expect("a message can be written");
            let read: Message = serde_json::from_str(&json).expect("a message can be read");
            assert_eq!(&read, message);
        }
        for state in self.states.values() {
            let json = serde_json::to_string(state).expect("state can be written");
            let read: SessionState = serde_json::from_str(&json).expect("state can be read");
            assert_eq!(&read, state);
        }
        let shown: Vec<Entry> = self.messages.values().map(Entry::from).collect();
        assert_eq!(self.reader.conversation(), shown);
        assert_eq!(self.reader.state().len(), self.states.len());
        self.check_restored();
    }

    /// What a restart needs is stored; what only the running turn needs is not.
    fn check_restored(&self) {
        let open: Vec<Message> =
            self.messages.values().filter(|message| message.is_open()).cloned().collect();
        let states = self.states.values().cloned().collect();
        let restored = Session::restore(self.session.summary().clone(), &open, states);
        assert_eq!(restored.running(), self.session.running());
        assert!(restored.queue().eq(self.session.queue()));
        assert!(restored.pending().eq(self.session.pending()));
    }

    fn prompt(&mut self) -> Vec<Order> {
        self.prompts += 1;
        let id = MessageId::from_random((u128::MAX - u128::from(self.prompts)).to_be_bytes());
        let stamp = Stamp { id, at: self.now() };
        // Every other prompt is followed by a cancellation.
        let text = format!("prompt {}", self.prompts);
        let prompt = Prompt { text, ..Prompt::default() };
        let mut orders = self.follow(Command::Prompt { prompt, stamp });
        if self.prompts % 2 == 0 {
            orders.extend(self.follow(Command::CancelTurn { queue: QueueChoice::default() }));
        }
        orders
    }

    fn follow(&mut self, command: Command) -> Vec<Order> {
        let Ok(decision) = self.session.handle(command) else { return Vec::new() };
        for change in decision.changes {
            self.apply(change);
        }
        decision.effects.into_iter().filter_map(order).collect()
    }

    fn apply(&mut self, change: Change) {
        let at = self.now();
        self.session.apply(&change, at);
        let summary = self.session.summary();
        let (seq, rev) = (summary.last_seq, summary.rev);
        let id = MessageId::from_random(u128::from(rev.get()).to_be_bytes());
        let session_id = SessionId::from_random([2; 16]);
        // A request that was settled may change again when its answer comes late.
        if let Change::Replace { seq, .. } = &change
            && let Some(message) = self.messages.get(seq)
        {
            self.open.reopen(message.clone());
        }
        let stamp = UpdateStamp { session_id, id, seq, rev, at };
        match self.open.apply(change, stamp).expect("only open messages change") {
            Update::Message(message) => {
                self.reader.upsert(Entry::from(&*message));
                self.messages.insert(message.seq, (*message).clone());
            }
            Update::Delta(delta) => {
                self.reader.append(&delta.id.to_string(), &delta.text, delta.rev);
                let message = self.messages.get_mut(&delta.seq).expect("the message began");
                append(&mut message.content, &delta.text);
                (message.rev, message.updated_at) = (delta.rev, delta.at);
            }
            Update::State { rev, state } => {
                self.reader.upsert(Entry::of_state(&state, rev));
                self.states.insert(state.kind(), (*state).clone());
            }
        }
    }

    /// A different time for every change.
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.session.summary().rev.next().get() as i64)
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
                Verdict::Answer(Answers {
                    answers: (0..record.questions.len()).map(answer).collect(),
                })
            }
        }
    }
}

fn order(effect: Effect) -> Option<Order> {
    match effect {
        Effect::StartTurn { turn } => {
            Some(Order::Prompt { turn, text: "go on".to_owned(), attachments: Vec::new() })
        }
        Effect::CancelTurn { .. } => Some(Order::Cancel),
        Effect::Reply { request, reply } => Some(Order::Reply { request, reply }),
        Effect::StopProcess | Effect::RecordAgentSession { .. } => None,
    }
}
