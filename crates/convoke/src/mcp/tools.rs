//! The tools: their names, what they take, and how agents are told about them.

use convoke_core::question::{Limits, OPTIONS_MIN};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::asking::AskedQuestion;

/// Puts questions to the human.
pub(super) const ASK: &str = "ask_user_questions";
/// Fetches what became of them.
pub(super) const FETCH: &str = "get_answered_questions";

/// What clients may show an agent before it uses any tool.
pub(super) const INSTRUCTIONS: &str = "Ask your human with ask_user_questions whenever a decision is theirs: \
     requirements, preferences, trade-offs, anything you would otherwise guess. The answer may take minutes. \
     If the call ends before the answer comes, it is kept: fetch it with get_answered_questions.";

/// What `ask_user_questions` takes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Ask {
    pub(super) questions: Vec<AskedQuestion>,
    #[serde(default)]
    pub(super) non_blocking: bool,
}

/// What `get_answered_questions` takes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fetch {
    pub(super) session_id: String,
    #[serde(default)]
    pub(super) blocking: bool,
}

/// All tools, with the configured limits in their schemas.
pub(super) fn all(limits: Limits) -> Vec<Tool> {
    vec![ask(limits), fetch()]
}

fn ask(limits: Limits) -> Tool {
    let option = json!({
        "type": "object",
        "properties": {
            "label": {"type": "string", "minLength": 1,
                "description": "What is chosen. Add \"(recommended)\" to the one you would take."},
            "description": {"type": "string", "description": "What choosing it means."},
        },
        "required": ["label"],
        "additionalProperties": false,
    });
    let question = json!({
        "type": "object",
        "properties": {
            "prompt": {"type": "string", "minLength": 1,
                "description": "The question in full; Markdown is shown."},
            "title": {"type": "string", "description": "The question in a word or two."},
            "options": {"type": "array", "items": option,
                "minItems": OPTIONS_MIN, "maxItems": limits.options_max,
                "description": "What can be chosen. Free text is always possible besides."},
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

fn fetch() -> Tool {
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

fn tool(name: &'static str, title: &str, description: &'static str, schema: Value) -> Tool {
    // Made by `json!` with braces, so it is an object.
    let schema: JsonObject = serde_json::from_value(schema).unwrap_or_default();
    let annotations = ToolAnnotations::new().read_only(true).open_world(false);
    Tool::new(name, description, schema).with_title(title).with_annotations(annotations)
}
