//! The REPL's own commands.

use std::ops::ControlFlow;
use std::path::Path;

use convoke_core::count::counted;
use convoke_core::time::relative;
use convoke_files::transcripts::{Role, Turn};

use super::Ending;
use super::command::{Command, help};
use super::conversation::Conversation;
use super::copy::{self, Import};
use crate::clock;
use crate::output::plain;

impl Conversation {
    /// Runs a command. The conversation continues if it fails.
    pub(super) async fn run_command(&mut self, command: Command) -> ControlFlow<Ending> {
        let done = match command {
            Command::Exit => return ControlFlow::Break(Ending::InOrder),
            Command::Help => {
                self.console.screen.print_result(&plain(&help(self.live.offers())));
                Ok(())
            }
            Command::Save(None) => {
                let count = counted(self.journal.turn_count, "message");
                let path = self.journal.writer.path().display();
                self.console.screen.print_notice(&format!("Saved {count} in {path}"));
                Ok(())
            }
            Command::Save(Some(path)) | Command::Export(path) => {
                self.export(&self.launcher.file(&path))
            }
            Command::History(count) => self.show_history(count),
            Command::Clear => self.clear().await,
            Command::Stats => self.show_stats(),
            Command::Agent(None) => {
                self.list_agents();
                Ok(())
            }
            Command::Agent(Some(name)) => self.change_agent(&name).await,
            Command::Import(path) => self.import(&self.launcher.file(&path)).await,
        };
        if let Err(error) = done {
            self.console.screen.print_error(&format!("{error:#}"));
        }
        ControlFlow::Continue(())
    }

    fn export(&mut self, path: &Path) -> anyhow::Result<()> {
        let count = copy::export(&self.journal.transcripts, self.journal.writer.id(), path)?;
        let count = counted(count, "message");
        self.console.screen.print_notice(&format!("Wrote {count} to {}", path.display()));
        Ok(())
    }

    async fn import(&mut self, path: &Path) -> anyhow::Result<()> {
        let Import { turns, left_out } = copy::import(path, self.journal.writer.path())?;
        let count = self.journal.import(path, turns)?;
        self.agent.stop().await;
        let count = counted(count, "message");
        self.console.screen.print_notice(&format!("Added {count} from {}", path.display()));
        if let Some(left_out) = left_out {
            self.console.screen.print_error(&left_out.to_string());
        }
        Ok(())
    }

    fn show_history(&mut self, count: usize) -> anyhow::Result<()> {
        let text = self.history(count)?;
        self.console.screen.print_result(if text.is_empty() {
            "Nothing was said yet.\n"
        } else {
            &text
        });
        Ok(())
    }

    /// The last turns, for people.
    pub(super) fn history(&self, count: usize) -> anyhow::Result<String> {
        Ok(self.journal.last(count)?.iter().map(|turn| self.legible(turn)).collect())
    }

    fn legible(&self, turn: &Turn) -> String {
        let who = match turn.role {
            Role::User => "you",
            Role::Assistant => "agent",
        };
        let when = relative(turn.timestamp, clock::now());
        let head = self.console.screen.colour().good(format!("{who}, {when}:"));
        format!("{head}\n{}\n\n", plain(turn.content.trim_end()))
    }

    async fn clear(&mut self) -> anyhow::Result<()> {
        self.journal.clear()?;
        self.agent.stop().await;
        self.console.screen.print_notice(
            "The agent starts without context at your next prompt; the transcript keeps every turn.",
        );
        Ok(())
    }

    fn show_stats(&mut self) -> anyhow::Result<()> {
        let (recall, usage) = (self.journal.recall()?, &self.live.usage);
        let name = &self.agent.profile.name;
        let agent = match self.agent.process.as_ref().and_then(|it| it.introduced_as.as_ref()) {
            Some(introduced) => format!("{name} ({introduced})"),
            None => name.clone(),
        };
        let mut rows = vec![
            ("session", self.journal.writer.id().to_string()),
            ("agent", agent),
            ("project", self.launcher.workspace().display().to_string()),
            ("begun", recall.metadata.created_at.to_string()),
            ("messages", recall.turn_count.to_string()),
            ("tokens", format!("{} in all of them", recall.tokens)),
        ];
        match (usage.context_used, usage.context_size) {
            (Some(used), Some(size)) => rows.push(("context", format!("{used} of {size} tokens"))),
            (Some(used), None) => rows.push(("context", format!("{used} tokens"))),
            (None, _) => {}
        }
        if let Some(cost) = &usage.cost {
            rows.push(("cost", format!("{:.2} {}", cost.amount, cost.currency)));
        }
        rows.push(("file", self.journal.writer.path().display().to_string()));
        let text: String =
            rows.iter().map(|(name, value)| format!("{name:<9}{}\n", plain(value))).collect();
        self.console.screen.print_result(&text);
        Ok(())
    }

    fn list_agents(&mut self) {
        let row = |name: String| {
            let mark = if name == self.agent.profile.name { "*" } else { " " };
            format!("{mark} {name}\n")
        };
        let text: String = self.profiles.names().into_iter().map(row).collect();
        self.console.screen.print_result(&text);
    }

    /// Continues with another agent, which gets the conversation so far.
    async fn change_agent(&mut self, name: &str) -> anyhow::Result<()> {
        self.replace_agent(self.profiles.find(name)?).await?;
        self.console.screen.print_notice(&format!("You talk with {name} now."));
        Ok(())
    }
}
