//! A conversation: the core's session decides, the journal stores, the screen shows, and the agent carries out.

use std::time::Duration;

use convoke_agents::Error as AgentError;
use convoke_agents::driver::{Launch, Order};
use convoke_agents::resume::{Begun, resume_or_begin};
use convoke_core::content::Content;
use convoke_core::count::counted;
use convoke_core::message::{Message, Role};
use convoke_core::notice::{AgentEvent, Event, Notice, ProcessEvent, Resumed, TurnEvent};
use convoke_core::process::Exit;
use convoke_core::replay;
use convoke_core::session::{Command, Effect, Interruption, Refusal, Reply, Report};
use convoke_core::state::SessionState;
use convoke_core::turn::Turn;
use convoke_core::update::Update;
use convoke_files::transcripts::{self, Window};

use super::agent::{Agent, Process};
use super::asking::Asking;
use super::input::Input;
use super::journal::Journal;
use super::launcher::Launcher;
use super::live::{Live, Step};
use super::profile::{Profile, Profiles};
use super::screen::{Screen, Words};
use super::signal::Signals;
use super::turn::Progress;
use crate::{clock, random};

/// How long a new agent is waited for to list its commands, when the user typed one that is unknown.
const OFFER_GRACE: Duration = Duration::from_millis(500);

/// A conversation with an agent.
pub(super) struct Conversation {
    pub(super) live: Live,
    pub(super) journal: Journal,
    pub(super) agent: Agent,
    pub(super) profiles: Profiles,
    pub(super) launcher: Launcher,
    pub(super) console: Console,
    pub(super) progress: Progress,
    /// Turns that failed.
    pub(super) failed: usize,
}

/// The user's side: output, input and signals.
pub(super) struct Console {
    pub(super) screen: Screen,
    pub(super) input: Input,
    pub(super) signals: Signals,
    /// The request that the user is answering.
    pub(super) asking: Option<Asking>,
}

/// The program was interrupted before the agent was ready.
#[derive(Debug, thiserror::Error)]
#[error("interrupted while the agent was starting")]
pub(crate) struct StartInterrupted;

impl Conversation {
    /// Starts the agent, unless it runs.
    pub(super) async fn ready(&mut self) -> anyhow::Result<()> {
        if self.agent.process.is_some() {
            return Ok(());
        }
        let profile = self.agent.profile.clone();
        let known = self.journal.agent_session(&profile.name);
        let (agent, notice) = self.start(profile, known).await?;
        self.adopt(agent, notice).await;
        Ok(())
    }

    /// Replaces the agent. If the new one cannot be started, the old one stays.
    pub(super) async fn replace_agent(&mut self, profile: Profile) -> anyhow::Result<()> {
        let (agent, notice) = self.start(profile, None).await?;
        self.agent.stop().await;
        let former = self.agent.profile.name.clone();
        self.adopt(agent, notice).await;
        Ok(self.record_agent_change(&former)?)
    }

    /// Records a change of the agent. The session of an agent without a preamble is recorded
    /// already.
    pub(super) fn record_agent_change(&mut self, former: &str) -> transcripts::Result<()> {
        let name = &self.agent.profile.name;
        if former == name || self.agent.preamble.is_none() {
            return Ok(());
        }
        self.journal.record_agent(name)
    }

