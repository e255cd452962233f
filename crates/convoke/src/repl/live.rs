//! The core's session of a conversation, and the turns of the transcript that its messages become.

use convoke_core::content::{Content, Usage};
use convoke_core::id::{MessageId, SessionId};
use convoke_core::message::{Message, Seq};
use convoke_core::session::{Command, Decision, Effect, Refusal, Report, Session, Stamp};
use convoke_core::state::{OfferedCommand, SessionState, StateKind};
use convoke_core::time::Timestamp;
use convoke_core::turn::{Stop, Turn as TurnState};
use convoke_core::update::{OpenMessages, Update, UpdateStamp};
use convoke_files::transcripts::{Role, Turn};

use crate::random;
use crate::turn_builder::TurnBuilder;

/// The longest answer that is saved; the rest is only shown. A line of a transcript must stay
/// readable.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// A session with its open messages. A clone is an uncommitted step.
#[derive(Debug, Clone)]
pub(super) struct Live {
    id: SessionId,
    pub(super) session: Session,
    open: OpenMessages,
    builder: TurnBuilder,
    /// Tokens of the running turn's answer, as the agent counts them.
    tokens: Option<u64>,
    /// The agent's usage, as far as it is reported.
    pub(super) usage: Usage,
}

/// The result of a command: turns to save, then updates to show, then effects to carry out.
#[derive(Debug, Default)]
pub(super) struct Step {
    pub(super) turns: Vec<Turn>,
    pub(super) updates: Vec<Update>,
    /// The places of answers that begin a paragraph of the turn's answer.
    pub(super) paragraphs: Vec<Seq>,
    pub(super) effects: Vec<Effect>,
}

impl Live {
    /// An empty session.
    pub(super) fn new(now: Timestamp) -> Self {
        Self {
            id: SessionId::from_random(random::bytes()),
            session: Session::new(now),
            open: OpenMessages::default(),
            builder: TurnBuilder::default(),
            tokens: None,
            usage: Usage::default(),
        }
    }

    /// Whether the agent works on a prompt.
    pub(super) fn is_busy(&self) -> bool {
        self.session.running().is_some()
    }

    /// The agent's own commands, as far as it has listed them.
    pub(super) fn offers(&self) -> &[OfferedCommand] {
        match self.session.state(StateKind::Commands) {
            Some(SessionState::Commands { commands }) => commands,
            Some(_) | None => &[],
        }
    }

    /// The text of the prompt with a seq, while its turn runs.
    pub(super) fn prompt_text(&self, turn: Seq) -> &str {
        match self.open.get(turn).map(|message| &message.content) {
            Some(Content::Text { text, .. }) => text,
            Some(_) | None => "",
        }
    }

    /// The session after a prompt, and the step. `self` does not change.
    pub(super) fn prompt(&self, text: String, at: Timestamp) -> Result<(Self, Step), Refusal> {
        let mut next = self.clone();
        let stamp = Stamp { id: MessageId::from_random(random::bytes()), at };
        let step = next.follow(Command::Prompt { prompt: text.into(), stamp }, at)?;
        Ok((next, step))
    }

    /// Follows a command.
    pub(super) fn follow(&mut self, command: Command, at: Timestamp) -> Result<Step, Refusal> {
        if let Command::Agent(Report::State(SessionState::Usage(usage))) = &command {
            self.count(usage);
        }
        let decision = self.session.handle(command)?;
        Ok(self.apply(decision, at))
    }

    /// Ends an answer without a prompt.
    pub(super) fn end_answer(&mut self) -> Option<Turn> {
        self.builder.end().filter(says_something)
    }

    /// Merges a usage report; fields that it omits are unchanged.
    fn count(&mut self, newer: &Usage) {
        let usage = &mut self.usage;
        self.tokens = newer.output_tokens.or(self.tokens);
        usage.context_used = newer.context_used.or(usage.context_used);
        usage.context_size = newer.context_size.or(usage.context_size);
        usage.cost = newer.cost.clone().or(usage.cost.take());
    }

    fn apply(&mut self, decision: Decision, at: Timestamp) -> Step {
        // The clock may have been set back.
        let at = at.max(self.session.summary().updated_at);
        let mut step = Step { effects: decision.effects, ..Step::default() };
        for change in decision.changes {
            self.session.apply(&change, at);
            let summary = self.session.summary();
            let stamp = UpdateStamp {
                session_id: self.id,
                id: MessageId::from_random(random::bytes()),
                seq: summary.last_seq,
                rev: summary.rev,
                at,
            };
            let Some(update) = self.open.apply(change, stamp) else {
                tracing::error!("a change of a message that is not open");
                continue;
            };
            if let Update::Message(message) = &update {
                self.record(message, &mut step);
            }
            step.updates.push(update);
        }
        step
    }

    /// Records a new or changed message for the transcript.
    fn record(&mut self, message: &Message, step: &mut Step) {
        let Content::Text { text, partial, .. } = &message.content else { return };
        match &message.turn {
            Some(TurnState::Running) => {
                self.tokens = None;
                step.turns.extend(self.builder.push(message).into_iter().filter(says_something));
            }
            Some(TurnState::Cancelling) => {}
            Some(TurnState::Ended(stop)) => step.turns.extend(self.end_turn(stop, message)),
            None if *partial && self.builder.is_paragraph(message.seq, text) => {
                step.paragraphs.push(message.seq);
            }
            None if !*partial && self.builder.bytes() < ANSWER_BYTES_MAX => {
                self.builder.push(message);
            }
            None => {}
        }
    }

