//! The tools themselves, in our own types.

use convoke_api::mcp::{self, Approval, Approve, Ask, Fetch, text};
use convoke_core::id::RequestId;
use convoke_core::question::Question;
use convoke_core::request::{Answers, State};
use convoke_engine::{Asker, Engine, Error, Outcome};
use rmcp::model::{Tool, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::failure;

/// Why a call has no result.
pub(super) enum Refused {
    /// There is no such tool.
    NoSuchTool,
    /// This is for the agent to read.
    Said(String),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Said(failure::chain(&error))
    }
}

/// A tool as rmcp tells of it.
pub(super) fn shown(tool: mcp::Tool) -> Tool {
    let annotations = ToolAnnotations::new().read_only(true).open_world(false);
    Tool::new(tool.name, tool.description, tool.schema)
        .with_title(tool.title)
        .with_annotations(annotations)
}

/// Calls a tool.
pub(super) async fn call(
    engine: &Engine,
    asker: Asker,
    name: &str,
    arguments: Value,
) -> Result<String, Refused> {
    match name {
        mcp::ASK => ask(engine, asker, parse(arguments)?).await,
        mcp::FETCH => fetch(engine, asker, parse(arguments)?).await,
        mcp::APPROVE => approve(engine, asker, parse(arguments)?).await,
        _ => super::teams::call(engine, &asker, name, arguments).await,
    }
}

pub(super) fn parse<T: DeserializeOwned>(arguments: Value) -> Result<T, Refused> {
    serde_json::from_value(arguments).map_err(|error| {
        Refused::Said(format!("the arguments do not fit the tool's schema: {error}"))
    })
}

async fn ask(engine: &Engine, asker: Asker, ask: Ask) -> Result<String, Refused> {
    let questions: Vec<Question> = ask.questions.into_iter().map(Question::from).collect();
    let mut asked = engine.ask(asker, questions.clone()).await?;
    let id = asked.id();
    if ask.non_blocking {
        asked.leave();
        return Ok(text::asked(id, &questions));
    }
    let outcome = asked.wait().await?;
    told(id, &questions, Some(outcome))
}

async fn fetch(engine: &Engine, asker: Asker, fetch: Fetch) -> Result<String, Refused> {
    let (id, questions, mut outcome) = engine.asked(&asker, &fetch.session_id).await?;
    if outcome.is_none() && fetch.blocking {
        // The questions are not this call's own: when it goes away, they wait on.
        outcome = Some(engine.asked_again(&asker, id).await?);
    }
    told(id, &questions, outcome)
}

/// What has become of questions, as agents read it.
fn told(
    id: RequestId,
    questions: &[Question],
    outcome: Option<Outcome>,
) -> Result<String, Refused> {
    let state = match outcome {
        None => State::Pending,
        Some(Outcome::Answered(answers)) => State::Answered(Answers { answers }),
        Some(Outcome::Rejected { reason }) => State::Rejected { reason },
        Some(Outcome::TimedOut) => State::TimedOut,
        Some(Outcome::Abandoned) => State::Abandoned,
        // Questions are not allowed or refused, but answered.
        Some(Outcome::Allowed) => State::Answered(Answers { answers: Vec::new() }),
    };
    text::outcome(id, questions, &state).map_err(|fault| Refused::Said(fault.to_string()))
}

async fn approve(engine: &Engine, asker: Asker, approve: Approve) -> Result<String, Refused> {
    let Approve { tool_name, input, tool_use_id: _ } = approve;
    let mut asked = engine.ask_permission(asker, tool_name, &input).await?;
    let deny = |message: &str| Approval::Deny { message: message.to_owned() };
    let approval = match asked.wait().await? {
        Outcome::Allowed | Outcome::Answered(_) => Approval::Allow { updated_input: input },
        Outcome::Rejected { reason: Some(reason) } => deny(&format!("The user said no: {reason}")),
        Outcome::Rejected { reason: None } => deny("The user said no."),
        Outcome::TimedOut => {
            deny("The user did not answer in time. This is no refusal; ask again later.")
        }
        Outcome::Abandoned => {
            deny("The user was not asked to the end. This is no refusal; ask again.")
        }
    };
    serde_json::to_string(&approval).map_err(|error| Refused::Said(error.to_string()))
}