    /// Starts an agent in its own session, or in a new one with the conversation so far as text;
    /// also returns the notice about what it remembers.
    async fn start(
        &mut self,
        profile: Profile,
        agent_session: Option<String>,
    ) -> anyhow::Result<(Agent, Option<Notice>)> {
        let launch = self.launcher.launch(&profile.agent)?;
        let start = |start| Process::start(Launch { start, ..launch.clone() });
        let starting = resume_or_begin(agent_session, random::bytes, is_forgotten, start);
        let mut interrupt = Signals::interrupts()?;
        let (process, begun) = tokio::select! {
            started = starting => started?,
            _ = interrupt.recv() => return Err(StartInterrupted.into()),
            () = self.console.signals.ended() => return Err(StartInterrupted.into()),
        };
        let (preamble, notice) = match begun {
            Begun::Resumed | Begun::Forked => {
                (None, Some(Notice::new(ProcessEvent::Resumed { how: Resumed::Native })))
            }
            Begun::New => {
                let window = self.journal.window()?;
                let replayed = replay::text(&window.quoted(), &random::uuid());
                let role = profile.role.as_ref().map(|role| format!("<role>\n{role}\n</role>\n\n"));
                let preamble = role.into_iter().chain(replayed).reduce(|role, text| role + &text);
                (preamble, (self.journal.turn_count > 0).then(|| replayed_notice(&window)))
            }
        };
        Ok((Agent { profile, process: Some(process), preamble }, notice))
    }

    async fn adopt(&mut self, agent: Agent, notice: Option<Notice>) {
        self.agent = agent;
        // The commands of the process before are not the ones of this one.
        let none = SessionState::Commands { commands: Vec::new() };
        self.handle(Some(Report::State(none))).await;
        let is_unconfined = self.launcher.lacks_confinement(&self.agent.profile.agent);
        let unconfined = is_unconfined.then(|| Notice::new(ProcessEvent::Unconfined));
        for notice in unconfined.into_iter().chain(notice) {
            self.handle(Some(Report::Noticed(notice))).await;
        }
        self.record_agent_session();
    }

    /// Records the agent's own session, once that has every turn.
    pub(super) fn record_agent_session(&mut self) {
        let Agent { profile, process: Some(process), preamble: None } = &self.agent else { return };
        let recorded = self.journal.record_agent_session(&profile.name, &process.agent_session);
        if let Err(error) = recorded {
            self.console.screen.print_error(&error.to_string());
        }
    }

    /// Handles a report of the agent; `None` if the driver failed.
    pub(super) async fn handle(&mut self, report: Option<Report>) {
        let report = report.unwrap_or_else(|| Report::Exited(Exit::default()));
        if let Report::Exited(exit) = &report {
            tracing::info!("the agent's process ended: {exit}");
            self.agent.process = None;
        }
        let asked = if let Report::Asked(request) = &report { Some(request.id()) } else { None };
        if let Err(refusal) = self.follow(Command::Agent(report)).await {
            tracing::debug!("a report is refused: {refusal}");
            // An agent whose request is refused must not wait for an answer.
            if let Some(request) = asked {
                self.agent.send(Order::Reply { request, reply: Reply::Cancelled }).await;
            }
        }
        self.attend_requests().await;
    }

    /// Decides, stores, shows and carries out.
    pub(super) async fn follow(&mut self, command: Command) -> Result<(), Refusal> {
        let step = self.live.follow(command, clock::now())?;
        self.save(&step.turns);
        self.perform(step).await;
        Ok(())
    }

    /// Saves an answer. If that fails, the conversation continues, since the user has seen the
    /// answer.
    fn save(&mut self, turns: &[transcripts::Turn]) {
        match self.journal.save(turns) {
            Ok(()) => turns.iter().for_each(|turn| self.console.screen.saved(turn)),
            Err(error) => {
                self.console.screen.print_error(&format!("the answer is not saved: {error}"));
            }
        }
    }

    /// Shows a step that is stored, and carries out its effects.
    pub(super) async fn perform(&mut self, step: Step) {
        for update in &step.updates {
            match update {
                Update::Message(message) => {
                    if step.paragraphs.contains(&message.seq) {
                        self.console.screen.paragraph();
                    }
                    self.show(message);
                }
                Update::Delta(delta) => self.console.screen.more(&delta.text),
                Update::State { .. } => {}
            }
        }
        for effect in step.effects {
            self.carry_out(effect).await;
        }
    }

