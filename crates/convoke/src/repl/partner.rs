//! Whom one talks with: an agent of the catalogue, perhaps in a role that somebody wrote down.
//!
//! A role is a Markdown file: `agent:` and perhaps `description:` between lines of `---`, then what the agent is told.
//! The project's own roles come before those of the home, and an agent of the catalogue before both.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use convoke_agents::catalogue::{Agent, find};
use convoke_core::id::AgentName;

use crate::home::Home;

/// An agent as it was asked for.
#[derive(Debug, Clone)]
pub(crate) struct Partner {
    /// The name that it was asked for by: its own, or that of a role.
    pub(crate) name: String,
    /// The program.
    pub(crate) agent: Agent,
    /// What it is told before anything else.
    pub(crate) role: Option<String>,
}

/// Why there is nobody to talk with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PartnerError {
    /// Neither an agent nor a role has this name.
    #[error("there is no agent and no role called {name:?}")]
    Unknown {
        /// The name.
        name: String,
        /// Where roles are looked for.
        folders: Vec<PathBuf>,
    },
    /// A role is there and cannot be read.
    #[error("cannot read the role {}", path.display())]
    Unreadable {
        /// Its file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A role does not say which agent plays it.
    #[error("the role {} does not name its agent", path.display())]
    NoAgent {
        /// Its file.
        path: PathBuf,
    },
    /// A role is for an agent that is not in the catalogue.
    #[error("the role {} is for the agent {agent:?}, and there is none of that name", path.display())]
    UnknownAgent {
        /// Its file.
        path: PathBuf,
        /// What it names.
        agent: String,
    },
}

/// Everyone there is to talk with.
#[derive(Debug)]
pub(crate) struct Partners {
    /// The catalogue.
    pub(crate) agents: Vec<Agent>,
    /// Where roles are looked for, the first one first.
    pub(crate) folders: Vec<PathBuf>,
}

impl Partners {
    /// Those that are known here: the roles of the project come before those of the home.
    pub(crate) fn around(agents: Vec<Agent>, home: &Home) -> Self {
        let project = std::env::current_dir().map(|folder| folder.join(".convoke/agents"));
        let folders = project.into_iter().chain([home.path().join("agents")]).collect();
        Self { agents, folders }
    }

    /// The agent or the role of this name.
    pub(crate) fn find(&self, name: &str) -> Result<Partner, PartnerError> {
        if let Some(agent) = self.agent(name) {
            return Ok(Partner { name: name.to_owned(), agent: agent.clone(), role: None });
        }
        let unknown =
            || PartnerError::Unknown { name: name.to_owned(), folders: self.folders.clone() };
        // The name becomes part of a path.
        let is_name = name.parse::<AgentName>().is_ok() && !name.starts_with('.');
        if !is_name {
            return Err(unknown());
        }
        for folder in &self.folders {
            let path = folder.join(format!("{name}.md"));
            match std::fs::read_to_string(&path) {
                Ok(text) => return self.play(name, &path, &text),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(PartnerError::Unreadable { path, source }),
            }
        }
        Err(unknown())
    }

    /// The one to talk with when nobody is named: Claude Code, else the first that is installed, else the demo agent.
    pub(crate) fn by_default(&self, search_path: Option<&OsStr>) -> Option<Partner> {
        let is_installed = |agent: &&Agent| find(&agent.command, search_path).is_some();
        let named = |name: &str| self.agent(name).filter(is_installed);
        let others = || {
            let others = self.agents.iter().filter(|agent| agent.name.as_str() != DEMO);
            others.into_iter().find(is_installed)
        };
        let agent = named(FAVOURITE).or_else(others).or_else(|| self.agent(DEMO))?;
        Some(Partner { name: agent.name.to_string(), agent: agent.clone(), role: None })
    }

    /// The names of all agents and roles, for people who look for one.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.agents.iter().map(|agent| agent.name.to_string()).collect();
        for folder in &self.folders {
            let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let roles = files.filter_map(|file| {
                let name = file.file_name().into_string().ok()?;
                // What is named otherwise could not be called by its name.
                name.strip_suffix(".md")?.parse::<AgentName>().ok().map(|name| name.to_string())
            });
            let mut roles: Vec<String> = roles.filter(|role| !names.contains(role)).collect();
            roles.sort();
            names.extend(roles);
        }
        names
    }

    fn agent(&self, name: &str) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.name.as_str() == name)
    }

    fn play(&self, name: &str, path: &Path, text: &str) -> Result<Partner, PartnerError> {
        let (fields, body) = split(text);
        let path = || path.to_owned();
        let agent = field(fields, "agent").ok_or_else(|| PartnerError::NoAgent { path: path() })?;
        let unknown = || PartnerError::UnknownAgent { path: path(), agent: agent.to_owned() };
        let agent = self.agent(agent).ok_or_else(unknown)?.clone();
        let role = Some(body.trim()).filter(|body| !body.is_empty()).map(str::to_owned);
        Ok(Partner { name: name.to_owned(), agent, role })
    }
}

