//! The agents and roles that a user can name.
//!
//! A role is a Markdown file: `agent:` and optionally `description:` between lines of `---`, then
//! the text that precedes the agent's first prompt. An agent of the catalogue takes precedence over
//! a role of the project, and that over one of the home.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use convoke_agents::catalogue::{Agent, find};
use convoke_core::id::AgentName;

use crate::home::Home;

/// An agent, perhaps with a role.
#[derive(Debug, Clone)]
pub(crate) struct Profile {
    /// The name of the role, or else of the agent.
    pub(crate) name: String,
    /// The program.
    pub(crate) agent: Agent,
    /// The text of the role.
    pub(crate) role: Option<String>,
}

/// Why a name leads to no agent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProfileError {
    /// Neither an agent nor a role has this name.
    #[error("there is no agent and no role called `{name}`")]
    Unknown {
        /// The name.
        name: String,
        /// The folders of roles.
        folders: Vec<PathBuf>,
    },
    /// A role's file cannot be read.
    #[error("cannot read the role {}", path.display())]
    Unreadable {
        /// Its file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A role names no agent.
    #[error("the role {} does not name its agent", path.display())]
    NoAgent {
        /// Its file.
        path: PathBuf,
    },
    /// A role is for an agent that is not in the catalogue.
    #[error("the role {} is for the agent {agent}, and there is none of that name", path.display())]
    UnknownAgent {
        /// Its file.
        path: PathBuf,
        /// The name in it.
        agent: String,
    },
}

/// Every agent and role.
#[derive(Debug)]
pub(crate) struct Profiles {
    /// The catalogue.
    pub(crate) agents: Vec<Agent>,
    /// The folders of roles, the first one first.
    pub(crate) folders: Vec<PathBuf>,
}

impl Profiles {
    /// The agents of the catalogue, and the roles of the project and the home.
    pub(crate) fn around(agents: Vec<Agent>, home: &Home) -> Self {
        let project = std::env::current_dir().map(|folder| folder.join(".convoke/agents"));
        let folders = project.into_iter().chain([home.path().join("agents")]).collect();
        Self { agents, folders }
    }

