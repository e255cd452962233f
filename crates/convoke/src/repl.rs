//! The REPL: a user interface for one session of the core, with an agent process and a transcript file as its store.
//! There is no daemon.
//!
//! A prompt is saved before the agent gets it, and the answer when its turn ends, however it ends.

mod agent;
mod asking;
mod command;
mod conversation;
mod copy;
mod editor;
mod input;
mod journal;
mod launcher;
mod live;
mod markdown;
mod own;
mod profile;
mod screen;
mod signal;
mod terminal;
mod turn;

use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::Context;
use convoke_agents::sandbox;
use convoke_files::transcripts::{Id, Status};

use crate::clock;
use crate::commands::World;
use crate::home::Home;
use crate::logs::Verbosity;
use crate::output::{Output, aside};
use agent::Agent;
use command::{COMMANDS, Input as Typed};
use conversation::{Console, Conversation};
use input::{Input, InputEvent};
use launcher::Launcher;
use live::Live;
use screen::Screen;
use signal::Signals;
use terminal::Terminal;
use turn::{PreamblePolicy, Progress};

pub(crate) use conversation::StartInterrupted;
pub(crate) use journal::Journal;
pub(crate) use launcher::HomeInside;
pub(crate) use profile::{Profile, ProfileError, Profiles};

/// Turns that are shown when a session is resumed: the last prompt and its answer.
const SHOWN_AGAIN: usize = 2;

/// The initial state of a conversation.
pub(crate) struct Opening {
    /// The transcript, open for writing.
    pub(crate) journal: Journal,
    /// The agent of a transcript that is resumed; `None` for a new one.
    pub(crate) former: Option<String>,
    /// Every agent and role.
    pub(crate) profiles: Profiles,
    /// The one to talk with.
    pub(crate) profile: Profile,
    /// The file of the line editor's history.
    pub(crate) history: PathBuf,
    /// How much is printed besides the answers.
    pub(crate) verbosity: Verbosity,
    /// How agents are confined.
    pub(crate) sandbox: sandbox::Settings,
}

/// The session was interrupted. It is saved, and can be resumed.
#[derive(Debug, thiserror::Error)]
#[error("the session was interrupted")]
pub(crate) struct Interrupted {
    /// The session.
    pub(crate) id: Id,
}

/// Some turns failed; each error was printed with its turn.
#[derive(Debug, thiserror::Error)]
#[error("{count} of the turns failed")]
pub(crate) struct TurnsFailed {
    count: usize,
}

/// How a conversation ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// The user leaves, or the pipe is at its end.
    InOrder,
    /// A signal ends the program.
    CutOff,
}

/// Runs the conversation until the user leaves or a signal ends the program.
pub(crate) async fn run(
    opening: Opening,
    home: &Home,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    let terminal = Terminal::remember();
    let former = opening.former.clone();
    let mut conversation = begin(opening, home, world, output)?;
    if let Err(error) = conversation.ready().await {
        // If the agent of a new session does not start, its transcript is removed.
        if former.is_none() {
            conversation.journal.delete()?;
        }
        return Err(error);
    }
    if let Some(former) = former {
        conversation.journal.mark(Status::Active)?;
        conversation.record_agent_change(&former)?;
    }
    print_welcome(&mut conversation);
    let ending = run_input(&mut conversation).await?;
    end(conversation, ending, &terminal).await
}

fn begin(
    opening: Opening,
    home: &Home,
    world: &World,
    output: &Output,
) -> anyhow::Result<Conversation> {
    let screen = Screen::new(output, opening.verbosity);
    let input = Input::open(&opening.history, screen.colour());
    let console = Console { screen, input, signals: Signals::listen()?, asking: None };
    Ok(Conversation {
        live: Live::new(clock::now()),
        journal: opening.journal,
        agent: Agent::new(opening.profile),
        profiles: opening.profiles,
        launcher: Launcher::open(world, home, &opening.sandbox)?,
        console,
        progress: Progress::default(),
        failed: 0,
    })
}

