//! Rules: what agents may do without asking, and what they may not. A contract, see `message`.
//!
//! A rule is compared with what the agent gives to its tool, never with a title. The sandbox is the boundary, not the
//! matcher: a rule only saves people from being asked the same thing again.

mod glob;
mod host;
mod matching;
mod programs;
mod proposal;
mod shell;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{AgentName, ProjectId, RequestId, RuleId, SessionId};
use crate::time::Timestamp;
use crate::user::UserName;

pub use matching::{ResolvedPath, Ruling, Subject, decide};
pub use proposal::{Proposal, proposals};

/// The longest pattern of a rule.
const TEXT_BYTES_MAX: usize = 4 << 10;

/// What a rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "RuleEffect")]
pub enum Effect {
    /// The agent may do it without asking.
    Allow,
    /// The agent may not do it, and the human is not asked. Wins over every allowance.
    Deny,
}

impl Effect {
    /// The name in the database and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

/// What a rule is about, tagged by `kind`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(rename = "RuleMatcher")]
pub enum Matcher {
    /// Commands by their first words.
    Command {
        /// The words, exactly.
        words: Vec<String>,
        /// Whether further words may follow that begin with neither `-` nor `+` and have no `=`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        more: bool,
    },
    /// Changes to files, and new files.
    Edit {
        /// A path pattern with `*`, `**` and `?`: relative to the project's folder, or absolute.
        glob: String,
    },
    /// Reading files.
    Read {
        /// A path pattern with `*`, `**` and `?`: relative to the project's folder, or absolute.
        glob: String,
    },
    /// A tool by its name.
    Tool {
        /// The MCP server that has it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        server: Option<String>,
        /// The tool.
        tool: String,
    },
    /// Fetching from a domain and those below it.
    Fetch {
        /// The domain in lower case; of other scripts its `xn--` form.
        domain: String,
    },
}

/// A decision of the human's that holds for later requests, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Its id.
    pub id: RuleId,
    /// What it does.
    pub effect: Effect,
    /// What it is about.
    pub matcher: Matcher,
    /// The agent that it holds for; all without one.
    pub agent: Option<AgentName>,
    /// The project that it holds in; everywhere without one.
    pub project_id: Option<ProjectId>,
    /// The user for whose prompts it holds; for everyone's without one.
    pub user: Option<UserName>,
    /// When it was made.
    pub created_at: Timestamp,
    /// The request whose answer made it.
    pub request_id: Option<RequestId>,
    /// The session of that request.
    pub session_id: Option<SessionId>,
    /// How many requests it has decided.
    pub used_count: u64,
    /// When it decided the last one.
    pub last_used_at: Option<Timestamp>,
}

/// A rule that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{subject} cannot be a rule: {why}")]
pub struct InvalidRule {
    /// What it would be about, in words.
    pub subject: String,
    /// What is wrong with it.
    pub why: &'static str,
}

/// Words as a line that a shell reads as the same words.
pub fn command_line(words: &[String]) -> String {
    words.iter().map(|word| shell::quoted(word)).collect::<Vec<_>>().join(" ")
}

impl Rule {
    /// Whether it holds for an agent in a project, at work for a user (`None` for the owner of the daemon).
    pub fn holds_for(
        &self,
        project: ProjectId,
        agent: &AgentName,
        user: Option<&UserName>,
    ) -> bool {
        self.project_id.is_none_or(|own| own == project)
            && self.agent.as_ref().is_none_or(|own| own == agent)
            && self.user.as_ref().is_none_or(|own| Some(own) == user)
    }

    /// The whole rule in words; `project` is the name of its project.
    pub fn text(&self, project: Option<&str>) -> String {
        let effect = match self.effect {
            Effect::Allow => "Allow",
            Effect::Deny => "Deny",
        };
        let label = self.matcher.label(project);
        let user = self.user.as_ref().map(|user| format!(", when {user} prompts"));
        let user = user.unwrap_or_default();
        match &self.agent {
            Some(agent) => format!("{effect} {label} for {agent}{user}"),
            None => format!("{effect} {label}{user}"),
        }
    }
}

impl Matcher {
    /// Reads a command as people write it: `cargo test …`, or `cargo test ...`.
    pub fn command(line: &str) -> Result<Self, InvalidRule> {
        let line = line.trim();
        let begun = line.strip_suffix('…').or_else(|| line.strip_suffix("..."));
        let begun = begun.filter(|begun| begun.ends_with(' '));
        let why = "it must be one plain command without `$`, quotes in its name, globs, redirections, `;`, `|` and `&`";
        let invalid = || InvalidRule { subject: format!("`{line}`"), why };
        let mut commands = shell::parse(begun.unwrap_or(line)).ok_or_else(invalid)?;
        let words = commands.pop().filter(|_| commands.is_empty()).ok_or_else(invalid)?;
        Ok(Self::Command { words, more: begun.is_some() })
    }

    /// Whether there can be such a rule.
    pub fn check(&self, effect: Effect) -> Result<(), InvalidRule> {
        let why = match self {
            Self::Command { words, more } => fault_of_words(words, *more, effect),
            Self::Edit { glob } | Self::Read { glob } if glob.len() <= TEXT_BYTES_MAX => {
                glob::fault(glob)
            }
            Self::Fetch { domain } => host::fault(domain),
            Self::Tool { server, tool } if tool.len() <= TEXT_BYTES_MAX => match (effect, server) {
                (Effect::Allow, None) if matching::is_sort(tool) => Some(
                    "it would hold for every use of the tool: name commands, paths or domains instead",
                ),
                (Effect::Allow | Effect::Deny, _) if tool.is_empty() => Some("it names no tool"),
                (Effect::Allow | Effect::Deny, _) => None,
            },
            Self::Edit { .. } | Self::Read { .. } | Self::Tool { .. } => Some("it is too long"),
        };
        match why {
            Some(why) => Err(InvalidRule { subject: self.subject(), why }),
            None => Ok(()),
        }
    }

    /// What it is about, and where: what stands after “Always allow”. `project` is the name of the project.
    pub fn label(&self, project: Option<&str>) -> String {
        match project {
            Some(project) => format!("{} in {project}", self.subject()),
            None => format!("{} everywhere", self.subject()),
        }
    }

    /// What it is about, in words.
    fn subject(&self) -> String {
        match self {
            Self::Command { words, more } => {
                format!("`{}{}`", command_line(words), if *more { " …" } else { "" })
            }
            Self::Edit { glob } => format!("changes to `{glob}`"),
            Self::Read { glob } => format!("reading `{glob}`"),
            Self::Tool { server: Some(server), tool } => format!("`{tool}` of `{server}`"),
            Self::Tool { server: None, tool } => format!("`{tool}`"),
            Self::Fetch { domain } => format!("fetches from `{domain}`"),
        }
    }
}

fn fault_of_words(words: &[String], more: bool, effect: Effect) -> Option<&'static str> {
    let bytes: usize = words.iter().map(String::len).sum();
    if words.first().is_none_or(String::is_empty) {
        return Some("it names no command");
    }
    if bytes > TEXT_BYTES_MAX {
        return Some("it is too long");
    }
    match effect {
        Effect::Allow if more => programs::fault_of_more(words),
        Effect::Allow | Effect::Deny => None,
    }
}

#[cfg(test)]
mod tests;