    /// The agent or the role of this name.
    pub(crate) fn find(&self, name: &str) -> Result<Profile, ProfileError> {
        if let Some(agent) = self.agent(name) {
            return Ok(Profile { name: name.to_owned(), agent: agent.clone(), role: None });
        }
        let unknown =
            || ProfileError::Unknown { name: name.to_owned(), folders: self.folders.clone() };
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
                Err(source) => return Err(ProfileError::Unreadable { path, source }),
            }
        }
        Err(unknown())
    }

    /// The default: Claude Code if that is installed, else the first installed agent, else the demo agent.
    pub(crate) fn by_default(&self, search_path: Option<&OsStr>) -> Option<Profile> {
        let is_installed = |agent: &&Agent| find(&agent.command, search_path).is_some();
        let named = |name: &str| self.agent(name).filter(is_installed);
        let others = || {
            let others = self.agents.iter().filter(|agent| agent.name.as_str() != DEMO);
            others.into_iter().find(is_installed)
        };
        let agent = named(FAVOURITE).or_else(others).or_else(|| self.agent(DEMO))?;
        Some(Profile { name: agent.name.to_string(), agent: agent.clone(), role: None })
    }

    /// The names of all agents and roles.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.agents.iter().map(|agent| agent.name.to_string()).collect();
        for folder in &self.folders {
            let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let roles = files.filter_map(|file| {
                let name = file.file_name().into_string().ok()?;
                // A file with another name is no role.
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

    fn play(&self, name: &str, path: &Path, text: &str) -> Result<Profile, ProfileError> {
        let (fields, body) = split(text);
        let path = || path.to_owned();
        let agent = field(fields, "agent").ok_or_else(|| ProfileError::NoAgent { path: path() })?;
        let unknown = || ProfileError::UnknownAgent { path: path(), agent: agent.to_owned() };
        let agent = self.agent(agent).ok_or_else(unknown)?.clone();
        let role = Some(body.trim()).filter(|body| !body.is_empty()).map(str::to_owned);
        Ok(Profile { name: name.to_owned(), agent, role })
    }
}

/// The agent that is preferred.
const FAVOURITE: &str = "claude-code";
/// The agent that is built in.
const DEMO: &str = "demo";

/// Splits a text into the part between its first two lines of `---`, and the rest.
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

/// The value of a field at the beginning of a line; indented lines belong to another.
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

    /// Profiles with these roles, each a folder, a name and a text.
    fn profiles(roles: &[(&str, &str, &str)]) -> (tempfile::TempDir, Profiles) {
        let folder = tempfile::tempdir().unwrap();
        for (place, name, text) in roles {
            std::fs::create_dir_all(folder.path().join(place)).unwrap();
            std::fs::write(folder.path().join(place).join(name), text).unwrap();
        }
        let folders = ["project", "house"].map(|place| folder.path().join(place)).to_vec();
        let agents = built_in(Path::new("/usr/bin/convoke"));
        (folder, Profiles { agents, folders })
    }

    fn told(profiles: &Profiles, name: &str) -> String {
        match profiles.find(name) {
            Ok(profile) => format!("{}: {} {:?}", profile.name, profile.agent.name, profile.role),
            Err(error) => {
                let text = error.to_string();
                let folder = profiles.folders[0].parent().unwrap().to_str().unwrap();
                text.replace(folder, "[tmp]")
            }
        }
    }

    #[test]
    fn r1_a_role_names_its_agent_and_its_instructions() {
        let text = "---\nagent: demo\ndescription: finds bugs\n---\n\nYou are a tester.\n\n---\nBe kind.\n";
        let (_folder, profiles) = profiles(&[
            ("house", "qa-test.md", text),
            ("house", "quoted.md", "---\r\nagent: \"codex\" # best\r\n---\r\nText"),
            ("house", "demo.md", "---\nagent: codex\n---\nNot an agent of the catalogue."),
            ("project", "qa.md", "---\nagent: gemini\n---\n"),
            ("house", "qa.md", "---\nagent: codex\n---\n"),
        ]);
        let said = ["qa-test", "quoted", "demo", "qa", "nobody", "../home/qa", ".qa", ""]
            .map(|name| told(&profiles, name))
            .join("\n");
        insta::assert_snapshot!(said, @r#"
        qa-test: demo Some("You are a tester.\n\n---\nBe kind.")
        quoted: codex Some("Text")
        demo: demo None
        qa: gemini None
        there is no agent and no role called `nobody`
        there is no agent and no role called `../home/qa`
        there is no agent and no role called `.qa`
        there is no agent and no role called ``
        "#);
        assert_eq!(profiles.names().last().unwrap(), "quoted");
    }

    #[test]
    fn a_role_that_cannot_be_played_says_why() {
        let (folder, profiles) = profiles(&[
            ("house", "silent.md", "You are a tester."),
            ("house", "open.md", "---\nagent: demo\nNo end of the fields."),
            ("house", "inner.md", "---\nextra:\n  agent: demo\n---\n"),
            ("house", "stranger.md", "---\nagent: hal\n---\nHello Dave."),
        ]);
        std::fs::create_dir(folder.path().join("house/folder.md")).unwrap();
        let said = ["silent", "open", "inner", "stranger", "folder"]
            .map(|name| told(&profiles, name))
            .join("\n");
        insta::assert_snapshot!(said, @r#"
        the role [tmp]/house/silent.md does not name its agent
        the role [tmp]/house/open.md does not name its agent
        the role [tmp]/house/inner.md does not name its agent
        the role [tmp]/house/stranger.md is for the agent hal, and there is none of that name
        cannot read the role [tmp]/house/folder.md
        "#);
    }

    #[test]
    fn r1_without_a_name_the_first_installed_agent_is_talked_with() {
        let (folder, mut profiles) = profiles(&[]);
        let bin = folder.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        let install = |program: &str| {
            use std::os::unix::fs::PermissionsExt;
            let path = bin.join(program);
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            let found = profiles.by_default(Some(bin.as_os_str())).unwrap();
            found.name
        };
        assert_eq!(install("nothing"), "demo");
        assert_eq!(install("goose"), "goose");
        assert_eq!(install("gemini"), "gemini");
        assert_eq!(install("claude"), "claude-code");
        profiles.agents.clear();
        assert!(profiles.by_default(None).is_none());
    }
}
