//! The keys of an agent's table: the accepted values, and how they are shown.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use convoke_agents::catalogue::{
    self, Agent, Mentions, NestedSandbox, Protocol, Resume, Sandbox, Tools,
};
use serde_json::json;

use crate::config::Sources;
use crate::config::kind::{Base, resolve, set_domains};
use crate::config::mistake::Problem;
use crate::config::nearest;
use crate::config::tree::{Entry, Made, Node, Text, Value};

/// A key of an agent's table.
pub(in crate::config) struct Field {
    pub(in crate::config) key: &'static str,
    /// What it is for.
    pub(in crate::config) doc: &'static str,
    /// Checks a value, sets it in the agent, and returns it in the form in which it is shown.
    pub(super) set: fn(&mut Agent, &Node, &Sources<'_>) -> Result<serde_json::Value, Problem>,
    /// The value that a built-in agent has.
    pub(super) show: fn(&Agent) -> serde_json::Value,
}

/// The keys of an agent's table, in the order in which they are shown.
pub(in crate::config) static FIELDS: [Field; 18] = [
    Field {
        key: "like",
        doc: "for a new agent: the built-in one whose command, folders, log-in and confinement it has where it says nothing else",
        set: |agent, node, sources| set_like(agent, node, sources),
        show: |agent| json!(agent.like),
    },
    Field {
        key: "protocol",
        doc: "what the agent speaks: \"acp\", or \"claude\" (Claude Code's stream-json)",
        set: |agent, node, _| choose(&mut agent.protocol, node, &Protocol::WORDS),
        show: |agent| json!(word_of(&agent.protocol, &Protocol::WORDS)),
    },
    Field {
        key: "command",
        doc: "the program: a name on the search path, or an absolute path",
        set: |agent, node, sources| set_command(agent, node, sources),
        show: |agent| json!(agent.command),
    },
    Field {
        key: "args",
        doc: "its arguments; {workspace} is replaced by the project's absolute path",
        set: |agent, node, _| set_args(agent, node),
        show: |agent| json!(agent.args),
    },
    Field {
        key: "env",
        doc: "environment variables in addition to the inherited ones and to those that the catalogue sets",
        set: |agent, node, _| set_env(agent, node),
        show: |agent| json!(agent.env),
    },
    Field {
        key: "title",
        doc: "the name shown to people",
        set: |agent, node, _| set_label(&mut agent.title, node, TITLE_CHARS_MAX),
        show: |agent| json!(agent.title),
    },
    Field {
        key: "badge",
        doc: "a short name for narrow columns, usually two letters",
        set: |agent, node, _| set_label(&mut agent.badge, node, BADGE_CHARS_MAX),
        show: |agent| json!(agent.badge),
    },
    Field {
        key: "sandbox",
        doc: "what the agent may write: \"workspace\", or \"off\" for no limits",
        set: |agent, node, _| choose(&mut agent.sandbox, node, &Sandbox::WORDS),
        show: |agent| json!(word_of(&agent.sandbox, &Sandbox::WORDS)),
    },
    Field {
        key: "writable",
        doc: "what else a sandboxed agent must write: absolute paths, or below ~",
        set: |agent, node, sources| set_paths(&mut agent.writable, node, sources),
        show: |agent| json!(shown_paths(&agent.writable)),
    },
    Field {
        key: "readable",
        doc: "hidden files and folders that it may read: absolute paths, or below ~",
        set: |agent, node, sources| set_paths(&mut agent.readable, node, sources),
        show: |agent| json!(shown_paths(&agent.readable)),
    },
    Field {
        key: "nested_sandbox",
        doc: "the sandbox that the agent itself uses: \"none\", or \"bwrap\", for which Landlock is left out",
        set: |agent, node, _| choose(&mut agent.nested_sandbox, node, &NestedSandbox::WORDS),
        show: |agent| json!(word_of(&agent.nested_sandbox, &NestedSandbox::WORDS)),
    },
    Field {
        key: "resume",
        doc: "how a new process continues a session: \"native\" by the agent's own memory where it has one, or \"transcript\"",
        set: |agent, node, _| choose(&mut agent.resume, node, &Resume::WORDS),
        show: |agent| json!(word_of(&agent.resume, &Resume::WORDS)),
    },
    Field {
        key: "tools",
        doc: "how it is given Convoke's tools: \"stdio\" as a program, \"http\" as an address, \"cline\" in Cline's settings, or \"none\"",
        set: |agent, node, _| choose(&mut agent.tools, node, &Tools::WORDS),
        show: |agent| json!(word_of(&agent.tools, &Tools::WORDS)),
    },
    Field {
        key: "mentions",
        doc: "how it is given files that a prompt mentions: \"link\", or \"embed\" with their content",
        set: |agent, node, _| choose(&mut agent.mentions, node, &Mentions::WORDS),
        show: |agent| json!(word_of(&agent.mentions, &Mentions::WORDS)),
    },
    Field {
        key: "domains",
        doc: "hosts of its model that it may connect to where sandbox.network is \"proxy\"",
        set: |agent, node, _| set_domains(&mut agent.domains, node),
        show: |agent| json!(agent.domains),
    },
    Field {
        key: "memory_max",
        doc: "memory that it and its children may use, such as \"4GiB\"; \"auto\" is three quarters of the machine's, \"off\" is no limit",
        set: |agent, node, _| set_size(&mut agent.limits.memory_bytes, node),
        show: |agent| json!(shown_limit(agent.limits.memory_bytes)),
    },
    Field {
        key: "tasks_max",
        doc: "processes and threads that it and its children may have; \"auto\" is 4096, \"off\" is no limit",
        set: |agent, node, _| set_size(&mut agent.limits.tasks, node),
        show: |agent| json!(shown_limit(agent.limits.tasks)),
    },
    Field {
        key: "temp_max",
        doc: "disk that its temporary files may take, such as \"4GiB\"; \"auto\" is 8GiB, \"off\" is no limit",
        set: |agent, node, _| set_size(&mut agent.limits.temp_bytes, node),
        show: |agent| json!(shown_limit(agent.limits.temp_bytes)),
    },
];

/// More would not fit into a list.
const TITLE_CHARS_MAX: usize = 60;
/// More would not fit into a sidebar.
const BADGE_CHARS_MAX: usize = 4;
/// The replacement for a secret.
const MASK: &str = "***";

fn choose<T: Copy>(
    choice: &mut T,
    node: &Node,
    words: &[(&'static str, T)],
) -> Result<serde_json::Value, Problem> {
    let text = node.text()?;
    let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    match words.iter().find(|(word, _)| *word == text.text) {
        Some((word, chosen)) => {
            *choice = *chosen;
            Ok(json!(word))
        }
        None => Err(Problem::new(format!("`{}` is not one of the choices", text.text))
            .hint(nearest::hint(&text.text, &known))),
    }
}

fn word_of<T: PartialEq>(choice: &T, words: &[(&'static str, T)]) -> Option<&'static str> {
    words.iter().find(|(_, known)| known == choice).map(|(word, _)| *word)
}

fn set_like(
    agent: &mut Agent,
    node: &Node,
    sources: &Sources<'_>,
) -> Result<serde_json::Value, Problem> {
    let text = node.text()?;
    let known = catalogue::built_in(sources.program);
    let names: Vec<&str> = known.iter().map(|agent| agent.name.as_str()).collect();
    if names.contains(&agent.name.as_str()) {
        return Err(Problem::new("a built-in agent cannot be like another one"));
    }
    // The agent was created as a copy of it already; other keys of the table change the copy.
    match known.iter().find(|agent| agent.name.as_str() == text.text) {
        Some(known) => Ok(json!(known.name)),
        None => Err(Problem::new(format!("there is no built-in agent `{}`", text.text))
            .hint(nearest::hint(&text.text, &names))),
    }
}

fn set_command(
    agent: &mut Agent,
    node: &Node,
    sources: &Sources<'_>,
) -> Result<serde_json::Value, Problem> {
    let text = node.text()?;
    agent.command = if text.text.contains(['/', '~']) {
        resolve(&text.text, Base::Nothing, sources)?.to_string_lossy().into_owned()
    } else if text.text.trim().is_empty() {
        return Err(Problem::new("expected a program, found an empty string"));
    } else {
        text.text.clone()
    };
    Ok(json!(agent.command))
}

fn set_args(agent: &mut Agent, node: &Node) -> Result<serde_json::Value, Problem> {
    let texts = node.texts()?;
    let shown: Vec<&str> = texts.iter().map(|text| mask_if_made(text)).collect();
    agent.args = texts.iter().map(|text| text.text.clone()).collect();
    Ok(json!(shown))
}

fn set_env(agent: &mut Agent, node: &Node) -> Result<serde_json::Value, Problem> {
    let Value::Table(entries) = &node.value else {
        return Err(Problem::wrong_type("a table of variables", node));
    };
    let mut env = BTreeMap::new();
    let mut shown = BTreeMap::new();
    for Entry { key, node, .. } in entries {
        if key.is_empty() || key.contains(['=', '\0']) {
            return Err(Problem::new(format!("`{key}` cannot be the name of a variable")));
        }
        let text = node.text()?;
        env.insert(key.clone(), text.text.clone());
        shown.insert(key, if is_secret_name(key) { MASK } else { mask_if_made(text) });
    }
    let shown = json!(shown);
    // Those of the catalogue stay: some of them keep an agent inside of its sandbox.
    agent.env.extend(env);
    Ok(shown)
}

/// Masks a value from an environment variable, which may be a secret.
fn mask_if_made(text: &Text) -> &str {
    match text.made {
        Made::Literally => &text.text,
        Made::FromVariables => MASK,
    }
}

fn is_secret_name(key: &str) -> bool {
    let key = key.to_uppercase();
    let words = ["AUTH", "CRED", "DSN", "KEY", "PASS", "SECRET", "TOKEN"];
    // Hidden for nothing is better than shown by mistake; `PAT` alone would hide every PATH.
    words.iter().any(|word| key.contains(word)) || key.ends_with("_PAT") || key.ends_with("_URL")
}

fn set_label(
    label: &mut String,
    node: &Node,
    chars_max: usize,
) -> Result<serde_json::Value, Problem> {
    let text = node.text()?.text.trim();
    let chars = text.chars().count();
    if chars == 0 || chars > chars_max || text.chars().any(char::is_control) {
        let found = format!("expected 1 to {chars_max} printable characters, found {chars}");
        return Err(Problem::new(found));
    }
    text.clone_into(label);
    Ok(json!(label))
}

pub(in crate::config) fn set_paths(
    paths: &mut Vec<PathBuf>,
    node: &Node,
    sources: &Sources<'_>,
) -> Result<serde_json::Value, Problem> {
    let resolved = node.texts()?.into_iter();
    let resolved = resolved.map(|text| resolve(&text.text, Base::Nothing, sources));
    *paths = resolved.collect::<Result<_, _>>()?;
    Ok(json!(shown_paths(paths)))
}

/// A limit: a number, possibly with a binary unit, or a word.
fn set_size(limit: &mut Option<u64>, node: &Node) -> Result<serde_json::Value, Problem> {
    *limit = match &node.value {
        Value::Whole(number) => u64::try_from(*number).ok().filter(|number| *number > 0),
        Value::Text(text) if text.text == "auto" => {
            *limit = None;
            return Ok(json!("auto"));
        }
        Value::Text(text) if text.text == "off" => Some(u64::MAX),
        Value::Text(text) => bytes(&text.text),
        Value::Fraction(_)
        | Value::Switch(_)
        | Value::Moment
        | Value::List(_)
        | Value::Table(_)
        | Value::Broken => {
            return Err(Problem::wrong_type("a number, or a string such as \"4GiB\"", node));
        }
    };
    match limit {
        Some(_) => Ok(json!(shown_limit(*limit))),
        None => Err(Problem::new("expected a size such as `4GiB`, a number, `auto` or `off`")),
    }
}

fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let number: u64 = digits.trim().parse().ok()?;
    let shift = match text.strip_prefix(digits)? {
        "" => 0,
        "K" | "KiB" => 10,
        "M" | "MiB" => 20,
        "G" | "GiB" => 30,
        "T" | "TiB" => 40,
        _ => return None,
    };
    number.checked_mul(1 << shift).filter(|number| *number > 0)
}

fn shown_limit(limit: Option<u64>) -> serde_json::Value {
    match limit {
        None => json!("auto"),
        Some(u64::MAX) => json!("off"),
        Some(number) => json!(number),
    }
}

fn shown_paths(paths: &[PathBuf]) -> Vec<Cow<'_, str>> {
    paths.iter().map(|path| path.to_string_lossy()).collect()
}

impl Node {
    pub(in crate::config) fn text(&self) -> Result<&Text, Problem> {
        let Value::Text(text) = &self.value else {
            return Err(Problem::wrong_type("a string", self));
        };
        Ok(text)
    }

    pub(in crate::config) fn texts(&self) -> Result<Vec<&Text>, Problem> {
        let Value::List(nodes) = &self.value else {
            return Err(Problem::wrong_type("a list of strings", self));
        };
        nodes.iter().map(Self::text).collect()
    }

    /// Whether an error inside of it was reported already.
    pub(in crate::config) fn is_broken(&self) -> bool {
        match &self.value {
            Value::Broken => true,
            Value::List(nodes) => nodes.iter().any(Self::is_broken),
            Value::Table(entries) => entries.iter().any(|entry| entry.node.is_broken()),
            Value::Whole(_)
            | Value::Fraction(_)
            | Value::Switch(_)
            | Value::Text(_)
            | Value::Moment => false,
        }
    }
}