/// Shows a user at a terminal the last turns and the most important keys.
fn print_welcome(conversation: &mut Conversation) {
    if !conversation.console.screen.has_person() || !conversation.console.input.is_keyboard() {
        return;
    }
    if conversation.journal.turn_count > 0
        && let Ok(text) = conversation.history(SHOWN_AGAIN)
    {
        conversation.console.screen.print_result(&text);
    }
    let id = conversation.journal.writer.id();
    let line = format!("Session {id}. /help shows the commands, Ctrl-D leaves.");
    conversation.console.screen.print_notice(&line);
}

/// Reads prompts and commands, one after the other.
async fn run_input(conversation: &mut Conversation) -> anyhow::Result<Ending> {
    loop {
        if conversation.console.screen.is_gone() {
            return Ok(Ending::InOrder);
        }
        let line = match next_input(conversation).await? {
            Some(InputEvent::Line(line)) => line,
            Some(InputEvent::Interrupted) => {
                conversation.console.screen.print_notice("Nothing is running; Ctrl-D leaves.");
                continue;
            }
            Some(InputEvent::End) => return Ok(Ending::InOrder),
            Some(InputEvent::Failed(why)) => {
                conversation
                    .console
                    .screen
                    .print_error(&format!("cannot read standard input: {why}"));
                return Ok(Ending::CutOff);
            }
            None => return Ok(Ending::CutOff),
        };
        let mut typed = Typed::of(&line, conversation.live.offers());
        if matches!(typed, Typed::Misunderstood(_)) {
            conversation.await_offers().await;
            typed = Typed::of(&line, conversation.live.offers());
        }
        let next = match typed {
            Typed::Empty => continue,
            Typed::Prompt(text) => conversation.take_turn(text, PreamblePolicy::Include).await?,
            Typed::Pass(text) => conversation.take_turn(text, PreamblePolicy::Omit).await?,
            Typed::Command(command) => conversation.run_command(command).await,
            Typed::Misunderstood(why) => {
                conversation.console.screen.print_error(&why);
                continue;
            }
        };
        if let ControlFlow::Break(ending) = next {
            return Ok(ending);
        }
    }
}

/// Waits for a line, and handles reports of the agent meanwhile; `None` if a signal ends the
/// program.
async fn next_input(conversation: &mut Conversation) -> anyhow::Result<Option<InputEvent>> {
    let ours = COMMANDS.iter().map(|(name, ..)| format!("/{name}"));
    let theirs = conversation.live.offers().iter().map(|command| format!("/{}", command.name));
    let mut commands: Vec<String> = ours.chain(theirs).collect();
    commands.sort();
    commands.dedup();
    conversation.console.input.want_prompt(&conversation.agent.profile.name, commands);
    let mut interrupt = Signals::interrupts()?;
    loop {
        let console = &mut conversation.console;
        tokio::select! {
            event = console.input.line() => return Ok(Some(event)),
            report = conversation.agent.report() => conversation.handle(report).await,
            // The line editor reads Ctrl-C as a key, so this signal comes from another process or is for a pipe.
            _ = interrupt.recv() => return Ok(None),
            () = console.signals.ended() => return Ok(None),
        }
    }
}

/// Records how the conversation ended, and stops the agent.
async fn end(
    mut conversation: Conversation,
    ending: Ending,
    terminal: &Terminal,
) -> anyhow::Result<()> {
    conversation.finish().await;
    let Conversation { mut journal, mut agent, console, failed, .. } = conversation;
    let Console { mut screen, input, .. } = console;
    let marked = journal.mark(match ending {
        Ending::InOrder => Status::Completed,
        Ending::CutOff => Status::Interrupted,
    });
    if input.is_waiting() {
        terminal.restore();
    }
    agent.stop().await;
    marked?;
    if let Some(error) = screen.take_error() {
        return Err(error).context("cannot write to standard output");
    }
    let id = journal.writer.id().clone();
    match ending {
        Ending::CutOff => Err(Interrupted { id }.into()),
        Ending::InOrder if failed > 0 && !input.is_keyboard() => {
            Err(TurnsFailed { count: failed }.into())
        }
        Ending::InOrder => {
            if input.is_keyboard() && screen.has_person() {
                aside(&format!("Resume it with `convoke spawn --resume {id}`"));
            }
            Ok(())
        }
    }
}
