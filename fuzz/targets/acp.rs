//! Everything that an agent prints that speaks ACP, from the handshake to its last turn, and what a session makes of it.
#![no_main]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use convoke_agents::catalogue::{Mentions, Protocol, Tools};
use convoke_agents::driver::{Confinement, Launch, OwnSandbox, Start};
use convoke_agents::fuzzing::run_acp;
use convoke_agents::sandbox::Policy;
use convoke_fuzz::{Conversation, empty, folder};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

fuzz_target!(|output: &[u8]| {
    static WORKSPACE: OnceLock<TempDir> = OnceLock::new();
    let workspace = WORKSPACE.get_or_init(folder).path();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let (mut conversation, orders) = Conversation::begin();
    let launch = launch(workspace, output);
    let ran =
        run_acp(output.to_vec(), &launch, || [7; 16], orders, |it| conversation.handle_report(it));
    // An agent that does not complete the handshake is refused, which is an end like any other.
    runtime.block_on(ran).ok();
    conversation.check();
    // It waits for files that are still being written.
    drop(runtime);
    empty(workspace);
});

/// No command is ever run: the helper that would confine it does not exist.
fn launch(workspace: &Path, output: &[u8]) -> Launch {
    let start = if output.starts_with(b"resume") {
        Start::Resume { agent_session: "s".to_owned() }
    } else {
        Start::New { id: "new".to_owned() }
    };
    Launch {
        protocol: Protocol::Acp,
        program: PathBuf::from("/nonexistent/agent"),
        args: Vec::new(),
        environment: BTreeMap::new(),
        workspace: workspace.to_owned(),
        confinement: Confinement::Supervised {
            helper: PathBuf::from("/nonexistent/helper"),
            policy: Box::new(Policy::unconfined()),
        },
        missing: Vec::new(),
        own_sandbox: OwnSandbox::None,
        temp: None,
        mcp_servers: Vec::new(),
        tools: Tools::Stdio,
        mentions: Mentions::Link,
        start,
        start_timeout: Duration::from_secs(60),
        leftovers: None,
        lease: None,
        gate: None,
    }
}
