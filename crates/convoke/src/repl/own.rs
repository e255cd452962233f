//! What the REPL does itself when it is told to, without the agent.

use std::collections::VecDeque;
use std::path::Path;

use convoke_core::time::relative;
use convoke_files::transcripts::{Record, Role, Turn};

use super::command::{Command, help};
use super::conversation::Conversation;
use super::copy::{self, Import};
use crate::clock;
use crate::output::plain;

/// What comes after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// The next line.
    GoOn,
    /// The end, in order.
    Exit,
}

impl Conversation {
    /// Does what a command says. What cannot be done is said, and the conversation goes on.
    pub(super) async fn obey(&mut self, command: Command) -> Next {
        let done = match command {
            Command::Exit => return Next::Exit,
            Command::Help => {
                self.screen.tell(&plain(&help(self.offers())));
                Ok(())
            }
            Command::Save(None) => {
                let path = self.writer.path().display().to_string();
                self.screen.say(&format!("{} turns are saved in {path}", self.turn_count));
                Ok(())
            }
            Command::Save(Some(path)) | Command::Export(path) => {
                self.export(&self.stage.file(&path))
            }
            Command::History(count) => self.show_history(count),
            Command::Clear => self.clear().await,
            Command::Stats => self.show_stats(),
            Command::Agent(None) => {
                self.list_partners();
                Ok(())
            }
            Command::Agent(Some(name)) => self.change_partner(&name).await,
            Command::Import(path) => self.import(&self.stage.file(&path)).await,
        };
        if let Err(error) = done {
            self.screen.complain(&format!("{error:#}"));
        }
        Next::GoOn
    }

    fn export(&mut self, path: &Path) -> anyhow::Result<()> {
        let count = copy::export(&self.transcripts, self.writer.id(), path)?;
        self.screen.say(&format!("{count} turns are written to {}", path.display()));
        Ok(())
    }

    async fn import(&mut self, path: &Path) -> anyhow::Result<()> {
        let Import { turns, left_out } = copy::import(path, self.writer.path())?;
        let imported =
            Record::Imported { from: path.display().to_string(), timestamp: clock::now() };
        self.part(&imported).await?;
        let count = self.writer.append_all(turns.map(|turn| turn.map(Record::Turn)))?;
        self.turn_count += count;
        self.screen.say(&format!("{count} turns of {} are added", path.display()));
        if let Some(left_out) = left_out {
            self.screen.complain(&left_out.to_string());
        }
        Ok(())
    }

    fn show_history(&mut self, count: usize) -> anyhow::Result<()> {
        let text = self.history(count)?;
        self.screen.tell(if text.is_empty() { "Nothing was said yet.\n" } else { &text });
        Ok(())
    }

    /// The last turns, for people.
    pub(super) fn history(&self, count: usize) -> anyhow::Result<String> {
        let mut last = VecDeque::new();
        for turn in self.transcripts.turns(self.writer.id())? {
            last.push_back(turn?);
            if last.len() > count {
                last.pop_front();
            }
        }
        Ok(last.iter().map(|turn| self.legible(turn)).collect())
    }

    fn legible(&self, turn: &Turn) -> String {
        let who = match turn.role {
            Role::User => "you",
            Role::Assistant => "agent",
        };
        let when = relative(turn.timestamp, clock::now());
        let head = self.screen.colour().good(format!("{who}, {when}:"));
        format!("{head}\n{}\n\n", plain(turn.content.trim_end()))
    }

    async fn clear(&mut self) -> anyhow::Result<()> {
        self.part(&Record::Cleared { timestamp: clock::now() }).await?;
        self.screen.say(
            "The agent starts afresh with your next prompt; what was said stays in the transcript.",
        );
        Ok(())
    }

    fn show_stats(&mut self) -> anyhow::Result<()> {
        let recall = self.transcripts.recall(self.writer.id(), self.tokens_max)?;
        let agent = match self.running.as_ref().and_then(|it| it.introduced_as.clone()) {
            Some(introduced) => format!("{} ({introduced})", self.partner.name),
            None => self.partner.name.clone(),
        };
        let mut rows = vec![
            ("session", self.writer.id().to_string()),
            ("agent", agent),
            ("project", self.stage.workspace().display().to_string()),
            ("begun", recall.metadata.created_at.to_string()),
            ("turns", recall.turn_count.to_string()),
            ("tokens", format!("{} in all turns", recall.tokens)),
        ];
        match (self.spent.context_used, self.spent.context_size) {
            (Some(used), Some(size)) => rows.push(("context", format!("{used} of {size} tokens"))),
            (Some(used), None) => rows.push(("context", format!("{used} tokens"))),
            (None, _) => {}
        }
        if let Some(cost) = &self.spent.cost {
            rows.push(("cost", format!("{:.2} {}", cost.amount, cost.currency)));
        }
        rows.push(("file", self.writer.path().display().to_string()));
        let text: String =
            rows.iter().map(|(name, value)| format!("{name:<9}{}\n", plain(value))).collect();
        self.screen.tell(&text);
        Ok(())
    }

    fn list_partners(&mut self) {
        let row = |name: String| {
            let mark = if name == self.partner.name { "*" } else { " " };
            format!("{mark} {name}\n")
        };
        let text: String = self.partners.names().into_iter().map(row).collect();
        self.screen.tell(&text);
    }

    /// Goes on with another agent, which is told what was said. If it cannot be started, the one before stays.
    async fn change_partner(&mut self, name: &str) -> anyhow::Result<()> {
        let partner = self.partners.find(name)?;
        let former = std::mem::replace(&mut self.partner, partner);
        let kept = (self.running.take(), self.known_as.take(), self.context.clone());
        if let Err(error) = self.ready().await {
            self.partner = former;
            (self.running, self.known_as, self.context) = kept;
            return Err(error);
        }
        let newcomer = std::mem::replace(&mut self.running, kept.0);
        self.dismiss().await;
        self.running = newcomer;
        self.note_change(&former.name)?;
        self.screen.say(&format!("You talk with {name} now."));
        Ok(())
    }
}
