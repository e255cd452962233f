//! What the agent offers, so that it is noted only when it changes.

use convoke_core::content::Usage;
use convoke_core::notice::{Event, Notice};
use convoke_core::session::Report;

/// The newest of everything that agents repeat.
#[derive(Debug, Default)]
pub(super) struct Offers {
    commands: Option<Notice>,
    modes: Option<Notice>,
    settings: Option<Notice>,
    pub(super) usage: Option<Usage>,
}

/// Whether a report says something new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum News {
    Yes,
    No,
}

impl Offers {
    /// Remembers what is offered. Agents say it all at every start; what is known already is no news.
    pub(super) fn hear(&mut self, report: &Report) -> News {
        match report {
            Report::Noticed(notice) => self.hear_notice(notice),
            Report::Spent(usage) => {
                let is_known = self.usage.as_ref() == Some(usage);
                self.usage = Some(usage.clone());
                if is_known { News::No } else { News::Yes }
            }
            Report::Resumed(_)
            | Report::Renewed { .. }
            | Report::Said(_)
            | Report::Thought(_)
            | Report::Planned(_)
            | Report::ToolCalled(_)
            | Report::Asked(_)
            | Report::Withdrew(_)
            | Report::TurnEnded { .. }
            | Report::Exited(_)
            | Report::Stopped
            | Report::Failed { .. } => News::Yes,
        }
    }

    /// What is on offer now.
    pub(super) fn all(&self) -> Vec<Notice> {
        [&self.commands, &self.modes, &self.settings].into_iter().flatten().cloned().collect()
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "everything else that is noticed is news")]
    fn hear_notice(&mut self, notice: &Notice) -> News {
        let (place, new) = match &notice.event {
            Event::Commands { .. } => (&mut self.commands, notice.clone()),
            Event::Settings { .. } => (&mut self.settings, notice.clone()),
            Event::Modes { current, available } if available.is_empty() => {
                let whole = merged(self.modes.as_ref(), current);
                (&mut self.modes, whole.unwrap_or_else(|| notice.clone()))
            }
            Event::Modes { .. } => (&mut self.modes, notice.clone()),
            _ => return News::Yes,
        };
        if place.as_ref() == Some(&new) {
            return News::No;
        }
        *place = Some(new);
        News::Yes
    }
}

/// The modes that were offered before, with another one chosen.
fn merged(before: Option<&Notice>, chosen: &str) -> Option<Notice> {
    let Event::Modes { available, .. } = &before?.event else { return None };
    let event = Event::Modes { current: chosen.to_owned(), available: available.clone() };
    Some(Notice::new(event))
}
