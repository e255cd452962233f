//! The tools by which agents ask their fellow teams.

use convoke_api::bodies::TeamQuestion;
use convoke_api::mcp::teams::{
    self, AskTeam, CancelTeam, ListTeams, Manner, ReportOfTeam, SendToTeam, StatusOfTeam, Told,
};
use convoke_core::team::TeamName;
use convoke_engine::{Asker, Caller, Engine, WhichQuestion};
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::Value;

use super::tools::{Refused, parse};
use crate::failure::Failure;
use crate::rest::teams as rest;
use crate::view::teams as view;

/// The tools as rmcp tells of them.
pub(super) fn shown() -> impl Iterator<Item = Tool> {
    teams::team_tools().into_iter().map(|(tool, manner)| {
        let annotations = ToolAnnotations::new()
            .read_only(manner == Manner::Looks)
            .destructive(false)
            .open_world(false);
        Tool::new(tool.name, tool.description, tool.schema)
            .with_title(tool.title)
            .with_annotations(annotations)
    })
}

/// Whom a call of this tool waits for.
pub(super) fn waits_for(name: &str) -> &'static str {
    match name {
        teams::TEAMS_ASK | teams::TEAMS_SEND => "the team",
        _ => "the user",
    }
}

/// Calls a tool.
pub(super) async fn call(
    engine: &Engine,
    asker: &Asker,
    name: &str,
    arguments: Value,
) -> Result<String, Refused> {
    match name {
        teams::TEAMS_ASK => ask(engine, asker, parse::<AskTeam>(arguments)?.into()).await,
        teams::TEAMS_SEND => ask(engine, asker, parse::<SendToTeam>(arguments)?.into()).await,
        teams::TEAMS_LIST => {
            let ListTeams {} = parse(arguments)?;
            let statuses = engine.team_statuses(None).await?;
            Ok(teams::list(&statuses.iter().map(view::team).collect::<Vec<_>>()))
        }
        teams::TEAMS_STATUS => {
            let StatusOfTeam { team } = parse(arguments)?;
            let team = team.as_deref().map(rest::named).transpose()?;
            let statuses = engine.team_statuses(team.as_ref()).await?;
            Ok(teams::statuses(&statuses.into_iter().map(view::status).collect::<Vec<_>>()))
        }
        teams::TEAMS_REPORT => {
            let ReportOfTeam { team, from_team, thread, message_id } = parse(arguments)?;
            let from = from(engine, asker, from_team).await?;
            let pair = rest::pair(engine, &team, from.as_ref().map(TeamName::as_str), thread)?;
            let which = message_id.map_or(WhichQuestion::Last, WhichQuestion::Message);
            let report = engine.team_report(&pair, which).await?;
            told(teams::report(&view::report(report)))
        }
        teams::TEAMS_CANCEL => {
            let CancelTeam { team, from_team, thread } = parse(arguments)?;
            let from = from(engine, asker, from_team).await?;
            let pair = rest::pair(engine, &team, from.as_ref().map(TeamName::as_str), thread)?;
            Ok(teams::cancelled(&view::session(engine.cancel_pair(&pair).await?)))
        }
        _ => Err(Refused::NoSuchTool),
    }
}

async fn ask(
    engine: &Engine,
    asker: &Asker,
    (team, question): (String, TeamQuestion),
) -> Result<String, Refused> {
    let caller = match asker {
        Asker::Session(session) => {
            from(engine, asker, question.from_team.clone()).await?;
            Caller::Session(*session)
        }
        Asker::Outside { .. } => {
            Caller::Outside { team: question.from_team.as_deref().map(rest::named).transpose()? }
        }
    };
    let answer = rest::ask_team(engine, caller, &team, question).await;
    told(teams::answer(&answer.map_err(|failure| refused(engine, &failure))?))
}

/// The team that a caller speaks for. The agent of a session speaks for its own and nobody else's.
async fn from(
    engine: &Engine,
    asker: &Asker,
    wanted: Option<String>,
) -> Result<Option<TeamName>, Refused> {
    let wanted = wanted.as_deref().map(rest::named).transpose()?;
    let session = match asker {
        Asker::Session(session) => *session,
        Asker::Outside { .. } => return Ok(wanted),
    };
    let own = engine.speaks_for(&Caller::Session(session)).await?;
    match (&own, wanted) {
        (Some(own), Some(wanted)) if *own != wanted => Err(Refused::Said(format!(
            "this session speaks for the team {own}, and not for {wanted}; leave fromTeam out"
        ))),
        (None, Some(wanted)) => Err(Refused::Said(format!(
            "this session is of no team and cannot speak for {wanted}; leave fromTeam out"
        ))),
        (Some(_) | None, _) => Ok(own),
    }
}

fn told(told: Told) -> Result<String, Refused> {
    match told {
        Told::Result(text) => Ok(text),
        Told::Failure(text) => Err(Refused::Said(text)),
    }
}

/// Why a team was not asked, and whom there is to ask.
fn refused(engine: &Engine, failure: &Failure) -> Refused {
    let (detail, hint) = failure.told();
    let mut text = detail.to_owned();
    if let Some(hint) = hint {
        text.push_str(&format!("\n\n{hint}"));
    }
    if detail.starts_with("Unknown team") {
        let names: Vec<String> = engine.teams().iter().map(|team| team.name.to_string()).collect();
        text.push_str(&match names.is_empty() {
            true => "\n\nThere are no teams.".to_owned(),
            false => format!("\n\nThere are: {}.", names.join(", ")),
        });
    }
    Refused::Said(text)
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self::Said(failure.told().0.to_owned())
    }
}
