//! The file that lists an agent's MCP servers, for agents that do not get them over their protocol.
//!
//! A file, because every user of the machine can read the arguments of a process, and the servers' variables may hold
//! keys.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use convoke_core::id::RequestId;
use serde_json::{Map, Value, json};

use crate::driver::{Launch, McpServer, Random};

/// A file that only its owner can read; removed when this is dropped.
pub(crate) struct File(PathBuf);

impl File {
    /// Writes the file into the agent's folder for temporary files, unless there are no servers.
    /// `others` are further servers of the agent.
    pub(crate) fn write(
        launch: &Launch,
        others: Map<String, Value>,
        random: Random,
    ) -> io::Result<Option<Self>> {
        if launch.mcp_servers.is_empty() {
            return Ok(None);
        }
        let folder = launch.environment.get(OsStr::new("TMPDIR"));
        let missing = || io::Error::new(io::ErrorKind::NotFound, "the agent has no TMPDIR");
        let path = Path::new(folder.ok_or_else(missing)?)
            .join(format!("mcp-{}.json", RequestId::from_random(random())));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        // From here on it is removed in any case.
        let written = Self(path);
        file.write_all(content(others, &launch.mcp_servers).to_string().as_bytes())?;
        Ok(Some(written))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // The agent may have removed it itself.
        fs::remove_file(&self.0).ok();
    }
}

fn content(others: Map<String, Value>, servers: &[McpServer]) -> Value {
    let server = |server: &McpServer| {
        let command = server.command.to_string_lossy();
        let (args, env) = (&server.args, &server.env);
        let entry = json!({"type": "stdio", "command": command, "args": args, "env": env});
        (server.name.clone(), entry)
    };
    let all = others.into_iter().chain(servers.iter().map(server));
    json!({"mcpServers": all.collect::<Map<_, _>>()})
}
