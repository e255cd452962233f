//! What a permission is about: the command, the changes, the paths, the address or the arguments. A contract, see `message`.
//!
//! Drivers make it of the arguments that the agent gives to its tool, never of the title that the agent words itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bounds::{beginning, json_bytes};
use crate::content::Diff;

/// The longest evidence, as JSON. Lists hold many requests; a longer one keeps its beginning and says what is missing.
const EVIDENCE_BYTES_MAX: usize = 48 << 10;
/// What each diff and path costs besides its texts.
const ITEM_BYTES: usize = 64;
/// How much of a call fits into a line.
const LINE_CHARS_MAX: usize = 200;

/// What a permission is about, tagged by `kind`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Evidence {
    /// A command for a shell.
    Command {
        /// The command, which may have many lines.
        command: String,
        /// Where it is to run, if the agent says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        working_directory: Option<String>,
        /// Arguments of the call that change how the command runs, such as `env`. No rule allows such a call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments: Option<Value>,
        /// How many bytes are left out at the end.
        #[serde(default, skip_serializing_if = "is_zero")]
        omitted_bytes: u64,
    },
    /// Changes to files, and new files.
    Changes {
        /// One for each change.
        diffs: Vec<Diff>,
        /// How many bytes are left out at the end.
        #[serde(default, skip_serializing_if = "is_zero")]
        omitted_bytes: u64,
    },
    /// Files to read.
    Read {
        /// Their paths as the agent gave them.
        paths: Vec<String>,
        /// How many bytes are left out at the end.
        #[serde(default, skip_serializing_if = "is_zero")]
        omitted_bytes: u64,
    },
    /// An address to fetch.
    Fetch {
        /// The address.
        url: String,
        /// How many bytes are left out at the end.
        #[serde(default, skip_serializing_if = "is_zero")]
        omitted_bytes: u64,
    },
    /// A call of any other tool.
    Tool {
        /// The MCP server that has the tool.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        server: Option<String>,
        /// The tool.
        tool: String,
        /// The arguments; a text with their beginning if they are too long.
        args: Value,
        /// How many bytes are left out at the end.
        #[serde(default, skip_serializing_if = "is_zero")]
        omitted_bytes: u64,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Evidence {
    /// A command without anything special.
    pub const fn command(command: String) -> Self {
        Self::Command { command, working_directory: None, arguments: None, omitted_bytes: 0 }
    }

    /// The evidence within its limit.
    pub fn bounded(self) -> Self {
        if json_bytes(&self) <= EVIDENCE_BYTES_MAX {
            return self;
        }
        // Escapes make JSON longer than its texts, at most six times.
        let limits = (0..4).map(|halvings| (EVIDENCE_BYTES_MAX - 1024) >> halvings);
        let mut cut = limits.map(|limit| self.clone().cut_to(limit));
        cut.find(|shorter| json_bytes(shorter) <= EVIDENCE_BYTES_MAX)
            .unwrap_or_else(|| self.cut_to(0))
    }

    /// Whether nothing is left out. A rule holds only for what is known as a whole.
    pub const fn is_whole(&self) -> bool {
        match self {
            Self::Command { omitted_bytes, .. }
            | Self::Changes { omitted_bytes, .. }
            | Self::Read { omitted_bytes, .. }
            | Self::Fetch { omitted_bytes, .. }
            | Self::Tool { omitted_bytes, .. } => *omitted_bytes == 0,
        }
    }

    /// The paths that it names: of files, or where the command is to run.
    pub fn paths(&self) -> Vec<&str> {
        match self {
            Self::Command { working_directory, .. } => {
                working_directory.as_deref().into_iter().collect()
            }
            Self::Changes { diffs, .. } => diffs.iter().map(|diff| diff.path.as_str()).collect(),
            Self::Read { paths, .. } => paths.iter().map(String::as_str).collect(),
            Self::Fetch { .. } | Self::Tool { .. } => Vec::new(),
        }
    }

    /// What it is about, in a line.
    pub fn line(&self) -> String {
        let line = match self {
            Self::Command { command, .. } => command.trim().lines().collect::<Vec<_>>().join(" ⏎ "),
            Self::Changes { diffs, .. } => {
                let mut paths: Vec<&str> = diffs.iter().map(|diff| diff.path.as_str()).collect();
                paths.dedup();
                format!("change {}", paths.join(", "))
            }
            Self::Read { paths, .. } => format!("read {}", paths.join(", ")),
            Self::Fetch { url, .. } => format!("fetch {url}"),
            Self::Tool { server: Some(server), tool, .. } => format!("{tool} of {server}"),
            Self::Tool { server: None, tool, .. } => tool.clone(),
        };
        beginning(&line, LINE_CHARS_MAX)
    }

    fn cut_to(self, limit: usize) -> Self {
        let mut room = Budget { left: limit, omitted: 0 };
        match self {
            Self::Command { command, working_directory, arguments, omitted_bytes } => {
                let working_directory = working_directory.map(|path| room.keep(path));
                let arguments = arguments.map(|arguments| room.keep_value(arguments));
                let command = room.keep(command);
                let omitted_bytes = omitted_bytes + room.omitted;
                Self::Command { command, working_directory, arguments, omitted_bytes }
            }
            Self::Changes { diffs, omitted_bytes } => {
                let diffs = diffs.into_iter().filter_map(|diff| room.keep_diff(diff)).collect();
                Self::Changes { diffs, omitted_bytes: omitted_bytes + room.omitted }
            }
            Self::Read { paths, omitted_bytes } => {
                let paths = paths.into_iter().filter_map(|path| room.keep_item(path)).collect();
                Self::Read { paths, omitted_bytes: omitted_bytes + room.omitted }
            }
            Self::Fetch { url, omitted_bytes } => {
                let url = room.keep(url);
                Self::Fetch { url, omitted_bytes: omitted_bytes + room.omitted }
            }
            Self::Tool { server, tool, args, omitted_bytes } => {
                let server = server.map(|server| room.keep(server));
                let (tool, args) = (room.keep(tool), room.keep_value(args));
                Self::Tool { server, tool, args, omitted_bytes: omitted_bytes + room.omitted }
            }
        }
    }
}

/// The bytes that are still free, and how many did not fit.
struct Budget {
    left: usize,
    omitted: u64,
}

impl Budget {
    /// The beginning of a text.
    fn keep(&mut self, mut text: String) -> String {
        let end = text.floor_char_boundary(self.left);
        self.omitted += (text.len() - end) as u64;
        self.left -= end;
        text.truncate(end);
        text
    }

    fn keep_value(&mut self, value: Value) -> Value {
        let bytes = json_bytes(&value);
        if bytes <= self.left {
            self.left -= bytes;
            return value;
        }
        Value::String(self.keep(value.to_string()))
    }

    /// One of many texts, whole or not at all.
    fn keep_item(&mut self, text: String) -> Option<String> {
        let bytes = text.len() + ITEM_BYTES;
        if bytes > self.left {
            self.omitted += text.len() as u64;
            return None;
        }
        self.left -= bytes;
        Some(text)
    }

    /// A diff with the beginnings of its texts. The old text leaves room for the new one, which matters more.
    fn keep_diff(&mut self, diff: Diff) -> Option<Diff> {
        let Diff { path, old_text, new_text } = diff;
        let texts = old_text.as_ref().map_or(0, String::len) + new_text.len();
        let Some(path) = self.keep_item(path) else {
            self.omitted += texts as u64;
            return None;
        };
        let reserved = new_text.len().min(self.left / 2);
        self.left -= reserved;
        let old_text = old_text.map(|text| self.keep(text));
        self.left += reserved;
        Some(Diff { path, old_text, new_text: self.keep(new_text) })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn p1_evidence_that_is_too_long_keeps_its_beginning_and_says_what_is_missing() {
        let long = "ñ\u{1}".repeat(40 << 10);
        let diff = |text: &str| Diff {
            path: "src/a.rs".to_owned(),
            old_text: Some(text.to_owned()),
            new_text: format!("new {text}"),
        };
        let all = [
            Evidence::command(format!("make {long}")),
            Evidence::Changes { diffs: vec![diff(&long), diff("short")], omitted_bytes: 0 },
            Evidence::Changes { diffs: vec![diff(""); 5000], omitted_bytes: 0 },
            Evidence::Read { paths: vec!["a".to_owned(); 50_000], omitted_bytes: 0 },
            Evidence::Fetch { url: format!("https://a.b/{long}"), omitted_bytes: 0 },
            Evidence::Tool {
                server: None,
                tool: "t".to_owned(),
                args: json!({"a": long}),
                omitted_bytes: 0,
            },
        ];
        for evidence in all {
            let before = json_bytes(&evidence);
            let bounded = evidence.bounded();
            assert!(json_bytes(&bounded) <= EVIDENCE_BYTES_MAX, "{before} bytes stay too many");
            assert!(!bounded.is_whole());
            assert_eq!(bounded.clone().bounded(), bounded, "what fits is left as it is");
            assert!(bounded.line().chars().count() <= LINE_CHARS_MAX + 1);
        }
        let bounded = Evidence::Changes { diffs: vec![diff(&long)], omitted_bytes: 0 }.bounded();
        let Evidence::Changes { diffs, .. } = &bounded else { panic!("{bounded:?}") };
        assert!(diffs[0].new_text.starts_with("new ñ") && diffs[0].new_text.len() > 1000);
        let short = Evidence::command("ls".to_owned());
        assert_eq!(short.clone().bounded(), short);
    }

    #[test]
    fn p1_the_line_of_a_command_shows_all_of_its_lines() {
        assert_eq!(Evidence::command("ls\nrm -rf /\n".to_owned()).line(), "ls ⏎ rm -rf /");
    }
}
