//! The frames of `claude --input-format stream-json --output-format stream-json`, from its side.

use serde_json::{Value, json};

use super::dialect::{ClientMessage, ClientRequest, Dialect};
use super::script::{Ask, Step, Tool};

/// The version whose behaviour is imitated.
const VERSION: &str = "2.1.325";

/// Speaks Claude's frames.
pub(super) struct Claude {
    pub(super) session: String,
    /// How many messages it has sent.
    messages: u64,
}

impl Claude {
    pub(super) const fn new(session: String) -> Self {
        Self { session, messages: 0 }
    }

    fn message(&mut self, block: &Value) -> Value {
        self.messages += 1;
        let message = json!({
            "id": format!("msg_{}", self.messages),
            "type": "message",
            "role": "assistant",
            "content": [block],
            "stop_reason": null,
        });
        json!({
            "type": "assistant",
            "message": message,
            "parent_tool_use_id": null,
            "session_id": self.session,
        })
    }

    /// A message in pieces. It comes again as a whole before its pieces are closed, as the real one does it.
    fn stream(&mut self, pieces: &[String]) -> Vec<Value> {
        let whole = self.message(&json!({"type": "text", "text": pieces.concat()}));
        let (mut start, block) = (whole["message"].clone(), json!({"type": "text", "text": ""}));
        start["content"] = json!([]);
        let mut frames = vec![
            self.event(&json!({"type": "message_start", "message": start})),
            self.event(&json!({"type": "content_block_start", "index": 0, "content_block": block})),
        ];
        for piece in pieces {
            let delta = json!({"type": "text_delta", "text": piece});
            let event = json!({"type": "content_block_delta", "index": 0, "delta": delta});
            frames.push(self.event(&event));
        }
        let delta = json!({"stop_reason": "end_turn"});
        frames.extend([
            whole,
            self.event(&json!({"type": "content_block_stop", "index": 0})),
            self.event(&json!({"type": "message_delta", "delta": delta})),
            self.event(&json!({"type": "message_stop"})),
        ]);
        frames
    }

    fn event(&self, event: &Value) -> Value {
        json!({
            "type": "stream_event",
            "event": event,
            "parent_tool_use_id": null,
            "session_id": self.session,
        })
    }

    fn user(&self, content: &Value) -> Value {
        json!({
            "type": "user",
            "message": {"role": "user", "content": content},
            "parent_tool_use_id": null,
            "session_id": self.session,
        })
    }

    /// The frame that ends a turn. As the real one it names its type last, and the prompts that it ends.
    fn result(&self, request: &ClientRequest, fields: Value) -> Value {
        let mut frame = json!({
            "stop_reason": "end_turn",
            "session_id": self.session,
            "is_error": false,
            "subtype": "success",
            "result": "",
            "terminal_reason": "completed",
            "user_message_uuids": if request.id.is_null() { json!([]) } else { json!([request.id]) },
            "type": "result",
        });
        if let (Value::Object(frame), Value::Object(fields)) = (&mut frame, fields) {
            frame.extend(fields);
        }
        frame
    }
}

impl Dialect for Claude {
    fn decode(&mut self, mut line: Value) -> ClientMessage {
        let kind = line["type"].as_str().unwrap_or_default();
        match kind {
            "user" => {
                let prompt = line["message"]["content"].as_str().map(str::to_owned);
                let (id, method) = (line["uuid"].take(), "prompt".to_owned());
                ClientMessage::Request(ClientRequest {
                    id,
                    method,
                    prompt: prompt.or_else(|| Some(String::new())),
                })
            }
            "control_request" => {
                let (id, request) = (line["request_id"].take(), &line["request"]);
                let method = request["subtype"].as_str().unwrap_or_default().to_owned();
                if method == "interrupt" {
                    let receipt = Some(respond(&id, &json!({"still_queued": []})));
                    return ClientMessage::Cancel { receipt };
                }
                ClientMessage::Request(ClientRequest { id, method, prompt: None })
            }
            "control_response" => {
                let whole = line["response"].take();
                let answer = &whole["response"];
                let choice = match answer["behavior"].as_str() {
                    Some(_) if answer["interrupt"] == true => "cancelled",
                    Some(behavior) => behavior,
                    None => "failed",
                };
                let (id, choice) = (whole["request_id"].clone(), choice.to_owned());
                ClientMessage::Answer { id, choice, whole }
            }
            _ => ClientMessage::Other,
        }
    }