    async fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::StartTurn { turn } => {
                let said = self.live.prompt_text(turn);
                let attachments = self.launcher.mentioned(said);
                let text = self.progress.prompt(&self.agent, said);
                self.agent.send(Order::Prompt { turn, text, attachments }).await;
            }
            Effect::CancelTurn { .. } => self.agent.send(Order::Cancel).await,
            Effect::Reply { request, reply } => {
                self.agent.send(Order::Reply { request, reply }).await;
            }
            Effect::StopProcess => self.agent.process = None,
            Effect::RecordAgentSession { agent_session } => {
                if let Some(process) = &mut self.agent.process {
                    process.agent_session = agent_session;
                }
                self.record_agent_session();
            }
        }
    }

    fn show(&mut self, message: &Message) {
        let screen = &mut self.console.screen;
        match &message.content {
            Content::Text { .. } if message.role == Role::User => match &message.turn {
                Some(Turn::Ended(stop)) => self.turn_ended(stop),
                Some(Turn::Running | Turn::Cancelling) | None => {}
            },
            Content::Notice(notice) => {
                if is_shown(&notice.event) {
                    screen.print_notice(&notice.text);
                }
            }
            // Complete text is on the screen already; requests are shown one after the other, when
            // they are asked.
            Content::Text { partial: false, .. }
            | Content::Thinking { partial: false, .. }
            | Content::Permission(_)
            | Content::Question(_) => {}
            // While the user types, nothing is shown; text is shown when it is saved.
            _ if !self.live.is_busy() => screen.begin(Words::Held, ""),
            Content::Text { text, .. } => screen.begin(Words::Answer, text),
            Content::Thinking { text, .. } => screen.begin(Words::Thought, text),
            Content::Plan { steps } => screen.planned(steps),
            Content::Tool(tool) => screen.called(tool),
        }
    }

    /// Waits a while for a new agent to list its commands.
    pub(super) async fn await_offers(&mut self) {
        let deadline = tokio::time::Instant::now() + OFFER_GRACE;
        while self.live.offers().is_empty()
            && self.agent.process.is_some()
            && let Ok(report) = tokio::time::timeout_at(deadline, self.agent.report()).await
        {
            self.handle(report).await;
        }
    }

    /// Ends and saves open messages. A running turn ends as interrupted.
    pub(super) async fn finish(&mut self) {
        if let Err(refusal) = self.follow(Command::Recover(Interruption::Ended)).await {
            tracing::error!("the session cannot be closed: {refusal}");
        }
        let answer = self.live.end_answer();
        answer.iter().for_each(|answer| self.console.screen.unprompted(&answer.content));
        self.save(answer.as_slice());
    }
}

/// Whether the user is shown a notice. How a turn and its process end is shown with the turn; for updates that Convoke
/// does not know there is nothing to do.
const fn is_shown(event: &Event) -> bool {
    !matches!(
        event,
        Event::Turn(TurnEvent::Ended { .. })
            | Event::Process(ProcessEvent::Exited { .. })
            | Event::Agent(AgentEvent::Unknown { .. })
    )
}

/// The notice that a new agent process is given the conversation so far as text.
fn replayed_notice(window: &Window) -> Notice {
    let how = if window.is_empty() { Resumed::Afresh } else { Resumed::Replay };
    let mut notice = Notice::new(ProcessEvent::Resumed { how });
    if window.left_out() > 0 {
        let (count, left_out) = (window.len(), window.left_out());
        let detail =
            format!(" ({} of it; {left_out} in the middle left out)", counted(count, "turn"));
        notice.text.push_str(&detail);
    }
    notice
}

/// Whether an agent that could not resume its session may begin a new one: it refused, or exited
/// without a reason.
const fn is_forgotten(error: &AgentError) -> bool {
    matches!(
        error,
        AgentError::CannotResume { .. }
            | AgentError::Protocol { .. }
            | AgentError::Refused { .. }
            | AgentError::Exited(_)
            | AgentError::Gone
    )
}
