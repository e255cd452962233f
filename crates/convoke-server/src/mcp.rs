//! The MCP server: agents ask their human and their fellow teams.
//!
//! One handler serves two back ends: the daemon's engine over HTTP (`engine`), and the files and the daemon's client of
//! `convoke mcp`. rmcp speaks the protocol, and its types end in this module.

mod backend;
mod call;
mod engine;
mod progress;

use std::sync::Arc;
use std::time::Duration;

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

pub use backend::{Backend, Call, Found, Offer, Refused, Waiting};
use engine::EngineBackend;

use crate::app::App;

/// How long rmcp waits for the answer to a call that was cancelled, and a little more.
const UNHEARD: Duration = Duration::from_secs(3);

/// What answers at `/mcp`. No call depends on an earlier one, so there are no sessions of the protocol that could be
/// taken over: every call shows its token.
pub(crate) type Endpoint = StreamableHttpService<Tools<EngineBackend>, NeverSessionManager>;

/// Serves the tools until the daemon stops.
pub(crate) fn endpoint(app: &Arc<App>) -> Endpoint {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        // The gate has looked at Host and Origin already; it knows our own address and the configured one.
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
    /// Serves tools from a back end until `stop` is cancelled, which ends the calls that wait.
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
        let human = human
            .into_iter()
            .map(|tool| shown(tool, ToolAnnotations::new().read_only(true).open_world(false)));
        let teams = teams::team_tools().into_iter().map(|(tool, manner)| {
            let annotations = ToolAnnotations::new().read_only(manner == teams::Manner::Looks);
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
            // Dropping the call abandons what it asked.
            () = context.ct.cancelled() => {
                // The client does not read this answer. Given any sooner, rmcp would log that it cannot be sent.
                tokio::select! {
                    () = tokio::time::sleep(UNHEARD) => {}
                    () = self.stop.cancelled() => {}
                }
                return Err(ErrorData::internal_error("the call was cancelled", None));
            }
            () = self.stop.cancelled() => {
                return Err(ErrorData::internal_error("the server is stopping", None));
            }
            never = progress::report(&context, call::waits_for(&request.name)) => match never {},
        };
        // What the agent should read is a result; protocol errors are hidden from it by most clients.
        Ok(match result {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]).into(),
            Err(Refused::NoSuchTool) => {
                let said = format!("unknown tool: {}", request.name);
                return Err(ErrorData::invalid_params(said, None));
            }
            Err(Refused::Said(text)) => {
                CallToolResult::error(vec![ContentBlock::text(text)]).into()
            }
        })
    }
}

/// A tool as rmcp describes it.
fn shown(tool: mcp::Tool, annotations: ToolAnnotations) -> Tool {
    Tool::new(tool.name, tool.description, tool.schema)
        .with_title(tool.title)
        .with_annotations(annotations)
}
