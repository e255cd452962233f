//! Reads `teams.json`: the teams, and settings of their processes. Comments are allowed.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use convoke_core::Invalid;
use convoke_core::id::AgentName;
use convoke_core::team::TeamName;
use convoke_engine::{Permissions, Team, TeamLimits, TeamSettings};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};

use super::{Effective, Origin, Pool, Teams};

/// The agent of teams that name none.
const AGENT: &str = "claude-code";
/// The default timeout for starting a team's session.
const INIT_TIMEOUT_MS: u64 = 30_000;
/// A year; longer waits are typing mistakes.
const YEAR_MS: u64 = 365 * 24 * 60 * 60 * 1000;
/// Reserved names: a path segment of the API, and the name for external callers.
const TAKEN: [&str; 2] = ["sessions", "external"];

/// Why the teams cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TeamsError {
    /// The file exists, but cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The file is invalid.
    #[error("{}:{line}:{column}: {text}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
        /// What is wrong.
        text: String,
    },
    /// A setting out of its range.
    #[error("{}: settings.{key} must be between {} and {}, not {value}", path.display(), range.start(), range.end())]
    Range {
        /// The file.
        path: PathBuf,
        /// The setting.
        key: &'static str,
        /// What it may be.
        range: RangeInclusive<u64>,
        /// What it is.
        value: u64,
    },
    /// A team that cannot be.
    #[error(transparent)]
    Team(#[from] Invalid),
}

/// The contents of the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TeamsFile {
    /// The teams.
    pub(crate) teams: TeamSettings,
    /// Settings of the process pool, which take precedence over `config.toml`.
    pub(crate) pool: PoolChanges,
}

/// Settings of the process pool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PoolChanges {
    idle_timeout_ms: Option<u64>,
    max_processes: Option<u64>,
    health_check_interval_ms: Option<u64>,
}

impl PoolChanges {
    /// Puts it on top of the configuration.
    pub(crate) fn apply(&self, pool: &mut Pool) {
        let Self { idle_timeout_ms, max_processes, health_check_interval_ms } = self;
        pool.idle_timeout_ms = idle_timeout_ms.unwrap_or(pool.idle_timeout_ms);
        pool.max_processes = max_processes.unwrap_or(pool.max_processes);
        pool.health_check_interval_ms =
            health_check_interval_ms.unwrap_or(pool.health_check_interval_ms);
    }

    /// Shows it among the effective values.
    pub(crate) fn show(&self, effective: &mut [Effective]) {
        let changes = [
            ("pool.idle_timeout_ms", self.idle_timeout_ms),
            ("pool.max_processes", self.max_processes),
            ("pool.health_check_interval_ms", self.health_check_interval_ms),
        ];
        for (key, value) in changes {
            let place = effective.iter_mut().find(|effective| effective.key == key);
            if let (Some(place), Some(value)) = (place, value) {
                (place.value, place.origin) = (value.into(), Origin::Teams);
            }
        }
    }
}

/// The file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    #[serde(default)]
    settings: Settings,
    teams: Named,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Settings {
    idle_timeout: Option<u64>,
    max_processes: Option<u64>,
    health_check_interval: Option<u64>,
    session_init_timeout: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entry {
    path: PathBuf,
    description: Option<String>,
    #[serde(default)]
    skip_permissions: bool,
    session_init_timeout: Option<u64>,
    color: Option<String>,
    agent: Option<String>,
}

/// Teams by name. JSON parsers accept a repeated name and drop one of the two, so it is refused.
#[derive(Debug)]
struct Named(BTreeMap<String, Entry>);

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Named;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("teams by their names")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named, A::Error> {
        let mut teams = BTreeMap::new();
        while let Some((name, entry)) = map.next_entry::<String, Entry>()? {
            if teams.contains_key(&name) {
                return Err(de::Error::custom(format!("the team {name} is defined twice")));
            }
            teams.insert(name, entry);
        }
        Ok(Named(teams))
    }
}

