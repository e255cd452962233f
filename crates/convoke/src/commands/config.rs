//! `convoke config`: the effective settings and where each comes from.

use serde::Serialize;
use serde_json::Value;

use super::World;
use crate::args::GlobalArgs;
use crate::config::{Loaded, teams};
use crate::home::Home;
use crate::output::{Output, table};

/// Show the configuration
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:
  convoke config show"
)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ConfigCommand {
    Show(ShowArgs),
}

/// Print every setting, its value and its source
///
/// Flags override environment variables, variables override config.toml, and config.toml overrides
/// the defaults. Process settings in teams.json override all of them. Secrets in the environment
/// variables of agents are shown as ***.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke config show
  convoke config show | grep env
  convoke config show --json | jq '.values[] | select(.source != \"default\")'")]
struct ShowArgs {}

/// A contract with scripts: `{"home", "values": [{"key", "value", "source"}]}`.
#[derive(Serialize)]
struct Shown {
    home: String,
    #[serde(skip)]
    home_source: String,
    values: Vec<ShownValue>,
}

#[derive(Serialize)]
struct ShownValue {
    key: String,
    value: Value,
    source: String,
}

pub(crate) fn run(
    args: &ConfigArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    match args.command {
        ConfigCommand::Show(ShowArgs {}) => {
            let home = world.home(global)?;
            let mut loaded = world.config(&home)?;
            let teams = teams::read(&loaded.config.teams_file, &loaded.config.teams)?;
            teams.pool.show(&mut loaded.effective);
            output.show(&shown(&home, loaded), |shown, _| human(shown))
        }
    }
}

fn shown(home: &Home, loaded: Loaded) -> Shown {
    let values = loaded.effective.into_iter().map(|effective| ShownValue {
        key: effective.key,
        value: effective.value,
        source: effective.origin.to_string(),
    });
    Shown {
        home: home.path().display().to_string(),
        home_source: home.origin().to_string(),
        values: values.collect(),
    }
}

fn human(shown: &Shown) -> String {
    // The value comes last, because it may be long.
    let home = ["home".to_owned(), shown.home_source.clone(), shown.home.clone()];
    let values = shown.values.iter().map(|shown| {
        let text = shown.value.as_str().map(str::to_owned);
        let value = text.unwrap_or_else(|| shown.value.to_string());
        [shown.key.clone(), shown.source.clone(), value]
    });
    table(["KEY", "SOURCE", "VALUE"], std::iter::once(home).chain(values).collect())
}
