//! The content of a prompt: text alone as a string, with images or documents as blocks.

use serde_json::{Value, json};

use crate::driver::{AttachmentContent, PromptAttachment};

/// The image types that the model accepts.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The content of the frame that carries a prompt. Claude reads mentioned files by the `@` in front of their paths.
pub(super) fn of_prompt(text: &str, attachments: &[PromptAttachment]) -> Value {
    if attachments.is_empty() {
        return text.into();
    }
    let mut blocks = Vec::new();
    let mut words = text.to_owned();
    for attachment in attachments {
        match &attachment.content {
            AttachmentContent::Image { media_type, data }
                if PICTURES.contains(&media_type.as_str()) =>
            {
                blocks.push(block("image", media_type, data));
            }
            AttachmentContent::Document { media_type, data } => {
                blocks.push(block("document", media_type, data));
            }
            AttachmentContent::Mention { .. } => {
                if !text.contains(&attachment.name) {
                    add_line(&mut words, &format!("@{}", attachment.name));
                }
            }
            AttachmentContent::Image { .. }
            | AttachmentContent::Audio { .. }
            | AttachmentContent::Text { .. }
            | AttachmentContent::File { .. } => {
                let (name, path) = (&attachment.name, attachment.path.display());
                add_line(&mut words, &format!("[attached file {name}: {path}]"));
            }
        }
    }
    if blocks.is_empty() {
        return words.into();
    }
    // Images come before the text that refers to them.
    if !words.trim().is_empty() {
        blocks.push(json!({"type": "text", "text": words}));
    }
    blocks.into()
}

fn block(kind: &str, media_type: &str, data: &str) -> Value {
    let source = json!({"type": "base64", "media_type": media_type, "data": data});
    json!({"type": kind, "source": source})
}

fn add_line(words: &mut String, line: &str) {
    if !words.is_empty() {
        words.push('\n');
    }
    words.push_str(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l3_claude_is_given_pictures_as_blocks_and_other_files_by_path() {
        let attachment = |name: &str, content: AttachmentContent| PromptAttachment {
            name: name.to_owned(),
            path: format!("/tmp/a/{name}").into(),
            content,
        };
        let (media_type, data) = ("image/png".to_owned(), "iVBO".to_owned());
        let picture = attachment("shot.png", AttachmentContent::Image { media_type, data });
        let (media_type, size) = ("application/zip".to_owned(), 3);
        let file = attachment("all.zip", AttachmentContent::File { media_type, size });
        let mention = attachment("src/main.rs", AttachmentContent::Mention { text: None });
        insta::assert_snapshot!(of_prompt("what is it?", &[picture.clone(), file]), @r#"[{"source":{"data":"iVBO","media_type":"image/png","type":"base64"},"type":"image"},{"text":"what is it?\n[attached file all.zip: /tmp/a/all.zip]","type":"text"}]"#);
        assert_eq!(
            of_prompt("see @src/main.rs", std::slice::from_ref(&mention)),
            "see @src/main.rs"
        );
        assert_eq!(of_prompt("see", &[mention]), "see\n@src/main.rs");
        assert_eq!(of_prompt("", &[picture]).as_array().map(Vec::len), Some(1));
    }
}
