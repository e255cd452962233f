//! What lists show of an agent's work, and whether a human has to look at it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::content::{Cost, PlanStatus, PlanStep};
use crate::message::Rev;
use crate::time::Timestamp;
use crate::turn::{Failure, Stop};

use super::{Status, Summary};

/// The most characters of a plan step and of an answer's line in a list.
const LINE_CHARS_MAX: usize = 200;
/// The most bytes of a failure's detail in a list; the tail is kept, which holds the last lines of stderr.
const DETAIL_BYTES_MAX: usize = 2 << 10;

/// What lists show of an agent's work.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Work {
    /// The revision at which a turn last ended, unless a human cancelled it.
    pub ended_rev: Rev,
    /// The revision of the session when a human last looked at it, or prompted.
    pub seen_rev: Rev,
    /// When the running turn began.
    pub running_since: Option<Timestamp>,
    /// Why the last turn failed, if it did.
    pub failure: Option<Failure>,
    /// The step of the running turn's plan that is in progress.
    pub step: Option<String>,
    /// The last line of the newest answer, as plain text.
    pub last_line: Option<String>,
    /// Money spent on the session.
    pub cost: Option<Cost>,
}

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Activity {
    /// Nothing.
    #[default]
    Idle,
    /// Its agent works, or a prompt waits for a process.
    Running,
    /// A request to the human is pending.
    Waiting,
}

/// What a session wants of its human.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Attention {
    /// A request is pending.
    NeedsYou,
    /// A turn runs, or waits for a process.
    Working,
    /// The last turn failed, or the agent cannot be started.
    Failed,
    /// Nothing; it accepts prompts.
    Idle,
    /// It was completed or cancelled.
    Ended,
}

impl Attention {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NeedsYou => "needs_you",
            Self::Working => "working",
            Self::Failed => "failed",
            Self::Idle => "idle",
            Self::Ended => "ended",
        }
    }
}

impl Summary {
    /// What the session needs from its human, given its activity.
    ///
    /// A failure stays visible in a session that Convoke completed because it was idle; one that a human completed or
    /// cancelled has ended.
    pub const fn attention(&self, activity: Activity) -> Attention {
        match (activity, self.status) {
            (Activity::Waiting, _) => Attention::NeedsYou,
            (Activity::Running, _) => Attention::Working,
            (Activity::Idle, Status::Error) => Attention::Failed,
            (Activity::Idle, Status::Active) if self.work.failure.is_some() => Attention::Failed,
            (Activity::Idle, Status::Active) => Attention::Idle,
            (Activity::Idle, Status::Completed)
                if self.work.failure.is_some() && self.accepts_prompts() =>
            {
                Attention::Failed
            }
            (Activity::Idle, Status::Completed | Status::Cancelled) => Attention::Ended,
        }
    }

    /// Whether a turn ended that no human has looked at.
    pub fn is_unseen(&self) -> bool {
        self.work.ended_rev > self.work.seen_rev
    }
}

impl Work {
    pub(super) fn turn_began(&mut self, at: Timestamp, rev: Rev) {
        self.running_since = Some(at);
        self.failure = None;
        self.step = None;
        self.seen_rev = rev;
    }

    pub(super) fn turn_ended(&mut self, stop: &Stop, rev: Rev) {
        self.running_since = None;
        self.step = None;
        self.failure = match stop {
            Stop::Failed(Failure { why, detail }) => {
                Some(Failure { why: *why, detail: tail(detail).to_owned() })
            }
            Stop::EndTurn
            | Stop::Cancelled
            | Stop::Refusal
            | Stop::MaxTokens
            | Stop::MaxTurnRequests => None,
        };
        if *stop != Stop::Cancelled {
            self.ended_rev = rev;
        }
    }

    pub(super) fn planned(&mut self, steps: &[PlanStep]) {
        let current = steps.iter().find(|step| step.status == PlanStatus::InProgress);
        self.step = current.and_then(|step| plain(step.content.lines().next().unwrap_or_default()));
    }

    /// Records an answer that is whole, or this part of it. One without words leaves the line of the one before.
    pub(super) fn answered(&mut self, line: Option<String>) {
        if line.is_some() {
            self.last_line = line;
        }
    }
}

/// The end of a text within the limit of a failure's detail.
fn tail(text: &str) -> &str {
    let from = text.ceil_char_boundary(text.len().saturating_sub(DETAIL_BYTES_MAX));
    text.get(from..).unwrap_or(text)
}

/// The last line of an answer that is still being said. The result is the same however the text is cut into pieces.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct LastLine {
    /// The newest line that ended, if it has words.
    ended: Option<String>,
    /// The beginning of the line that has not ended.
    current: String,
}

