//! How the program ends: the only place that turns errors into exit codes, texts and hints.

mod advice;
mod words;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::builder::StyledStr;
use clap::error::ErrorKind;
use convoke_core::count::counted;
use serde::Serialize;

use crate::colour::Colour;
use crate::config::Mistakes;
use crate::help;
use crate::output::{Format, Output, plain};
use advice::advice;

/// Before the option of the help in a text of the parser.
const TRY: &str = "For more information, try ";

/// The exit code of a failure. A contract with scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    /// It was understood and could not be done.
    CouldNot = 1,
    /// It was asked wrongly, by arguments, variables or the configuration.
    AskedWrongly = 2,
    /// The daemon cannot be reached.
    Unreachable = 3,
    /// A human said no.
    Rejected = 4,
    /// A human did not answer in time.
    TimedOut = 5,
    /// The program to become does not exist; the number is that of shells.
    NoProgram = 127,
}

/// Why a command that has printed its result does not exit with 0. Most of them print nothing more.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Ended {
    /// The human turned the questions down.
    #[error("the questions were rejected")]
    Rejected,
    /// The human did not answer in time.
    #[error("the questions were not answered in time")]
    TimedOut,
    /// The questions have no asker any more.
    #[error("the questions are abandoned")]
    Abandoned,
    /// The files of a session do not agree.
    #[error("the session is invalid")]
    Invalid,
    /// A signal arrived while the command waited.
    #[error("interrupted while waiting for the answers")]
    Interrupted {
        /// The session that waits on.
        id: String,
    },
    /// Some of the work could not be done.
    #[error("{} could not be deleted", counted(count, "question session"))]
    Incomplete {
        /// How much of it.
        count: usize,
    },
}

/// Prints the error of the command line `words` on stderr, once, and returns the exit code.
pub(crate) fn report(error: &anyhow::Error, words: &[OsString], output: &Output) -> ExitCode {
    if let Some(Ended::Rejected | Ended::TimedOut | Ended::Abandoned | Ended::Invalid) =
        error.downcast_ref()
    {
        return ExitCode::from(advice(error).0 as u8);
    }
    let failure = Failure::of(error, words);
    let text = match output.format {
        Format::Json => failure.json(),
        Format::Human => failure.human(output.error_colour),
    };
    // With nowhere left to complain, the code must do.
    io::stderr().write_all(text.as_bytes()).ok();
    ExitCode::from(failure.code as u8)
}

/// An error with its causes in one line, and a hint if there is one.
pub(crate) fn explain(error: &anyhow::Error) -> (String, Option<String>) {
    (format!("{error:#}"), advice(error).1)
}

/// A printable error.
struct Failure {
    message: String,
    causes: Vec<Cause>,
    hint: Option<String>,
    code: Code,
    /// The parser's text, which replaces all of this for people, and the command line of the help.
    usage: Option<(StyledStr, String)>,
}

/// An error as programs read it. A contract with them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ErrorReport<'a> {
    error: &'a str,
    causes: Vec<String>,
    hint: Option<&'a str>,
    exit_code: u8,
}

struct Cause {
    text: String,
    hint: Option<String>,
}

impl Failure {
    fn of(error: &anyhow::Error, words: &[OsString]) -> Self {
        if let Some(error) = error.downcast_ref::<clap::Error>() {
            return Self::from_usage_error(error, words);
        }
        if let Some(mistakes) = error.downcast_ref::<Mistakes>() {
            return Self::misconfigured(mistakes);
        }
        let causes = error.chain().skip(1);
        // Some of these texts come from agents and daemons, so they are sanitised.
        let text =
            |error: &dyn std::fmt::Display| words::for_command_line(&plain(&error.to_string()));
        let causes = causes.map(|cause| Cause { text: text(&cause), hint: None });
        let (code, hint) = advice(error);
        let hint = hint.map(|hint| words::for_command_line(&hint));
        let message = text(error);
        Self { message, causes: causes.collect(), hint, code, usage: None }
    }

    fn from_usage_error(error: &clap::Error, words: &[OsString]) -> Self {
        let rendered = error.render();
        let help = help::line_of(words);
        let text = rendered.to_string();
        let (message, rest) = text.split_once("\n\n").unwrap_or((&text, ""));
        let message = if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
            "a command is missing".to_owned()
        } else {
            // Missing arguments are listed in separate lines.
            let lines = message.strip_prefix("error: ").unwrap_or(message).lines().map(str::trim);
            let shown = lines.filter(|line| !line.starts_with("[subcommands"));
            shown.collect::<Vec<_>>().join(" ")
        };
        let tip = rest.lines().find_map(|line| line.trim().strip_prefix("tip: "));
        Self {
            message,
            causes: Vec::new(),
            hint: Some(tip.map_or_else(|| format!("see `{help}`"), str::to_owned)),
            code: Code::AskedWrongly,
            usage: Some((rendered, help)),
        }
    }

    fn misconfigured(mistakes: &Mistakes) -> Self {
        let causes = mistakes.list.iter().map(|mistake| Cause {
            text: mistakes.describe(mistake),
            hint: Some(mistake.hint.clone()),
        });
        Self {
            message: mistakes.to_string(),
            causes: causes.collect(),
            hint: None,
            code: Code::AskedWrongly,
            usage: None,
        }
    }

    fn json(&self) -> String {
        let cause = |cause: &Cause| match &cause.hint {
            Some(hint) => format!("{} ({hint})", cause.text),
            None => cause.text.clone(),
        };
        let report = ErrorReport {
            error: &self.message,
            causes: self.causes.iter().map(cause).collect(),
            hint: self.hint.as_deref(),
            exit_code: self.code as u8,
        };
        serde_json::to_string(&report).unwrap_or_default() + "\n"
    }

    fn human(&self, colour: Colour) -> String {
        if let Some((text, help)) = &self.usage {
            let text = match colour {
                Colour::On => text.ansi().to_string(),
                Colour::Off => text.to_string(),
            };
            return naming(&text, help);
        }
        let hint = |hint: &Option<String>, indent: &str| match hint {
            Some(hint) => format!("{indent}{} {hint}\n", colour.good("hint:")),
            None => String::new(),
        };
        let mut text = format!("{} {}\n", colour.bad("error:"), self.message);
        for cause in &self.causes {
            text += &format!("  {}\n{}", cause.text, hint(&cause.hint, "    "));
        }
        text + &hint(&self.hint, "")
    }
}

/// The parser's text with the help that it ends with named in full.
fn naming(text: &str, help: &str) -> String {
    match text.rsplit_once(TRY) {
        Some((before, after)) => format!("{before}{TRY}{}", after.replacen("--help", help, 1)),
        None => text.to_owned(),
    }
}
