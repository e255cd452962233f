//! An MCP server with one tool, `echo`: the minimum that the protocol requires.

use std::io;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

/// Serves on standard input and output until the client disconnects.
pub async fn serve_tools() -> io::Result<()> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut output = tokio::io::stdout();
    while let Some(line) = lines.next_line().await? {
        let request: Value = serde_json::from_str(&line)?;
        // A message without an id is a notification.
        if !request["id"].is_null() {
            output.write_all(format!("{}\n", answer(&request)).as_bytes()).await?;
            output.flush().await?;
        }
    }
    Ok(())
}

fn answer(request: &Value) -> Value {
    let params = &request["params"];
    let result = match request["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "tools", "version": "1"},
        }),
        "ping" => json!({}),
        "tools/list" => json!({"tools": [{
            "name": "echo",
            "description": "Says what it is told.",
            "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
        }]}),
        "tools/call" => {
            let text = format!("echoed {}", params["arguments"]["text"].as_str().unwrap_or("?"));
            json!({"content": [{"type": "text", "text": text}]})
        }
        _ => {
            let error = json!({"code": -32601, "message": "Method not found"});
            return json!({"jsonrpc": "2.0", "id": request["id"], "error": error});
        }
    };
    json!({"jsonrpc": "2.0", "id": request["id"], "result": result})
}
