//! The format of help: `-h` and `--help` are the same, the options of a command precede the global
//! ones, and the commands of the program are grouped.
//!
//! It is only built when help is requested, so that other commands do not wait for it.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt::Write as _;

use clap::builder::Styles;
use clap::{Arg, ArgAction, Command, CommandFactory as _};

use crate::args::Args;

/// The commands of the program, by purpose.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Start", &["open", "tui", "serve", "status", "stop"]),
    ("Sessions", &["project", "session", "search", "worktree", "compare", "spawn"]),
    ("Permissions and questions", &["inbox", "answer", "rule", "ask", "questions", "mcp"]),
    ("Histories", &["import", "export"]),
    ("Teams, machines and people", &["team", "node", "user", "audit", "browser"]),
    (
        "Setup and maintenance",
        &["agent", "doctor", "config", "backup", "restore", "db", "completions"],
    ),
];
/// Where the options stand that all commands have.
const GLOBAL: &str = "Global options";
/// The template of a command's help. The documentation after its first sentence is in
/// `before-help`.
const TEMPLATE: &str =
    "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";
/// Between the columns of the list of commands.
const GAP: usize = 2;

/// The command line, with its help.
pub(crate) fn command() -> Command {
    let mut command = each(Args::command(), &shorten);
    command.build();
    let groups = groups(&command);
    let names: Vec<String> = command.get_subcommands().map(|it| it.get_name().to_owned()).collect();
    for name in names {
        command = command.mut_subcommand(name, |it| each(it, &separate_global));
    }
    let header = *Styles::styled().get_header();
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{header}Options:{header:#}\n{{options}}{{after-help}}"
    ))
}

/// Replaces the command `help` by the option: `convoke help session new` is
/// `convoke session new --help`. The parser's own command has another format.
pub(crate) fn as_option(words: &[OsString]) -> Cow<'_, [OsString]> {
    let Some(at) = next_name(words, 1).filter(|at| words.get(*at).is_some_and(|it| it == "help"))
    else {
        return Cow::Borrowed(words);
    };
    let mut words = words.to_vec();
    words.remove(at);
    if words.get(at).is_some_and(|word| word == "help") {
        words.remove(at);
    }
    let end = end_of_names(&words, at);
    words.insert(end, "--help".into());
    Cow::Owned(words)
}

/// The command line that prints the help of the command in `words`, such as `convoke session send --help`.
pub(crate) fn line_of(words: &[OsString]) -> String {
    let (mut command, mut line, mut at) = (Args::command(), "convoke".to_owned(), 1);
    while let Some(next) = next_name(words, at) {
        let name = words.get(next).map(OsString::as_os_str).unwrap_or_default();
        let Some(found) = command.find_subcommand(name).cloned() else { break };
        line = format!("{line} {}", found.get_name());
        (command, at) = (found, next + 1);
    }
    line + " --help"
}

/// Where the names of commands end, and arguments begin, which may be those of another program.
fn end_of_names(words: &[OsString], mut at: usize) -> usize {
    let mut command = Args::command();
    while let Some(next) = next_name(words, at) {
        let name = words.get(next).map(OsString::as_os_str).unwrap_or_default();
        at = match command.find_subcommand(name).cloned() {
            Some(found) => {
                command = found;
                next + 1
            }
            // A name that is wrong, which the parser says.
            None if command.has_subcommands() => return next + 1,
            None => return at,
        };
    }
    at
}

/// The next word that is no option.
fn next_name(words: &[OsString], mut at: usize) -> Option<usize> {
    while let Some(word) = words.get(at) {
        match word.as_encoded_bytes() {
            b"--home" => at += 2,
            b"--" => return None,
            option if option.starts_with(b"-") => at += 1,
            _ => return Some(at),
        }
    }
    None
}

/// The help of `error` in this format.
pub(crate) fn instead_of(error: clap::Error, words: &[OsString]) -> clap::Error {
    command().try_get_matches_from(words).err().unwrap_or(error)
}

