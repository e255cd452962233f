//! What a model is shown of a conversation, whichever way it is asked.

use serde_json::Value;

/// The tags in which agents wrap their own remarks to the model, inside the text of the user.
const ASIDES: [&str; 6] = [
    "system-reminder",
    "info-msg",
    "environment_context",
    "current_datetime",
    "turn-context",
    "user_instructions",
];
/// The text with which Claude reports a cancelled turn to its model, as a message of the user.
const INTERRUPTED: &str = "[Request interrupted";

/// A conversation as a model sees it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Shown {
    /// The last prompt.
    pub(super) prompt: String,
    /// How many prompts there are.
    pub(super) turns: usize,
    /// What came of the tool calls since the last prompt.
    pub(super) results: Vec<String>,
    /// Whether there are any tools; agents also ask for titles and the like, without tools.
    pub(super) has_tools: bool,
}

impl Shown {
    /// Reads a request for Anthropic's messages.
    pub(super) fn in_messages(body: &Value) -> Self {
        let mut shown = Self { has_tools: !list(&body["tools"]).is_empty(), ..Self::default() };
        for message in list(&body["messages"]).iter().filter(|it| it["role"] == "user") {
            let blocks = list(&message["content"]);
            let results = blocks.iter().filter(|block| block["type"] == "tool_result");
            shown.results.extend(results.map(|block| words(&block["content"])));
            shown.hear(words(&message["content"]));
        }
        shown
    }

    /// Reads a request for OpenAI's chat completions.
    pub(super) fn in_chat(body: &Value) -> Self {
        let mut shown = Self { has_tools: !list(&body["tools"]).is_empty(), ..Self::default() };
        for message in list(&body["messages"]) {
            match message["role"].as_str() {
                Some("tool") => shown.results.push(words(&message["content"])),
                Some("user") => shown.hear(words(&message["content"])),
                Some(_) | None => {}
            }
        }
        shown
    }

    /// Reads a request for OpenAI's responses.
    pub(super) fn in_responses(body: &Value) -> Self {
        let mut shown = Self { has_tools: !list(&body["tools"]).is_empty(), ..Self::default() };
        for item in list(&body["input"]) {
            let kind = item["type"].as_str().unwrap_or_default();
            if kind.ends_with("_output") {
                shown.results.push(words(&item["output"]));
            } else if item["role"] == "user" {
                shown.hear(words(&item["content"]));
            }
        }
        shown
    }

    fn hear(&mut self, prompt: String) {
        if !prompt.is_empty() {
            self.prompt = prompt;
            self.turns += 1;
            self.results.clear();
        }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The text of a message: one string, or several blocks.
fn words(content: &Value) -> String {
    let texts = match content.as_str() {
        Some(text) => vec![text],
        None => list(content).iter().filter_map(|block| block["text"].as_str()).collect(),
    };
    let texts = texts.into_iter().map(without_asides);
    let texts = texts.filter(|text| !text.is_empty() && !text.starts_with(INTERRUPTED));
    texts.collect::<Vec<_>>().join("\n")
}

fn without_asides(text: &str) -> String {
    let mut text = text.to_owned();
    for tag in ASIDES {
        let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
        while let Some((before, rest)) = text.split_once(&open) {
            let after = rest.split_once(&close).map_or("", |(_, after)| after);
            text = format!("{before}{after}");
        }
    }
    text.trim().to_owned()
}
