//! The conversation that a model is sent, in any of the APIs.

use serde_json::Value;

use super::tools::{Tool, Tools, hidden_ask};

/// The tags in which agents wrap their own remarks to the model, inside the text of the user.
const ASIDES: [&str; 8] = [
    "session_context",
    "reminder",
    "system-reminder",
    "info-msg",
    "environment_context",
    "current_datetime",
    "turn-context",
    "user_instructions",
];
/// The text with which Claude reports a cancelled turn to its model, as a message of the user.
const INTERRUPTED: &str = "[Request interrupted";

/// The conversation that a model is sent.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Shown {
    /// The last prompt.
    pub(super) prompt: String,
    /// How many prompts there are.
    pub(super) turns: usize,
    /// The results of the tool calls since the last prompt.
    pub(super) results: Vec<String>,
    /// The tools that it is offered; agents also ask for titles and the like, without tools.
    pub(super) tools: Tools,
    /// How many pictures the last prompt has.
    pub(super) images: usize,
    /// Our question tool, where it is named and not offered.
    pub(super) hidden_ask: Option<String>,
}

impl Shown {
    /// Reads a request for Anthropic's messages.
    pub(super) fn in_messages(body: &Value) -> Self {
        let named = |tool: &Value| tool_of(&tool["name"], &tool["input_schema"]);
        let mut shown = Self::with(body, list(&body["tools"]).iter().filter_map(named));
        for message in list(&body["messages"]).iter().filter(|it| it["role"] == "user") {
            let blocks = list(&message["content"]);
            let results = blocks.iter().filter(|block| block["type"] == "tool_result");
            shown.results.extend(results.map(|block| words(&block["content"])));
            shown.add_prompt(words(&message["content"]), images(&message["content"]));
        }
        shown
    }

    /// Reads a request for OpenAI's chat completions.
    pub(super) fn in_chat(body: &Value) -> Self {
        let named =
            |tool: &Value| tool_of(&tool["function"]["name"], &tool["function"]["parameters"]);
        let mut shown = Self::with(body, list(&body["tools"]).iter().filter_map(named));
        for message in list(&body["messages"]) {
            match message["role"].as_str() {
                Some("tool") => shown.results.push(words(&message["content"])),
                Some("user") => {
                    shown.add_prompt(words(&message["content"]), images(&message["content"]));
                }
                Some(_) | None => {}
            }
        }
        shown
    }

    /// Reads a request for OpenAI's responses.
    pub(super) fn in_responses(body: &Value) -> Self {
        let mut shown = Self::with(
            body,
            list(&body["tools"]).iter().flat_map(|tool| {
                // Tools of MCP servers come in groups.
                let group = tool["name"].as_str().filter(|_| tool["type"] == "namespace");
                let members =
                    if group.is_some() { list(&tool["tools"]) } else { std::slice::from_ref(tool) };
                let named = members.iter().filter_map(move |tool| {
                    let (name, known) = tool_of(&tool["name"], &tool["parameters"])?;
                    Some((name, Tool { namespace: group.map(str::to_owned), ..known }))
                });
                named.collect::<Vec<_>>()
            }),
        );
        for item in list(&body["input"]) {
            let kind = item["type"].as_str().unwrap_or_default();
            if kind.ends_with("_output") {
                shown.results.push(words(&item["output"]));
            } else if item["role"] == "user" {
                shown.add_prompt(words(&item["content"]), images(&item["content"]));
            }
        }
        shown
    }

    /// Reads a request for Gemini's content.
    pub(super) fn in_gemini(body: &Value) -> Self {
        let declared = list(&body["tools"]).iter();
        let declared = declared.flat_map(|it| list(&it["functionDeclarations"]));
        let mut shown = Self::with(
            body,
            declared.filter_map(|tool| {
                let schema = [&tool["parametersJsonSchema"], &tool["parameters"]];
                tool_of(&tool["name"], schema.into_iter().find(|it| !it.is_null())?)
            }),
        );
        for content in list(&body["contents"]).iter().filter(|it| it["role"] != "model") {
            let parts = list(&content["parts"]);
            let results = parts.iter().filter_map(|part| part.get("functionResponse"));
            shown.results.extend(results.map(|it| it["response"].to_string()));
            let images = parts.iter().filter(|part| part.get("inlineData").is_some()).count();
            shown.add_prompt(words(&content["parts"]), images);
        }
        shown
    }

    fn with(body: &Value, tools: impl Iterator<Item = (String, Tool)>) -> Self {
        Self { tools: tools.collect(), hidden_ask: hidden_ask(body), ..Self::default() }
    }

    fn add_prompt(&mut self, prompt: String, images: usize) {
        if !prompt.is_empty() || images > 0 {
            self.prompt = prompt;
            self.images = images;
            self.turns += 1;
            self.results.clear();
        }
    }
}

fn tool_of(name: &Value, schema: &Value) -> Option<(String, Tool)> {
    let name = name.as_str()?.to_owned();
    Some((name, Tool { schema: schema.clone(), namespace: None }))
}

/// How many pictures a message has.
fn images(content: &Value) -> usize {
    let is_image = |block: &&Value| {
        let kind = block["type"].as_str().unwrap_or_default();
        ["image", "image_url", "input_image"].contains(&kind)
    };
    list(content).iter().filter(is_image).count()
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
