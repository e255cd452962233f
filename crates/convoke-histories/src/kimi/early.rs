//! The events of Kimi CLI, before it was Kimi Code.

use convoke_core::time::Timestamp;
use serde_json::Value;

use super::{part, settle};
use crate::assembly::{Assembly, Call};
use crate::item::Tokens;
use crate::json::{arguments, count, field, plain, word};

pub(super) fn add(assembly: &mut Assembly, message: &Value, at: Option<Timestamp>) {
    let (key, payload) = (assembly.line_key(), field(message, "payload"));
    match word(message, "type") {
        "TurnBegin" | "SteerInput" => {
            assembly.prompt(&key, &plain(field(payload, "user_input")), at);
        }
        "ContentPart" => part(assembly, payload, &key, at),
        "ToolCall" => {
            let function = field(payload, "function");
            assembly.call(Call {
                id: word(payload, "id"),
                tool: word(function, "name"),
                args: arguments(field(function, "arguments")),
                at,
                ..Call::default()
            });
        }
        "ToolResult" => {
            let value = field(payload, "return_value");
            settle(assembly, word(payload, "tool_call_id"), value, at);
        }
        "CompactionEnd" => assembly.compacted(&key, "", at),
        "StatusUpdate" => {
            let usage = field(payload, "token_usage");
            if !usage.is_null() {
                assembly.used(Tokens {
                    input: count(usage, "input_other"),
                    output: count(usage, "output"),
                    cache_read: count(usage, "input_cache_read"),
                    cache_write: count(usage, "input_cache_creation"),
                });
            }
        }
        _ => {}
    }
}
