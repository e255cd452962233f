//! The REPL: a person, or a pipe, talks with an agent, and a transcript keeps what is said. There is no daemon.
//!
//! What the person says is saved before the agent hears it, and what the agent says when its turn ends, however it does.

mod asking;
mod command;
mod conversation;
mod copy;
mod editor;
mod input;
mod markdown;
mod own;
mod partner;
mod replay;
mod screen;
mod signal;
mod stage;
mod terminal;
mod turn;

use std::path::PathBuf;

use anyhow::Context;
use convoke_agents::sandbox;
use convoke_core::content::Usage;
use convoke_files::transcripts::{Id, Recall, Status, Transcripts, Writer};

use crate::commands::World;
use crate::home::Home;
use crate::logs::Loudness;
use crate::output::{Output, aside};
use command::{COMMANDS, Input as Wish};
use conversation::Conversation;
use input::{Heard, Input};
use own::Next;
use screen::Screen;
use signal::Signals;
use stage::Stage;
use terminal::Terminal;
use turn::{After, Manner};

pub(crate) use conversation::StartInterrupted;
pub(crate) use partner::{Partner, PartnerError, Partners};
pub(crate) use stage::HomeInside;

/// Turns that are shown when a session is taken up again: the last question and its answer.
const SHOWN_AGAIN: usize = 2;

/// What a conversation begins with.
pub(crate) struct Opening {
    /// Where the transcript is.
    pub(crate) transcripts: Transcripts,
    /// The way to add to it.
    pub(crate) writer: Writer,
    /// Everyone there is to talk with.
    pub(crate) partners: Partners,
    /// Whom to talk with.
    pub(crate) partner: Partner,
    /// What was said before; `None` for a new conversation.
    pub(crate) recall: Option<Recall>,
    /// How much of the conversation an agent is told that does not know it.
    pub(crate) tokens_max: u64,
    /// Where prompts are remembered.
    pub(crate) history: PathBuf,
    /// How much is said besides the answers.
    pub(crate) loudness: Loudness,
    /// How agents are confined.
    pub(crate) sandbox: sandbox::Settings,
}

/// The session was cut off. It is saved, and can be taken up again.
#[derive(Debug, thiserror::Error)]
#[error("the session was interrupted")]
pub(crate) struct Interrupted {
    /// Which session.
    pub(crate) id: Id,
}

/// Some prompts were not answered; why was said at the time.
#[derive(Debug, thiserror::Error)]
#[error("{count} of the turns failed")]
pub(crate) struct TurnsFailed {
    count: usize,
}

/// How a conversation ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// The person leaves, or the pipe is at its end.
    InOrder,
    /// The program is told to end.
    CutOff,
}

/// Talks until one side leaves.
pub(crate) async fn run(
    opening: Opening,
    home: &Home,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    let terminal = Terminal::remember();
    let former = opening.recall.as_ref().map(|recall| recall.agent.clone());
    let mut conversation = begin(opening, home, world, output)?;
    if let Err(error) = conversation.ready().await {
        // A session in which nothing could be said is none.
        let Conversation { transcripts, writer, .. } = conversation;
        let id = writer.id().clone();
        drop(writer);
        if former.is_none() {
            transcripts.delete(&id)?;
        }
        return Err(error);
    }
    if let Some(former) = former {
        conversation.mark(Status::Active)?;
        conversation.note_change(&former)?;
    }
    welcome(&mut conversation);
    let ending = talk(&mut conversation).await?;
    end(conversation, ending, &terminal).await
}

fn begin(
    opening: Opening,
    home: &Home,
    world: &World,
    output: &Output,
) -> anyhow::Result<Conversation> {
    let screen = Screen::new(output, opening.loudness);
    let input = Input::open(&opening.history, screen.colour());
    let stage = Stage::open(world, home, &opening.sandbox)?;
    let Opening { recall, .. } = opening;
    let (known_as, turn_count, recalled) = match recall {
        Some(recall) => (recall.agent_session, recall.turn_count, Some(recall.window)),
        None => (None, 0, None),
    };
    Ok(Conversation {
        transcripts: opening.transcripts,
        writer: opening.writer,
        tokens_max: opening.tokens_max,
        stage,
        partners: opening.partners,
        partner: opening.partner,
        running: None,
        context: replay::Context::default(),
        known_as,
        recalled,
        offered: None,
        spent: Usage::default(),
        screen,
        input,
        signals: Signals::listen()?,
        turn_count,
        failed: 0,
        unasked: String::new(),
    })
}

