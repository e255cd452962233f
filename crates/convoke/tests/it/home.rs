//! Convoke's home: created, refused, and watched over.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::convoke::{Convoke, set_mode};

#[test]
fn a_new_home_and_its_files_are_for_their_owner_only() {
    let machine = Convoke::new();
    machine.run("db migrate");
    let mut found = Vec::new();
    let mut folders = vec![machine.home()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let metadata = entry.metadata().unwrap();
            let mode = metadata.permissions().mode() & 0o777;
            found.push((entry.path(), mode, if metadata.is_dir() { 0o700 } else { 0o600 }));
            folders.extend(metadata.is_dir().then(|| entry.path()));
        }
    }
    assert!(found.len() >= 3, "{found:?}");
    for (path, mode, expected) in found {
        assert_eq!(format!("{mode:o}"), format!("{expected:o}"), "{}", path.display());
    }
}

#[test]
fn looking_at_the_configuration_creates_nothing() {
    let machine = Convoke::new();
    machine.run("config show");
    assert!(!machine.home().exists());
}

#[test]
fn a_home_that_is_a_file_is_refused() {
    let machine = Convoke::new().file("taken", "");
    let line = format!("db status --home {}", machine.home().join("taken").display());
    insta::assert_snapshot!(machine.run(&line), @"
    exit 1
    --- stderr
    error: the home is not a folder: [tmp]/.convoke/taken
    hint: choose another home than [tmp]/.convoke/taken with `--home`
    ");
    let line = format!("db status --home {}", machine.home().join("taken/below").display());
    insta::assert_snapshot!(machine.run(&line), @"
    exit 1
    --- stderr
    error: cannot create the home [tmp]/.convoke/taken/below
      Not a directory (os error 20)
    hint: choose another home with `--home` or CONVOKE_HOME
    ");
}

#[cfg(target_os = "linux")]
#[test]
fn k1_a_home_that_is_a_folder_of_something_else_is_refused_and_left_as_it_is() {
    let machine = Convoke::new();
    let project = machine.path().join("project");
    fs::create_dir_all(project.join("src")).unwrap();
    fs::write(project.join("src/main.rs"), "").unwrap();
    // Names that a home has, too.
    for name in ["questions", "spawn", "backups"] {
        fs::create_dir(project.join(name)).unwrap();
    }
    let files = [("", 0o755), ("src", 0o755), ("src/main.rs", 0o644)];
    for (path, mode) in files {
        set_mode(&project.join(path), mode);
    }
    for command in
        ["serve", "stop", "status", "session list", "questions list", "spawn --list-sessions"]
    {
        let told = machine.run(&format!("{command} --home {}", project.display()));
        assert_eq!(
            told,
            "exit 2\n--- stderr\n\
             error: [tmp]/project is not a home of Convoke: it has other files\n\
             hint: set `--home` to a new or an empty folder\n",
            "{command}"
        );
    }
    for (path, mode) in files {
        let found = fs::metadata(project.join(path)).unwrap().permissions().mode();
        assert_eq!(found & 0o777, mode, "{path}");
    }
    assert_eq!(fs::read_dir(&project).unwrap().count(), 4);
}

#[test]
fn whatever_the_first_command_in_a_home_was_the_next_one_accepts_it() {
    for command in [
        "backup",
        "doctor",
        "agent list",
        "questions list",
        "spawn --list-sessions",
        "db status",
        "db migrate",
        "stop",
        "status",
        "session list",
        "project list",
        "config show",
    ] {
        let machine = Convoke::new();
        let home = machine.path().join("new");
        fs::create_dir(&home).unwrap();
        machine.run(&format!("{command} --home {}", home.display()));
        let told = machine.run(&format!("config show --home {}", home.display()));
        assert!(told.starts_with("exit 0"), "{command}: {told}");
        // Some of these commands start a daemon.
        let stopped = machine.run(&format!("stop --home {}", home.display()));
        assert!(stopped.starts_with("exit 0"), "{command}: {stopped}");
    }
}

#[test]
fn a_home_that_cannot_be_created_is_refused() {
    insta::assert_snapshot!(Convoke::new().run("db status --home /proc/nowhere"), @"
    exit 1
    --- stderr
    error: cannot create the home /proc/nowhere
      No such file or directory (os error 2)
    hint: choose another home with `--home` or CONVOKE_HOME
    ");
}

#[test]
fn a_home_that_depends_on_the_current_folder_is_refused() {
    insta::assert_snapshot!(Convoke::new().run("db status --home data"), @"
    exit 2
    --- stderr
    error: the home given by flag --home is not an absolute path: data
    hint: give `--home` an absolute path
    ");
    insta::assert_snapshot!(Convoke::new().run_args(&["db", "status", "--home", ""]), @"
    exit 2
    --- stderr
    error: a value is required for '--home <PATH>' but none was supplied

    For more information, try 'convoke db status --help'.
    ");
    insta::assert_snapshot!(Convoke::new().env("CONVOKE_HOME", "data").run("config show"), @"
    exit 2
    --- stderr
    error: the home given by env CONVOKE_HOME is not an absolute path: data
    hint: set CONVOKE_HOME to an absolute path, or unset it
    ");
    insta::assert_snapshot!(Convoke::new().env("HOME", "").run("config show"), @"
    exit 2
    --- stderr
    error: cannot locate the home: HOME is not set to an absolute path
    hint: set HOME, CONVOKE_HOME or `--home` to an absolute path
    ");
}

#[test]
fn machines_are_told_of_a_refused_home_in_json() {
    insta::assert_snapshot!(Convoke::new().run("db status --home data --json"), @r#"
    exit 2
    --- stderr
    {"error":"the home given by flag --home is not an absolute path: data","causes":[],"hint":"give `--home` an absolute path","exitCode":2}
    "#);
}

#[test]
fn a_home_that_others_can_enter_is_a_warning() {
    let machine = Convoke::new().folder("");
    set_mode(&machine.home(), 0o755);
    let told = machine.run("db migrate");
    let (_, warning) = told.split_once("--- stderr\n").unwrap();
    insta::assert_snapshot!(warning, @" WARN other users can read the home [tmp]/.convoke (mode 755); run `chmod 700 '[tmp]/.convoke'`");
}

#[test]
fn a_log_that_cannot_be_written_is_a_warning() {
    let told = Convoke::new().file("logs", "a file where a folder should be").run("db migrate");
    assert!(told.starts_with("exit 0\n"), "{told}");
    let (_, warning) = told.split_once("--- stderr\n").unwrap();
    insta::assert_snapshot!(warning, @" WARN cannot log to a file: [tmp]/.convoke/logs is not a writable folder: File exists (os error 17)");
}
