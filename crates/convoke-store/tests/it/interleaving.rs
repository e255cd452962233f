//! Any interleaving of updates reads back the same, whatever the pages and wherever a reader was cut off.

use std::collections::BTreeMap;

use convoke_core::content::{ToolResult, ToolStatus, Usage};
use convoke_core::message::{Message, Rev, Seq};
use convoke_core::notice::{Notice, TurnEvent};
use convoke_core::session::{Command, QueueChoice, Report, ToolUpdate};
use convoke_core::state::{OfferedCommand, SessionState, StateKind};
use convoke_core::update::{Update, Updates};
use convoke_store::Store;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};

use crate::world::{Batch, Talk, World, prompts, receive, says};

/// One step of a conversation.
#[derive(Debug, Clone)]
enum Step {
    Prompt(String),
    Say(String),
    Think(String),
    /// A tool call begins, prints or ends: which one, what it prints, and whether that is all.
    Tool(u8, String, bool),
    Plan,
    Usage(u64),
    Offer(String),
    Wait(u64),
    Cancel,
    End,
}

/// Some steps in one of the sessions, which are recorded with one call.
#[derive(Debug, Clone)]
struct Recorded {
    session: usize,
    steps: Vec<Step>,
}

fn step() -> impl Strategy<Value = Step> {
    // Words that fill a page, and words that do not.
    let large =
        || (any::<char>(), select(vec![500, 90_000])).prop_map(|(c, n)| c.to_string().repeat(n));
    let text = || prop_oneof![9 => ".{0,20}", 1 => large()];
    prop_oneof![
        2 => text().prop_map(Step::Prompt),
        6 => text().prop_map(Step::Say),
        2 => text().prop_map(Step::Think),
        3 => (0..3_u8, text(), any::<bool>()).prop_map(|(id, text, done)| Step::Tool(id, text, done)),
        1 => select(vec![Step::Plan, Step::Cancel]),
        1 => (0..9_u64).prop_map(Step::Usage),
        1 => text().prop_map(Step::Offer),
        1 => (1..4_u64).prop_map(Step::Wait),
        2 => select(vec![Step::End]),
    ]
}

fn recorded() -> impl Strategy<Value = Recorded> {
    (0..3_usize, vec(step(), 1..6)).prop_map(|(session, steps)| Recorded { session, steps })
}

fn command(talk: &Talk, step: &Step) -> Option<Command> {
    let report = match step {
        Step::Prompt(text) => return Some(prompts(text)),
        Step::Say(text) => return Some(says(text)),
        Step::Cancel => return Some(Command::CancelTurn { queue: QueueChoice::Send }),
        Step::End => return talk.session.running().map(|_| talk.ends()),
        Step::Think(text) => Report::Thought(text.clone()),
        Step::Tool(id, text, done) => Report::ToolCalled(ToolUpdate {
            tool_call_id: id.to_string(),
            status: Some(if *done { ToolStatus::Complete } else { ToolStatus::Running }),
            result: Some(ToolResult { text: Some(text.clone()), ..ToolResult::default() }),
            ..ToolUpdate::default()
        }),
        Step::Plan => Report::Planned(Vec::new()),
        Step::Usage(tokens) => {
            let context_used = Some(*tokens);
            Report::State(SessionState::Usage(Usage { context_used, ..Usage::default() }))
        }
        Step::Offer(name) => {
            let (name, description) = (name.clone(), String::new());
            let commands = vec![OfferedCommand { name, description, hint: None }];
            Report::State(SessionState::Commands { commands })
        }
        Step::Wait(place) => Report::Noticed(Notice::new(TurnEvent::Waiting { place: *place })),
    };
    Some(Command::Agent(report))
}

/// Plays what the session follows; what it refuses changes nothing.
fn play(talk: &mut Talk, steps: &[Step]) -> Batch {
    let mut updates = Updates::default();
    for step in steps {
        let Some(command) = command(talk, step) else { continue };
        if talk.session.handle(command.clone()).is_ok() {
            talk.decide(command).updates.into_iter().for_each(|update| updates.push(update));
        }
    }
    Batch { updates, summary: talk.session.summary().clone() }
}

async fn read_forwards(store: &Store, talk: &Talk, limit: u32) -> Vec<Message> {
    let (mut read, mut after) = (Vec::new(), Seq::START);
    loop {
        let page = store.messages(talk.id, after, limit).await.unwrap();
        read.extend(page.messages);
        after = read.last().map_or(after, |message: &Message| message.seq);
        if !page.more {
            return read;
        }
    }
}

