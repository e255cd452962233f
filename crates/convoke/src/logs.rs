//! Logs: short lines on stderr, and JSON lines in files in the home. Never on stdout.

mod daily;

use std::io;
use std::sync::Mutex;

use anyhow::Context;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt};

use crate::args::GlobalArgs;
use crate::clock;
use crate::colour::Colour;
use crate::commands::World;
use crate::home::{Home, create_private};
use crate::output::Output;
use daily::Daily;

/// The log level on stderr, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// Nothing at all: the terminal belongs to a screen.
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl Verbosity {
    /// The level of the flags.
    pub(crate) fn of(global: &GlobalArgs) -> Self {
        match (global.quiet, global.verbose) {
            (true, _) => Self::Error,
            (false, 0) => Self::Warn,
            (false, 1) => Self::Info,
            (false, 2) => Self::Debug,
            (false, 3..) => Self::Trace,
        }
    }

    fn directive(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// Starts logging to stderr, and into the home if there is one. `CONVOKE_LOG` takes precedence over
/// the flags.
///
/// If a log file cannot be opened, that is a warning and no error.
pub(crate) fn start(verbosity: Verbosity, world: &World, output: &Output, home: Option<&Home>) {
    let wanted = world.environment.get("CONVOKE_LOG").map(|text| text.to_string_lossy());
    let parsed = wanted.as_deref().map(EnvFilter::try_new).transpose();
    let filter = |otherwise: Verbosity| match (&wanted, &parsed) {
        (Some(text), Ok(_)) => EnvFilter::new(text),
        (None, _) | (_, Err(_)) => EnvFilter::new(otherwise.directive()),
    };
    let file = home.map(open_file).transpose();
    let stderr_layer = fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(output.error_colour == Colour::On)
        .without_time()
        .with_target(false)
        // A stderr that cannot be written must not end the process.
        .log_internal_errors(false)
        .with_filter(match verbosity {
            // Not even the variable may write into a screen.
            Verbosity::Off => EnvFilter::new("off"),
            Verbosity::Error
            | Verbosity::Warn
            | Verbosity::Info
            | Verbosity::Debug
            | Verbosity::Trace => filter(verbosity),
        });
    let (file, file_error) = match file {
        Ok(file) => (file, None),
        Err(error) => (None, Some(error)),
    };
    let file_layer = file.map(|daily| {
        fmt::layer()
            .json()
            .with_writer(Mutex::new(daily))
            .log_internal_errors(false)
            .with_filter(filter(verbosity.max(Verbosity::Info)))
    });
    let started = tracing_subscriber::registry().with(stderr_layer).with(file_layer).try_init();
    if started.is_err() {
        tracing::debug!("logging was started before");
    }
    if let Some(error) = file_error {
        tracing::warn!("cannot log to a file: {error:#}");
    }
    if let Err(error) = parsed {
        tracing::warn!("CONVOKE_LOG is invalid and ignored: {error}");
    }
}

fn open_file(home: &Home) -> anyhow::Result<Daily> {
    let folder = home.logs();
    create_private(&folder)
        .and_then(|()| Daily::open(folder.clone(), clock::now))
        .with_context(|| format!("{} is not a writable folder", folder.display()))
}