/// Reads the teams. No file, no teams.
pub(crate) fn read(path: &Path, limits: &Teams) -> Result<TeamsFile, TeamsError> {
    let limits = TeamLimits {
        hops_max: usize::try_from(limits.max_hops).unwrap_or(usize::MAX),
        chain_messages_max: limits.max_chain_messages,
        pair_messages_per_hour: usize::try_from(limits.max_pair_messages_per_hour)
            .unwrap_or(usize::MAX),
    };
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let teams = TeamSettings { limits, ..TeamSettings::none() };
            return Ok(TeamsFile { teams, pool: PoolChanges::default() });
        }
        Err(source) => return Err(TeamsError::Read { path: path.to_owned(), source }),
    };
    let text = without_comments(text.strip_prefix('\u{feff}').unwrap_or(&text));
    let file: File = serde_json::from_str(&text).map_err(|error| TeamsError::Wrong {
        path: path.to_owned(),
        line: error.line(),
        column: error.column(),
        text: words(&error),
    })?;
    let File { settings, teams: Named(teams) } = file;
    let within = |key, value: Option<u64>, range: RangeInclusive<u64>| match value {
        Some(value) if !range.contains(&value) => {
            Err(TeamsError::Range { path: path.to_owned(), key, range, value })
        }
        value => Ok(value),
    };
    let init_timeout = within("sessionInitTimeout", settings.session_init_timeout, 1..=YEAR_MS)?;
    let pool = PoolChanges {
        idle_timeout_ms: within("idleTimeout", settings.idle_timeout, 1..=YEAR_MS)?,
        max_processes: within("maxProcesses", settings.max_processes, 1..=1000)?,
        health_check_interval_ms: within(
            "healthCheckInterval",
            settings.health_check_interval,
            10..=YEAR_MS,
        )?,
    };
    let teams = teams.into_iter().map(team).collect::<Result<_, _>>()?;
    let init_timeout = Duration::from_millis(init_timeout.unwrap_or(INIT_TIMEOUT_MS));
    Ok(TeamsFile { teams: TeamSettings { teams, init_timeout, limits }, pool })
}

fn team((name, entry): (String, Entry)) -> Result<Team, TeamsError> {
    let fault = |reason: String| Invalid::Team { team: name.clone(), reason };
    let team: TeamName = name.parse()?;
    if TAKEN.contains(&name.as_str()) {
        return Err(fault("the name is reserved; choose another".to_owned()).into());
    }
    let agent = entry.agent.as_deref().unwrap_or(AGENT);
    let agent: AgentName = agent.parse().map_err(|error: Invalid| fault(error.to_string()))?;
    if let Some(timeout) = entry.session_init_timeout
        && !(1..=YEAR_MS).contains(&timeout)
    {
        let reason = format!("sessionInitTimeout must be between 1 and {YEAR_MS}, not {timeout}");
        return Err(fault(reason).into());
    }
    if let Some(color) = &entry.color
        && !is_color(color)
    {
        return Err(fault(format!("color must look like #E91E63, not {color}")).into());
    }
    Ok(Team {
        name: team,
        path: entry.path,
        agent,
        description: entry.description,
        permissions: if entry.skip_permissions { Permissions::Skip } else { Permissions::Ask },
        init_timeout: entry.session_init_timeout.map(Duration::from_millis),
        color: entry.color,
    })
}

fn is_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or_default();
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The parser's message without the position, which is printed separately.
fn words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let end = text.rfind(" at line ").unwrap_or(text.len());
    text.get(..end).unwrap_or(&text).to_owned()
}

/// The text with comments replaced by spaces, so that all positions stay the same.
fn without_comments(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut state = State::Code;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied();
        let (shown, then) = match (state, c, next) {
            (State::Code, '"', _) => (c, State::Text),
            (State::Code, '/', Some('/')) => (' ', State::Line),
            (State::Code, '/', Some('*')) => {
                rest.next();
                clean.push(' ');
                (' ', State::Block)
            }
            (State::Text, '\\', Some(escaped)) => {
                rest.next();
                clean.push(c);
                (escaped, State::Text)
            }
            (State::Text, '"', _) => (c, State::Code),
            (State::Code | State::Text, _, _) => (c, state),
            (State::Line, '\n', _) => (c, State::Code),
            (State::Block, '*', Some('/')) => {
                rest.next();
                clean.push(' ');
                (' ', State::Code)
            }
            (State::Line | State::Block, '\n' | '\r' | '\t', _) => (c, state),
            (State::Line | State::Block, _, _) => (' ', state),
        };
        clean.push(shown);
        state = then;
    }
    clean
}

#[derive(Debug, Clone, Copy)]
enum State {
    Code,
    Text,
    Line,
    Block,
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Teams =
        Teams { max_hops: 5, max_chain_messages: 50, max_pair_messages_per_hour: 200 };

