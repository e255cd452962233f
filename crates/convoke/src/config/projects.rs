//! The `[projects."PATH"]` tables: what a project opens for its agents. They lie in the home and not in the project, where
//! an agent could write them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use convoke_agents::sandbox::Exceptions;

use super::agents::set_paths;
use super::kind::{Base, resolve, set_domains};
use super::mistake::{Mistake, Problem};
use super::nearest;
use super::tree::{Entry, Value};
use super::{Effective, Sources};

/// The keys of a project's table.
const KEYS: [&str; 3] = ["readable", "writable", "domains"];

/// What the file says about projects.
pub(super) fn settle(
    tables: Vec<Entry>,
    sources: &Sources<'_>,
    effective: &mut Vec<Effective>,
    mistakes: &mut Vec<Mistake>,
) -> BTreeMap<PathBuf, Exceptions> {
    let mut projects = BTreeMap::new();
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
        for Entry { key, origin, node } in entries {
            let set = match key.as_str() {
                "readable" => set_paths(&mut exceptions.readable, &node, sources),
                "writable" => set_paths(&mut exceptions.writable, &node, sources),
                "domains" => set_domains(&mut exceptions.domains, &node),
                _ => {
                    let text = format!("unknown key `{section}.{key}`");
                    let hint = nearest::hint(&key, &KEYS);
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
                        "paths are absolute or below ~; domains are such as *.example.com"
                            .to_owned()
                    };
                    mistakes.push(problem.at(node.origin, &key, doc));
                }
            }
        }
        // Projects are known by their real path.
        projects.insert(real(&path), exceptions);
    }
    projects
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