    /// The answer of a turn that ended. One that ended well has an answer, even if that is empty.
    fn end_turn(&mut self, stop: &Stop, prompt: &Message) -> Option<Turn> {
        let is_whole = *stop == Stop::EndTurn;
        let is_cut = self.builder.bytes() >= ANSWER_BYTES_MAX;
        let answer = self.builder.end().or_else(|| {
            let (content, timestamp) = (String::new(), prompt.updated_at);
            is_whole.then_some(Turn { role: Role::Assistant, content, timestamp, tokens: 0 })
        });
        let mut answer = answer?;
        if is_cut {
            answer.content.push_str("\n[… the rest was too long to be saved …]\n");
        }
        answer.tokens = self.tokens.filter(|_| is_whole).unwrap_or(answer.tokens);
        Some(answer)
    }
}

/// Whether a turn has more than blanks.
fn says_something(turn: &Turn) -> bool {
    !turn.content.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use convoke_core::content::ToolStatus;
    use convoke_core::session::{Interruption, ToolUpdate};

    use super::*;

    fn noon() -> Timestamp {
        Timestamp::from_millis(1_794_744_000_000)
    }

    /// A session with its turn running, and the turns that were saved with the prompt.
    fn prompted(live: &Live, text: &str) -> (Live, Vec<String>) {
        let (next, step) = live.prompt(text.to_owned(), noon()).unwrap();
        let turn = next.session.running().unwrap();
        assert_eq!(step.effects, [Effect::StartTurn { turn }]);
        assert_eq!(next.prompt_text(turn), text);
        (next, said(step.turns))
    }

    fn said(turns: impl IntoIterator<Item = Turn>) -> Vec<String> {
        let line =
            |turn: Turn| format!("{} ({}): {}", turn.role.as_str(), turn.tokens, turn.content);
        turns.into_iter().map(line).collect()
    }

    fn report(live: &mut Live, report: Report) -> Step {
        live.follow(Command::Agent(report), noon()).unwrap()
    }

    fn end(live: &mut Live, stop: Stop) -> Vec<String> {
        let turn = live.session.running().unwrap();
        said(report(live, Report::TurnEnded { turn, stop }).turns)
    }

    #[test]
    fn m6_the_messages_of_a_turn_become_turns_of_the_transcript() {
        let idle = Live::new(noon());
        let (mut live, saved) = prompted(&idle, "look");
        assert_eq!(saved, ["user (1): look"]);
        assert!(!idle.is_busy(), "a prompt that cannot be saved changes nothing");
        report(&mut live, Report::Said("I ".to_owned()));
        report(&mut live, Report::Said("look.".to_owned()));
        let status = Some(ToolStatus::Complete);
        let tool = ToolUpdate { tool_call_id: "t".to_owned(), status, ..ToolUpdate::default() };
        report(&mut live, Report::ToolCalled(tool));
        let step = report(&mut live, Report::Said("Done.".to_owned()));
        assert_eq!(step.paragraphs.len(), 1);
        let usage = Usage { output_tokens: Some(42), ..Usage::default() };
        report(&mut live, Report::State(SessionState::Usage(usage)));
        assert_eq!(end(&mut live, Stop::EndTurn), ["assistant (42): I look.\n\nDone."]);
        // The next turn is not counted with the tokens of this one, and an empty answer is one, too.
        let (mut live, _) = prompted(&live, "again");
        assert_eq!(end(&mut live, Stop::EndTurn), ["assistant (0): "]);
        let (mut live, _) = prompted(&live, "stop");
        assert_eq!(end(&mut live, Stop::Cancelled), Vec::<String>::new());
    }

    #[test]
    fn m6_words_without_a_prompt_are_saved_before_the_next_prompt_or_at_the_end() {
        let mut live = Live::new(noon());
        report(&mut live, Report::Said("By the way.".to_owned()));
        let (mut live, saved) = prompted(&live, "what?");
        assert_eq!(saved, ["assistant (3): By the way.", "user (2): what?"]);
        end(&mut live, Stop::EndTurn);
        report(&mut live, Report::Said("Bye.".to_owned()));
        assert!(
            live.follow(Command::Recover(Interruption::Ended), noon()).unwrap().turns.is_empty()
        );
        assert_eq!(said(live.end_answer()), ["assistant (1): Bye."]);
        report(&mut live, Report::Said("\n".to_owned()));
        assert_eq!(prompted(&live, "more").1, ["user (1): more"]);
    }

    #[test]
    fn m6_a_turn_that_is_cut_off_keeps_its_answer_so_far() {
        let (mut live, _) = prompted(&Live::new(noon()), "tell");
        report(&mut live, Report::Said("Once upon a time".to_owned()));
        let step = live.follow(Command::Recover(Interruption::Ended), noon()).unwrap();
        assert_eq!(said(step.turns), ["assistant (4): Once upon a time"]);
        assert!(!live.is_busy());
    }
}