/// Tells a person where they are.
fn welcome(conversation: &mut Conversation) {
    if !conversation.screen.has_person() || !conversation.input.is_keyboard() {
        return;
    }
    if conversation.turn_count > 0
        && let Ok(text) = conversation.history(SHOWN_AGAIN)
    {
        conversation.screen.tell(&text);
    }
    let id = conversation.writer.id();
    let line = format!("Session {id}. /help shows the commands, Ctrl-D leaves.");
    conversation.screen.say(&line);
}

/// Takes turn after turn.
async fn talk(conversation: &mut Conversation) -> anyhow::Result<Ending> {
    loop {
        if conversation.screen.is_gone() {
            return Ok(Ending::InOrder);
        }
        let line = match listen(conversation).await? {
            Some(Heard::Line(line)) => line,
            Some(Heard::Interrupted) => {
                conversation.screen.say("Nothing is running; Ctrl-D leaves.");
                continue;
            }
            Some(Heard::End) => return Ok(Ending::InOrder),
            Some(Heard::Failed(why)) => {
                conversation.screen.complain(&format!("nothing more can be read: {why}"));
                return Ok(Ending::CutOff);
            }
            None => return Ok(Ending::CutOff),
        };
        conversation.settle_unasked();
        let mut wish = Wish::of(&line, conversation.offers());
        if matches!(wish, Wish::Misunderstood(_)) {
            conversation.await_offers().await;
            wish = Wish::of(&line, conversation.offers());
        }
        let after = match wish {
            Wish::Empty => After::GoOn,
            Wish::Prompt(text) => conversation.take_turn(&text, Manner::InContext).await?,
            Wish::Pass(text) => conversation.take_turn(&text, Manner::Alone).await?,
            Wish::Command(command) => match conversation.obey(command).await {
                Next::GoOn => After::GoOn,
                Next::Exit => return Ok(Ending::InOrder),
            },
            Wish::Misunderstood(why) => {
                conversation.screen.complain(&why);
                After::GoOn
            }
        };
        if after == After::Leave {
            return Ok(Ending::CutOff);
        }
    }
}

/// Waits for a line, and hears what the agent does meanwhile; `None` when the program is told to end.
async fn listen(conversation: &mut Conversation) -> anyhow::Result<Option<Heard>> {
    let ours = COMMANDS.iter().map(|(name, ..)| format!("/{name}"));
    let theirs = conversation.offers().iter().map(|command| format!("/{}", command.name));
    let mut commands: Vec<String> = ours.chain(theirs).collect();
    commands.sort();
    commands.dedup();
    let name = conversation.partner.name.clone();
    conversation.input.want_prompt(&name, commands);
    let mut interrupt = Signals::interrupts()?;
    loop {
        let report = async {
            match &mut conversation.running {
                Some(running) => running.reports.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            heard = conversation.input.line() => return Ok(Some(heard)),
            report = report => conversation.overhear(report).await,
            // The line editor takes Ctrl-C for itself, so that this is somebody else's, or a pipe's.
            _ = interrupt.recv() => return Ok(None),
            () = conversation.signals.ended() => return Ok(None),
        }
    }
}

/// Writes down how the conversation ended, and lets the agent go.
async fn end(
    mut conversation: Conversation,
    ending: Ending,
    terminal: &Terminal,
) -> anyhow::Result<()> {
    conversation.settle_unasked();
    let status = match ending {
        Ending::InOrder => Status::Completed,
        Ending::CutOff => Status::Interrupted,
    };
    let marked = conversation.mark(status);
    if conversation.input.is_waiting() {
        terminal.restore();
    }
    conversation.dismiss().await;
    marked?;
    if let Some(error) = conversation.screen.trouble() {
        return Err(error).context("cannot write to standard output");
    }
    let id = conversation.writer.id().clone();
    let is_person = conversation.input.is_keyboard();
    match ending {
        Ending::CutOff => Err(Interrupted { id }.into()),
        Ending::InOrder if conversation.failed > 0 && !is_person => {
            Err(TurnsFailed { count: conversation.failed }.into())
        }
        Ending::InOrder => {
            if is_person && conversation.screen.has_person() {
                aside(&format!("Take it up again with: convoke spawn --resume {id}"));
            }
            Ok(())
        }
    }
}
