//! One request in full: its evidence, its options, and the rules that an answer can create.

use convoke_api::bodies::InboxItem;
use convoke_api::entry::{AskedQuestion, Permission};
use convoke_core::id::short;
use convoke_core::time::relative;

use super::{from, kind};
use crate::clock;
use crate::evidence;
use crate::output::{Output, plain};

pub(super) fn show(item: &InboxItem, output: &Output) -> anyhow::Result<()> {
    output.show(item, |item, _| {
        let asked = relative(item.created_at, clock::now());
        let id = short(item.id);
        let mut text = format!("{} {id} of {}, asked {asked}\n", kind(item), from(item));
        text.push_str(&format!("{}\n", plain(&item.title)));
        if let Some(permission) = &item.permission {
            text.push_str(&about(permission, &id));
        }
        for question in item.questions.iter().flatten() {
            text.push_str(&asking(question));
        }
        text
    })
}

fn about(permission: &Permission, id: &str) -> String {
    let mut text = String::new();
    if let Some(evidence) = &permission.evidence {
        text.push_str(&format!("\n{}", evidence::text(evidence)));
    }
    text.push_str("\nOptions:\n");
    let ids: Vec<String> = permission.options.iter().map(|it| plain(&it.option_id)).collect();
    let width = ids.iter().map(|id| id.chars().count()).max().unwrap_or_default();
    for (id, option) in ids.iter().zip(&permission.options) {
        text.push_str(&format!("  {id:width$}  {}\n", plain(&option.name)));
    }
    if permission.rules.is_empty() {
        return text;
    }
    text.push_str(&format!(
        "Rules, made with `convoke inbox allow {id} --always N` or `convoke inbox deny {id} --always N`:\n"
    ));
    for (number, rule) in permission.rules.iter().enumerate() {
        text.push_str(&format!("  {}  {}\n", number + 1, plain(&rule.label)));
    }
    text
}

fn asking(question: &AskedQuestion) -> String {
    let mut text = format!("\n{}\n", plain(&question.prompt));
    for option in &question.options {
        let description = option.description.as_deref().map(|text| format!(": {}", plain(text)));
        text.push_str(&format!(
            "  - {}{}\n",
            plain(&option.label),
            description.unwrap_or_default()
        ));
    }
    text
}
