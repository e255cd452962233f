//! Tool calls: parses arguments, calls the back end, and formats the result.

use convoke_api::bodies::TeamQuestion;
use convoke_api::mcp::teams::{self, AskTeam, ListTeams, SendToTeam, StatusOfTeam, ToolText};
use convoke_api::mcp::{self, Ask, Fetch, recall, text};
use convoke_core::question::Question;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::backend::{Backend, CallError, Found, Offer, RecallOffer, Waiting};

/// Calls a tool.
pub(super) async fn call<B: Backend>(
    backend: &B,
    caller: &B::Caller,
    name: &str,
    arguments: Value,
) -> Result<String, CallError> {
    match name {
        mcp::ASK => ask(backend, caller, parse(arguments)?).await,
        mcp::FETCH => {
            let Fetch { session_id, blocking } = parse(arguments)?;
            let waiting = if blocking { Waiting::Yes } else { Waiting::No };
            outcome(&backend.asked(caller, &session_id, waiting).await?)
        }
        mcp::APPROVE if backend.offer() == Offer::QuestionsAndPermissions => {
            let approval = backend.approve(caller, parse(arguments)?).await?;
            serde_json::to_string(&approval).map_err(|error| CallError::Message(error.to_string()))
        }
        teams::TEAMS_ASK => ask_team(backend, caller, parse::<AskTeam>(arguments)?.into()).await,
        teams::TEAMS_SEND => {
            ask_team(backend, caller, parse::<SendToTeam>(arguments)?.into()).await
        }
        teams::TEAMS_LIST => {
            let ListTeams {} = parse(arguments)?;
            Ok(teams::list(&backend.teams().await?))
        }
        teams::TEAMS_STATUS => {
            let StatusOfTeam { team } = parse(arguments)?;
            Ok(teams::statuses(&backend.team_statuses(team.as_deref()).await?))
        }
        teams::TEAMS_REPORT => {
            text_of(teams::report(&backend.team_report(caller, parse(arguments)?).await?))
        }
        teams::TEAMS_CANCEL => {
            Ok(teams::cancelled(&backend.cancel_team(caller, parse(arguments)?).await?))
        }
        recall::SEARCH_HISTORY if backend.recall() == RecallOffer::Yes => {
            backend.search_history(caller, parse(arguments)?).await
        }
        recall::READ_HISTORY if backend.recall() == RecallOffer::Yes => {
            backend.read_history(caller, parse(arguments)?).await
        }
        _ => Err(CallError::UnknownTool),
    }
}

/// Whom a call of this tool waits for, for progress messages.
pub(super) fn waits_for(name: &str) -> &'static str {
    match name {
        teams::TEAMS_ASK | teams::TEAMS_SEND => "the team",
        _ => "the user",
    }
}

async fn ask<B: Backend>(backend: &B, caller: &B::Caller, ask: Ask) -> Result<String, CallError> {
    let Ask { questions, non_blocking } = ask;
    let questions: Vec<Question> = questions.into_iter().map(Question::from).collect();
    if non_blocking {
        let found = backend.ask(caller, questions, Waiting::No).await?;
        return Ok(text::asked(found.id, &found.questions));
    }
    outcome(&backend.ask(caller, questions, Waiting::Yes).await?)
}

async fn ask_team<B: Backend>(
    backend: &B,
    caller: &B::Caller,
    (team, question): (String, TeamQuestion),
) -> Result<String, CallError> {
    text_of(teams::answer(&backend.ask_team(caller, &team, question).await?))
}

fn outcome(found: &Found) -> Result<String, CallError> {
    let text = text::outcome(found.id, &found.questions, &found.state);
    text.map_err(|fault| CallError::Message(fault.to_string()))
}

fn text_of(answer: ToolText) -> Result<String, CallError> {
    match answer {
        ToolText::Result(text) => Ok(text),
        ToolText::Failure(text) => Err(CallError::Message(text)),
    }
}

fn parse<T: DeserializeOwned>(arguments: Value) -> Result<T, CallError> {
    serde_json::from_value(arguments).map_err(|error| {
        CallError::Message(format!("the arguments do not fit the tool's schema: {error}"))
    })
}
