//! From a fresh process to an agent that is ready for a prompt.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::auth;
use super::content::AcceptedContent;
use super::event_loop::{End, EventLoop};
use super::update::UpdateSource;
use super::wire::{AUTH_REQUIRED, Fault, NO_METHOD, Outcome};
use crate::catalogue::Tools;
use crate::driver::{Abilities, HttpServer, Launch, McpServer, Start, Started};
use crate::error::{Error, Result};

/// The protocol version. A higher number would make some agents speak a draft of the next one.
const PROTOCOL_VERSION: u64 = 1;
/// A replay that follows the response is over after this long without a message.
const SETTLE_QUIET: Duration = Duration::from_millis(300);
/// The maximum wait for a replay after the response; later updates count as new.
const SETTLE_MAX: Duration = Duration::from_secs(2);

/// Introduces Convoke and opens the session. [`Error::Gone`] means that the agent closed its pipes.
pub(super) async fn perform(event_loop: &mut EventLoop, launch: &Launch) -> Result<Started> {
    let hello = call(event_loop, "initialize", introduction()).await?;
    let hello = hello.map_err(|fault| Error::Refused { detail: fault.detail() })?;
    check_version(&hello)?;
    let methods = hello.get("authMethods").unwrap_or(&Value::Null);
    let logins = auth::ways(methods, &launch.program);
    event_loop.dialogue.learn_logins(logins.clone());
    if let Some(name) = hello.pointer("/agentInfo/name").and_then(Value::as_str) {
        event_loop.dialogue.adapt_to(name);
    }
    let abilities = abilities(&hello);
    event_loop.dialogue.learn_accepted_content(AcceptedContent::of(&hello, launch.mentions));
    let opened = match &launch.start {
        Start::New { .. } => open(event_loop, launch).await,
        Start::Resume { agent_session } => {
            resume(event_loop, launch, abilities, agent_session).await
        }
        Start::Fork { agent_session, .. } => fork(event_loop, launch, &hello, agent_session).await,
    };
    let agent_session = opened.map_err(|refusal| match refusal {
        Refusal::Login(fault) => Error::AuthRequired { methods: logins, detail: fault.detail() },
        Refusal::Other(error) => error,
    })?;
    let offers = event_loop.dialogue.offered().to_vec();
    Ok(Started { agent_session, introduced_as: introduced_as(&hello), abilities, offers })
}

/// Why a session was not opened.
enum Refusal {
    Login(Fault),
    Other(Error),
}

