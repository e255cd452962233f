//! Writes an agent's table into `config.toml`.

use convoke_agents::catalogue::{Agent, Tools};
use toml_edit::{Array, InlineTable, Item, Table, value};

use super::{EditError, edit};
use crate::config::{Loaded, Sources};

/// Adds an agent's table, or replaces the existing one.
pub(crate) fn put_agent(sources: &Sources<'_>, agent: &Agent) -> Result<Loaded, EditError> {
    edit(sources, |root| {
        let agents = root.entry("agents").or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        let odd = || EditError::Refused("`agents` is not a table".to_owned());
        let agents = agents.as_table_like_mut().ok_or_else(odd)?;
        agents.insert(agent.name.as_str(), Item::Table(table(agent)));
        Ok(())
    })
}

/// The fields of an agent that differ from the defaults.
fn table(agent: &Agent) -> Table {
    let mut table = Table::new();
    if let Some(like) = &agent.like {
        table.insert("like", value(like.as_str()));
    }
    table.insert("command", value(&agent.command));
    table.insert("args", value(agent.args.iter().collect::<Array>()));
    table.insert("title", value(&agent.title));
    if !agent.env.is_empty() {
        let variables = agent.env.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        table.insert("env", value(variables.collect::<InlineTable>()));
    }
    // An agent that is like another one has its folders.
    if agent.like.is_none() && !agent.writable.is_empty() {
        let paths = agent.writable.iter().map(|path| path.to_string_lossy().into_owned());
        table.insert("writable", value(paths.collect::<Array>()));
    }
    if agent.like.is_none() && agent.tools != Tools::Stdio {
        let word = Tools::WORDS.iter().find(|(_, tools)| *tools == agent.tools);
        table.insert("tools", value(word.map_or("", |(word, _)| word)));
    }
    table
}
