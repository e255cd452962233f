//! The `[agents.NAME]` tables: they change the built-in catalogue field by field, and add to it.

mod fields;

use std::collections::BTreeMap;
use std::path::PathBuf;

use convoke_agents::catalogue::{self, Agent};
use convoke_core::id::AgentName;

use super::mistake::{Mistake, Problem};
use super::nearest;
use super::tree::{Entry, Origin, Value};
use super::{Effective, Sources};
pub(super) use fields::{FIELDS, set_paths};

/// The catalogue after the file's changes.
pub(super) fn settle(
    tables: Vec<Entry>,
    sources: &Sources<'_>,
    effective: &mut Vec<Effective>,
    mistakes: &mut Vec<Mistake>,
) -> Vec<Agent> {
    let mut drafts: Vec<Draft> = catalogue::built_in(sources.program)
        .into_iter()
        .map(|agent| Draft::new(agent, sources))
        .collect();
    for table in tables {
        let existing = drafts.iter_mut().find(|draft| draft.agent.name.as_str() == table.key);
        if let Some(draft) = existing {
            draft.change(table, sources, mistakes);
        } else if let Some(draft) = Draft::add(table, sources, mistakes) {
            drafts.push(draft);
        }
    }
    drafts.into_iter().map(|draft| draft.finish(effective)).collect()
}

/// An agent while its table is read.
struct Draft {
    agent: Agent,
    written: BTreeMap<&'static str, (serde_json::Value, Origin)>,
}

impl Draft {
    fn new(mut agent: Agent, sources: &Sources<'_>) -> Self {
        // Without a HOME there is no such folder, and nothing to allow.
        let expand = |path: PathBuf| sources.environment.expand_tilde(&path);
        agent.writable = agent.writable.into_iter().filter_map(expand).collect();
        agent.protected = agent.protected.into_iter().filter_map(expand).collect();
        Self { agent, written: BTreeMap::new() }
    }

    fn add(table: Entry, sources: &Sources<'_>, mistakes: &mut Vec<Mistake>) -> Option<Self> {
        let (origin, key) = (table.origin, format!("agents.{}", table.key));
        let Ok(name) = table.key.parse() else {
            let text = format!("`{}` cannot be the name of an agent", table.key);
            let hint = "use letters, digits, `-`, `_` and `.`".to_owned();
            mistakes.push(Mistake { origin: Some(origin), text, hint });
            return None;
        };
        let is_table = matches!(table.node.value, Value::Table(_));
        let mut draft = Self::new(named(name, &table, sources), sources);
        let before = mistakes.len();
        draft.change(table, sources, mistakes);
        let complained = mistakes.len() > before;
        if is_table && !complained && draft.agent.command.is_empty() {
            let problem = Problem::new("the agent has no command");
            mistakes.push(problem.at(origin, &key, || missing_command(&draft.agent, sources)));
        }
        Some(draft)
    }

    fn change(&mut self, table: Entry, sources: &Sources<'_>, mistakes: &mut Vec<Mistake>) {
        let section = format!("agents.{}", table.key);
        let Value::Table(entries) = table.node.value else {
            let hint = || format!("start it with `[{section}]`");
            let problem = Problem::wrong_type("a table", &table.node);
            mistakes.push(problem.at(table.node.origin, &section, hint));
            return;
        };
        for Entry { key, origin, node } in entries {
            let Some(field) = FIELDS.iter().find(|field| field.key == key) else {
                let known = FIELDS.each_ref().map(|field| field.key);
                let text = format!("unknown key `{section}.{key}`");
                let hint = nearest::hint(&key, &known);
                mistakes.push(Mistake { origin: Some(origin), text, hint });
                continue;
            };
            match (field.set)(&mut self.agent, &node, sources) {
                _ if node.is_broken() => {}
                Ok(shown) => {
                    self.written.insert(field.key, (shown, node.origin));
                }
                Err(problem) => {
                    let key = format!("{section}.{key}");
                    mistakes.push(problem.at(node.origin, &key, || field.doc.to_owned()));
                }
            }
        }
    }

    fn finish(mut self, effective: &mut Vec<Effective>) -> Agent {
        for field in &FIELDS {
            let default = || ((field.show)(&self.agent), Origin::Default);
            let (value, origin) = self.written.remove(field.key).unwrap_or_else(default);
            let key = format!("agents.{}.{}", self.agent.name, field.key);
            effective.push(Effective { key, value, origin });
        }
        self.agent
    }
}

/// A new agent: an empty one, or one like a built-in one.
fn named(name: AgentName, table: &Entry, sources: &Sources<'_>) -> Agent {
    let Value::Table(entries) = &table.node.value else { return Agent::named(name) };
    let like = entries.iter().find(|entry| entry.key == "like");
    let like = like.and_then(|entry| entry.node.text().ok());
    let mut known = catalogue::built_in(sources.program).into_iter();
    match like.and_then(|like| known.find(|agent| agent.name.as_str() == like.text)) {
        Some(known) => {
            let Agent { title, badge, .. } = Agent::named(name.clone());
            Agent { like: Some(known.name.clone()), name, title, badge, ..known }
        }
        None => Agent::named(name),
    }
}

/// The message for an agent without a command: it is missing, or the name of a built-in agent is
/// mistyped.
fn missing_command(agent: &Agent, sources: &Sources<'_>) -> String {
    let built_in = catalogue::built_in(sources.program);
    let names: Vec<&str> = built_in.iter().map(|agent| agent.name.as_str()).collect();
    match nearest::nearest(agent.name.as_str(), &names) {
        Some(name) => format!("did you mean `agents.{name}`? A new agent needs a `command`"),
        None => "add `command = \"…\"`: a name on the search path, or an absolute path".to_owned(),
    }
}
