//! A conversation: the transcript that keeps it, the agent that takes part, and how the two stay of one mind.

use std::time::Duration;

use convoke_agents::driver::Start;
use convoke_core::content::Usage;
use convoke_core::notice::{AgentEvent, Event, Notice, ProcessEvent, Resumed};
use convoke_core::session::Report;
use convoke_core::state::{OfferedCommand, SessionState};
use convoke_files::transcripts::{
    self, AgentSession, Record, Role, Status, Transcripts, Turn, Window, Writer, estimate,
};

use super::input::Input;
use super::partner::{Partner, Partners};
use super::replay::Context;
use super::screen::Screen;
use super::signal::Signals;
use super::stage::{Running, Stage};
use crate::{clock, random};

/// How long an agent may take to leave; it has nothing to do any more, and its person wants to go.
const LEAVE_GRACE: Duration = Duration::from_secs(3);

/// How long a new agent may take to tell its commands, when one is wanted that nobody knows.
const OFFER_GRACE: Duration = Duration::from_millis(500);

/// A conversation with an agent.
pub(super) struct Conversation {
    pub(super) transcripts: Transcripts,
    pub(super) writer: Writer,
    /// How much of the conversation an agent is told that does not know it.
    pub(super) tokens_max: u64,
    pub(super) stage: Stage,
    pub(super) partners: Partners,
    pub(super) partner: Partner,
    /// The agent, unless it has to be started again.
    pub(super) running: Option<Running>,
    /// What the next prompt must bring along.
    pub(super) context: Context,
    /// Under which id of its own the agent knows everything.
    pub(super) known_as: Option<AgentSession>,
    /// What was said before this program was started, until an agent was told.
    pub(super) recalled: Option<Window>,
    /// The agent's own commands, once it has told them.
    pub(super) offered: Option<Vec<OfferedCommand>>,
    pub(super) spent: Usage,
    pub(super) screen: Screen,
    pub(super) input: Input,
    pub(super) signals: Signals,
    /// Turns that were saved, also by others before.
    pub(super) turn_count: u64,
    /// Turns that failed.
    pub(super) failed: usize,
    /// What the agent said without being asked.
    pub(super) unasked: String,
}

/// Somebody wants to leave before the agent is there.
#[derive(Debug, thiserror::Error)]
#[error("interrupted while the agent was starting")]
pub(crate) struct StartInterrupted;

impl Conversation {
    /// Saves a turn. What cannot be saved is not said to anybody.
    pub(super) fn save(
        &mut self,
        role: Role,
        content: &str,
        tokens: Option<u64>,
    ) -> transcripts::Result<()> {
        let turn = Turn {
            role,
            content: content.to_owned(),
            timestamp: clock::now(),
            tokens: tokens.unwrap_or_else(|| estimate(content)),
        };
        self.writer.append(&Record::Turn(turn.clone()))?;
        self.turn_count += 1;
        match role {
            Role::Assistant => self.screen.saved(turn),
            Role::User => {}
        }
        Ok(())
    }

    /// Makes sure that there is an agent, and says with how much of the conversation in mind.
    pub(super) async fn ready(&mut self) -> anyhow::Result<()> {
        if self.running.is_some() {
            return Ok(());
        }
        if let Some(running) = self.resume().await? {
            self.recalled = None;
            self.context = Context::default();
            self.adopt(running);
            self.tell_resumed(Resumed::Native, None);
            return Ok(());
        }
        let window = match self.recalled.take() {
            Some(window) => window,
            None => self.transcripts.recall(self.writer.id(), self.tokens_max)?.window,
        };
        let started = self.start(Start::New { id: random::uuid() }).await;
        let running = match started {
            Ok(running) => running,
            Err(error) => {
                self.recalled = Some(window);
                return Err(error);
            }
        };
        self.adopt(running);
        if self.turn_count > 0 {
            let how = if window.is_empty() { Resumed::Afresh } else { Resumed::Replay };
            self.tell_resumed(how, Some(&window));
        }
        self.context = Context { role: self.partner.role.clone(), window: Some(window) };
        if self.context.is_empty() {
            self.note_session();
        }
        Ok(())
    }