/// Changes a command and all those below it.
fn each(command: Command, change: &impl Fn(Command) -> Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|it| it.get_name().to_owned()).collect();
    names
        .into_iter()
        .fold(change(command), |command, name| command.mut_subcommand(name, |it| each(it, change)))
}

/// Makes the long help the only one, in the compact format of the short one.
fn shorten(command: Command) -> Command {
    let rest = command
        .get_long_about()
        .map(ToString::to_string)
        .and_then(|text| Some(text.split_once("\n\n")?.1.to_owned()));
    let command = match rest {
        Some(rest) => command.before_help(rest),
        None => command,
    };
    let help = Arg::new("help").short('h').long("help").action(ArgAction::HelpShort);
    command
        .mut_args(|arg| match arg.get_long_help().map(ToString::to_string) {
            Some(long) => arg.help(long.replace("\n\n", " ")),
            None => arg,
        })
        .disable_help_flag(true)
        .arg(help.help("Print help").display_order(usize::MAX))
        .help_template(TEMPLATE)
}

/// Puts the options that a command has from those above it under a heading of their own.
fn separate_global(command: Command) -> Command {
    command.mut_args(|arg| {
        let is_shared = arg.is_global_set() || arg.get_id() == "help";
        if is_shared { arg.help_heading(GLOBAL) } else { arg }
    })
}

/// The list of commands.
fn groups(command: &Command) -> String {
    let header = *Styles::styled().get_header();
    let literal = *Styles::styled().get_literal();
    let names = GROUPS.iter().flat_map(|(_, names)| *names);
    let width = names.map(|name| name.len()).max().unwrap_or_default() + GAP;
    let mut text = String::new();
    for (title, names) in GROUPS {
        // Writing to a string cannot fail.
        writeln!(text, "{header}{title}:{header:#}").ok();
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            writeln!(text, "  {literal}{name:width$}{literal:#}{about}").ok();
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::builder::StyledStr;

    use super::*;

    #[test]
    fn every_command_that_people_see_is_in_one_group() {
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.to_vec()).collect();
        let command = command();
        let seen = command.get_subcommands().filter(|it| !it.is_hide_set());
        let seen: BTreeSet<&str> = seen.map(Command::get_name).collect();
        assert_eq!(grouped.iter().copied().collect::<BTreeSet<_>>(), seen);
        assert_eq!(grouped.len(), seen.len());
    }

    #[test]
    fn the_command_help_becomes_an_option_of_the_command_that_it_names() {
        let lines = [
            ("help", "--help"),
            ("help help", "--help"),
            ("help session new", "session new --help"),
            ("--home /h help session new", "--home /h session new --help"),
            ("help --json session new", "--json session new --help"),
            ("help nope", "nope --help"),
            ("help session nope", "session nope --help"),
            ("help sandbox-exec", "sandbox-exec --help"),
            ("help sandbox-exec -- prog", "sandbox-exec --help -- prog"),
            ("help sandbox-exec prog arg", "sandbox-exec --help prog arg"),
            ("session help", "session help"),
            ("-- help", "-- help"),
        ];
        let words = |line: &str| -> Vec<OsString> {
            ["convoke"].into_iter().chain(line.split(' ')).map(OsString::from).collect()
        };
        for (line, expected) in lines {
            assert_eq!(*as_option(&words(line)), words(expected), "{line}");
        }
    }

    #[test]
    fn a_usage_error_leads_to_the_help_of_the_command_that_was_typed() {
        let lines = [
            ("", "convoke --help"),
            ("docter", "convoke --help"),
            ("backup --list --to x", "convoke backup --help"),
            ("--home session session send ID", "convoke session send --help"),
            ("session nope", "convoke session --help"),
            ("ask -- session", "convoke ask --help"),
        ];
        for (line, expected) in lines {
            let typed = line.split_whitespace().map(OsString::from);
            let words: Vec<OsString> = std::iter::once("convoke".into()).chain(typed).collect();
            assert_eq!(line_of(&words), expected, "{line}");
        }
    }

    #[test]
    fn the_descriptions_of_commands_fit_their_line() {
        let command = command();
        for line in StyledStr::from(groups(&command)).to_string().lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
