//! The help of every command is a contract: it is kept in `docs/commands.md` and changes only on purpose.

use std::fs;
use std::path::Path;

use crate::convoke::Convoke;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/commands.md");

const INTRODUCTION: &str = "\
# Commands

<!-- Made from the help of every command: UPDATE_DOCS=1 cargo nextest run -p convoke the_command_page -->

Exit codes: 0 done, 1 could not, 2 wrong usage, 3 daemon unreachable, 4 rejected by the human, 5 timed out.
";

#[test]
fn the_command_page_says_what_the_help_says() {
    let mut page = INTRODUCTION.to_owned();
    describe(&Convoke::new(), "convoke", &mut page);
    if std::env::vars_os().any(|(name, _)| name == "UPDATE_DOCS") {
        fs::write(PAGE, &page).unwrap();
    }
    let written = fs::read_to_string(Path::new(PAGE)).unwrap_or_default();
    assert!(
        written == page,
        "docs/commands.md is out of date; its second line says how to make it"
    );
}

#[test]
fn the_program_without_arguments_shows_its_help() {
    let told = Convoke::new().run("");
    assert!(told.starts_with("exit 2\n--- stderr\nRun, resume and review"), "{told}");
}

#[test]
fn short_and_long_help_are_the_same() {
    let machine = Convoke::new();
    for command in ["", "session", "session new"] {
        let help = |flag: &str| machine.run(&format!("{command} {flag}"));
        assert_eq!(help("-h"), help("--help"), "{command}");
    }
}

#[test]
fn the_word_help_shows_what_the_option_shows() {
    let machine = Convoke::new();
    for command in ["", "session", "session new"] {
        let option = machine.run(&format!("{command} --help"));
        assert_eq!(machine.run(&format!("help {command}")), option, "{command}");
        assert_eq!(machine.run(&format!("--json help {command}")), option, "{command}");
    }
    assert_eq!(machine.run("help --help"), machine.run("--help"));
    assert_eq!(machine.run("help help"), machine.run("--help"));
    // The program is not run.
    assert_eq!(machine.run("help sandbox-exec -- false"), machine.run("sandbox-exec --help"));
    let told = machine.run("help nope");
    assert!(
        told.starts_with("exit 2\n--- stderr\nerror: unrecognized subcommand 'nope'"),
        "{told}"
    );
}

#[test]
fn a_command_without_the_one_below_it_shows_its_help() {
    let told = Convoke::new().run("session");
    assert!(told.starts_with("exit 2\n--- stderr\nCreate, prompt, follow"), "{told}");
    assert!(told.contains("\nGlobal options:\n"), "{told}");
}

/// Adds a command and those below it.
fn describe(machine: &Convoke, command: &str, page: &mut String) {
    let help = help(machine, command);
    let help = help.trim_end();
    page.push_str(&format!("\n## {command}\n\n```text\n{help}\n```\n"));
    for name in subcommands(help) {
        describe(machine, &format!("{command} {name}"), page);
    }
}

fn help(machine: &Convoke, command: &str) -> String {
    let args: Vec<&str> = command.split_whitespace().skip(1).chain(["--help"]).collect();
    let told = machine.run_args(&args);
    let help = told.strip_prefix("exit 0\n--- stdout\n").unwrap_or_else(|| panic!("{told}"));
    assert!(help.contains("\nExamples:\n  "), "no example in the help of {command}");
    help.to_owned()
}

/// The names in the lists of commands, which come before all else; what is indented deeper goes on with a description.
fn subcommands(help: &str) -> Vec<&str> {
    let is_other = |line: &&str| ["Arguments:", "Options:", "Global options:"].contains(line);
    let lines = help.lines().skip_while(|line| !line.starts_with("Usage:")).skip(1);
    lines
        .take_while(|line| !is_other(line))
        .filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')))
        .filter_map(|rest| rest.split_whitespace().next())
        .collect()
}