    /// Takes up the agent's own session, if there is one and the agent still has it.
    async fn resume(&mut self) -> anyhow::Result<Option<Running>> {
        let known = self.known_as.as_ref().filter(|known| known.agent == self.partner.name);
        let Some(known) = known else { return Ok(None) };
        let start = Start::Resume { agent_session: known.agent_session_id.clone() };
        match self.start(start).await {
            Ok(running) => Ok(Some(running)),
            Err(error) if is_refusal(&error) => {
                tracing::info!("the agent does not take up its session: {error:#}");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Starts the agent, unless the person loses patience.
    async fn start(&mut self, start: Start) -> anyhow::Result<Running> {
        let mut interrupt = Signals::interrupts()?;
        tokio::select! {
            running = self.stage.start(&self.partner, start) => running,
            _ = interrupt.recv() => Err(StartInterrupted.into()),
            () = self.signals.ended() => Err(StartInterrupted.into()),
        }
    }

    fn adopt(&mut self, running: Running) {
        self.offered = None;
        self.running = Some(running);
        if self.stage.lacks_confinement(&self.partner.agent) {
            self.screen.say(&Notice::new(ProcessEvent::Unconfined).text);
        }
    }

    fn tell_resumed(&mut self, how: Resumed, window: Option<&Window>) {
        let sentence = Notice::new(ProcessEvent::Resumed { how }).text;
        let detail = match window {
            Some(window) if window.left_out() > 0 => format!(
                " ({} turns of it; {} in the middle are left out)",
                window.len(),
                window.left_out()
            ),
            Some(_) | None => String::new(),
        };
        self.screen.say(&format!("{sentence}{detail}"));
    }

    /// Writes down under which id the agent knows everything, once it does.
    pub(super) fn note_session(&mut self) {
        let Some(running) = &self.running else { return };
        let session = AgentSession {
            agent: self.partner.name.clone(),
            agent_session_id: running.agent_session.clone(),
            timestamp: clock::now(),
        };
        let is_known = self.known_as.as_ref().is_some_and(|known| {
            known.agent == session.agent && known.agent_session_id == session.agent_session_id
        });
        if is_known {
            return;
        }
        match self.writer.append(&Record::AgentSession(session.clone())) {
            Ok(()) => self.known_as = Some(session),
            Err(error) => self.screen.complain(&error.to_string()),
        }
    }

    /// Writes down that another agent takes part than before. One that has nothing to be told is written down already.
    pub(super) fn note_change(&mut self, former: &str) -> transcripts::Result<()> {
        if former == self.partner.name || self.context.is_empty() {
            return Ok(());
        }
        let (agent, timestamp) = (self.partner.name.clone(), clock::now());
        self.known_as = None;
        self.writer.append(&Record::Agent { agent, timestamp })
    }

    /// Writes down that the agent does not know everything any more, and lets it go.
    pub(super) async fn part(&mut self, record: &Record) -> transcripts::Result<()> {
        self.writer.append(record)?;
        self.known_as = None;
        self.recalled = None;
        self.dismiss().await;
        Ok(())
    }

    /// Lets the agent go.
    pub(super) async fn dismiss(&mut self) {
        let Some(running) = self.running.take() else { return };
        let Running { driver, mut reports, .. } = running;
        let stopped = async {
            // What it still has to say may be more than waits in the queue.
            tokio::select! {
                _ = driver.stop() => {}
                () = async { while reports.recv().await.is_some() {} std::future::pending().await } => {}
            }
        };
        // One that takes longer is killed by being dropped.
        tokio::time::timeout(LEAVE_GRACE, stopped).await.ok();
    }

    /// Takes note of what the agent does while nobody asked it to do anything.
    pub(super) async fn overhear(&mut self, report: Option<Report>) {
        match report {
            Some(Report::Said(text)) => self.unasked.push_str(&text),
            Some(Report::Noticed(notice)) => self.notice(&notice),
            Some(Report::State(state)) => self.learn(state),
            Some(Report::Asked(request)) => self.refuse(&request).await,
            Some(Report::Renewed { agent_session }) => self.renew(agent_session),
            Some(Report::Exited(exit)) => {
                self.running = None;
                tracing::info!("the agent ended while it had nothing to do: {exit}");
            }
            Some(Report::Failed { error }) => {
                self.running = None;
                tracing::warn!("the agent cannot go on: {error}");
            }
            None => self.running = None,
            Some(
                Report::Resumed(_)
                | Report::Thought(_)
                | Report::Planned(_)
                | Report::ToolCalled(_)
                | Report::Withdrew(_)
                | Report::TurnEnded { .. }
                | Report::Stopped,
            ) => {}
        }
    }

    /// The agent's own commands, as far as they are known.
    pub(super) fn offers(&self) -> &[OfferedCommand] {
        self.offered.as_deref().unwrap_or_default()
    }

    /// Gives an agent that has just been started a moment to tell its commands.
    pub(super) async fn await_offers(&mut self) {
        let deadline = tokio::time::Instant::now() + OFFER_GRACE;
        while self.offered.is_none()
            && let Some(running) = &mut self.running
            && let Ok(report) = tokio::time::timeout_at(deadline, running.reports.recv()).await
        {
            self.overhear(report).await;
        }
    }

    /// Shows and saves what the agent said without being asked.
    pub(super) fn settle_unasked(&mut self) {
        let text = std::mem::take(&mut self.unasked);
        if text.trim().is_empty() {
            return;
        }
        self.screen.said(&text);
        self.screen.end_turn();
        if let Err(error) = self.save(Role::Assistant, &text, None) {
            self.screen.complain(&format!("what was just said is not saved: {error}"));
        }
    }

    /// Takes note of what the agent offers and has used. Modes and settings are shown on request only.
    pub(super) fn learn(&mut self, state: SessionState) {
        match state {
            SessionState::Commands { commands } => self.offered = Some(commands),
            SessionState::Usage(usage) => self.spend(usage),
            SessionState::Modes { .. }
            | SessionState::Settings { .. }
            | SessionState::Queue { .. } => {}
        }
    }

    /// Takes note of a fact that the agent tells.
    pub(super) fn notice(&mut self, notice: &Notice) {
        if !matches!(notice.event, Event::Agent(AgentEvent::Unknown { .. })) {
            self.screen.say(&notice.text);
        }
    }

    /// Adds up what the agent says that it spent.
    pub(super) fn spend(&mut self, usage: Usage) {
        let spent = &mut self.spent;
        spent.input_tokens = usage.input_tokens.or(spent.input_tokens);
        spent.output_tokens = usage.output_tokens.or(spent.output_tokens);
        spent.context_used = usage.context_used.or(spent.context_used);
        spent.context_size = usage.context_size.or(spent.context_size);
        spent.cost = usage.cost.or(spent.cost.take());
    }

    /// The agent calls the session differently from now on.
    pub(super) fn renew(&mut self, agent_session: String) {
        if let Some(running) = &mut self.running {
            running.agent_session = agent_session;
        }
        self.note_session();
    }

    /// Writes down how the session stands.
    pub(super) fn mark(&mut self, status: Status) -> transcripts::Result<()> {
        self.writer.append(&Record::Status { status, timestamp: clock::now() })
    }
}

/// Whether an agent does not take up its session, so that a new one is worth a try.
fn is_refusal(error: &anyhow::Error) -> bool {
    use convoke_agents::Error;
    match error.downcast_ref::<Error>() {
        Some(
            Error::CannotResume { .. }
            | Error::IdTaken { .. }
            | Error::Protocol { .. }
            | Error::Refused { .. }
            | Error::Exited(_)
            | Error::Gone,
        ) => true,
        Some(
            Error::NotInstalled { .. }
            | Error::NotFound { .. }
            | Error::Spawn { .. }
            | Error::Workspace { .. }
            | Error::NoLandlock
            | Error::LayerMissing { .. }
            | Error::NetworkNotHeld { .. }
            | Error::Confine { .. }
            | Error::Exposed { .. }
            | Error::Landlock(_)
            | Error::Timeout { .. }
            | Error::NoRoom { .. }
            | Error::AuthRequired { .. }
            | Error::SessionTimeout { .. }
            | Error::Io(_),
        )
        | None => false,
    }
}
