//! The Agent Client Protocol, version 1, from the agent's side.

use serde_json::{Value, json};

use super::dialect::{ClientMessage, ClientRequest, Dialect};
use super::script::{Ask, Choice, Step, Tool};

/// Speaks ACP.
pub(super) struct Acp {
    pub(super) session: String,
    pub(super) capabilities: Value,
}

impl Acp {
    fn notify(&self, update: &Value) -> Value {
        let params = json!({"sessionId": self.session, "update": update});
        json!({"jsonrpc": "2.0", "method": "session/update", "params": params})
    }
}

impl Dialect for Acp {
    fn decode(&mut self, mut line: Value) -> ClientMessage {
        let (id, method) = (line["id"].take(), line["method"].as_str().map(str::to_owned));
        match (id, method) {
            (Value::Null, Some(method)) if method == "session/cancel" => {
                ClientMessage::Cancel { receipt: None }
            }
            (Value::Null, _) => ClientMessage::Other,
            (id, Some(method)) => {
                let params = &line["params"];
                if let Some(session) = params["sessionId"].as_str() {
                    session.clone_into(&mut self.session);
                }
                let prompt = (method == "session/prompt").then(|| words(&params["prompt"]));
                ClientMessage::Request(ClientRequest { id, method, prompt })
            }
            (id, None) => {
                let outcome = &line["result"]["outcome"];
                let word = outcome["optionId"].as_str().or_else(|| outcome["outcome"].as_str());
                ClientMessage::Answer {
                    id,
                    choice: word.unwrap_or("failed").to_owned(),
                    whole: line,
                }
            }
        }
    }

    fn encode(&mut self, step: &Step, request: &ClientRequest) -> Option<Vec<Value>> {
        let update = match step {
            Step::Say(text) => chunk("agent_message_chunk", text),
            Step::Stream(pieces) => {
                let chunks = pieces.iter().map(|piece| chunk("agent_message_chunk", piece));
                return Some(chunks.map(|chunk| self.notify(&chunk)).collect());
            }
            Step::Think(text) => chunk("agent_thought_chunk", text),
            Step::Echo => {
                chunk("user_message_chunk", request.prompt.as_deref().unwrap_or_default())
            }
            Step::Plan(steps) => json!({"sessionUpdate": "plan", "entries": entries(steps)}),
            Step::Call(tool) => of_kind("tool_call", call(tool)),
            Step::Update(tool) => of_kind("tool_call_update", call(tool)),
            Step::Tell(update) => update.clone(),
            Step::LongLine(bytes) => {
                let mut long = chunk("agent_message_chunk", "long");
                long["_meta"] = json!({"padding": "x".repeat(*bytes)});
                long
            }
            Step::Count(_)
            | Step::Flood(_)
            | Step::Ask(_)
            | Step::AskInVain(_)
            | Step::Request { .. }
            | Step::Send(_)
            | Step::Print(_)
            | Step::Complain(_)
            | Step::Answer(_)
            | Step::Fail { .. }
            | Step::Hang
            | Step::Spawn(_)
            | Step::Exit(_)
            | Step::Die(_) => return None,
        };
        Some(vec![self.notify(&update)])
    }

    fn id(&self, number: u64) -> Value {
        number.into()
    }

    fn ask(&self, id: &Value, ask: &Ask) -> Value {
        let options: Vec<Value> = ask.choices.iter().map(option).collect();
        let params =
            json!({"sessionId": self.session, "toolCall": call(&ask.tool), "options": options});
        self.request(id, "session/request_permission", &params)
    }

    fn request(&self, id: &Value, method: &str, params: &Value) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    fn withdraw(&self, id: &Value) -> Value {
        json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id}})
    }

    fn answer(&mut self, request: &ClientRequest, result: Value) -> Vec<Value> {
        vec![json!({"jsonrpc": "2.0", "id": request.id, "result": result})]
    }

    fn proper_answer(&mut self, request: &ClientRequest) -> Vec<Value> {
        let result = match request.method.as_str() {
            "initialize" => json!({
                "protocolVersion": 1,
                "agentCapabilities": self.capabilities,
                "agentInfo": {"name": "scripted", "version": "1"},
                "authMethods": [],
            }),
            "session/new" => json!({"sessionId": self.session}),
            "session/prompt" => json!({"stopReason": "end_turn"}),
            "session/list" => json!({"sessions": [{"sessionId": self.session}]}),
            "authenticate"
            | "session/load"
            | "session/resume"
            | "session/close"
            | "session/set_mode"
            | "session/set_config_option" => json!({}),
            _ => return self.fail(request, -32601, "Method not found"),
        };
        self.answer(request, result)
    }

    fn fail(&mut self, request: &ClientRequest, code: i64, message: &str) -> Vec<Value> {
        let error = json!({"code": code, "message": message});
        vec![json!({"jsonrpc": "2.0", "id": request.id, "error": error})]
    }

    fn cancelled(&mut self, request: &ClientRequest) -> Vec<Value> {
        self.answer(request, json!({"stopReason": "cancelled"}))
    }
}

fn chunk(kind: &str, text: &str) -> Value {
    json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}})
}

fn words(prompt: &Value) -> String {
    let blocks = prompt.as_array().map(Vec::as_slice).unwrap_or_default();
    blocks.iter().map(block_words).collect::<Vec<_>>().join("\n")
}

/// A block of a prompt: its text, or its type.
fn block_words(block: &Value) -> String {
    let field = |name: &str| block[name].as_str().unwrap_or_default();
    match field("type") {
        "image" | "audio" => {
            let (kind, media) = (field("type"), field("mimeType"));
            format!("[{kind} {media} of {} base64]", field("data").len())
        }
        "resource_link" => format!("[link {} {}]", field("name"), field("uri")),
        "resource" => {
            let resource = &block["resource"];
            let content = resource["text"].as_str().or_else(|| resource["blob"].as_str());
            let uri = resource["uri"].as_str().unwrap_or_default();
            format!("[resource {uri}: {}]", content.unwrap_or_default())
        }
        _ => field("text").to_owned(),
    }
}

fn option(choice: &Choice) -> Value {
    json!({"optionId": choice.id, "name": choice.id, "kind": choice.kind})
}

fn entries(steps: &[String]) -> Vec<Value> {
    let entry = |step: &String| json!({"content": step, "status": "pending", "priority": "medium"});
    steps.iter().map(entry).collect()
}

/// A tool call with only the known fields.
fn call(tool: &Tool) -> Value {
    let content = tool
        .output
        .as_ref()
        .map(|text| json!([{"type": "content", "content": {"type": "text", "text": text}}]));
    let fields = [
        ("toolCallId", Some(json!(tool.id))),
        ("name", tool.name.as_ref().map(|it| json!(it))),
        ("title", tool.title.as_ref().map(|it| json!(it))),
        ("kind", tool.kind.as_ref().map(|it| json!(it))),
        ("rawInput", tool.args.clone()),
        ("status", tool.status.as_ref().map(|it| json!(it))),
        ("content", content),
    ];
    let known = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(known.collect())
}

fn of_kind(kind: &str, mut update: Value) -> Value {
    update["sessionUpdate"] = kind.into();
    update
}
