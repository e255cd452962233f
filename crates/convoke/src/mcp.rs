//! The MCP server on standard input and output: any agent can ask its human, and teams.
//!
//! Asking the human works on files alone; asking teams needs the daemon. rmcp speaks the protocol; its types end in this module.

mod input;
mod lines;
mod nonsense;
pub(crate) mod proxy;
mod stdio;
pub(crate) mod teams;
mod tools;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use convoke_api::mcp::teams::{self as mcp_teams, Told};
use convoke_api::mcp::{ASK, Ask, FETCH, Fetch, INSTRUCTIONS, text};
use convoke_core::id::RequestId;
use convoke_core::question::Question;
use convoke_core::request::State;
use convoke_files::questions::Outcome;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::asking::{Asker, Asking, state_of};
use input::EndOfInput;
use stdio::Stdio;
use teams::Teams;

/// How often a waiting call says that it is still waiting.
const PROGRESS: Duration = Duration::from_secs(5);

/// How long a client that went away, or is left, may take to read what was said to it.
const LAST_WORDS: Duration = Duration::from_millis(600);

/// Serves until the client goes away or the program is told to end.
pub(crate) async fn serve(
    asking: Asking,
    teams: Teams,
    working_directory: Option<PathBuf>,
) -> anyhow::Result<()> {
    let gone = CancellationToken::new();
    let server = Server { asking, teams: Arc::new(teams), working_directory, gone: gone.clone() };
    let (stdin, stdout) = rmcp::transport::stdio_pipes();
    let (out, written) = mpsc::channel(lines::LINES_MAX);
    let writing = tokio::spawn(lines::write(written, stdout));
    let transport = Stdio::new(EndOfInput::new(stdin, gone.clone()), out);
    let mut signalled = Box::pin(crate::signals::ended()?);
    let served = tokio::select! {
        served = server.serve(transport) => served,
        // Told to end before anybody said hello.
        () = &mut signalled => return Ok(()),
    };
    match served {
        Ok(running) => {
            let cancel = running.cancellation_token();
            tokio::spawn(async move {
                signalled.await;
                gone.cancel();
                cancel.cancel();
            });
            running.waiting().await.context("the MCP server stopped working")?;
        }
        // A client that leaves before it said hello wanted nothing.
        Err(_) if gone.is_cancelled() => {}
        Err(error) => return Err(error).context("the MCP client did not introduce itself"),
    }
    // A client that does not read must not keep the program.
    match tokio::time::timeout(LAST_WORDS, writing).await {
        Ok(written) => written.context("the MCP server stopped writing")?,
        Err(_) => Ok(()),
    }
}

#[derive(Clone)]
struct Server {
    asking: Asking,
    teams: Arc<Teams>,
    working_directory: Option<PathBuf>,
    /// Cancelled when the client goes away: nobody is left to wait for.
    gone: CancellationToken,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("convoke", env!("CARGO_PKG_VERSION")))
            .with_instructions(format!("{INSTRUCTIONS} {}", mcp_teams::INSTRUCTIONS))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all(self.asking.limits)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let result = match &*request.name {
            ASK => self.ask(arguments, &context).await,
            FETCH => self.fetch(arguments, &context).await,
            team if teams::is_one(team) => {
                return Ok(self.call_team(team, arguments, &context).await.into());
            }
            other => {
                return Err(ErrorData::invalid_params(format!("unknown tool: {other}"), None));
            }
        };
        // What the agent should read is a result; protocol errors are hidden from it by most clients.
        let result = match result {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(error) => CallToolResult::error(vec![ContentBlock::text(format!("{error:#}"))]),
        };
        Ok(result.into())
    }
}

