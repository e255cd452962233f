//! The content blocks of a prompt: its text, and attachments in a form that the agent accepts.

use serde_json::{Value, json};

use crate::catalogue::Mentions;
use crate::driver::{AttachmentContent, PromptAttachment};

/// The content types that an agent accepts besides text and links, which all agents accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct AcceptedContent {
    image: bool,
    audio: bool,
    embedded: bool,
    /// Whether mentioned files are sent with their text.
    mentions: bool,
}

impl AcceptedContent {
    /// From an agent's response to `initialize`.
    pub(super) fn of(hello: &Value, mentions: Mentions) -> Self {
        let can = |what: &str| {
            let path = format!("/agentCapabilities/promptCapabilities/{what}");
            hello.pointer(&path).and_then(Value::as_bool).unwrap_or_default()
        };
        let embedded = can("embeddedContext");
        // Cline declares that it accepts images, and drops all blocks but text.
        let is_cline = hello.pointer("/agentInfo/name").is_some_and(|name| name == "cline");
        Self {
            image: can("image") && !is_cline,
            audio: can("audio"),
            embedded,
            mentions: embedded && mentions == Mentions::Embed,
        }
    }
}

/// A prompt in blocks.
pub(super) struct Content {
    pub(super) blocks: Vec<Value>,
    /// The text of the notice about files that the agent does not accept as blocks.
    pub(super) advice: Option<String>,
}

/// The blocks of a prompt.
pub(super) fn blocks(
    text: &str,
    attachments: &[PromptAttachment],
    accepted: AcceptedContent,
) -> Content {
    let mut blocks = Vec::new();
    let mut by_path = Vec::new();
    for attachment in attachments {
        match (&attachment.content, accepted) {
            (
                AttachmentContent::Image { media_type, data },
                AcceptedContent { image: true, .. },
            ) => {
                blocks.push(json!({"type": "image", "mimeType": media_type, "data": data}));
            }
            (
                AttachmentContent::Audio { media_type, data },
                AcceptedContent { audio: true, .. },
            ) => {
                blocks.push(json!({"type": "audio", "mimeType": media_type, "data": data}));
            }
            (
                AttachmentContent::Text { media_type, text },
                AcceptedContent { embedded: true, .. },
            ) => {
                blocks.push(resource(attachment, Some(media_type), text));
            }
            (
                AttachmentContent::Mention { text: Some(text) },
                AcceptedContent { mentions: true, .. },
            ) => {
                blocks.push(resource(attachment, None, text));
            }
            (AttachmentContent::Mention { .. }, _) => blocks.push(link(attachment, None, None)),
            (AttachmentContent::Text { media_type, text }, _) => {
                blocks.push(link(attachment, Some(media_type), Some(text.len() as u64)));
            }
            (AttachmentContent::File { media_type, size }, _) => {
                blocks.push(link(attachment, Some(media_type), Some(*size)));
            }
            (
                AttachmentContent::Image { media_type, .. }
                | AttachmentContent::Audio { media_type, .. }
                | AttachmentContent::Document { media_type, .. },
                _,
            ) => {
                blocks.push(link(attachment, Some(media_type), None));
                if !matches!(attachment.content, AttachmentContent::Document { .. }) {
                    by_path.push(attachment.name.as_str());
                }
            }
        }
    }
    // The text comes first: agents parse commands at its beginning.
    blocks.insert(0, json!({"type": "text", "text": with_paths(text, attachments, accepted)}));
    let advice = (!by_path.is_empty()).then(|| {
        let names = by_path.join(", ");
        format!("This agent takes no such attachments; it was given the path of {names}.")
    });
    Content { blocks, advice }
}

/// The text, with the paths of attachments that are passed as files: not every agent follows links.
fn with_paths(text: &str, attachments: &[PromptAttachment], accepted: AcceptedContent) -> String {
    let is_file = |it: &&PromptAttachment| match &it.content {
        AttachmentContent::File { .. } | AttachmentContent::Document { .. } => true,
        AttachmentContent::Image { .. } => !accepted.image,
        AttachmentContent::Audio { .. } => !accepted.audio,
        AttachmentContent::Text { .. } => !accepted.embedded,
        // The text mentions it already.
        AttachmentContent::Mention { .. } => false,
    };
    let mut text = text.to_owned();
    for file in attachments.iter().filter(is_file) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("[attached file {}: {}]", file.name, file.path.display()));
    }
    text
}

fn resource(attachment: &PromptAttachment, media_type: Option<&str>, text: &str) -> Value {
    let mut resource = json!({"uri": attachment.uri(), "text": text});
    set(&mut resource, "mimeType", media_type);
    json!({"type": "resource", "resource": resource})
}

