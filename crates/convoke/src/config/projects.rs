//! The `[projects."PATH"]` tables: the exceptions of a project for its agents. They are in the home
//! and not in the project, where an agent could write them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use convoke_agents::sandbox::Exceptions;

use super::agents::set_paths;
use super::kind::{Base, resolve, set_domains};
use super::mistake::{Mistake, Problem};
use super::nearest;
use super::tree::{Entry, Node, Value};
use super::{Effective, Sources};

/// The keys of a project's table, and what they are for.
pub(super) const KEYS: [(&str, &str); 4] = [
    ("readable", "hidden files and folders that agents may read there: absolute paths, or below ~"),
    ("writable", "what else agents may write there: absolute paths, or below ~"),
    ("domains", "hosts that agents may connect to there where sandbox.network is \"proxy\""),
    (
        "setup",
        "a line of shell that prepares a new work tree of the project before its agent starts",
    ),
];

/// Reads the tables of projects.
pub(super) fn settle(
    tables: Vec<Entry>,
    sources: &Sources<'_>,
    effective: &mut Vec<Effective>,
    mistakes: &mut Vec<Mistake>,
) -> Projects {
    let mut projects = Projects::default();
    for table in tables {
        let section = format!("projects.\"{}\"", table.key);
        let hint = || format!("start it with `[{section}]`, with the absolute path of a folder");
        let path = match resolve(&table.key, Base::Nothing, sources) {
            Ok(path) => path,
            Err(problem) => {
                mistakes.push(problem.at(table.origin, &section, hint));
                continue;
            }
        };
        let Value::Table(entries) = table.node.value else {
            let problem = Problem::wrong_type("a table", &table.node);
            mistakes.push(problem.at(table.node.origin, &section, hint));
            continue;
        };
        let mut exceptions = Exceptions::default();
        let mut set_up = None;
        for Entry { key, origin, node } in entries {
            let set = match key.as_str() {
                "readable" => set_paths(&mut exceptions.readable, &node, sources),
                "writable" => set_paths(&mut exceptions.writable, &node, sources),
                "domains" => set_domains(&mut exceptions.domains, &node),
                "setup" => set_command(&mut set_up, &node),
                _ => {
                    let text = format!("unknown key `{section}.{key}`");
                    let hint = nearest::hint(&key, &KEYS.map(|(name, _)| name));
                    mistakes.push(Mistake { origin: Some(origin), text, hint });
                    continue;
                }
            };
            let key = format!("{section}.{key}");
            match set {
                _ if node.is_broken() => {}
                Ok(value) => effective.push(Effective { key, value, origin: node.origin }),
                Err(problem) => {
                    let doc = || {
                        "paths are absolute or below ~; domains are such as *.example.com; setup is a line of shell"
                            .to_owned()
                    };
                    mistakes.push(problem.at(node.origin, &key, doc));
                }
            }
        }
        // Projects are known by their real path.
        projects.set_up.extend(set_up.map(|command| (real(&path), command)));
        projects.exceptions.insert(real(&path), exceptions);
    }
    projects
}

/// The tables of projects, by folder.
#[derive(Debug, Default)]
pub(super) struct Projects {
    /// The exceptions for their agents.
    pub(super) exceptions: BTreeMap<PathBuf, Exceptions>,
    /// The commands that set up new work trees of them.
    pub(super) set_up: BTreeMap<PathBuf, String>,
}

fn set_command(command: &mut Option<String>, node: &Node) -> Result<serde_json::Value, Problem> {
    let Value::Text(text) = &node.value else {
        return Err(Problem::wrong_type("a line of shell", node));
    };
    *command = Some(text.text.clone()).filter(|line| !line.trim().is_empty());
    Ok(serde_json::json!(text.text))
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
