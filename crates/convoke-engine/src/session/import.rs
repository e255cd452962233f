//! Imports turns of a transcript, one page in one commit. The session is completed after each page.

use convoke_core::content::Content;
use convoke_core::id::MessageId;
use convoke_core::message::{Draft, Message, Role, Seq};
use convoke_core::notice::{Event, ImportedTurn, LifecycleEvent, Notice};
use convoke_core::session::{Change, Status};
use convoke_core::turn::{Stop, Turn};

use super::command::Uncommitted;
use super::task::Task;
use crate::error::{Error, Result};
use crate::sessions::{Import, ImportOutcome, ImportTurn, ImportedInto, Speaker};

/// The page size for finding out how much was imported.
const PAGE: u32 = 200;

impl Task {
    /// Adds the turns that were not imported before.
    pub(super) async fn import(&mut self, import: &Import) -> Result<ImportedInto> {
        let Some(known) = self.known_turns().await? else {
            return Ok(self.imported((0, 0), ImportOutcome::Continued));
        };
        if import.after > known {
            return Err(Error::ImportGap { known, after: import.after });
        }
        self.compare(import, known).await?;
        let there = usize::try_from(known - import.after).unwrap_or(usize::MAX);
        let new = import.turns.get(there..).unwrap_or_default();
        if new.is_empty() {
            return Ok(self.imported((known, 0), ImportOutcome::Known));
        }
        let mut uncommitted = self.uncommitted();
        self.put_turns(&mut uncommitted, import, known, new);
        let effects = self.commit(uncommitted).await?;
        self.carry_out(effects).await;
        let added = new.len() as u64;
        Ok(self.imported((known + added, added), ImportOutcome::Added))
    }

    /// An outcome with the number of imported turns, and of new ones among them.
    fn imported(&self, (turns, added): (u64, u64), outcome: ImportOutcome) -> ImportedInto {
        ImportedInto { session: self.view(), turns, added, outcome }
    }

    /// How many turns of its transcript the session has; `None` if it does not accept imports.
    async fn known_turns(&self) -> Result<Option<u64>> {
        let summary = self.session.summary();
        // A session with an agent session was resumed, and a cancelled one is final.
        if self.stored.agent_session_id.is_some() || summary.status == Status::Cancelled {
            return Ok(None);
        }
        let mut before = summary.last_seq.next();
        let mut newest_prompt = None;
        loop {
            let page = self.shared.store.messages_before(self.id, before, PAGE).await?;
            for message in page.messages.iter().rev() {
                if spoken(message).is_some_and(|(speaker, _)| speaker == Speaker::Human) {
                    newest_prompt.get_or_insert(message.seq);
                }
                if let Content::Notice(Notice {
                    event: Event::Lifecycle(LifecycleEvent::Imported { after, turns, .. }),
                    ..
                }) = &message.content
                {
                    // The session was resumed, or has prompts that are in no transcript.
                    let last = turns.last().map_or(message.seq, |turn| turn.seq);
                    let is_continued = summary.status == Status::Active
                        || newest_prompt.is_some_and(|prompt| prompt > last);
                    return Ok((!is_continued).then_some(after + turns.len() as u64));
                }
                before = message.seq;
            }
            if !page.more {
                return Ok(newest_prompt.is_none().then_some(0));
            }
        }
    }

    /// Checks that the turns that were imported before are the same as in this import.
    async fn compare(&self, import: &Import, known: u64) -> Result<()> {
        let (mut turn, mut before) = (known, self.session.summary().last_seq.next());
        while turn > import.after {
            let page = self.shared.store.messages_before(self.id, before, PAGE).await?;
            for message in page.messages.iter().rev() {
                before = message.seq;
                let Some((speaker, text)) = spoken(message) else { continue };
                turn = turn.saturating_sub(1);
                let at = turn.checked_sub(import.after).and_then(|at| usize::try_from(at).ok());
                let other = at.and_then(|at| import.turns.get(at));
                if other
                    .is_some_and(|other| (other.speaker, other.content.as_str()) != (speaker, text))
                {
                    return Err(Error::ImportDiffers { turn: turn + 1 });
                }
            }
            if !page.more {
                break;
            }
        }
        Ok(())
    }

    fn put_turns(
        &self,
        uncommitted: &mut Uncommitted,
        import: &Import,
        after: u64,
        turns: &[ImportTurn],
    ) {
        let begun = uncommitted.session.summary().updated_at;
        let at = turns.first().map_or(begun, |turn| turn.timestamp);
        let listed = places(uncommitted.session.summary().last_seq.next(), turns);
        let notice = Notice::new(LifecycleEvent::Imported {
            transcript: import.transcript.clone(),
            after,
            turns: listed,
            forked_from: import.forked_from,
        });
        // The timestamps of a session never decrease, whatever the transcript says.
        self.change(uncommitted, Change::Begin(Draft::system(notice)), at);
        for turn in turns {
            let text = turn.content.clone();
            let draft = match turn.speaker {
                Speaker::Human => {
                    let id = MessageId::from_random((self.shared.host.random)());
                    Draft::prompt(id, text, Turn::Ended(Stop::EndTurn))
                }
                Speaker::Agent => Draft::agent(Content::text(text)),
            };
            self.change(uncommitted, Change::Begin(draft), turn.timestamp);
        }
    }
}

/// Speaker and text of a message that is part of the conversation.
fn spoken(message: &Message) -> Option<(Speaker, &str)> {
    match (&message.content, message.role) {
        (Content::Text { text, .. }, Role::User) => Some((Speaker::Human, text)),
        (Content::Text { text, .. }, Role::Agent) => Some((Speaker::Agent, text)),
        _ => None,
    }
}

/// The seqs of the turns behind their notice.
fn places(notice: Seq, turns: &[ImportTurn]) -> Vec<ImportedTurn> {
    let place = |(turn, count): (&ImportTurn, u64)| ImportedTurn {
        seq: notice.plus(count),
        timestamp: turn.timestamp,
        tokens: turn.tokens,
    };
    turns.iter().zip(1..).map(place).collect()
}
