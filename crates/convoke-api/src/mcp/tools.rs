//! The tools for asking the human: their names, parameters and descriptions.

use convoke_core::question::{Limits, OPTIONS_MIN};
use serde_json::{Map, Value, json};

/// Asks the human questions.
pub const ASK: &str = "ask_user_questions";
/// Fetches the answers.
pub const FETCH: &str = "get_answered_questions";
/// Asks the human whether a tool may be used.
pub const APPROVE: &str = "permissions__approve";

/// Instructions that clients may show an agent.
pub const INSTRUCTIONS: &str = "Ask your human with ask_user_questions whenever a decision is theirs: \
     requirements, preferences, trade-offs, anything you would otherwise guess. The answer may take minutes. \
     If the call ends before the answer comes, it is kept: fetch it with get_answered_questions.";

/// A tool as agents see it. None of them changes anything or accesses external systems.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Its description.
    pub description: &'static str,
    /// The JSON schema of its parameters.
    pub schema: Map<String, Value>,
}

/// The tool that asks the human questions, within these limits.
pub fn ask(limits: Limits) -> Tool {
    let option = json!({
        "type": "object",
        "properties": {
            "label": {"type": "string", "minLength": 1,
                "description": "The text of the option. Add \"(recommended)\" to the one you would choose."},
            "description": {"type": "string", "description": "What it means to choose it."},
        },
        "required": ["label"],
        "additionalProperties": false,
    });
    let question = json!({
        "type": "object",
        "properties": {
            "prompt": {"type": "string", "minLength": 1,
                "description": "The full question; may be Markdown."},
            "title": {"type": "string", "description": "The question in a word or two."},
            "options": {"type": "array", "items": option,
                "minItems": OPTIONS_MIN, "maxItems": limits.options_max,
                "description": "The options. The user can always answer in free text instead."},
            "multiSelect": {"type": "boolean", "description": "Whether several options may be chosen."},
        },
        "required": ["prompt", "title", "options", "multiSelect"],
        "additionalProperties": false,
    });
    let schema = json!({
        "type": "object",
        "properties": {
            "questions": {"type": "array", "items": question,
                "minItems": 1, "maxItems": limits.questions_max},
            "nonBlocking": {"type": "boolean", "default": false,
                "description": "Return at once; fetch the answers later with get_answered_questions."},
        },
        "required": ["questions"],
        "additionalProperties": false,
    });
    let description = "Put a set of questions to your human and wait for the answers. \
         All questions of a set are shown together, so ask what belongs together in one call.";
    tool(ASK, "Ask the human", description, schema)
}

/// The tool that fetches the answers.
pub fn fetch() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "session_id": {"type": "string", "minLength": 4,
                "description": "The session of the questions: its id, or the first eight characters."},
            "blocking": {"type": "boolean", "default": false,
                "description": "Wait as long as the questions are pending."},
        },
        "required": ["session_id"],
        "additionalProperties": false,
    });
    let description = "Fetch the answers to questions that were asked before, or their status.";
    tool(FETCH, "Fetch answers", description, schema)
}

/// The tool that asks the human whether another tool may be used.
pub fn approve() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "tool_name": {"type": "string", "minLength": 1, "description": "The tool to be used."},
            "input": {"type": "object", "description": "What it is to be used with."},
            "tool_use_id": {"type": "string", "description": "The call that is to use it."},
        },
        "required": ["tool_name", "input"],
    });
    let description = "Ask your human whether a tool may be used.";
    tool(APPROVE, "Ask for permission", description, schema)
}

pub(super) fn tool(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    schema: Value,
) -> Tool {
    let schema = match schema {
        Value::Object(schema) => schema,
        // The schemas are object literals of `json!`.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    };
    Tool { name, title, description, schema }
}