fn link(attachment: &PromptAttachment, media_type: Option<&str>, size: Option<u64>) -> Value {
    let mut link =
        json!({"type": "resource_link", "uri": attachment.uri(), "name": attachment.name});
    set(&mut link, "mimeType", media_type);
    set(&mut link, "size", size);
    link
}

/// Sets a field of an object, if there is a value for it.
fn set(object: &mut Value, field: &str, value: Option<impl Into<Value>>) {
    if let (Some(value), Some(fields)) = (value, object.as_object_mut()) {
        fields.insert(field.to_owned(), value.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attachments() -> Vec<PromptAttachment> {
        let attachment = |name: &str, path: &str, content: AttachmentContent| PromptAttachment {
            name: name.to_owned(),
            path: path.into(),
            content,
        };
        let (media_type, data) = ("image/png".to_owned(), "iVBO".to_owned());
        vec![
            attachment(
                "shot.png",
                "/tmp/a/shot 1.png",
                AttachmentContent::Image { media_type, data },
            ),
            attachment(
                "log",
                "/tmp/a/log",
                AttachmentContent::Text {
                    media_type: "text/plain".to_owned(),
                    text: "oops".to_owned(),
                },
            ),
            attachment(
                "data.bin",
                "/tmp/a/data.bin",
                AttachmentContent::File {
                    media_type: "application/octet-stream".to_owned(),
                    size: 3,
                },
            ),
            attachment(
                "src/main.rs",
                "/w/src/main.rs",
                AttachmentContent::Mention { text: Some("fn".to_owned()) },
            ),
        ]
    }

    fn shown(hello: &Value, mentions: Mentions) -> String {
        let content =
            blocks("look @src/main.rs", &attachments(), AcceptedContent::of(hello, mentions));
        let lines: Vec<String> = content.blocks.iter().map(ToString::to_string).collect();
        format!("{}\n{:?}", lines.join("\n"), content.advice)
    }

    #[test]
    fn l3_an_agent_is_given_what_it_takes() {
        let all = json!({"agentCapabilities": {"promptCapabilities": {"image": true, "embeddedContext": true}}});
        insta::assert_snapshot!(shown(&all, Mentions::Link), @r#"
        {"text":"look @src/main.rs\n[attached file data.bin: /tmp/a/data.bin]","type":"text"}
        {"data":"iVBO","mimeType":"image/png","type":"image"}
        {"resource":{"mimeType":"text/plain","text":"oops","uri":"file:///tmp/a/log"},"type":"resource"}
        {"mimeType":"application/octet-stream","name":"data.bin","size":3,"type":"resource_link","uri":"file:///tmp/a/data.bin"}
        {"name":"src/main.rs","type":"resource_link","uri":"file:///w/src/main.rs"}
        None
        "#);
    }

    #[test]
    fn l3_an_agent_that_takes_nothing_is_given_paths_and_people_are_told() {
        insta::assert_snapshot!(shown(&json!({}), Mentions::Embed), @r#"
        {"text":"look @src/main.rs\n[attached file shot.png: /tmp/a/shot 1.png]\n[attached file log: /tmp/a/log]\n[attached file data.bin: /tmp/a/data.bin]","type":"text"}
        {"mimeType":"image/png","name":"shot.png","type":"resource_link","uri":"file:///tmp/a/shot%201.png"}
        {"mimeType":"text/plain","name":"log","size":4,"type":"resource_link","uri":"file:///tmp/a/log"}
        {"mimeType":"application/octet-stream","name":"data.bin","size":3,"type":"resource_link","uri":"file:///tmp/a/data.bin"}
        {"name":"src/main.rs","type":"resource_link","uri":"file:///w/src/main.rs"}
        Some("This agent takes no such attachments; it was given the path of shot.png.")
        "#);
    }

    #[test]
    fn l3_a_picture_is_a_path_to_cline_whatever_it_says() {
        let hello = json!({"agentInfo": {"name": "cline"},
            "agentCapabilities": {"promptCapabilities": {"image": true}}});
        let shown = shown(&hello, Mentions::Link);
        assert!(shown.contains("[attached file shot.png: /tmp/a/shot 1.png]"), "{shown}");
        assert!(shown.contains("it was given the path of shot.png"), "{shown}");
    }

    #[test]
    fn l2_a_mention_is_embedded_where_the_agent_prefers_that() {
        let all = json!({"agentCapabilities": {"promptCapabilities": {"embeddedContext": true}}});
        let shown = shown(&all, Mentions::Embed);
        assert!(
            shown.contains(
                r#"{"resource":{"text":"fn","uri":"file:///w/src/main.rs"},"type":"resource"}"#
            ),
            "{shown}"
        );
    }
}
