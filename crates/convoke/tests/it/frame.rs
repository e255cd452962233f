//! What all commands have in common: version, flags, errors, pipes and colours.

use std::fs::File;
use std::io::Read;
use std::process::Stdio;

use crate::convoke::Convoke;

#[test]
fn the_version_is_one_line() {
    let machine = Convoke::new();
    let expected = concat!("exit 0\n--- stdout\nconvoke ", env!("CARGO_PKG_VERSION"), "\n");
    for line in ["--version", "-V", "--json --version"] {
        assert_eq!(machine.run(line), expected);
    }
    assert!(!machine.home().exists());
}

#[test]
fn without_a_command_the_help_is_an_error() {
    let told = Convoke::new().run("");
    assert!(told.starts_with("exit 2\n--- stderr\nRun, resume and review"), "{told}");
}

#[test]
fn an_unknown_command_is_asked_wrongly() {
    insta::assert_snapshot!(Convoke::new().run("docter"), @"
    exit 2
    --- stderr
    error: unrecognized subcommand 'docter'

      tip: a similar subcommand exists: 'doctor'

    Usage: convoke [OPTIONS] <COMMAND>

    For more information, try 'convoke --help'.
    ");
}

#[test]
fn an_unknown_command_is_printed_as_json_too() {
    insta::assert_snapshot!(Convoke::new().run("docter --json"), @r#"
    exit 2
    --- stderr
    {"error":"unrecognized subcommand 'docter'","causes":[],"hint":"a similar subcommand exists: 'doctor'","exitCode":2}
    "#);
    insta::assert_snapshot!(Convoke::new().run("--json"), @r#"
    exit 2
    --- stderr
    {"error":"'convoke' requires a subcommand but one was not provided","causes":[],"hint":"see `convoke --help`","exitCode":2}
    "#);
}

#[test]
fn quiet_and_verbose_exclude_each_other() {
    insta::assert_snapshot!(Convoke::new().run("doctor -q -v"), @"
    exit 2
    --- stderr
    error: the argument '--quiet' cannot be used with '--verbose...'

    Usage: convoke doctor --quiet

    For more information, try 'convoke doctor --help'.
    ");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let machine = Convoke::new();
    for line in [&["config", "show"][..], &["--help"], &["--version"], &["completions", "zsh"]] {
        let mut child =
            machine.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut errors = String::new();
        child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        let code = child.wait().unwrap().code();
        assert_eq!((code, errors.as_str()), (Some(0), ""), "{line:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_stdout_is_an_error() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let machine = Convoke::new();
    let output = machine.command(&["config", "show"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @"
    error: cannot write to standard output
      No space left on device (os error 28)
    ");
}

#[test]
fn nothing_is_coloured_that_is_not_on_a_terminal() {
    for machine in
        [Convoke::new(), Convoke::new().env("NO_COLOR", "1").env("TERM", "xterm-256color")]
    {
        for line in ["--help", "doctor", "config show", "nonsense", "config show --home x"] {
            assert!(!machine.run(line).contains('\x1b'), "{line}");
        }
    }
}

#[test]
fn more_is_said_on_stderr_on_request_and_the_result_stays_the_same() {
    let machine = Convoke::new();
    insta::assert_snapshot!(machine.run("db migrate -v"), @"
    exit 0
    --- stdout
    applied 1 foundation
    applied 2 whole_messages
    applied 3 rules
    applied 4 attention
    applied 5 changes
    applied 6 histories
    applied 7 search_by_time
    applied 8 users
    --- stderr
     INFO migrated [tmp]/.convoke/convoke.db count=8
    ");
    insta::assert_snapshot!(machine.run("db migrate"), @"
    exit 0
    --- stdout
    [tmp]/.convoke/convoke.db is up to date
    ");
    let machine = machine.env("CONVOKE_LOG", "convoke=info");
    insta::assert_snapshot!(machine.run("db migrate -q"), @"
    exit 0
    --- stdout
    [tmp]/.convoke/convoke.db is up to date
    --- stderr
     INFO migrated [tmp]/.convoke/convoke.db count=0
    ");
}

#[test]
fn a_log_filter_that_is_not_understood_is_a_warning() {
    let machine = Convoke::new().env("CONVOKE_LOG", "convoke=loud");
    insta::assert_snapshot!(machine.run("db migrate"), @r#"
    exit 0
    --- stdout
    applied 1 foundation
    applied 2 whole_messages
    applied 3 rules
    applied 4 attention
    applied 5 changes
    applied 6 histories
    applied 7 search_by_time
    applied 8 users
    --- stderr
     WARN CONVOKE_LOG is invalid and ignored: error parsing level filter: expected one of "off", "error", "warn", "info", "debug", "trace", or a number 0-5
    "#);
}

#[test]
fn what_is_missing_is_named_to_machines_too() {
    let told = Convoke::new().run("session send --json");
    insta::assert_snapshot!(told, @r#"
    exit 2
    --- stderr
    {"error":"the following required arguments were not provided: <ID> <TEXT>","causes":[],"hint":"see `convoke session send --help`","exitCode":2}
    "#);
    let output = Convoke::new().command(&["session", "show", ""]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.starts_with("error: a value is required for '<ID>'"), "{told}");
}