    fn encode(&mut self, step: &Step, request: &ClientRequest) -> Option<Vec<Value>> {
        Some(match step {
            Step::Say(text) => vec![self.message(&json!({"type": "text", "text": text}))],
            Step::Stream(pieces) => self.stream(pieces),
            Step::Think(text) => vec![self.message(&json!({"type": "thinking", "thinking": text}))],
            Step::Echo => vec![self.user(&json!(request.prompt))],
            Step::Plan(steps) => {
                let todo = |step: &String| json!({"content": step, "status": "pending"});
                let todos: Vec<Value> = steps.iter().map(todo).collect();
                let tool = Tool::named("plan", "TodoWrite", json!({"todos": todos}));
                vec![self.message(&tool_use(&tool))]
            }
            Step::Call(tool) => vec![self.message(&tool_use(tool))],
            Step::Update(tool) => {
                let is_error = tool.status.as_deref() == Some("failed");
                let result = json!({
                    "type": "tool_result",
                    "tool_use_id": tool.id,
                    "content": tool.output,
                    "is_error": is_error,
                });
                vec![self.user(&json!([result]))]
            }
            Step::LongLine(bytes) => {
                let mut long = self.message(&json!({"type": "text", "text": "long"}));
                long["padding"] = "x".repeat(*bytes).into();
                vec![long]
            }
            Step::Tell(_)
            | Step::Count(_)
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
        })
    }

    fn id(&self, number: u64) -> Value {
        format!("ask-{number}").into()
    }

    fn ask(&self, id: &Value, ask: &Ask) -> Value {
        let params = json!({
            "tool_name": ask.tool.name.as_deref().unwrap_or("Bash"),
            "input": ask.tool.args.clone().unwrap_or_else(|| json!({})),
            "tool_use_id": ask.tool.id,
        });
        self.request(id, "can_use_tool", &params)
    }

    fn request(&self, id: &Value, method: &str, params: &Value) -> Value {
        let mut request = params.clone();
        request["subtype"] = method.into();
        json!({"type": "control_request", "request_id": id, "request": request})
    }

    fn withdraw(&self, id: &Value) -> Value {
        json!({"type": "control_cancel_request", "request_id": id})
    }

    fn answer(&mut self, request: &ClientRequest, result: Value) -> Vec<Value> {
        match request.prompt {
            Some(_) => vec![self.result(request, result)],
            None => vec![respond(&request.id, &result)],
        }
    }

    fn proper_answer(&mut self, request: &ClientRequest) -> Vec<Value> {
        match request.method.as_str() {
            "initialize" => {
                let ready = json!({
                    "commands": [],
                    "models": [],
                    "claude_code_version": VERSION,
                    "current_permission_mode": "default",
                });
                self.answer(request, ready)
            }
            "prompt" | "set_permission_mode" | "set_model" => self.answer(request, json!({})),
            other => {
                let message = format!("Unsupported control request subtype: {other}");
                self.fail(request, 0, &message)
            }
        }
    }

    fn fail(&mut self, request: &ClientRequest, code: i64, message: &str) -> Vec<Value> {
        if request.prompt.is_some() {
            let failure = json!({
                "is_error": true,
                "terminal_reason": "api_error",
                "api_error_status": code,
                "result": message,
            });
            return vec![self.result(request, failure)];
        }
        let error = json!({"subtype": "error", "request_id": request.id, "error": message});
        vec![json!({"type": "control_response", "response": error})]
    }

    fn cancelled(&mut self, request: &ClientRequest) -> Vec<Value> {
        let interruption = json!({
            "is_error": true,
            "subtype": "error_during_execution",
            "terminal_reason": "aborted_streaming",
            "stop_reason": null,
        });
        vec![
            self.user(&json!([{"type": "text", "text": "[Request interrupted by user]"}])),
            self.result(request, interruption),
        ]
    }
}

fn respond(id: &Value, response: &Value) -> Value {
    let response = json!({"subtype": "success", "request_id": id, "response": response});
    json!({"type": "control_response", "response": response})
}

fn tool_use(tool: &Tool) -> Value {
    json!({
        "type": "tool_use",
        "id": tool.id,
        "name": tool.name.as_deref().unwrap_or("Bash"),
        "input": tool.args.clone().unwrap_or_else(|| json!({})),
    })
}
