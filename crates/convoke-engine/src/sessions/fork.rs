//! Forks a session: a new one with the same conversation up to a turn. The old one is not changed.
//!
//! What was said is copied; tool calls are not. The agent of the new session is given the transcript with its first
//! prompt, like any session whose agent does not remember it.

use std::sync::Arc;

use convoke_core::id::SessionId;
use convoke_core::message::{Message, Role, Seq};
use convoke_core::notice::Notice;
use convoke_core::session::{Command, Report};
use convoke_store::{SessionKind, StoredSession};

use super::{Import, ImportTurn, NewSession, Sessions, Speaker, import};
use crate::changes::ChangesError;
use crate::error::{Error, Result};
use crate::session::choices::Choices;
use crate::view::SessionView;
use crate::worktrees::{self, WantedWorktree, make};

/// The page size of reads.
const PAGE: u32 = 500;

/// The point of the conversation at which a fork begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForkAt {
    /// With all of it.
    End,
    /// After this turn, by the seq of its prompt.
    After(Seq),
    /// Before this turn.
    Before(Seq),
}

impl Sessions {
    /// Forks a session. The new one has the same agent and project, and is active.
    ///
    /// With a work tree of its own, the new one has the files as they were after the last turn that it has.
    pub async fn fork(
        self: &Arc<Self>,
        id: SessionId,
        at: ForkAt,
        worktree: Option<WantedWorktree>,
    ) -> Result<SessionView> {
        let stored = self.get(id).await?.stored;
        if stored.kind == SessionKind::Team {
            return Err(Error::TeamSession { session: id });
        }
        let (turns, number) = self.said(&stored, at).await?;
        let forked = SessionId::from_random((self.host.random)());
        let new = Import {
            project: stored.project_id,
            transcript: forked.to_string(),
            agent: stored.agent.clone(),
            created_at: self.now(),
            after: 0,
            turns,
            forked_from: Some(id),
        };
        if new.turns.is_empty() {
            let (project, agent) = (stored.project_id, Some(stored.agent));
            let choices = Choices::default();
            return self.begin(NewSession { project, agent, choices, worktree }).await;
        }
        let made = match worktree {
            Some(wanted) => Some(self.forked_worktree(&stored, forked, at, wanted).await?),
            None => None,
        };
        let created = match import::import(self, new).await {
            Ok(imported) => imported.session.stored.id,
            Err(error) => {
                make::take_back(self, forked).await;
                return Err(error);
            }
        };
        if let Some(made) = made {
            worktrees::record(self, created, made.own.clone()).await?;
            make::kept(self, created);
            let notice = Report::Noticed(Notice::new(made.event()));
            self.send_command(created, Command::Agent(notice)).await?;
        }
        if let Some(title) = &stored.summary.title {
            let title = title.chars().take(TITLE_CHARS).collect::<String>();
            self.rename(created, format!("{title} ({})", origin(at, number))).await?;
        }
        // A fork is not made in a removed project, so that nothing is adopted.
        self.resume(created, None).await
    }

    /// The work tree of a fork, with the files of the session that it comes from.
    async fn forked_worktree(
        self: &Arc<Self>,
        stored: &StoredSession,
        forked: SessionId,
        at: ForkAt,
        wanted: WantedWorktree,
    ) -> Result<make::Made> {
        let project = self.store.project(stored.project_id).await?;
        let unknown = || Error::UnknownProject { text: stored.project_id.to_string() };
        let project = project.ok_or_else(unknown)?;
        let turn = match at {
            ForkAt::End => None,
            ForkAt::After(turn) => Some(turn),
            ForkAt::Before(turn) => Some(Seq::new(turn.get().saturating_sub(1))),
        };
        let origin = make::Origin { session: stored.clone(), turn };
        make::make(self, &project, forked, wanted, Some(origin)).await
    }

    /// What human and agent said, up to a turn, and the number of that turn.
    async fn said(&self, stored: &StoredSession, at: ForkAt) -> Result<(Vec<ImportTurn>, usize)> {
        let (mut turns, mut prompts) = (Vec::new(), Vec::new());
        let mut after = Seq::START;
        loop {
            let page = self.store.messages(stored.id, after, PAGE).await?;
            for message in &page.messages {
                after = message.seq;
                if message.role == Role::User {
                    let is_over = match at {
                        ForkAt::End => false,
                        ForkAt::After(turn) => message.seq > turn,
                        ForkAt::Before(turn) => message.seq >= turn,
                    };
                    prompts.push(message.seq);
                    if is_over {
                        return check(turns, &prompts, at);
                    }
                }
                turns.extend(turn(message));
            }
            if !page.more {
                return check(turns, &prompts, at);
            }
        }
    }
}

/// The characters of the original title in that of the fork; a title has at most 200 characters.
const TITLE_CHARS: usize = 160;

/// Where a fork comes from, which tells the forks of one session apart.
fn origin(at: ForkAt, number: usize) -> String {
    match at {
        ForkAt::End => "fork".to_owned(),
        ForkAt::After(_) => format!("fork of turn {number}"),
        ForkAt::Before(_) => format!("before turn {number}"),
    }
}

/// The number of the turn at which a fork begins, counted from 1. Refuses a turn that does not exist.
fn check(turns: Vec<ImportTurn>, prompts: &[Seq], at: ForkAt) -> Result<(Vec<ImportTurn>, usize)> {
    let (ForkAt::After(turn) | ForkAt::Before(turn)) = at else { return Ok((turns, 0)) };
    let place = prompts.iter().position(|prompt| *prompt == turn);
    let place = place.ok_or(ChangesError::NoTurn { turn })?;
    Ok((turns, place + 1))
}

fn turn(message: &Message) -> Option<ImportTurn> {
    let text = message.content.words()?;
    let speaker = match message.role {
        Role::User => Speaker::Human,
        Role::Agent => Speaker::Agent,
        Role::System => return None,
    };
    if text.trim().is_empty() {
        return None;
    }
    Some(ImportTurn {
        speaker,
        content: text.into_owned(),
        timestamp: message.timestamp,
        tokens: 0,
    })
}
