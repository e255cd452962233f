//! Beginning a conversation, and taking one up again, also one whose transcript is damaged.

use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::bail;
use convoke_agents::sandbox::Available;
use convoke_files::transcripts::{
    self, End, Error, Id, Opened, Recall, Recovered, Transcripts, UNKNOWN_AGENT, Writer,
};

use crate::commands::World;
use crate::config::Config;
use crate::home::Home;
use crate::logs::Loudness;
use crate::output::{aside, plain};
use crate::repl::{Opening, Partner, Partners};
use crate::{clock, random};

/// There is nobody to talk with; the catalogue has not even the demo agent.
#[derive(Debug, thiserror::Error)]
#[error("there is no agent to talk with")]
pub(crate) struct NoAgent;

/// All that is needed to open a conversation.
pub(super) struct Desk<'a> {
    pub(super) transcripts: &'a Transcripts,
    pub(super) config: Config,
    pub(super) home: &'a Home,
    pub(super) world: &'a World,
    pub(super) loudness: Loudness,
}

impl Desk<'_> {
    /// A new conversation.
    pub(super) fn anew(self, name: Option<&str>, id: Option<&str>) -> anyhow::Result<Opening> {
        let id: Id = match id {
            Some(id) => id.parse()?,
            None => random::uuid().parse()?,
        };
        let transcripts = self.transcripts;
        self.opening(name, |partner| {
            let writer = transcripts.create(&id, &partner.name, clock::now())?;
            Ok((writer, None))
        })
    }

    /// A conversation that goes on; `None` when its transcript is damaged, and was deleted for that.
    pub(super) fn again(self, id: &str, name: Option<&str>) -> anyhow::Result<Option<Opening>> {
        let id = self.transcripts.find(id)?;
        let opened = mended(self.transcripts, &id, self.config.spawner.max_tokens)?;
        let Some(Opened { writer, recall, end }) = opened else { return Ok(None) };
        match end {
            End::Whole => {}
            End::TornOff { bytes } => aside(&format!(
                "The last line of the transcript was incomplete ({bytes} bytes) and was set aside; every complete turn is kept."
            )),
        }
        let kept = Some(recall.agent.clone()).filter(|agent| agent != UNKNOWN_AGENT);
        let name = name.map(str::to_owned).or(kept);
        self.opening(name.as_deref(), |_| Ok((writer, Some(recall)))).map(Some)
    }

    fn opening(
        self,
        name: Option<&str>,
        open: impl FnOnce(&Partner) -> anyhow::Result<(Writer, Option<Recall>)>,
    ) -> anyhow::Result<Opening> {
        let partners = Partners::around(self.config.agents, self.home);
        let partner = match name {
            Some(name) => partners.find(name)?,
            None => partners.by_default(self.world.environment.get("PATH")).ok_or(NoAgent)?,
        };
        let (writer, recall) = open(&partner)?;
        let available = Available::detect(self.world.environment.get("PATH"));
        Ok(Opening {
            sandbox: self.config.sandbox.settings(available),
            transcripts: self.transcripts.clone(),
            writer,
            partners,
            partner,
            recall,
            tokens_max: self.config.spawner.max_tokens,
            history: self.home.path().join("spawn/history"),
            loudness: self.loudness,
        })
    }
}

/// Opens a transcript; about one that is damaged the person is asked.
fn mended(transcripts: &Transcripts, id: &Id, tokens_max: u64) -> anyhow::Result<Option<Opened>> {
    let error = match transcripts.open(id, tokens_max) {
        Ok(opened) => return Ok(Some(opened)),
        Err(error @ Error::Damaged { .. }) => error,
        Err(error) => return Err(error.into()),
    };
    match ask(&error)? {
        Wish::Recover => {
            let Recovered { kept, set_aside, bad } = transcripts.recover(id)?;
            let bad = bad.display();
            aside(&format!("Recovered: kept {kept} lines, moved {set_aside} to {bad}"));
            Ok(Some(transcripts.open(id, tokens_max)?))
        }
        Wish::Delete => {
            transcripts.delete(id)?;
            aside(&format!("Deleted session {id}"));
            Ok(None)
        }
        Wish::Leave => bail!("the session {id} is unchanged"),
        Wish::Unsaid => Err(error.into()),
    }
}

/// What is to become of a damaged transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Recover,
    Delete,
    Leave,
    /// There is nobody who could be asked.
    Unsaid,
}

/// Asks what to do. A pipe can only say that its transcript is to be recovered, by which nothing is lost.
fn ask(error: &transcripts::Error) -> io::Result<Wish> {
    let mut said = String::new();
    if !io::stdin().is_terminal() {
        io::stdin().lock().read_line(&mut said)?;
        return Ok(if said.trim() == RECOVER { Wish::Recover } else { Wish::Unsaid });
    }
    if !io::stderr().is_terminal() {
        return Ok(Wish::Unsaid);
    }
    aside(&plain(&error.to_string()));
    write!(
        io::stderr(),
        "Recover it (bad lines are set aside), delete it, or leave it? [recover/delete/leave] "
    )?;
    io::stdin().lock().read_line(&mut said)?;
    Ok(match said.trim().to_lowercase().as_str() {
        "r" | RECOVER => Wish::Recover,
        "d" | "delete" => Wish::Delete,
        _ => Wish::Leave,
    })
}

/// The word that mends a damaged transcript.
const RECOVER: &str = "recover";
