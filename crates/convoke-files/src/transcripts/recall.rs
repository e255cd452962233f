//! Reads the state of a session from its transcript, in one pass, to resume it.

use std::collections::VecDeque;
use std::fmt;
use std::path::Path;

use convoke_core::quote::{self, Speaker};
use convoke_core::replay;
use convoke_core::time::Timestamp;

use super::format::{AgentSession, Metadata, Parsed, Record, Role, Turn, estimate};
use super::lines::{Line, Lines};
use super::{Error, Result};

/// The part of a conversation that is given to an agent, within a token limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recall {
    /// The first line.
    pub metadata: Metadata,
    /// The last agent.
    pub agent: String,
    /// The agent's own id of a session in which it knows the whole conversation; `None` when there is none.
    pub agent_session: Option<AgentSession>,
    /// How many turns there are.
    pub turn_count: u64,
    /// How long they are together.
    pub tokens: u64,
    /// As much of the conversation as one may carry along.
    pub window: Window,
}

/// The first and the last turns, within a budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    tokens_max: u64,
    first: Vec<Turn>,
    first_tokens: u64,
    last: VecDeque<Turn>,
    last_tokens: u64,
    left_out: u64,
}

/// Turns at the beginning that are always kept: they state the subject of the conversation.
const FIRST: usize = 2;

impl Window {
    /// An empty one that holds this many tokens.
    pub const fn new(tokens_max: u64) -> Self {
        Self {
            tokens_max,
            first: Vec::new(),
            first_tokens: 0,
            last: VecDeque::new(),
            last_tokens: 0,
            left_out: 0,
        }
    }

    /// The first turns.
    pub fn first(&self) -> &[Turn] {
        &self.first
    }

    /// How many turns are left out between the first and the last.
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The last turns.
    pub fn last(&self) -> impl Iterator<Item = &Turn> {
        self.last.iter()
    }

    /// How many turns it holds.
    pub fn len(&self) -> usize {
        self.first.len() + self.last.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its turns as an agent is given them, with a note where turns are left out.
    pub fn quoted(&self) -> Vec<quote::Turn> {
        let note = (self.left_out > 0).then(replay::left_out);
        self.first.iter().map(quoted).chain(note).chain(self.last().map(quoted)).collect()
    }

    /// Adds a turn at the end, and drops older turns that exceed the limit.
    pub fn push(&mut self, mut turn: Turn) {
        if self.first.len() < FIRST {
            // Both together may take half of the limit, so that there is always room for the last
            // turn.
            self.first_tokens += shorten(&mut turn.content, self.tokens_max / 4);
            return self.first.push(turn);
        }
        let room = self.tokens_max.saturating_sub(self.first_tokens);
        self.last_tokens += shorten(&mut turn.content, room);
        self.last.push_back(turn);
        while self.last_tokens > room
            && let Some(turn) = self.last.pop_front()
        {
            self.last_tokens -= estimate(&turn.content);
            self.left_out += 1;
        }
    }
}

fn quoted(turn: &Turn) -> quote::Turn {
    let role = match turn.role {
        Role::User => Speaker::User,
        Role::Assistant => Speaker::Assistant,
    };
    quote::Turn { role, text: turn.content.clone() }
}

/// Cuts the middle out of a text that is longer than this many tokens; returns its new length.
fn shorten(text: &mut String, tokens_max: u64) -> u64 {
    let tokens = estimate(text);
    if tokens <= tokens_max {
        return tokens;
    }
    let note = "\n[… the middle is left out …]\n";
    let keep = usize::try_from(tokens_max * 4).unwrap_or(usize::MAX);
    let keep = keep.saturating_sub(note.chars().count());
    let count = text.chars().count();
    let begin: String = text.chars().take(keep / 2).collect();
    let end: String = text.chars().skip(count - keep / 2).collect();
    *text = format!("{begin}{note}{end}");
    estimate(text)
}

/// A line that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    /// Counted from 1.
    pub number: u64,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.number, self.problem)
    }
}

/// Bad lines that are remembered; of more only the number is.
const BAD_LINES_MAX: usize = 100;

/// How a file ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    /// As it should.
    Whole,
    /// With a line that lacks nothing but its line break.
    Unended,
    /// Its writer was killed while it wrote the last line.
    Torn {
        /// Where it begins.
        offset: u64,
    },
}

/// The result of one pass over a file.
pub(super) struct Survey {
    pub(super) metadata: Option<Metadata>,
    /// The last agent, if it is not in the metadata.
    pub(super) agent: Option<String>,
    /// The earliest timestamp of a turn.
    pub(super) began_at: Option<Timestamp>,
    pub(super) tail: Tail,
    agent_session: Option<AgentSession>,
    turn_count: u64,
    tokens: u64,
    window: Window,
    bad: Vec<BadLine>,
    bad_count: u64,
}

/// A line that seems to be cut off.
struct Cut {
    number: u64,
    offset: u64,
    problem: String,
}

impl Survey {
    /// Scans a file; `None` if it does not exist.
    pub(super) fn of(path: &Path, tokens_max: u64) -> Result<Option<Self>> {
        let Some(mut lines) = Lines::open(path)? else { return Ok(None) };
        let mut survey = Self::new(tokens_max);
        let mut cut = None;
        while let Some(line) = lines.next()? {
            // More follows, so it is no torn end but damage.
            if let Some(Cut { number, problem, .. }) = cut.take() {
                survey.add_bad_line(number, problem);
            }
            cut = survey.record_line(&line);
            survey.tail = if line.is_ended() { Tail::Whole } else { Tail::Unended };
        }
        if let Some(Cut { offset, .. }) = cut {
            survey.tail = Tail::Torn { offset };
        }
        if survey.metadata.is_none() && survey.bad_count == 0 {
            survey.add_bad_line(1, "the file is empty".to_owned());
        }
        Ok(Some(survey))
    }

