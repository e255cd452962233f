//! A screen without a terminal: messages go in, and what a person would see comes out.

use convoke_core::id::RequestId;
use convoke_core::question::{Choice, Question};
use convoke_core::time::Timestamp;
use ratatui::layout::Size;

use crate::Colour;
use crate::answer::message::{Damaged, Effect, Found, Message, Outcome};
use crate::answer::model::Model;
use crate::answer::update::update;
use crate::answer::view;
use crate::card::Card;
use crate::sheet::{Asker, Ending, OpenRequest, QuestionSet};
use crate::stage::{keys, letters, position_of, screen, styles};

/// A screen with what there is in the folder, with a clock that moves only when the test moves it.
pub(super) struct Stage {
    pub(super) model: Model,
    pub(super) effects: Vec<Effect>,
    now: Timestamp,
    open: Vec<OpenRequest>,
}

/// 2026-11-15T10:45:00Z.
const NOW: i64 = 1_794_739_500_000;

impl Stage {
    pub(super) fn new(width: u16, height: u16) -> Self {
        let now = Timestamp::from_millis(NOW);
        let folder = "/home/ann/.convoke/questions".to_owned();
        let mut model = Model::new(folder, Some("/home/ann".to_owned()), Colour::On, now);
        model.size = Size { width, height };
        Self { model, effects: Vec::new(), now, open: Vec::new() }
    }

    /// The usual size, with these sets found in the folder.
    pub(super) fn with(sets: impl IntoIterator<Item = OpenRequest>) -> Self {
        let mut stage = Self::new(80, 24);
        stage.arrive(sets);
        stage.effects.clear();
        stage
    }

    pub(super) fn sized(mut self, width: u16, height: u16) -> Self {
        self.resize(width, height);
        self
    }

    pub(super) fn resize(&mut self, width: u16, height: u16) {
        self.send(Message::Resized(Size { width, height }));
    }

    pub(super) fn send(&mut self, message: Message) {
        self.effects.extend(update(&mut self.model, self.now, message));
    }

    /// Time passes.
    pub(super) fn pass(&mut self, seconds: i64) {
        self.now = Timestamp::from_millis(self.now.as_millis() + seconds * 1000);
        self.send(Message::Ticked);
    }

    /// New sets are found besides those that are there.
    pub(super) fn arrive(&mut self, sets: impl IntoIterator<Item = OpenRequest>) {
        self.open.extend(sets);
        self.find(vec![], vec![]);
    }

    /// Another process settles a set.
    pub(super) fn end(&mut self, number: u8, ending: Ending) {
        self.open.retain(|asked| asked.id != id(number));
        self.find(vec![(id(number), ending)], vec![]);
    }

    pub(super) fn find(&mut self, ended: Vec<(RequestId, Ending)>, damaged: Vec<Damaged>) {
        self.send(Message::Found(Found { open: self.open.clone(), ended, damaged }));
    }

    /// What was to be done outside is done.
    pub(super) fn settle(&mut self, number: u8, outcome: Outcome) {
        self.open.retain(|asked| asked.id != id(number));
        self.send(Message::Settled { id: id(number), outcome });
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

    pub(super) fn pastes(&mut self, text: &str) -> &mut Self {
        self.send(Message::Pasted(text.to_owned()));
        self
    }

    /// Clicks on the first place where a text stands on the screen.
    pub(super) fn clicks(&mut self, text: &str) -> &mut Self {
        let at = position_of(&self.screen(), text);
        if let Some((target, column)) = view::target_at(&self.model, at) {
            self.send(Message::Clicked { target, column });
        }
        self
    }

    /// The set of questions at a place of the queue.
    pub(super) fn set(&self, at: usize) -> &QuestionSet {
        match &self.model.sets[at].card {
            Card::Questions(set) => set,
            Card::Permission(card) => panic!("{card:?} is no set"),
        }
    }

    /// What is on the screen, with `█` where the cursor stands.
    pub(super) fn screen(&self) -> String {
        screen(self.model.size, |frame| view::view(&self.model, frame))
    }

    /// The escape sequences that would paint the screen, for what has no letters.
    pub(super) fn styles(&self) -> String {
        styles(self.model.size, |frame| view::view(&self.model, frame))
    }
}

pub(super) fn id(number: u8) -> RequestId {
    RequestId::from_random([number; 16])
}

/// A set that was asked so many minutes ago.
pub(super) fn set(number: u8, minutes: i64, questions: Vec<Question>) -> OpenRequest {
    OpenRequest {
        id: id(number),
        asked_by: Some("claude-code".to_owned()),
        working_directory: Some("/home/ann/src/shop".to_owned()),
        created_at: Timestamp::from_millis(NOW - minutes * 60_000),
        questions,
        asker: Asker::Waits,
    }
}

/// A question; options are `label` or `label: description`.
pub(super) fn one(title: &str, prompt: &str, options: &[&str]) -> Question {
    let choice = |option: &&str| {
        let (label, description) = match option.split_once(": ") {
            Some((label, description)) => (label, Some(description.to_owned())),
            None => (*option, None),
        };
        Choice { label: label.to_owned(), description }
    };
    Question {
        prompt: prompt.to_owned(),
        title: title.to_owned(),
        options: options.iter().map(choice).collect(),
        multi_select: false,
    }
}

/// A question of which several options may be chosen.
pub(super) fn many(title: &str, prompt: &str, options: &[&str]) -> Question {
    Question { multi_select: true, ..one(title, prompt, options) }
}

/// Three questions about a shop.
pub(super) fn shop() -> OpenRequest {
    set(
        1,
        5,
        vec![
            one(
                "Database",
                "Which **database** should the shop use?\n\nToday it is `sqlite`, see [the notes](docs/db.md).",
                &[
                    "PostgreSQL (recommended): One server more, but it grows with the shop.",
                    "SQLite: Stays a single file; fine up to a few hundred orders a minute.",
                ],
            ),
            many(
                "Caches",
                "What may be cached?",
                &["Prices", "Images: The large ones only.", "Baskets"],
            ),
            one("Deploy", "When do we deploy?", &["Tonight", "Monday"]),
        ],
    )
}

/// One question about tea.
pub(super) fn tea() -> OpenRequest {
    let mut asked = set(2, 2, vec![one("Tea", "Tea?", &["Yes", "No"])]);
    asked.asked_by = Some("codex".to_owned());
    asked.working_directory = Some("/srv/kitchen".to_owned());
    asked
}

/// A set whose asker did not wait.
pub(super) fn late() -> OpenRequest {
    let questions = vec![one("Names", "How shall we call it?", &["Convoke", "Gather"])];
    OpenRequest { asker: Asker::TimedOut, asked_by: None, ..set(3, 90, questions) }
}

pub(super) fn damaged() -> Damaged {
    let words = "request.json is damaged: EOF while parsing a value at line 1 column 0";
    Damaged { id: id(9), words: words.to_owned() }
}
