//! The MCP server on standard input and output: any agent can ask its human, and teams.
//!
//! The tools are those of `convoke_server::mcp`; here are their back end and their transport.

pub(crate) mod files;
mod input;
mod lines;
mod malformed_line;
pub(crate) mod proxy;
mod stdio;

use std::time::Duration;

use anyhow::Context;
use convoke_server::mcp::Tools;
use rmcp::ServiceExt;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use files::FilesBackend;
use input::EndOfInput;
use stdio::Stdio;

/// How long a disconnected client may take to read the last responses.
const LAST_WORDS: Duration = Duration::from_millis(600);

/// Serves until the client disconnects or the process gets a termination signal.
pub(crate) async fn serve(backend: FilesBackend) -> anyhow::Result<()> {
    let gone = CancellationToken::new();
    let creations = backend.creations();
    let server = Tools::new(backend, env!("CARGO_PKG_VERSION").to_owned(), gone.clone());
    let (stdin, stdout) = rmcp::transport::stdio_pipes();
    let (out, written) = mpsc::channel(lines::LINES_MAX);
    let writing = tokio::spawn(lines::write(written, stdout));
    let transport = Stdio::new(EndOfInput::new(stdin, gone.clone()), out);
    let mut signalled = Box::pin(crate::signals::ended()?);
    let served = tokio::select! {
        served = server.serve(transport) => served,
        // A signal arrived before the client introduced itself.
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
            running.waiting().await.context("the MCP server failed")?;
        }
        // A client that disconnects before the handshake needs nothing.
        Err(_) if gone.is_cancelled() => {}
        Err(error) => {
            return Err(error).context("the MCP client did not initialize the connection");
        }
    }
    creations.close();
    creations.wait().await;
    // A client that does not read must not keep the program.
    match tokio::time::timeout(LAST_WORDS, writing).await {
        Ok(written) => written.context("the MCP server's output task failed")?,
        Err(_) => Ok(()),
    }
}
