//! A conversation as a person would see it, in text.

use std::fmt::Write as _;
use std::path::Path;

use convoke_core::content::{Content, Tool};
use convoke_core::message::Role;
use convoke_core::time::Timestamp;
use convoke_histories::{Agent, Identity, Item, Reading, Store, Tally};

/// A conversation that was read to its end.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Conversation {
    pub(crate) identity: Identity,
    pub(crate) tally: Tally,
    /// Items with their newest content, at the place where their key first appeared.
    pub(crate) items: Vec<Item>,
    pub(crate) unknown: Vec<String>,
}

impl Conversation {
    /// Reads all of it.
    pub(crate) fn read(reading: Reading) -> Self {
        let (Reading::Whole(mut reader)
        | Reading::Rest(mut reader)
        | Reading::Rewritten(mut reader)) = reading
        else {
            panic!("there is nothing to read");
        };
        let (mut items, mut unknown) = (Vec::new(), Vec::new());
        while let Some(batch) = reader.next_batch().unwrap() {
            merge(&mut items, batch.items);
            unknown.extend(batch.unknown.into_iter().map(|line| line.kind));
        }
        let (identity, tally) = (reader.identity().clone(), reader.tally().clone());
        Self { identity, tally, items, unknown }
    }
}

/// Adds items as a store would: a known key replaces.
pub(crate) fn merge(items: &mut Vec<Item>, later: Vec<Item>) {
    for item in later {
        match items.iter_mut().find(|known| known.key == item.key) {
            Some(known) => *known = Item { at: known.at, ..item },
            None => items.push(item),
        }
    }
}

/// All conversations of a store.
pub(crate) fn conversations(agent: Agent, root: &Path) -> Vec<Conversation> {
    let mut store = Store::open_at(agent, root).unwrap().expect("a store");
    let found = store.scan().unwrap();
    found.iter().map(|it| Conversation::read(store.read(it, None).unwrap())).collect()
}

/// All conversations of a store, in text.
pub(crate) fn render_all(agent: Agent, root: &Path) -> String {
    let all: Vec<String> = conversations(agent, root).iter().map(render).collect();
    all.join("\n")
}

pub(crate) fn render(conversation: &Conversation) -> String {
    let mut text = head(&conversation.identity);
    let tally = &conversation.tally;
    if tally.broken + tally.unknown + tally.repaired > 0 {
        let (broken, unknown, repaired) = (tally.broken, tally.unknown, tally.repaired);
        writeln!(text, "{broken} broken, {unknown} unknown, {repaired} repaired").unwrap();
    }
    for line in &tally.broken_lines {
        writeln!(text, "broken line {} at {}: {}", line.line, line.offset, line.why).unwrap();
    }
    for kind in &conversation.unknown {
        writeln!(text, "unknown: {kind}").unwrap();
    }
    for item in &conversation.items {
        writeln!(text, "{}", render_item(item)).unwrap();
    }
    // The folder of the person in whose name the samples were written.
    text.replace(concat!("/home/", "dev"), "~")
}

fn head(identity: &Identity) -> String {
    let mut text = format!("# {}\n", identity.title.as_deref().unwrap_or("(untitled)"));
    let optional = [
        ("in", &identity.cwd),
        ("by", &identity.model),
        ("part of", &identity.parent),
        ("forked from", &identity.forked_from),
    ];
    write!(text, "{}", identity.id).unwrap();
    for (what, value) in optional {
        if let Some(value) = value {
            write!(text, ", {what} {value}").unwrap();
        }
    }
    let (from, to) = (time(identity.created_at), time(identity.updated_at));
    let tokens = &identity.tokens;
    writeln!(text, "\n{from} to {to}").unwrap();
    write!(text, "tokens: {} in, {} out", tokens.input, tokens.output).unwrap();
    write!(text, ", {} + {} cached", tokens.cache_read, tokens.cache_write).unwrap();
    if let Some(used) = identity.usage.context_used {
        write!(text, ", context {used}").unwrap();
    }
    if let Some(cost) = &identity.usage.cost {
        write!(text, ", {} {}", cost.amount, cost.currency).unwrap();
    }
    text.push('\n');
    text
}

fn render_item(item: &Item) -> String {
    let who = match item.role {
        Role::User => "user",
        Role::Agent => "agent",
        Role::System => "-",
    };
    let what = match &item.content {
        Content::Text { text, .. } => format!("{text:?}"),
        Content::Thinking { text, .. } => format!("thinks {text:?}"),
        Content::Plan { steps } => {
            let steps: Vec<String> =
                steps.iter().map(|step| format!("{:?} {:?}", step.status, step.content)).collect();
            format!("plan: {}", steps.join(", "))
        }
        Content::Tool(tool) => render_tool(tool),
        Content::Notice(notice) => format!("notice {:?}", notice.text),
        Content::Permission(_) | Content::Question(_) => "a request".to_owned(),
    };
    format!("{} {who} {what}", time(item.at))
}

fn render_tool(tool: &Tool) -> String {
    let kind = tool.kind.as_deref().unwrap_or("?");
    let mut text = format!("{} ({kind}) {} {:?}", tool.tool, tool.args, tool.status);
    let Some(result) = &tool.result else { return text };
    if let Some(printed) = &result.text {
        write!(text, " {printed:?}").unwrap();
    }
    if let Some(error) = &result.error {
        write!(text, " error {error:?}").unwrap();
    }
    for diff in &result.diffs {
        let old = diff.old_text.as_deref();
        write!(text, "\n    {}: {old:?} -> {:?}", diff.path, diff.new_text).unwrap();
    }
    text
}

fn time(at: Option<Timestamp>) -> String {
    at.map_or_else(|| "?".to_owned(), |at| at.to_string().replace('T', " ").replace('Z', ""))
}
