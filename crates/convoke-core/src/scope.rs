//! What “always” means: one exact call of a tool, or changes to one exact file. Nothing that merely looks like it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::bounds::{clip, json_bytes};

/// The longest arguments that can be remembered; they are compared as a whole, and shown.
const ARGS_BYTES_MAX: usize = 16 << 10;
/// How much of a call fits into a sentence.
const SHOWN_BYTES_MAX: usize = 500;
/// Tools that change the file that they name and do nothing else.
const FILE_TOOLS: [&str; 4] = ["Edit", "MultiEdit", "Write", "NotebookEdit"];
/// Where these name it.
const FILE_FIELDS: [&str; 2] = ["file_path", "notebook_path"];
/// What differs between two calls of the same command and does not change what it does.
const IDLE_FIELDS: [&str; 3] = ["call_id", "description", "turn_id"];
/// How the key of a rule begins that holds for one scope. Older rules held for every use of a tool and begin with its name.
const KEY_PREFIX: &str = "exact:";

/// What a permission holds for if it is given for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Scope {
    /// Exactly this call.
    Call {
        /// The tool, or the sort of tool.
        tool: String,
        /// The arguments as the agent gave them.
        args: Value,
    },
    /// Changes to exactly this file.
    File {
        /// The tool.
        tool: String,
        /// The file's path as the agent gave it.
        path: String,
    },
}

impl Scope {
    /// The scope of a call; none when it has no arguments that could be compared, or too many.
    pub fn of(tool: &str, args: &Value) -> Option<Self> {
        let tool = tool.to_owned();
        let path = FILE_FIELDS.iter().find_map(|field| args.get(field)?.as_str());
        if let Some(path) = path.filter(|_| FILE_TOOLS.contains(&tool.as_str())) {
            return Some(Self::File { tool, path: path.to_owned() });
        }
        let args = match args {
            Value::Null => return None,
            Value::Object(fields) if fields.contains_key("command") => {
                Value::Object(without_idle_fields(fields))
            }
            Value::Object(_)
            | Value::Array(_)
            | Value::String(_)
            | Value::Number(_)
            | Value::Bool(_) => args.clone(),
        };
        (json_bytes(&args) <= ARGS_BYTES_MAX).then_some(Self::Call { tool, args })
    }

    /// What a rule for it is stored as: equal for equal scopes only.
    pub fn key(&self) -> String {
        format!("{KEY_PREFIX}{}", serde_json::json!(self))
    }

    /// Whether a rule is stored for one scope. Others are of older versions, held for every use of a tool, and are not
    /// applied any more.
    pub fn is_key(rule: &str) -> bool {
        rule.strip_prefix(KEY_PREFIX)
            .is_some_and(|scope| serde_json::from_str::<Self>(scope).is_ok())
    }

    /// What people read on a button: “Always allow …”.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Call { args, .. } if args.get("command").is_some() => "this exact command",
            Self::Call { .. } => "this exact call",
            Self::File { .. } => "changes to this exact file",
        }
    }

    /// The call in a sentence.
    pub fn shown(&self) -> String {
        match self {
            Self::Call { tool, args } => {
                let command = args.get("command").and_then(Value::as_str);
                let args = command.map_or_else(|| args.to_string(), ToOwned::to_owned);
                format!("{tool}: {}", clip(&args, SHOWN_BYTES_MAX))
            }
            Self::File { tool, path } => format!("{tool}: {}", clip(path, SHOWN_BYTES_MAX)),
        }
    }
}

fn without_idle_fields(fields: &Map<String, Value>) -> Map<String, Value> {
    let telling = fields.iter().filter(|(name, _)| !IDLE_FIELDS.contains(&name.as_str()));
    telling.map(|(name, value)| (name.clone(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn k7_only_the_same_call_has_the_same_key() {
        let key = |tool: &str, args: Value| Scope::of(tool, &args).map(|scope| scope.key());
        let known = key("Bash", json!({"command": "cargo test", "description": "Run tests"}));
        assert!(Scope::is_key(known.as_deref().unwrap()));
        let same =
            json!({"command": "cargo test", "description": "Run them again", "call_id": "7"});
        assert_eq!(key("Bash", same), known);
        for (tool, args) in [
            ("Bash", json!({"command": "cargo test && rm -rf /"})),
            ("Bash", json!({"command": "cargo test "})),
            ("Bash", json!({"command": ["cargo", "test"]})),
            ("Bash", json!({"command": "cargo test", "env": {"LD_PRELOAD": "evil.so"}})),
            ("Bash", json!({"command": "cargo test", "run_in_background": true})),
            ("Bash", json!("cargo test")),
            ("execute", json!({"command": "cargo test"})),
            ("bash", json!({"command": "cargo test"})),
        ] {
            let other = key(tool, args.clone());
            assert!(other.is_some() && other != known, "{tool} {args}");
        }
    }

    #[test]
    fn k7_a_change_to_a_file_is_known_by_its_path_and_nothing_else_is() {
        let write = |path: &str, text: &str| {
            Scope::of("Write", &json!({"file_path": path, "content": text})).unwrap().key()
        };
        assert_eq!(write("a.txt", "one"), write("a.txt", &"two".repeat(100_000)));
        assert_ne!(write("a.txt", "one"), write("b.txt", "one"));
        let run = |script: &str| Scope::of("Run", &json!({"file_path": "a", "script": script}));
        assert_ne!(run("ls").unwrap().key(), run("rm").unwrap().key());
    }

    #[test]
    fn k7_what_cannot_be_compared_cannot_be_remembered() {
        assert_eq!(Scope::of("Bash", &Value::Null), None);
        assert_eq!(Scope::of("Bash", &json!({"command": "x".repeat(ARGS_BYTES_MAX)})), None);
        for blanket in ["Bash", "execute", "exact:", "exact:Bash", "exact:{}"] {
            assert!(!Scope::is_key(blanket), "{blanket}");
        }
    }

    #[test]
    fn a_scope_says_what_it_holds_for() {
        let said = |tool: &str, args: Value| {
            let scope = Scope::of(tool, &args).unwrap();
            format!("{} ({})", scope.label(), scope.shown())
        };
        assert_eq!(said("Bash", json!({"command": "ls"})), "this exact command (Bash: ls)");
        assert_eq!(said("Fetch", json!({"url": "a"})), "this exact call (Fetch: {\"url\":\"a\"})");
        let edit = said("Edit", json!({"file_path": "a.rs"}));
        assert_eq!(edit, "changes to this exact file (Edit: a.rs)");
    }
}
