//! The MCP server: tools with which agents ask their human and other teams.
//!
//! One handler serves two back ends: the daemon's engine over HTTP (`engine`), and `convoke mcp` with files and a
//! client of the daemon. rmcp implements the protocol; its types do not leave this module.

mod backend;
mod call;
mod engine;
mod own_questions;
mod progress;
mod recall;

use std::sync::Arc;
use std::time::Duration;

use convoke_api::mcp::recall::recall_tools;
use convoke_api::mcp::{self, teams};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub use backend::{Backend, Call, CallError, Found, Offer, RecallOffer, Waiting};
use engine::EngineBackend;

use crate::app::App;

/// A little longer than rmcp waits for the answer to a cancelled call.
const CANCEL_GRACE: Duration = Duration::from_secs(3);

/// The service at `/mcp`. It is stateless: calls do not depend on each other, so there is no protocol session to
/// hijack, and every call is authenticated by its token.
pub(crate) type Endpoint = StreamableHttpService<Tools<EngineBackend>, NeverSessionManager>;

/// Serves the tools until the daemon stops.
pub(crate) fn endpoint(app: &Arc<App>) -> Endpoint {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        // The middleware has checked Host and Origin; it also knows the configured address.
        .disable_allowed_hosts()
        .with_cancellation_token(app.stop.child_token());
    let app = Arc::clone(app);
    let tools = move || {
        let (version, stop) = (app.identity.version.to_string(), app.stop.clone());
        Ok(Tools::new(EngineBackend::new(&app), version, stop))
    };
    StreamableHttpService::new(tools, Arc::new(NeverSessionManager::default()), config)
}

/// The tools of an MCP server.
#[derive(Debug)]
pub struct Tools<B> {
    backend: B,
    version: String,
    stop: CancellationToken,
}

impl<B: Backend> Tools<B> {
    /// Serves tools from a back end until `stop` is cancelled, which ends waiting calls.
    pub const fn new(backend: B, version: String, stop: CancellationToken) -> Self {
        Self { backend, version, stop }
    }
}

impl<B: Backend> ServerHandler for Tools<B> {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("convoke", &self.version))
            .with_instructions(format!("{} {}", mcp::INSTRUCTIONS, teams::INSTRUCTIONS))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut human = vec![mcp::ask(self.backend.limits()), mcp::fetch()];
        match self.backend.offer() {
            Offer::Questions => {}
            Offer::QuestionsAndPermissions => human.push(mcp::approve()),
        }
        match self.backend.recall() {
            RecallOffer::Yes => human.extend(recall_tools()),
            RecallOffer::No => {}
        }
        let human = human
            .into_iter()
            .map(|tool| shown(tool, ToolAnnotations::new().read_only(true).open_world(false)));
        let teams = teams::team_tools().into_iter().map(|(tool, kind)| {
            let annotations = ToolAnnotations::new().read_only(kind == teams::ToolKind::ReadOnly);
            shown(tool, annotations.destructive(false).open_world(false))
        });
        Ok(ListToolsResult::with_all_items(human.chain(teams).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let caller = self.backend.caller(&Call::new(&context))?;
        let result = tokio::select! {
            result = call::call(&self.backend, &caller, &request.name, arguments) => result,
            // Dropping the call abandons its questions.
            () = context.ct.cancelled() => {
                // The client does not read this answer. If it came any earlier, rmcp would log that it cannot be
                // sent.
                tokio::select! {
                    () = tokio::time::sleep(CANCEL_GRACE) => {}
                    () = self.stop.cancelled() => {}
                }
                return Err(ErrorData::internal_error("the call was cancelled", None));
            }
            () = self.stop.cancelled() => {
                return Err(ErrorData::internal_error("the server is stopping", None));
            }
            never = progress::report(&context, call::waits_for(&request.name)) => match never {},
        };
        // The agent should read this, so it is a tool result: most clients hide protocol errors from the agent.
        Ok(match result {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]).into(),
            Err(CallError::UnknownTool) => {
                let said = format!("unknown tool: {}", request.name);
                return Err(ErrorData::invalid_params(said, None));
            }
            Err(CallError::Message(text)) => {
                CallToolResult::error(vec![ContentBlock::text(text)]).into()
            }
        })
    }
}

/// A tool in rmcp's types.
fn shown(tool: mcp::Tool, annotations: ToolAnnotations) -> Tool {
    Tool::new(tool.name, tool.description, tool.schema)
        .with_title(tool.title)
        .with_annotations(annotations)
}
