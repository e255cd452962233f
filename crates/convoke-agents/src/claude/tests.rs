//! The driver against pipes in memory, and against shell scripts in the place of `claude`.

mod creating;
mod pipes;
mod starting;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::catalogue::Protocol;
use crate::driver::{Confinement, Launch, OwnSandbox, Start};

/// An id that is good enough.
const ID: &str = "a3f784c5-7770-4396-a222-0eff2d7f2c84";
/// Longer than any machine takes; a test that gets there has failed.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How a script answers our greeting.
const READY: &str = r#"read greeting; echo '{"type":"control_response","response":{"subtype":"success","request_id":"convoke-1","response":{"claude_code_version":"2.1.325"}}}';"#;

/// A launch of a shell script, which sees our arguments as its own and `folder` as its workspace and home.
fn launch(folder: &Path, script: &str) -> Launch {
    let folder = folder.canonicalize().unwrap();
    let home = folder.as_os_str().to_owned();
    Launch {
        protocol: Protocol::Claude,
        program: PathBuf::from("/bin/sh"),
        args: ["-c", script, "claude"].map(str::to_owned).to_vec(),
        environment: BTreeMap::from([
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("HOME".into(), home.clone()),
            ("TMPDIR".into(), home),
        ]),
        workspace: folder,
        confinement: Confinement::Off,
        missing: Vec::new(),
        own_sandbox: OwnSandbox::None,
        mentions: crate::catalogue::Mentions::Link,
        tools: crate::catalogue::Tools::Stdio,
        temp: None,
        mcp_servers: Vec::new(),
        start: Start::New { id: ID.to_owned() },
        start_timeout: TIMEOUT,
        leftovers: None,
        lease: None,
        gate: None,
    }
}
