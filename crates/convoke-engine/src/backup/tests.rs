//! Backups of a home with a real database in it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use convoke_store::schema;
use tempfile::TempDir;

use super::*;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000 + millis)
}

/// A home with a database, questions, a transcript and settings.
fn home() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    schema::migrate(home.path().join(DATABASE), at(0)).unwrap();
    for (name, text) in [
        ("config.toml", "[pool]\n"),
        ("questions/a/request.json", "{}"),
        ("questions/a/session.lock", "1"),
        ("spawn/sessions/größe.jsonl", "{}\n"),
        ("run/token", "secret"),
    ] {
        let path = home.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    std::os::unix::fs::symlink("/etc/passwd", home.path().join("questions/a/link")).unwrap();
    home
}

fn plan(home: &Path, keep: Option<usize>) -> Plan {
    let entries = ["config.toml", "teams.json", "questions", "spawn/sessions"];
    Plan {
        home: home.to_owned(),
        entries: entries.map(PathBuf::from).to_vec(),
        folder: home.join("backups"),
        keep,
        version: "1.2.3".to_owned(),
    }
}

#[test]
fn k8_a_backup_holds_the_data_of_a_home_and_neither_tokens_nor_links() {
    let home = home();
    let mut steps = Vec::new();
    let backup = make(&plan(home.path(), None), at(0), |step| steps.push(step)).unwrap();
    let names: Vec<_> =
        backup.manifest.files.iter().map(|file| file.path.to_str().unwrap()).collect();
    assert_eq!(
        names,
        ["convoke.db", "config.toml", "questions/a/request.json", "spawn/sessions/größe.jsonl"]
    );
    assert_eq!(Manifest::verify(&backup.path).unwrap(), backup.manifest);
    assert_eq!(backup.manifest.database, Contents { schema: 8, sessions: 0, messages: 0 });
    assert!(!steps.is_empty());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&backup.path), 0o700);
    for file in &backup.manifest.files {
        assert_eq!(mode(&backup.path.join(&file.path)), 0o600, "{}", file.path.display());
    }
}

#[test]
fn k8_older_backups_go_only_after_a_new_one_was_read_back() {
    let home = home();
    let plan = plan(home.path(), Some(2));
    // Not a backup: never touched, despite its name.
    fs::create_dir_all(plan.folder.join("convoke-notes")).unwrap();
    // Left by a killed backup.
    fs::create_dir_all(plan.folder.join(".partial-convoke-then/questions")).unwrap();
    let made: Vec<_> = (0..3).map(|day| make(&plan, at(day), |_| {}).unwrap()).collect();
    assert_eq!(made[2].removed, [made[0].path.clone()]);
    assert_eq!(list(&plan.folder).unwrap(), [made[1].path.clone(), made[2].path.clone()]);
    assert_eq!(newest(&plan.folder).unwrap().unwrap().0, made[2].path);
    assert!(plan.folder.join("convoke-notes").exists());
    assert!(!plan.folder.join(".partial-convoke-then").exists());
    // A backup that fails removes nothing.
    fs::write(home.path().join(DATABASE), vec![7; 8192]).unwrap();
    make(&plan, at(3), |_| {}).unwrap_err();
    assert_eq!(list(&plan.folder).unwrap().len(), 2);
    let left = fs::read_dir(&plan.folder).unwrap().count();
    assert_eq!(left, 3, "two backups and the folder that is not ours");
}

#[test]
fn k8_a_backup_with_any_changed_file_is_not_restored_and_changes_nothing() {
    let home = home();
    let backup = make(&plan(home.path(), None), at(0), |_| {}).unwrap();
    for file in &backup.manifest.files {
        let path = backup.path.join(&file.path);
        let whole = fs::read(&path).unwrap();
        let mut spoiled = whole.clone();
        spoiled[0] ^= 1;
        for bytes in [&spoiled[..], &whole[1..]] {
            fs::write(&path, bytes).unwrap();
            let refused = restore(home.path(), &backup.path, at(1)).unwrap_err();
            assert!(matches!(refused, Error::Damaged { .. }), "{refused:?}");
        }
        fs::write(&path, whole).unwrap();
    }
    assert!(!home.path().join("set-aside").exists());
    assert_eq!(unfinished_restore(home.path()), None);
    // A manifest with a path that leads out of the home.
    let path = backup.path.join("manifest.json");
    let text = fs::read_to_string(&path).unwrap().replace("config.toml", "../evil");
    fs::write(&path, text).unwrap();
    let refused = restore(home.path(), &backup.path, at(1)).unwrap_err();
    assert!(matches!(refused, Error::NotABackup { .. }), "{refused:?}");
}

#[test]
fn k8_a_restore_brings_everything_back_and_sets_aside_what_was_there() {
    let home = home();
    let backup = make(&plan(home.path(), None), at(0), |_| {}).unwrap();
    fs::write(home.path().join("config.toml"), "changed").unwrap();
    fs::write(home.path().join("questions/a/answers.json"), "new").unwrap();
    fs::write(home.path().join(DATABASE), "damaged").unwrap();
    let restored = restore(home.path(), &backup.path, at(1)).unwrap();
    let read = |name: &str| fs::read_to_string(home.path().join(name)).unwrap();
    assert_eq!(read("config.toml"), "[pool]\n");
    assert!(!home.path().join("questions/a/answers.json").exists());
    schema::check(home.path().join(DATABASE)).unwrap();
    let aside = restored.set_aside.unwrap();
    let aside = |name: &str| fs::read_to_string(aside.join(name)).unwrap();
    assert_eq!([aside("config.toml"), aside(DATABASE)], ["changed", "damaged"]);
    assert_eq!(aside("questions/a/answers.json"), "new");
    assert_eq!(read("run/token"), "secret", "what is not part of a backup stays");
}
