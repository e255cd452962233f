//! What clients of the daemon may read and change of the settings.

use std::collections::BTreeMap;
use std::sync::Arc;

use convoke_api::bodies::{Config, ConfigPatch};
use convoke_server::{ConfigAccess, ConfigError};

use super::teams::in_one_line;
use crate::commands::World;
use crate::config::{self, EditError, Loaded, Mistakes, Sources, teams};
use crate::home::Home;

/// What the settings are read from.
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
    let reading = Arc::clone(&settings);
    ConfigAccess {
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
        EditError::Write(_) | EditError::Read { .. } => ConfigError::Failed(in_one_line(&error)),
    }
}