async fn read_backwards(store: &Store, talk: &Talk, limit: u32) -> Vec<Message> {
    let mut read: Vec<Message> = Vec::new();
    loop {
        let before = read.first().map_or(Seq::new(1_000_000), |message| message.seq);
        let page = store.messages_before(talk.id, before, limit).await.unwrap();
        read.splice(0..0, page.messages);
        if !page.more {
            return read;
        }
    }
}

/// A reader that got the updates of the first few commits as they were made, and then was away.
#[derive(Clone)]
struct Reader {
    talk: usize,
    messages: Vec<Message>,
    state: BTreeMap<StateKind, (Rev, SessionState)>,
    rev: Rev,
}

impl Reader {
    fn receive(&mut self, batch: &Batch) {
        batch.updates.clone().into_iter().for_each(|update| self.take(update));
        self.rev = batch.summary.rev;
    }

    /// Reads what it missed, some pages of it only if it is cut off again.
    async fn catch_up(&mut self, store: &Store, talk: &Talk, limit: u32, pages: usize) -> bool {
        for _ in 0..pages {
            let page = store.updates_after(talk.id, self.rev, limit).await.unwrap();
            let revs: Vec<Rev> = page.updates.iter().map(Update::rev).collect();
            assert!(revs.is_sorted() && revs.len() <= limit as usize, "{revs:?}");
            assert!(revs.iter().all(|rev| self.rev < *rev && *rev <= page.rev), "{revs:?}");
            for update in page.updates {
                self.take(update);
            }
            self.rev = page.rev;
            if !page.more {
                return true;
            }
        }
        false
    }

    /// Updates come by revision, so a message may come before one that began earlier and changed later; the gap is filled by
    /// a later update.
    fn take(&mut self, update: Update) {
        if let Update::Message(message) = &update {
            while (self.messages.len() as u64) < message.seq.get() {
                self.messages.push((**message).clone());
            }
        }
        receive(&mut self.messages, &mut self.state, update);
    }
}

#[test]
fn m2_a_reader_that_was_cut_off_anywhere_gets_to_the_stored_state() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    // One file for all cases: whatever else is in it makes no difference.
    let mut world = runtime.block_on(World::new());
    let mut runner = TestRunner::new(Config { cases: 48, ..Config::default() });
    let cases = (vec(recorded(), 0..12), 1..9_u32);
    let property = |(script, limit)| runtime.block_on(holds(&world, script, limit));
    runner.run(&cases, property).unwrap();
    runtime.block_on(world.reopen());
    runtime.block_on(world.store.close());
    world.database.check();
}

async fn holds(world: &World, script: Vec<Recorded>, limit: u32) -> Result<(), TestCaseError> {
    let store = &world.store;
    let mut talks = [world.talk().await, world.talk().await, world.talk().await];
    let rev = Rev::START;
    let mut live: Vec<Reader> = (0..3)
        .map(|talk| Reader { talk, messages: Vec::new(), state: BTreeMap::new(), rev })
        .collect();
    // Readers that were cut off after each of the commits.
    let mut away = live.clone();
    for Recorded { session, steps } in script {
        let (talk, reader) = (&mut talks[session], &mut live[session]);
        let batch = play(talk, &steps);
        if batch.updates.is_empty() {
            continue;
        }
        talk.record(store, &batch).await.unwrap();
        reader.receive(&batch);
        away.push(reader.clone());
        // Some of the readers read a page in between, and are cut off again.
        for (number, reader) in away.iter_mut().enumerate() {
            if number % 3 == 0 && reader.talk == session {
                reader.catch_up(store, talk, limit, 1).await;
            }
        }
    }
    for mut reader in live.into_iter().chain(away) {
        let talk = &talks[reader.talk];
        let is_done = reader.catch_up(store, talk, limit, 1000).await;
        prop_assert!(is_done, "the pages have no end");
        prop_assert_eq!(reader.rev, talk.session.summary().rev);
        prop_assert_eq!(&reader.messages, &talk.messages);
        prop_assert_eq!(&reader.state, &talk.state);
    }
    for talk in &talks {
        prop_assert_eq!(&read_forwards(store, talk, limit).await, &talk.messages);
        prop_assert_eq!(&read_backwards(store, talk, limit).await, &talk.messages);
        let stored = store.session(talk.id).await.unwrap().unwrap();
        prop_assert_eq!(&stored.summary, talk.session.summary());
        let state: BTreeMap<StateKind, (Rev, SessionState)> = store
            .session_state(talk.id)
            .await
            .unwrap()
            .into_iter()
            .map(|(rev, state)| (state.kind(), (rev, state)))
            .collect();
        prop_assert_eq!(&state, &talk.state);
        let open: Vec<Message> =
            talk.messages.iter().filter(|message| message.is_open()).cloned().collect();
        prop_assert_eq!(&store.open_messages(talk.id).await.unwrap(), &open);
    }
    Ok(())
}
