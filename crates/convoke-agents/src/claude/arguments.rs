//! The command line of `claude`.

use std::path::Path;

use crate::driver::{Launch, Start};
use crate::{Error, Result};

/// Frames in both directions, whole and in pieces, and permission requests to Convoke. `--verbose`
/// is mandatory with these.
const TALK: [&str; 9] = [
    "--print",
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--verbose",
    "--include-partial-messages",
    "--permission-prompt-tool",
    "stdio",
];

/// The arguments of a process for a conversation.
pub(super) fn for_conversation(launch: &Launch, servers: Option<&Path>) -> Result<Vec<String>> {
    let known = |id| {
        let cannot = |error: Error| Error::CannotResume { detail: error.to_string() };
        checked(id).map_err(cannot)
    };
    let flags = match &launch.start {
        Start::New { id } => vec!["--session-id", checked(id)?],
        Start::Resume { agent_session } => vec!["--resume", known(agent_session)?],
        Start::Fork { agent_session, id } => {
            let original = known(agent_session)?;
            vec!["--resume", original, "--fork-session", "--session-id", checked(id)?]
        }
    };
    let mut args = launch.args.clone();
    args.extend(TALK.map(str::to_owned));
    args.extend(flags.into_iter().map(str::to_owned));
    if let Some(servers) = servers {
        args.extend(["--mcp-config".to_owned(), servers.to_string_lossy().into_owned()]);
    }
    Ok(args)
}

/// The arguments of a process that only creates a session.
pub(super) fn to_create(launch: &Launch, id: &str) -> Result<Vec<String>> {
    let flags = ["--session-id", checked(id)?, "--print", "ping"];
    Ok(launch.args.iter().cloned().chain(flags.map(str::to_owned)).collect())
}

/// A session's id, which must not be parsed as an option by the program, nor as a path.
fn checked(id: &str) -> Result<&str> {
    let fits = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    if id.len() == 36 && id.bytes().enumerate().all(fits) {
        return Ok(id);
    }
    Err(Error::Refused { detail: format!("a session of Claude's is named by a UUID, not by {id}") })
}