    const fn new(tokens_max: u64) -> Self {
        Self {
            metadata: None,
            agent: None,
            began_at: None,
            tail: Tail::Whole,
            agent_session: None,
            turn_count: 0,
            tokens: 0,
            window: Window::new(tokens_max),
            bad: Vec::new(),
            bad_count: 0,
        }
    }

    /// The recall, unless lines are damaged.
    pub(super) fn recall(self, path: &Path) -> Result<Recall> {
        let (Some(metadata), 0) = (self.metadata, self.bad_count) else {
            let (path, count) = (path.to_owned(), self.bad_count);
            return Err(Error::Damaged { path, lines: self.bad, count });
        };
        Ok(Recall {
            agent: self.agent.unwrap_or_else(|| metadata.agent.clone()),
            metadata,
            agent_session: self.agent_session,
            turn_count: self.turn_count,
            tokens: self.tokens,
            window: self.window,
        })
    }

    fn record_line(&mut self, line: &Line<'_>) -> Option<Cut> {
        let (number, offset) = (line.number, line.offset);
        match (number, line.parse()) {
            (1, Parsed::Known(Record::Metadata(metadata))) => self.metadata = Some(metadata),
            (1, Parsed::Cut(problem) | Parsed::Bad(problem)) => {
                self.add_bad_line(1, format!("the metadata cannot be read: {problem}"));
            }
            (_, Parsed::Known(record)) => {
                if number == 1 {
                    self.add_bad_line(1, "the metadata is missing before it".to_owned());
                }
                self.take(record);
            }
            (1, Parsed::Other) => {
                self.add_bad_line(1, "the metadata is missing before it".to_owned());
            }
            (_, Parsed::Other) => {}
            (_, Parsed::Cut(problem)) => return Some(Cut { number, offset, problem }),
            (_, Parsed::Bad(problem)) if line.is_ended() => self.add_bad_line(number, problem),
            (_, Parsed::Bad(problem)) => return Some(Cut { number, offset, problem }),
        }
        None
    }

    fn take(&mut self, record: Record) {
        match record {
            // A second one changes nothing.
            Record::Metadata(_) | Record::Status { .. } => {}
            Record::Turn(turn) => {
                self.began_at.get_or_insert(turn.timestamp);
                self.turn_count += 1;
                self.tokens = self.tokens.saturating_add(turn.tokens);
                self.window.push(turn);
            }
            Record::Agent { agent, .. } => {
                self.agent = Some(agent);
                self.agent_session = None;
            }
            Record::AgentSession(session) => {
                self.agent = Some(session.agent.clone());
                self.agent_session = Some(session);
            }
            Record::Cleared { .. } => {
                self.agent_session = None;
                self.window = Window::new(self.window.tokens_max);
            }
            Record::Imported { .. } => self.agent_session = None,
        }
    }

    fn add_bad_line(&mut self, number: u64, problem: String) {
        self.bad_count += 1;
        if self.bad.len() < BAD_LINES_MAX {
            self.bad.push(BadLine { number, problem });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(tokens_max: u64, lengths: &[usize]) -> (Vec<usize>, u64, Vec<usize>) {
        let mut window = Window::new(tokens_max);
        for length in lengths {
            let (role, content) = (Role::User, "x".repeat(*length));
            let timestamp = Timestamp::from_millis(0);
            window.push(Turn { role, tokens: estimate(&content), content, timestamp });
        }
        let lengths = |turn: &Turn| turn.content.chars().count();
        let (first, last) = (window.first().iter(), window.last());
        (first.map(lengths).collect(), window.left_out(), last.map(lengths).collect())
    }

    #[test]
    fn r3_the_first_two_turns_and_the_last_ones_are_kept_within_the_budget() {
        assert_eq!(window(100, &[]), (vec![], 0, vec![]));
        assert_eq!(window(100, &[40, 40, 40]), (vec![40, 40], 0, vec![40]));
        let many = window(100, &[40; 30]);
        assert_eq!(many, (vec![40, 40], 20, vec![40; 8]));
    }

    #[test]
    fn r3_turns_that_are_too_long_lose_their_middle() {
        let (first, left_out, last) = window(100, &[4000, 4000, 4000, 4000]);
        assert_eq!((first, left_out, last), (vec![100, 100], 1, vec![200]));
        // So little that there is no room for anything; nothing breaks.
        assert_eq!(window(0, &[4000, 4000, 4000]).1, 1);
    }

    #[test]
    fn r3_an_agent_is_given_the_turns_with_a_note_where_some_are_left_out() {
        let mut window = Window::new(8);
        for number in 0..9 {
            let role = if number % 2 == 0 { Role::User } else { Role::Assistant };
            let (content, timestamp) = (format!("turn {number}"), Timestamp::from_millis(0));
            window.push(Turn { role, content, timestamp, tokens: 2 });
        }
        let quoted = window.quoted();
        let lines: Vec<String> =
            quoted.iter().map(|turn| format!("{:?}: {}", turn.role, turn.text)).collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        User: turn 0
        Assistant: turn 1
        Note: turns are left out here
        Assistant: turn 7
        User: turn 8
        ");
        assert_eq!(Window::new(10).quoted(), []);
    }
}
