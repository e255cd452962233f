//! MCP over HTTP: agents that Convoke started, and others, ask their human and their fellow teams.
//!
//! rmcp speaks the protocol, and its types end in this module. No call depends on an earlier one, so there are no
//! sessions of the protocol that could be taken over: every call shows its token.

mod teams;
mod tools;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::request::Parts;
use convoke_api::mcp;
use convoke_engine::Asker;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;

use crate::app::App;
use crate::gate::Caller;

/// How often a waiting call says that it is still waiting.
const PROGRESS: Duration = Duration::from_secs(5);

/// How long rmcp waits for the answer to a call that nobody waits for, and a little more.
const UNHEARD: Duration = Duration::from_secs(3);
/// What rmcp calls a client that did not introduce itself.
const NOBODY: &str = "rmcp";

/// What answers at `/mcp`.
pub(crate) type Endpoint = StreamableHttpService<Tools, NeverSessionManager>;

/// Serves the tools until the daemon stops.
pub(crate) fn endpoint(app: &Arc<App>) -> Endpoint {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        // The gate has looked at Host and Origin already; it knows our own address and the configured one.
        .disable_allowed_hosts()
        .with_cancellation_token(app.stop.child_token());
    let app = Arc::clone(app);
    let tools = move || Ok(Tools { app: Arc::clone(&app) });
    StreamableHttpService::new(tools, Arc::new(NeverSessionManager::default()), config)
}

/// The tools of one call.
pub(crate) struct Tools {
    app: Arc<App>,
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("convoke", &*self.app.identity.version))
            .with_instructions(format!("{} {}", mcp::INSTRUCTIONS, mcp::teams::INSTRUCTIONS))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let limits = self.app.engine.settings().questions.limits;
        let all = [mcp::ask(limits), mcp::fetch(), mcp::approve()];
        let all = all.into_iter().map(tools::shown).chain(teams::shown()).collect();
        Ok(ListToolsResult::with_all_items(all))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let asker = asker(&context)?;
        let calling = tools::call(&self.app.engine, asker, &request.name, arguments);
        let result = tokio::select! {
            result = calling => result,
            // Dropping the call abandons what it asked.
            () = context.ct.cancelled() => {
                // Nobody hears this. Said any sooner, rmcp would complain that it cannot be.
                tokio::time::sleep(UNHEARD).await;
                return Err(gone("the call was cancelled"));
            }
            () = self.app.stop.cancelled() => return Err(gone("the daemon stops")),
            never = report(&context, teams::waits_for(&request.name)) => match never {},
        };
        // What the agent should read is a result; protocol errors are hidden from it by most clients.
        Ok(match result {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]).into(),
            Err(tools::Refused::NoSuchTool) => {
                let said = format!("unknown tool: {}", request.name);
                return Err(ErrorData::invalid_params(said, None));
            }
            Err(tools::Refused::Said(text)) => {
                CallToolResult::error(vec![ContentBlock::text(text)]).into()
            }
        })
    }
}

fn gone(why: &'static str) -> ErrorData {
    ErrorData::internal_error(why, None)
}

/// Who calls, by the token that the gate let in.
fn asker(context: &RequestContext<RoleServer>) -> Result<Asker, ErrorData> {
    let caller =
        context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Caller>());
    match caller {
        Some(Caller::Session(id)) => Ok(Asker::Session(*id)),
        Some(Caller::Owner) => Ok(Asker::Outside {
            name: context
                .client_info()
                .filter(|client| client.name != NOBODY)
                .map(|client| format!("{} {}", client.name, client.version)),
            working_directory: None,
            call_id: Some(context.id.to_string()),
        }),
        // The gate lets no other caller in here.
        Some(Caller::Anyone | Caller::Browser(_) | Caller::Unproven) | None => {
            Err(ErrorData::internal_error("the caller has no token", None))
        }
    }
}

/// Tells a client that asked for it how long its call has been waiting, now and then.
async fn report(context: &RequestContext<RoleServer>, whom: &str) -> Infallible {
    let Some(token) = context.meta.get_progress_token() else {
        return std::future::pending().await;
    };
    let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + PROGRESS, PROGRESS);
    let mut waited = 0.0;
    loop {
        ticks.tick().await;
        waited += PROGRESS.as_secs_f64();
        let said = format!("waiting for {whom}, {waited:.0} s so far");
        let progress = ProgressNotificationParam::new(token.clone(), waited).with_message(said);
        if let Err(error) = context.peer.notify_progress(progress).await {
            tracing::debug!("the client was not told of the progress: {error}");
        }
    }
}