impl Server {
    /// Asks teams; a caller that goes away leaves its question with them.
    async fn call_team(
        &self,
        tool: &str,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let calling = self.teams.call(tool, arguments);
        tokio::pin!(calling);
        let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + PROGRESS, PROGRESS);
        let mut waited = 0.0;
        let told = loop {
            tokio::select! {
                told = &mut calling => break told,
                () = context.ct.cancelled() => break Err(anyhow::anyhow!("the call was cancelled")),
                () = self.gone.cancelled() => break Err(anyhow::anyhow!("the client went away")),
                _ = ticks.tick() => {
                    waited += PROGRESS.as_secs_f64();
                    report(context, "the team", waited).await;
                }
            }
        };
        match told {
            Ok(Told::Result(text)) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Ok(Told::Failure(text)) => CallToolResult::error(vec![ContentBlock::text(text)]),
            Err(error) => {
                let (text, hint) = crate::exit::explain(&error);
                let text = hint.map_or(text.clone(), |hint| format!("{text}\n\n{hint}"));
                CallToolResult::error(vec![ContentBlock::text(text)])
            }
        }
    }

    async fn ask(
        &self,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> anyhow::Result<String> {
        let Ask { questions, non_blocking } = parse(arguments)?;
        let questions: Vec<Question> = questions.into_iter().map(Question::from).collect();
        let asker = Asker {
            call_id: Some(context.id.to_string()),
            working_directory: self.working_directory.clone(),
            name: context.client_info().map(|client| format!("{} {}", client.name, client.version)),
        };
        let asking = self.asking.clone();
        let asked = questions.clone();
        let id = tokio::task::spawn_blocking(move || asking.ask(asked, asker)).await??;
        if non_blocking {
            return Ok(text::asked(id, &questions));
        }
        match self.wait(id, self.asking.timeout, context).await {
            Some(outcome) => Ok(text::outcome(id, &questions, &state_of(Some(&outcome?)))?),
            None => {
                let asking = self.asking.clone();
                tokio::task::spawn_blocking(move || asking.abandon(id)).await?;
                Ok(text::outcome(id, &questions, &State::Abandoned)?)
            }
        }
    }

    async fn fetch(
        &self,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> anyhow::Result<String> {
        let Fetch { session_id, blocking } = parse(arguments)?;
        let asking = self.asking.clone();
        let found = tokio::task::spawn_blocking(move || {
            let id = asking.questions.find(&session_id)?;
            asking.look(id).map(|(request, outcome)| (id, request, outcome))
        });
        let (id, request, mut outcome) = found.await??;
        if outcome.is_none() && blocking {
            // The questions are not this call's own: when it goes away, they wait on.
            outcome = self.wait(id, None, context).await.transpose()?;
        }
        Ok(text::outcome(id, &request.questions, &state_of(outcome.as_ref()))?)
    }

    /// Waits for the human, saying so now and then; `None` when the caller goes away first.
    async fn wait(
        &self,
        id: RequestId,
        timeout: Option<Duration>,
        context: &RequestContext<RoleServer>,
    ) -> Option<convoke_files::Result<Outcome>> {
        let outcome = self.asking.wait(id, None, timeout);
        tokio::pin!(outcome);
        let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + PROGRESS, PROGRESS);
        let mut waited = 0.0;
        loop {
            tokio::select! {
                outcome = &mut outcome => return Some(outcome),
                () = context.ct.cancelled() => return None,
                () = self.gone.cancelled() => return None,
                _ = ticks.tick() => {
                    waited += PROGRESS.as_secs_f64();
                    report(context, "the user", waited).await;
                }
            }
        }
    }
}

/// Tells a client that asked for it how long its call has been waiting.
async fn report(context: &RequestContext<RoleServer>, whom: &str, waited: f64) {
    let Some(token) = context.meta.get_progress_token() else { return };
    let said = format!("waiting for {whom}, {waited:.0} s so far");
    let progress = ProgressNotificationParam::new(token, waited).with_message(said);
    if let Err(error) = context.peer.notify_progress(progress).await {
        tracing::debug!("the client was not told of the progress: {error}");
    }
}

fn parse<T: DeserializeOwned>(arguments: Value) -> anyhow::Result<T> {
    serde_json::from_value(arguments).context("the arguments do not fit the tool's schema")
}
