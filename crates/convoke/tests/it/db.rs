//! `convoke db`.

use std::fs::File;
use std::io::Write;

use crate::convoke::Convoke;

#[test]
fn s11_migrations_are_applied_shown_and_taken_back() {
    let machine = Convoke::new();
    insta::assert_snapshot!(machine.run("db status"), @"
    exit 0
    --- stdout
    VERSION  NAME            APPLIED
    1        foundation      not yet
    2        whole_messages  not yet
    3        rules           not yet
    4        attention       not yet
    5        changes         not yet
    6        histories       not yet
    7        search_by_time  not yet
    8        users           not yet
    ");
    assert!(!machine.home().join("convoke.db").exists());
    insta::assert_snapshot!(machine.run("db migrate"), @"
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
    ");
    insta::assert_snapshot!(machine.run("db migrate"), @"
    exit 0
    --- stdout
    [tmp]/.convoke/convoke.db is up to date
    ");
    insta::assert_snapshot!(machine.run("db status"), @"
    exit 0
    --- stdout
    VERSION  NAME            APPLIED
    1        foundation      [time]
    2        whole_messages  [time]
    3        rules           [time]
    4        attention       [time]
    5        changes         [time]
    6        histories       [time]
    7        search_by_time  [time]
    8        users           [time]
    ");
    insta::assert_snapshot!(machine.run("db rollback --yes"), @"
    exit 0
    --- stdout
    rolled back 8 users
    ");
    insta::assert_snapshot!(machine.run("db rollback --yes --steps 5"), @"
    exit 0
    --- stdout
    rolled back 7 search_by_time
    rolled back 6 histories
    rolled back 5 changes
    rolled back 4 attention
    rolled back 3 rules
    ");
    insta::assert_snapshot!(machine.run("db rollback --yes --steps 3"), @"
    exit 0
    --- stdout
    rolled back 2 whole_messages
    rolled back 1 foundation
    ");
    insta::assert_snapshot!(machine.run("db rollback --yes"), @"
    exit 0
    --- stdout
    nothing to roll back in [tmp]/.convoke/convoke.db
    ");
}

#[test]
fn s11_machines_get_the_migrations_as_json() {
    let machine = Convoke::new();
    insta::assert_snapshot!(machine.run("db status --json"));
    insta::assert_snapshot!(machine.run("db migrate --json"));
    insta::assert_snapshot!(machine.run("db rollback --yes --json"), @r#"
    exit 0
    --- stdout
    {
      "database": "[tmp]/.convoke/convoke.db",
      "rolledBack": [
        {
          "version": 8,
          "name": "users",
          "appliedAt": "[time]"
        }
      ]
    }
    "#);
}

#[test]
fn a_rollback_without_a_terminal_is_refused() {
    let machine = Convoke::new();
    machine.run("db migrate");
    let before = machine.run("db status");
    insta::assert_snapshot!(machine.run("db rollback"), @"
    exit 2
    --- stderr
    error: a rollback loses data, and there is no terminal to confirm it on
    hint: add `--yes` to confirm
    ");
    insta::assert_snapshot!(machine.run("db rollback --json"), @r#"
    exit 2
    --- stderr
    {"error":"a rollback loses data, and there is no terminal to confirm it on","causes":[],"hint":"add `--yes` to confirm","exitCode":2}
    "#);
    assert_eq!(machine.run("db status"), before);
}

#[test]
fn a_rollback_of_nothing_needs_no_confirmation() {
    insta::assert_snapshot!(Convoke::new().run("db rollback"), @"
    exit 0
    --- stdout
    nothing to roll back in [tmp]/.convoke/convoke.db
    ");
}

#[test]
fn a_rollback_by_no_steps_is_asked_wrongly() {
    insta::assert_snapshot!(Convoke::new().run("db rollback --steps 0"), @"
    exit 2
    --- stderr
    error: invalid value '0' for '--steps <N>': expected a number, at least 1

    For more information, try 'convoke db rollback --help'.
    ");
}

#[test]
fn a_folder_in_place_of_the_database_is_refused() {
    let machine = Convoke::new().folder("convoke.db");
    insta::assert_snapshot!(machine.run("db status"), @"
    exit 1
    --- stderr
    error: [tmp]/.convoke/convoke.db is not a file
    hint: move it away: `mv '[tmp]/.convoke/convoke.db' '[tmp]/.convoke/convoke.db.other'`
    ");
    insta::assert_snapshot!(machine.run("db migrate --json"), @r#"
    exit 1
    --- stderr
    {"error":"[tmp]/.convoke/convoke.db is not a file","causes":[],"hint":"move it away: `mv '[tmp]/.convoke/convoke.db' '[tmp]/.convoke/convoke.db.other'`","exitCode":1}
    "#);
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let garbage = "this is not a database ".repeat(100);
    let machine = Convoke::new().file("convoke.db", &garbage);
    insta::assert_snapshot!(machine.run("db status"), @"
    exit 1
    --- stderr
    error: [tmp]/.convoke/convoke.db is not a database
    hint: move it away (`mv '[tmp]/.convoke/convoke.db' '[tmp]/.convoke/convoke.db.other'`), or choose another home with `--home`
    ");
    insta::assert_snapshot!(machine.run("db migrate"), @"
    exit 1
    --- stderr
    error: [tmp]/.convoke/convoke.db is not a database
    hint: move it away (`mv '[tmp]/.convoke/convoke.db' '[tmp]/.convoke/convoke.db.other'`), or choose another home with `--home`
    ");
    assert_eq!(std::fs::read_to_string(machine.home().join("convoke.db")).unwrap(), garbage);
}

#[test]
fn a_damaged_database_is_refused_with_a_way_to_save_what_is_left() {
    let machine = Convoke::new();
    machine.run("db migrate");
    let path = machine.home().join("convoke.db");
    let mut bytes = std::fs::read(&path).unwrap();
    // The first page keeps the file recognisable as a database.
    bytes[4096..].fill(0xde);
    std::fs::write(&path, bytes).unwrap();
    insta::assert_snapshot!(machine.run("db status"), @"
    exit 1
    --- stderr
    error: [tmp]/.convoke/convoke.db is damaged: database disk image is malformed
    hint: nothing was changed; restore a backup (`ls '[tmp]/.convoke/backups'`, then `convoke restore PATH`), or recover what can be read: `sqlite3 '[tmp]/.convoke/convoke.db' .recover | sqlite3 recovered.db`, then `convoke restore recovered.db`; `convoke db check` lists all damage
    ");
}

#[test]
fn a_database_that_a_daemon_writes_to_is_not_migrated() {
    let machine = Convoke::new().folder("");
    let mut lock = File::create(machine.home().join("convoke.db.lock")).unwrap();
    lock.try_lock().unwrap();
    writeln!(lock, "4242").unwrap();
    insta::assert_snapshot!(machine.run("db migrate"), @"
    exit 1
    --- stderr
    error: [tmp]/.convoke/convoke.db is in use by another process
    hint: stop the daemon first: `convoke stop`; or see what process 4242 is: `ps -p 4242`
    ");
}

#[test]
fn a_mistake_in_the_configuration_does_not_keep_one_from_the_database() {
    let machine = Convoke::new();
    machine.run("db migrate");
    let told = machine.file("config.toml", "nonsense").run("db check");
    assert!(told.starts_with("exit 0\n"), "{told}");
}
