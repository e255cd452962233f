//! Entries that are not part of the conversation but tell how things stand: of each the newest counts.

use convoke_core::content::Content;
use convoke_core::message::Message;
use convoke_core::notice::Event;

use super::{Entry, EntryBody};

/// How things stand: what the agent offers, and what the conversation has cost.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Standing {
    commands: Option<Entry>,
    modes: Option<Entry>,
    settings: Option<Entry>,
    usage: Option<Entry>,
}

impl Standing {
    /// Takes the next message of the log into account; gives the entry that it changed, if it is about any.
    pub fn apply(&mut self, message: &Message) -> Option<Entry> {
        let (entry_id, body) = match &message.content {
            Content::Usage(usage) => ("usage", EntryBody::Usage(usage.clone())),
            Content::Notice(notice) => self.offered(&notice.event)?,
            Content::Text { .. }
            | Content::Thinking { .. }
            | Content::Plan { .. }
            | Content::Tool(_)
            | Content::Permission(_)
            | Content::Question(_) => return None,
        };
        let (entry_id, seq, timestamp) = (entry_id.to_owned(), message.seq, message.timestamp);
        let entry = Entry { entry_id, seq, timestamp, body };
        self.put(entry.clone());
        Some(entry)
    }

    /// Puts an entry in its place; anything that is part of the conversation is given back.
    pub fn put(&mut self, entry: Entry) -> Option<Entry> {
        let place = match &entry.body {
            EntryBody::Commands { .. } => &mut self.commands,
            EntryBody::Modes { .. } => &mut self.modes,
            EntryBody::Settings { .. } => &mut self.settings,
            EntryBody::Usage(_) => &mut self.usage,
            EntryBody::User(_)
            | EntryBody::Assistant(_)
            | EntryBody::Thinking(_)
            | EntryBody::ToolCall(_)
            | EntryBody::Plan { .. }
            | EntryBody::Permission(_)
            | EntryBody::Question(_)
            | EntryBody::Notice(_) => return Some(entry),
        };
        // An older page of the log must not undo what a newer one said.
        if place.as_ref().is_none_or(|there| there.seq <= entry.seq) {
            *place = Some(entry);
        }
        None
    }

    /// The entries, in a fixed order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        [&self.commands, &self.modes, &self.settings, &self.usage].into_iter().flatten()
    }

    fn offered(&self, event: &Event) -> Option<(&'static str, EntryBody)> {
        match event {
            Event::Commands { commands } => {
                Some(("commands", EntryBody::Commands { commands: commands.clone() }))
            }
            Event::Modes { current, available } => {
                let (current, mut available) = (current.clone(), available.clone());
                // Agents that only switch do not say again what can be chosen.
                if available.is_empty()
                    && let Some(EntryBody::Modes { available: known, .. }) =
                        self.modes.as_ref().map(|entry| &entry.body)
                {
                    available.clone_from(known);
                }
                Some(("modes", EntryBody::Modes { current, available }))
            }
            Event::Settings { settings } => {
                Some(("settings", EntryBody::Settings { settings: settings.clone() }))
            }
            Event::TurnEnded { .. }
            | Event::CancelAsked { .. }
            | Event::Resumed { .. }
            | Event::ProcessExited { .. }
            | Event::TurnLimit { .. }
            | Event::Compacted
            | Event::Completed { .. }
            | Event::Cancelled { .. }
            | Event::Failed { .. }
            | Event::Reopened
            | Event::Renamed { .. }
            | Event::Archived
            | Event::Unarchived
            | Event::Waiting { .. }
            | Event::Unconfined
            | Event::RuleMade { .. }
            | Event::RuleApplied { .. }
            | Event::RuleDropped { .. }
            | Event::Continues { .. }
            | Event::ContinuedIn { .. }
            | Event::Imported { .. }
            | Event::Advice { .. }
            | Event::Unknown { .. } => None,
        }
    }
}
