//! The tools in the words of the library that speaks the protocol.

use convoke_api::mcp;
use convoke_core::question::Limits;
use rmcp::model::{Tool, ToolAnnotations};

/// All tools, with the configured limits in their schemas.
pub(super) fn all(limits: Limits) -> Vec<Tool> {
    [mcp::ask(limits), mcp::fetch()].into_iter().map(tool).chain(super::teams::all()).collect()
}

fn tool(tool: mcp::Tool) -> Tool {
    let mcp::Tool { name, title, description, schema } = tool;
    let annotations = ToolAnnotations::new().read_only(true).open_world(false);
    Tool::new(name, description, schema).with_title(title).with_annotations(annotations)
}
