//! Starts a session, or resumes one, even if its transcript is damaged.

use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::bail;
use convoke_agents::sandbox::Available;
use convoke_core::count::counted;
use convoke_files::transcripts::{
    self, End, Error, Id, Opened, Recall, Recovered, Transcripts, UNKNOWN_AGENT, Writer,
};

use crate::commands::World;
use crate::config::Config;
use crate::home::Home;
use crate::logs::Verbosity;
use crate::output::{aside, plain};
use crate::repl::{Journal, Opening, Profile, Profiles};
use crate::{clock, random};

/// The catalogue has no agent, not even the demo agent.
#[derive(Debug, thiserror::Error)]
#[error("there is no agent to talk with")]
pub(crate) struct NoAgent;

/// The parameters for opening a session.
pub(super) struct Opener<'a> {
    pub(super) transcripts: &'a Transcripts,
    pub(super) config: Config,
    pub(super) home: &'a Home,
    pub(super) world: &'a World,
    pub(super) verbosity: Verbosity,
}

impl Opener<'_> {
    /// Starts a session.
    pub(super) fn start(self, name: Option<&str>, id: Option<&str>) -> anyhow::Result<Opening> {
        let id: Id = match id {
            Some(id) => id.parse()?,
            None => random::uuid().parse()?,
        };
        let transcripts = self.transcripts;
        self.opening(name, |profile| {
            let writer = transcripts.create(&id, &profile.name, clock::now())?;
            Ok((writer, None))
        })
    }

    /// Resumes a session; `None` when its transcript was damaged and the user deleted it.
    pub(super) fn resume(self, id: &str, name: Option<&str>) -> anyhow::Result<Option<Opening>> {
        let id = self.transcripts.find(id)?;
        let opened = open_or_repair(self.transcripts, &id, self.config.spawner.max_tokens)?;
        let Some(Opened { writer, recall, end }) = opened else { return Ok(None) };
        match end {
            End::Whole => {}
            End::TornOff { bytes } => aside(&format!(
                "The last line of the transcript was incomplete ({bytes} bytes) and is set aside; every whole turn is kept."
            )),
        }
        let kept = Some(recall.agent.clone()).filter(|agent| agent != UNKNOWN_AGENT);
        let name = name.map(str::to_owned).or(kept);
        self.opening(name.as_deref(), |_| Ok((writer, Some(recall)))).map(Some)
    }

    fn opening(
        self,
        name: Option<&str>,
        open: impl FnOnce(&Profile) -> anyhow::Result<(Writer, Option<Recall>)>,
    ) -> anyhow::Result<Opening> {
        let profiles = Profiles::around(self.config.agents, self.home);
        let profile = match name {
            Some(name) => profiles.find(name)?,
            None => profiles.by_default(self.world.environment.get("PATH")).ok_or(NoAgent)?,
        };
        let (writer, recall) = open(&profile)?;
        let tokens_max = self.config.spawner.max_tokens;
        let available = Available::detect(self.world.environment.get("PATH"));
        Ok(Opening {
            sandbox: self.config.sandbox.settings(available),
            former: recall.as_ref().map(|recall| recall.agent.clone()),
            journal: Journal::new(self.transcripts.clone(), writer, tokens_max, recall),
            profiles,
            profile,
            history: self.home.path().join("spawn/history"),
            verbosity: self.verbosity,
        })
    }
}

/// Opens a transcript; the user decides about a damaged one.
fn open_or_repair(
    transcripts: &Transcripts,
    id: &Id,
    tokens_max: u64,
) -> anyhow::Result<Option<Opened>> {
    let error = match transcripts.open(id, tokens_max) {
        Ok(opened) => return Ok(Some(opened)),
        Err(error @ Error::Damaged { .. }) => error,
        Err(error) => return Err(error.into()),
    };
    match ask(&error)? {
        Repair::Recover => {
            let Recovered { kept, set_aside, bad } = transcripts.recover(id)?;
            let bad = bad.display();
            aside(&format!(
                "Recovered: kept {}, moved {set_aside} to {bad}",
                counted(kept, "line")
            ));
            Ok(Some(transcripts.open(id, tokens_max)?))
        }
        Repair::Delete => {
            transcripts.delete(id)?;
            aside(&format!("Deleted session {id}"));
            Ok(None)
        }
        Repair::Leave => bail!("the session {id} is unchanged"),
        Repair::Unanswered => Err(error.into()),
    }
}

/// What to do with a damaged transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repair {
    Recover,
    Delete,
    Leave,
    /// There is no terminal to ask on.
    Unanswered,
}

/// Asks what to do. In a pipe, the first line may request recovery, which loses nothing.
fn ask(error: &transcripts::Error) -> io::Result<Repair> {
    let mut said = String::new();
    if !io::stdin().is_terminal() {
        io::stdin().lock().read_line(&mut said)?;
        return Ok(if said.trim() == RECOVER { Repair::Recover } else { Repair::Unanswered });
    }
    if !io::stderr().is_terminal() {
        return Ok(Repair::Unanswered);
    }
    aside(&plain(&error.to_string()));
    write!(
        io::stderr(),
        "Recover it (bad lines are set aside), delete it, or leave it? [recover/delete/leave] "
    )?;
    io::stdin().lock().read_line(&mut said)?;
    Ok(match said.trim().to_lowercase().as_str() {
        "r" | RECOVER => Repair::Recover,
        "d" | "delete" => Repair::Delete,
        _ => Repair::Leave,
    })
}

/// The answer that recovers a damaged transcript.
const RECOVER: &str = "recover";
