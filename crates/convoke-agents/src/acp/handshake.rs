//! From a fresh process to an agent that is ready for a prompt.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::auth;
use super::content::Takes;
use super::talk::{End, Talk};
use super::update::Hearing;
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
pub(super) async fn shake(talk: &mut Talk, launch: &Launch) -> Result<Started> {
    let hello = call(talk, "initialize", introduction()).await?;
    let hello = hello.map_err(|fault| Error::Refused { detail: fault.detail() })?;
    check_version(&hello)?;
    let methods = hello.get("authMethods").unwrap_or(&Value::Null);
    let logins = auth::ways(methods, &launch.program);
    talk.dialogue.learn_logins(logins.clone());
    if let Some(name) = hello.pointer("/agentInfo/name").and_then(Value::as_str) {
        talk.dialogue.adapt_to(name);
    }
    let abilities = abilities(&hello);
    talk.dialogue.learn_takes(Takes::of(&hello, launch.mentions));
    let opened = match &launch.start {
        Start::New { .. } => open(talk, launch).await,
        Start::Resume { agent_session } => resume(talk, launch, abilities, agent_session).await,
        Start::Fork { agent_session, .. } => fork(talk, launch, &hello, agent_session).await,
    };
    let agent_session = opened.map_err(|refusal| match refusal {
        Refusal::Login(fault) => Error::AuthRequired { methods: logins, detail: fault.detail() },
        Refusal::Other(error) => error,
    })?;
    let offers = talk.dialogue.offered().to_vec();
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

async fn open(talk: &mut Talk, launch: &Launch) -> std::result::Result<String, Refusal> {
    let answer = call(talk, "session/new", place(launch)).await?;
    let answer = answer.map_err(|fault| Refusal::new(fault, |detail| Error::Refused { detail }))?;
    let Some(session) = session_in(&answer) else {
        let detail = "it opened a session without an id".to_owned();
        return Err(Error::Protocol { detail }.into());
    };
    talk.dialogue.enter(session);
    talk.dialogue.learn_offers(&answer);
    Ok(session.to_owned())
}

async fn resume(
    talk: &mut Talk,
    launch: &Launch,
    abilities: Abilities,
    session: &str,
) -> std::result::Result<String, Refusal> {
    let mut params = place(launch);
    if let Value::Object(fields) = &mut params {
        fields.insert("sessionId".to_owned(), Value::String(session.to_owned()));
    }
    talk.dialogue.enter(session);
    talk.dialogue.listen(Hearing::Replay);
    let mut answer = None;
    if abilities.resume {
        let resumed = call(talk, "session/resume", params.clone()).await?;
        // An agent may declare a capability that it does not have.
        answer = Some(resumed).filter(|it| !is_unknown(it) || !abilities.load);
    }
    if answer.is_none() && abilities.load {
        let loaded = call(talk, "session/load", params).await?;
        if loaded.is_ok() {
            settle(talk).await?;
        }
        answer = Some(loaded);
    }
    let Some(answer) = answer else {
        let detail = "it does not support resuming a session".to_owned();
        return Err(Error::CannotResume { detail }.into());
    };
    let answer =
        answer.map_err(|fault| Refusal::new(fault, |detail| Error::CannotResume { detail }))?;
    talk.dialogue.listen(Hearing::Live);
    // The response may be empty, or contain another id, which then counts.
    let session = session_in(&answer).unwrap_or(session);
    talk.dialogue.enter(session);
    talk.dialogue.learn_offers(&answer);
    Ok(session.to_owned())
}

/// Opens a fork of a session; few agents support it.
async fn fork(
    talk: &mut Talk,
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
    let answer = call(talk, "session/fork", params).await?;
    let answer = answer.map_err(|fault| Refusal::new(fault, cannot))?;
    let Some(copy) = session_in(&answer).filter(|copy| *copy != session) else {
        return Err(cannot("it copied a session without a new id".to_owned()).into());
    };
    talk.dialogue.enter(copy);
    talk.dialogue.learn_offers(&answer);
    Ok(copy.to_owned())
}

/// Waits for the end of a replay that follows the response.
async fn settle(talk: &mut Talk) -> Result<()> {
    let last = Instant::now() + SETTLE_MAX;
    let mut quiet = Instant::now() + SETTLE_QUIET;
    let mut heard = talk.dialogue.heard();
    while let Ok(step) = timeout_at(quiet.min(last), talk.step(None)).await {
        if step.is_break() {
            return Err(Error::Gone);
        }
        if talk.dialogue.heard() != heard {
            heard = talk.dialogue.heard();
            quiet = Instant::now() + SETTLE_QUIET;
        }
    }
    Ok(())
}

async fn call(talk: &mut Talk, method: &str, params: Value) -> Result<Outcome> {
    match talk.call(method, params).await {
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