impl Refusal {
    /// Classifies an error of the agent.
    fn new(fault: Fault, other: impl FnOnce(String) -> Error) -> Self {
        if fault.code == AUTH_REQUIRED {
            Self::Login(fault)
        } else {
            Self::Other(other(fault.detail()))
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

async fn open(event_loop: &mut EventLoop, launch: &Launch) -> std::result::Result<String, Refusal> {
    let answer = call(event_loop, "session/new", place(launch)).await?;
    let answer = answer.map_err(|fault| Refusal::new(fault, |detail| Error::Refused { detail }))?;
    let Some(session) = session_in(&answer) else {
        let detail = "it opened a session without an id".to_owned();
        return Err(Error::Protocol { detail }.into());
    };
    event_loop.dialogue.enter(session);
    event_loop.dialogue.learn_offers(&answer);
    Ok(session.to_owned())
}

async fn resume(
    event_loop: &mut EventLoop,
    launch: &Launch,
    abilities: Abilities,
    session: &str,
) -> std::result::Result<String, Refusal> {
    let mut params = place(launch);
    if let Value::Object(fields) = &mut params {
        fields.insert("sessionId".to_owned(), Value::String(session.to_owned()));
    }
    event_loop.dialogue.enter(session);
    event_loop.dialogue.listen(UpdateSource::Replay);
    let mut answer = None;
    if abilities.resume {
        let resumed = call(event_loop, "session/resume", params.clone()).await?;
        // An agent may declare a capability that it does not have.
        answer = Some(resumed).filter(|it| !is_unknown(it) || !abilities.load);
    }
    if answer.is_none() && abilities.load {
        let loaded = call(event_loop, "session/load", params).await?;
        if loaded.is_ok() {
            settle(event_loop).await?;
        }
        answer = Some(loaded);
    }
    let Some(answer) = answer else {
        let detail = "it does not support resuming a session".to_owned();
        return Err(Error::CannotResume { detail }.into());
    };
    let answer =
        answer.map_err(|fault| Refusal::new(fault, |detail| Error::CannotResume { detail }))?;
    event_loop.dialogue.listen(UpdateSource::Live);
    // The response may be empty, or contain another id, which then counts.
    let session = session_in(&answer).unwrap_or(session);
    event_loop.dialogue.enter(session);
    event_loop.dialogue.learn_offers(&answer);
    Ok(session.to_owned())
}

/// Opens a fork of a session; few agents support it.
async fn fork(
    event_loop: &mut EventLoop,
    launch: &Launch,
    hello: &Value,
    session: &str,
) -> std::result::Result<String, Refusal> {
    let cannot = |detail: String| Error::CannotResume { detail };
    if !can(hello, "sessionCapabilities/fork") {
        return Err(cannot("it does not support copies of a session".to_owned()).into());
    }
    let mut params = place(launch);
    if let Value::Object(fields) = &mut params {
        fields.insert("sessionId".to_owned(), Value::String(session.to_owned()));
    }
    let answer = call(event_loop, "session/fork", params).await?;
    let answer = answer.map_err(|fault| Refusal::new(fault, cannot))?;
    let Some(copy) = session_in(&answer).filter(|copy| *copy != session) else {
        return Err(cannot("it copied a session without a new id".to_owned()).into());
    };
    event_loop.dialogue.enter(copy);
    event_loop.dialogue.learn_offers(&answer);
    Ok(copy.to_owned())
}

/// Waits for the end of a replay that follows the response.
async fn settle(event_loop: &mut EventLoop) -> Result<()> {
    let last = Instant::now() + SETTLE_MAX;
    let mut quiet = Instant::now() + SETTLE_QUIET;
    let mut received = event_loop.dialogue.received();
    while let Ok(step) = timeout_at(quiet.min(last), event_loop.step(None)).await {
        if step.is_break() {
            return Err(Error::Gone);
        }
        if event_loop.dialogue.received() != received {
            received = event_loop.dialogue.received();
            quiet = Instant::now() + SETTLE_QUIET;
        }
    }
    Ok(())
}

async fn call(event_loop: &mut EventLoop, method: &str, params: Value) -> Result<Outcome> {
    match event_loop.call(method, params).await {
        Ok(outcome) => Ok(outcome),
        Err(End::Closed | End::Deserted | End::Stopped) => Err(Error::Gone),
    }
}

fn introduction() -> Value {
    json!({
        "protocolVersion": PROTOCOL_VERSION,
        "clientCapabilities": {
            "fs": {"readTextFile": true, "writeTextFile": true},
            "terminal": true,
            "session": {"compaction": {}, "configOptions": {"boolean": {}}, "notices": {}},
            "elicitation": {"form": {}},
        },
        "clientInfo": {"name": "convoke", "title": "Convoke", "version": env!("CARGO_PKG_VERSION")},
    })
}

fn check_version(hello: &Value) -> Result<()> {
    let version = hello.get("protocolVersion").unwrap_or(&Value::Null);
    if version.as_u64() == Some(PROTOCOL_VERSION) {
        return Ok(());
    }
    let detail = if version.is_null() {
        "it did not send a version of ACP".to_owned()
    } else {
        format!("it uses version {version} of ACP, and Convoke uses version 1")
    };
    Err(Error::Protocol { detail })
}

fn abilities(hello: &Value) -> Abilities {
    Abilities {
        load: can(hello, "loadSession"),
        resume: can(hello, "sessionCapabilities/resume"),
        list: can(hello, "sessionCapabilities/list"),
        close: can(hello, "sessionCapabilities/close"),
    }
}

fn can(hello: &Value, path: &str) -> bool {
    let ability = hello.pointer(&format!("/agentCapabilities/{path}"));
    ability.is_some_and(|ability| !matches!(ability, Value::Null | Value::Bool(false)))
}

fn introduced_as(hello: &Value) -> Option<String> {
    let field = |name: &str| hello.get("agentInfo")?.get(name)?.as_str();
    let name = field("title").or_else(|| field("name"))?;
    Some(field("version").map_or_else(|| name.to_owned(), |version| format!("{name} {version}")))
}

/// The working directory of the session, and its MCP servers.
fn place(launch: &Launch) -> Value {
    let servers = launch.mcp_servers.iter().filter_map(|it| match launch.tools {
        Tools::Stdio => Some(server(it)),
        Tools::Http => {
            Some(it.http.as_ref().map_or_else(|| server(it), |http| over_http(it, http)))
        }
        // Cline stores servers that are passed here, and never starts them.
        Tools::Cline | Tools::None => None,
    });
    let servers: Vec<Value> = servers.collect();
    json!({"cwd": launch.workspace.to_string_lossy(), "mcpServers": servers})
}

fn server(server: &McpServer) -> Value {
    let variable = |(name, value): (&String, &String)| json!({"name": name, "value": value});
    json!({
        "name": server.name,
        "command": server.command.to_string_lossy(),
        "args": server.args,
        "env": server.env.iter().map(variable).collect::<Vec<_>>(),
    })
}

fn over_http(server: &McpServer, http: &HttpServer) -> Value {
    let authorization = format!("Bearer {}", http.token);
    json!({
        "type": "http",
        "name": server.name,
        "url": http.url,
        "headers": [{"name": "Authorization", "value": authorization}],
    })
}

fn session_in(answer: &Value) -> Option<&str> {
    answer.get("sessionId")?.as_str().filter(|session| !session.is_empty())
}

fn is_unknown(outcome: &Outcome) -> bool {
    matches!(outcome, Err(fault) if fault.code == NO_METHOD)
}

#[cfg(test)]
mod tests;