    fn read_text(text: &str) -> Result<TeamsFile, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("teams.json");
        fs::write(&path, text).unwrap();
        let place = folder.path().display().to_string();
        read(&path, &LIMITS).map_err(|error| error.to_string().replace(&place, "~"))
    }

    #[test]
    fn t14_every_property_of_the_file_is_read() {
        let TeamsFile { teams, pool } = read_text(
            r##"{
              "settings": {  // for all
                "idleTimeout": 300000, "maxProcesses": 7, "healthCheckInterval": 30000,
                "sessionInitTimeout": 20000
              },
              "teams": {
                "frontend": { "path": "/srv/front//end", "description": "says \"// hi\"",
                  "skipPermissions": true, "sessionInitTimeout": 45000, "color": "#E91E63" },
                /* answers for
                   the server */
                "backend": { "path": "/srv/backend", "agent": "codex" }
              }
            }"##,
        )
        .unwrap();
        let mut shown = Pool {
            max_processes: 10,
            idle_timeout_ms: 5,
            health_check_interval_ms: 20,
            spare: true,
        };
        pool.apply(&mut shown);
        assert_eq!(
            (shown.idle_timeout_ms, shown.max_processes, shown.health_check_interval_ms),
            (300_000, 7, 30_000)
        );
        assert_eq!(teams.init_timeout, Duration::from_secs(20));
        let [backend, frontend] = teams.teams.as_slice() else { panic!("{teams:?}") };
        assert_eq!((backend.name.as_str(), backend.agent.as_str()), ("backend", "codex"));
        assert_eq!(backend.permissions, Permissions::Ask);
        assert_eq!(frontend.agent.as_str(), "claude-code");
        assert_eq!(frontend.path, Path::new("/srv/front//end"));
        assert_eq!(frontend.description.as_deref(), Some("says \"// hi\""));
        assert_eq!(frontend.permissions, Permissions::Skip);
        assert_eq!(frontend.init_timeout, Some(Duration::from_secs(45)));
        assert_eq!(frontend.color.as_deref(), Some("#E91E63"));
    }

    #[test]
    fn t14_without_a_file_there_are_no_teams() {
        let none = read(Path::new("/nowhere/teams.json"), &LIMITS).unwrap();
        assert_eq!(none.teams.teams, []);
        assert_eq!(none.pool, PoolChanges::default());
    }

    #[test]
    fn t14_t15_an_error_is_reported_with_its_position() {
        let cases = [
            "{",
            "{\"teams\": {}, \"team\": 1}",
            "{\"teams\": {\"a\": {\n  \"path\": 1}}}",
            "{\"teams\": {\"a\": {\"description\": \"x\"}}}",
            "{\"teams\": {\"a\": {\"path\": \"/x\"}, \"a\": {\"path\": \"/y\"}}}",
            "{\"teams\": {\"../etc\": {\"path\": \"/srv\"}}}",
            "{\"teams\": {\"sessions\": {\"path\": \"/srv\"}}}",
            "{\"teams\": {\"external\": {\"path\": \"/srv\"}}}",
            "{\"teams\": {\"a\": {\"path\": \"/srv\", \"color\": \"red\"}}}",
            "{\"teams\": {\"a\": {\"path\": \"/srv\", \"sessionInitTimeout\": 0}}}",
            "{\"settings\": {\"maxProcesses\": 0}, \"teams\": {}}",
        ];
        let told: Vec<String> = cases.iter().map(|text| read_text(text).unwrap_err()).collect();
        insta::assert_snapshot!(told.join("\n"), @"
        ~/teams.json:1:1: EOF while parsing an object
        ~/teams.json:1:20: unknown field `team`, expected `settings` or `teams`
        ~/teams.json:2:11: invalid type: integer `1`, expected path string
        ~/teams.json:1:36: missing field `path`
        ~/teams.json:1:52: the team a is defined twice
        Invalid team name: ../etc
        Invalid configuration for team 'sessions': the name is reserved; choose another
        Invalid configuration for team 'external': the name is reserved; choose another
        Invalid configuration for team 'a': color must look like #E91E63, not red
        Invalid configuration for team 'a': sessionInitTimeout must be between 1 and 31536000000, not 0
        ~/teams.json: settings.maxProcesses must be between 1 and 1000, not 0
        ");
    }
}
