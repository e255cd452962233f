//! The `convoke` program: one command line for the daemon, its database, and the people who use them.
//!
//! Only this crate reads arguments, the environment, the current time and randomness; the other crates
//! get them as parameters, except that some compare the age of a file with the system's clock.

mod args;
mod asking;
mod browser;
mod clock;
mod colour;
mod commands;
mod completion;
mod config;
mod daemon;
mod environment;
mod evidence;
mod exit;
#[cfg(fuzzing)]
#[path = "../../../fuzz/hooks/convoke.rs"]
pub mod fuzzing;
mod help;
mod home;
mod logs;
mod mcp;
mod output;
mod pager;
mod random;
mod repl;
mod signals;
mod turn_builder;
mod written;

use std::ffi::OsString;
use std::process::ExitCode;

use args::{At, Invocation};
use commands::World;
use environment::Environment;
use output::{Format, Output};

/// Runs the command that this process was started with.
pub fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let environment = Environment::of_this_process();
    let mut output = Output::new(&environment, Format::asked_for(&words));
    match run(&words, environment, &mut output) {
        Ok(code) => code,
        Err(error) => exit::report(&error, &words, &output),
    }
}

fn run(
    words: &[OsString],
    environment: Environment,
    output: &mut Output,
) -> anyhow::Result<ExitCode> {
    if completion::answer(words, &environment)? {
        return Ok(ExitCode::SUCCESS);
    }
    match args::read(words, At::this_process())? {
        Invocation::Version => output.line(args::VERSION)?,
        Invocation::Help(text) => output.help(&text)?,
        Invocation::Command(args) => {
            return commands::run(*args, &World::around(environment)?, output);
        }
    }
    Ok(ExitCode::SUCCESS)
}
