//! Access of the daemon's clients to the settings.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::Stdio;
use std::sync::Arc;

use convoke_api::bodies::{Config, ConfigPatch};
use convoke_core::explain;
use convoke_server::{ConfigAccess, ConfigError, OpenedFile};
use tokio::process::Command;

use crate::commands::World;
use crate::config::{self, EditError, Loaded, Mistakes, Sources, teams};
use crate::home::Home;

/// The sources of the settings.
struct Settings {
    world: World,
    home: Home,
    flags: BTreeMap<&'static str, String>,
}

/// Access for the server.
pub(super) fn access(
    world: &World,
    home: &Home,
    flags: BTreeMap<&'static str, String>,
) -> ConfigAccess {
    let settings = Arc::new(Settings { world: world.copied(), home: home.clone(), flags });
    let (reading, opening) = (Arc::clone(&settings), Arc::clone(&settings));
    ConfigAccess {
        open: Arc::new(move |file| opening.open(&file)),
        read: Arc::new(move || reading.read()),
        change: Arc::new(move |patch| settings.change(&patch)),
    }
}

impl Settings {
    fn read(&self) -> Result<Config, ConfigError> {
        self.with(|sources| {
            let loaded = config::load(sources).map_err(|mistakes| conflict(&mistakes))?;
            Ok(shown(sources, loaded))
        })
    }

    fn change(&self, patch: &ConfigPatch) -> Result<Config, ConfigError> {
        self.with(|sources| {
            let loaded = config::change(sources, &patch.changes).map_err(refused)?;
            let keys: Vec<&str> = patch.changes.keys().map(String::as_str).collect();
            tracing::info!("changed in config.toml: {}", keys.join(", "));
            Ok(shown(sources, loaded))
        })
    }

    /// Starts the user's editor, and does not wait for its end.
    fn open(&self, file: &OpenedFile) -> Result<(), ConfigError> {
        let loaded = self.with(config::load).map_err(|mistakes| conflict(&mistakes))?;
        let command = editor_command(&loaded.config.editor.command, file);
        let Some((program, arguments)) = command.split_first() else {
            let hint = "set `editor.command` in config.toml or on the settings page";
            let detail = "no command opens files in an editor".to_owned();
            return Err(ConfigError::Conflict(detail, hint.to_owned()));
        };
        let mut started = Command::new(program);
        started.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        started.spawn().map(drop).map_err(|error| {
            let detail = format!("cannot start {}: {error}", program.to_string_lossy());
            ConfigError::Conflict(detail, "correct `editor.command`".to_owned())
        })
    }

    fn with<T>(&self, work: impl FnOnce(&Sources<'_>) -> T) -> T {
        work(&Sources {
            home: self.home.path(),
            file: &self.home.config_file(),
            environment: &self.world.environment,
            flags: self.flags.clone(),
            program: &self.world.program,
        })
    }
}

/// The command with the file in it: in place of `{path}`, else at the end.
fn editor_command(words: &[String], file: &OpenedFile) -> Vec<OsString> {
    let path = file.path.as_os_str();
    let number = |number: Option<u32>| number.unwrap_or(1).to_string();
    let (line, column) = (number(file.line), number(file.column));
    let mut command: Vec<OsString> = words
        .iter()
        .map(|word| {
            let word = word.replace("{line}", &line).replace("{column}", &column);
            let mut parts = word.split("{path}");
            let mut whole = OsString::from(parts.next().unwrap_or_default());
            for part in parts {
                whole.push(path);
                whole.push(part);
            }
            whole
        })
        .collect();
    if !words.is_empty() && !words.iter().any(|word| word.contains("{path}")) {
        command.push(path.to_owned());
    }
    command
}

fn shown(sources: &Sources<'_>, loaded: Loaded) -> Config {
    let Loaded { config, mut effective } = loaded;
    // A mistake in the teams' file is reported where teams are loaded.
    if let Ok(teams) = teams::read(&config.teams_file, &config.teams) {
        teams.pool.show(&mut effective);
    }
    Config {
        path: sources.file.display().to_string(),
        settings: config::describe(sources, &effective),
    }
}

fn conflict(mistakes: &Mistakes) -> ConfigError {
    let lines = mistakes.list.iter().map(|mistake| mistakes.describe(mistake));
    let hint = mistakes.list.first().map(|mistake| mistake.hint.clone()).unwrap_or_default();
    ConfigError::Conflict(lines.collect::<Vec<_>>().join("\n"), hint)
}

fn refused(error: EditError) -> ConfigError {
    match error {
        EditError::Mistakes(mistakes) => conflict(&mistakes),
        EditError::Unknown { .. } => ConfigError::Unknown(error.to_string()),
        EditError::Refused(_) => ConfigError::Invalid(error.to_string()),
        EditError::Changed { .. } => {
            let hint = "load the settings again, and repeat the change".to_owned();
            ConfigError::Conflict(error.to_string(), hint)
        }
        EditError::Write(_) | EditError::Read { .. } => ConfigError::Failed(explain(&error)),
    }
}
