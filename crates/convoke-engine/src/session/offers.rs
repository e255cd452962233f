//! What the agent offers, so that it is noted only when it changes.

use convoke_core::content::{Content, Usage};
use convoke_core::message::Message;
use convoke_core::notice::{Event, Notice};
use convoke_core::session::Report;

/// The newest of everything that agents repeat.
#[derive(Debug, Default)]
pub(super) struct Offers {
    commands: Option<Notice>,
    modes: Option<Notice>,
    settings: Option<Notice>,
    /// Whether what the log has of them is known.
    pub(super) memory: Memory,
    pub(super) usage: Option<Usage>,
}

/// What is known of offers that were noted before the session was taken up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Memory {
    /// Nothing yet.
    #[default]
    Blank,
    /// All that the log has.
    Recalled,
}

/// The words by which the log knows offers, and how many of each are needed to know what is on offer: what changes most
/// often, the mode, is told without the others to choose from.
pub(super) const NOTED: [(&str, u32); 3] = [("commands", 1), ("settings", 1), ("modes", 50)];

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

    /// Whether it matters for this report what the log has.
    pub(super) fn must_recall(&self, report: &Report) -> bool {
        let Report::Noticed(Notice { event, .. }) = report else { return false };
        self.memory == Memory::Blank
            && matches!(
                event,
                Event::Commands { .. } | Event::Settings { .. } | Event::Modes { .. }
            )
    }

    /// Remembers what the log has, from the oldest on.
    pub(super) fn recall(&mut self, noted: impl Iterator<Item = Message>) {
        for message in noted {
            if let Content::Notice(notice) = message.content {
                self.hear_notice(&notice);
            }
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