impl LastLine {
    pub(super) fn of(text: &str) -> Self {
        let mut line = Self::default();
        line.push(text);
        line
    }

    pub(super) fn push(&mut self, text: &str) {
        for (index, piece) in text.split('\n').enumerate() {
            if index > 0 {
                let ended = plain(&self.current);
                self.ended = ended.or_else(|| self.ended.take());
                self.current.clear();
            }
            // Enough for the longest line and its markers.
            let room = (2 * LINE_CHARS_MAX).saturating_sub(self.current.chars().count());
            self.current.extend(piece.chars().take(room));
        }
    }

    pub(super) fn get(&self) -> Option<String> {
        plain(&self.current).or_else(|| self.ended.clone())
    }
}

/// A line without the most common markers of Markdown, cut to the limit; `None` when it has no words.
fn plain(line: &str) -> Option<String> {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "#>-*|".contains(c));
    let line = line.replace("**", "").replace('`', "");
    let line = line.trim();
    let has_words = line.chars().any(char::is_alphanumeric);
    has_words.then(|| line.chars().take(LINE_CHARS_MAX).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::session::EndReason;
    use crate::turn::FailureKind;

    fn summary(status: Status, reason: Option<EndReason>, failed: bool) -> Summary {
        let mut summary = Summary::new(Timestamp::from_millis(0));
        (summary.status, summary.reason) = (status, reason);
        if failed {
            let stop = Stop::failed(FailureKind::AgentError, "boom");
            summary.work.turn_ended(&stop, Rev::new(1));
        }
        summary
    }

    #[test]
    fn p3_attention_follows_from_status_activity_and_the_last_turn() {
        use Activity as A;
        let (user, idle) = (Some(EndReason::User), Some(EndReason::IdleTimeout));
        let cases = [
            (summary(Status::Active, None, false), A::Idle, "idle"),
            (summary(Status::Active, None, true), A::Idle, "failed"),
            (summary(Status::Active, None, true), A::Running, "working"),
            (summary(Status::Active, None, true), A::Waiting, "needs_you"),
            (summary(Status::Error, None, false), A::Idle, "failed"),
            (summary(Status::Completed, idle.clone(), false), A::Idle, "ended"),
            (summary(Status::Completed, idle, true), A::Idle, "failed"),
            (summary(Status::Completed, user.clone(), true), A::Idle, "ended"),
            (summary(Status::Cancelled, user, true), A::Idle, "ended"),
        ];
        for (summary, activity, attention) in cases {
            assert_eq!(summary.attention(activity).as_str(), attention, "{summary:?} {activity:?}");
        }
    }

    #[test]
    fn p4_only_a_turn_that_no_human_cancelled_is_unseen_until_someone_looks() {
        let mut work = Work::default();
        let unseen = |work: &Work| work.ended_rev > work.seen_rev;
        work.turn_began(Timestamp::from_millis(1), Rev::new(1));
        work.turn_ended(&Stop::Cancelled, Rev::new(2));
        assert!(!unseen(&work));
        work.turn_began(Timestamp::from_millis(3), Rev::new(3));
        work.turn_ended(&Stop::EndTurn, Rev::new(4));
        assert!(unseen(&work));
        work.seen_rev = Rev::new(4);
        assert!(!unseen(&work));
    }

    #[test]
    fn the_detail_of_a_failure_keeps_its_tail() {
        let detail = format!("{}Ende", "ä".repeat(4000));
        let mut work = Work::default();
        work.turn_ended(&Stop::failed(FailureKind::ProcessExited, detail), Rev::new(1));
        let kept = work.failure.unwrap().detail;
        assert!(kept.len() <= DETAIL_BYTES_MAX && kept.ends_with("Ende"), "{kept}");
    }

    #[test]
    fn the_last_line_is_plain_and_has_words() {
        let long = "x".repeat(300);
        let cases = [
            ("All done.", Some("All done.")),
            ("First.\n\n- **Second** `line`\n", Some("Second line")),
            ("Look:\n```\ncode\n```\n", Some("code")),
            ("# Title\n---\n", Some("Title")),
            (" \n\n", None),
            (long.as_str(), long.get(..200)),
        ];
        for (text, line) in cases {
            assert_eq!(LastLine::of(text).get().as_deref(), line, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn the_last_line_does_not_depend_on_the_pieces(pieces in proptest::collection::vec("[a\n* ]{0,9}", 0..9)) {
            let mut line = LastLine::default();
            pieces.iter().for_each(|piece| line.push(piece));
            prop_assert_eq!(line, LastLine::of(&pieces.concat()));
        }
    }
}