/// The agent that most people have in mind.
const FAVOURITE: &str = "claude-code";
/// The agent that is always there.
const DEMO: &str = "demo";

/// Splits a text into what stands between its first two lines of `---`, and the rest.
fn split(text: &str) -> (&str, &str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some((first, rest)) = text.split_once('\n') else { return ("", text) };
    if first.trim_end() != "---" {
        return ("", text);
    }
    let mut offset = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let (fields, body) = rest.split_at(offset);
            return (fields, body.strip_prefix(line).unwrap_or(body));
        }
        offset += line.len();
    }
    ("", text)
}

/// The value of a field that stands at the beginning of a line; what is indented belongs to another.
fn field<'a>(fields: &'a str, name: &str) -> Option<&'a str> {
    let value = fields.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let value = value.trim();
    let unquoted = ['"', '\''].iter().find_map(|quote| {
        let inside = value.strip_prefix(*quote)?;
        inside.split_once(*quote).map(|(inside, _)| inside)
    });
    let value = unquoted.unwrap_or_else(|| value.split(" #").next().unwrap_or(value).trim());
    Some(value).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use convoke_agents::catalogue::built_in;

    use super::*;

    /// Partners with these roles, each a folder, a name and a text.
    fn partners(roles: &[(&str, &str, &str)]) -> (tempfile::TempDir, Partners) {
        let folder = tempfile::tempdir().unwrap();
        for (place, name, text) in roles {
            std::fs::create_dir_all(folder.path().join(place)).unwrap();
            std::fs::write(folder.path().join(place).join(name), text).unwrap();
        }
        let folders = ["project", "house"].map(|place| folder.path().join(place)).to_vec();
        let agents = built_in(Path::new("/usr/bin/convoke"));
        (folder, Partners { agents, folders })
    }

    fn told(partners: &Partners, name: &str) -> String {
        match partners.find(name) {
            Ok(partner) => format!("{}: {} {:?}", partner.name, partner.agent.name, partner.role),
            Err(error) => {
                let text = error.to_string();
                let folder = partners.folders[0].parent().unwrap().to_str().unwrap();
                text.replace(folder, "[tmp]")
            }
        }
    }

    #[test]
    fn r1_a_role_names_its_agent_and_what_it_is_told() {
        let text = "---\nagent: demo\ndescription: finds bugs\n---\n\nYou are a tester.\n\n---\nBe kind.\n";
        let (_folder, partners) = partners(&[
            ("house", "qa-test.md", text),
            ("house", "quoted.md", "---\r\nagent: \"codex\" # best\r\n---\r\nText"),
            ("house", "demo.md", "---\nagent: codex\n---\nNot an agent of the catalogue."),
            ("project", "qa.md", "---\nagent: gemini\n---\n"),
            ("house", "qa.md", "---\nagent: codex\n---\n"),
        ]);
        let said = ["qa-test", "quoted", "demo", "qa", "nobody", "../home/qa", ".qa", ""]
            .map(|name| told(&partners, name))
            .join("\n");
        insta::assert_snapshot!(said, @r#"
        qa-test: demo Some("You are a tester.\n\n---\nBe kind.")
        quoted: codex Some("Text")
        demo: demo None
        qa: gemini None
        there is no agent and no role called "nobody"
        there is no agent and no role called "../home/qa"
        there is no agent and no role called ".qa"
        there is no agent and no role called ""
        "#);
        assert_eq!(partners.names().last().unwrap(), "quoted");
    }

    #[test]
    fn a_role_that_cannot_be_played_says_why() {
        let (folder, partners) = partners(&[
            ("house", "silent.md", "You are a tester."),
            ("house", "open.md", "---\nagent: demo\nNo end of the fields."),
            ("house", "inner.md", "---\nextra:\n  agent: demo\n---\n"),
            ("house", "stranger.md", "---\nagent: hal\n---\nHello Dave."),
        ]);
        std::fs::create_dir(folder.path().join("house/folder.md")).unwrap();
        let said = ["silent", "open", "inner", "stranger", "folder"]
            .map(|name| told(&partners, name))
            .join("\n");
        insta::assert_snapshot!(said, @r#"
        the role [tmp]/house/silent.md does not name its agent
        the role [tmp]/house/open.md does not name its agent
        the role [tmp]/house/inner.md does not name its agent
        the role [tmp]/house/stranger.md is for the agent "hal", and there is none of that name
        cannot read the role [tmp]/house/folder.md
        "#);
    }

    #[test]
    fn r1_without_a_name_the_first_installed_agent_is_talked_with() {
        let (folder, mut partners) = partners(&[]);
        let bin = folder.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        let install = |program: &str| {
            use std::os::unix::fs::PermissionsExt;
            let path = bin.join(program);
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            let found = partners.by_default(Some(bin.as_os_str())).unwrap();
            found.name
        };
        assert_eq!(install("nothing"), "demo");
        assert_eq!(install("goose"), "goose");
        assert_eq!(install("gemini"), "gemini");
        assert_eq!(install("claude"), "claude-code");
        partners.agents.clear();
        assert!(partners.by_default(None).is_none());
    }
}
