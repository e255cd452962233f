//! Real processes, with true and false records of them.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use super::*;

/// A folder with records and a workspace.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        fs::create_dir(home.workspace()).unwrap();
        home
    }

    fn workspace(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap().join("workspace")
    }

    fn records(&self) -> PathBuf {
        self.0.path().join("run")
    }

    /// Starts a group with a shell script, in the workspace.
    fn start(&self, script: &str) -> Group {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", script]).current_dir(self.workspace()).process_group(0);
        Group(shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap())
    }

    /// Records a group as if a daemon that is dead had started it, with changes.
    fn record(&self, group: &Group, change: impl FnOnce(&mut Entry)) -> PathBuf {
        let record = Record::write(
            &self.records(),
            group.0.id(),
            Path::new("/bin/sh"),
            &self.workspace(),
            Keeper::None,
        );
        let path = record.unwrap().path.clone();
        let leader = proc::look_at(group.0.id()).unwrap();
        let mut entry = Entry {
            leader: leader.identity(),
            session: leader.session,
            starter: Identity { pid: std::process::id(), start: 1 },
            boot: proc::boot().unwrap(),
            program: PathBuf::from("/bin/sh"),
            workspace: self.workspace(),
            keeper: Keeper::None,
        };
        change(&mut entry);
        fs::write(&path, serde_json::to_vec(&entry).unwrap()).unwrap();
        path
    }

    fn reap(&self) -> Vec<Outcome> {
        reap(&self.records()).unwrap().into_iter().map(|leftover| leftover.outcome).collect()
    }
}

/// A group that ends with the test.
struct Group(Child);

impl Group {
    fn is_alive(&self) -> bool {
        proc::look_at(self.0.id()).is_some_and(|seen| seen.is_alive())
    }

    /// The number that the script prints.
    fn printed_pid(&mut self) -> u32 {
        use std::io::{BufRead, BufReader};
        let mut line = String::new();
        BufReader::new(self.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        line.trim().parse().unwrap()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let pid = Pid::from_raw(self.0.id().cast_signed()).unwrap();
        kill_process_group(pid, Signal::KILL).ok();
        self.0.wait().unwrap();
    }
}

#[test]
fn nothing_is_left_where_nothing_was_recorded() {
    assert_eq!(reap(Path::new("/nowhere/at/all")).unwrap(), []);
}

#[test]
fn a_record_that_was_never_finished_goes_with_its_writer() {
    let home = Home::new();
    fs::create_dir(home.records()).unwrap();
    // No process has the greatest number there is.
    let dead = home.records().join(format!("7-{}.new", i32::MAX));
    let living = home.records().join(format!("7-{}.new", std::process::id()));
    for path in [&dead, &living] {
        fs::write(path, "").unwrap();
    }
    assert_eq!(home.reap(), []);
    assert_eq!((dead.exists(), living.exists()), (false, true));
}

#[test]
fn a_record_that_its_living_starter_could_not_remove_goes_with_the_group() {
    let home = Home::new();
    let group = home.start("read never");
    let starter = proc::look_at(std::process::id()).unwrap().identity();
    let path = home.record(&group, |entry| entry.starter = starter);
    assert_eq!(home.reap(), [Outcome::Attended]);
    drop(group);
    assert_eq!(home.reap(), [Outcome::Gone]);
    assert!(!path.exists());
}

#[test]
fn a_group_that_cannot_be_recorded_leaves_no_file() {
    let home = Home::new();
    let group = home.start("read never");
    // A folder in the place of the record.
    fs::create_dir_all(home.records().join(format!("{}.json/full", group.0.id()))).unwrap();
    let record = Record::write(
        &home.records(),
        group.0.id(),
        Path::new("/bin/sh"),
        &home.workspace(),
        Keeper::None,
    );
    assert!(record.is_err());
    assert_eq!(fs::read_dir(home.records()).unwrap().count(), 1);
}

#[test]
fn a_record_is_there_as_long_as_its_group_and_private() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let group = home.start("read never");
    let record = Record::write(
        &home.records(),
        group.0.id(),
        Path::new("/bin/sh"),
        &home.workspace(),
        Keeper::None,
    )
    .unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&home.records()), mode(&record.path)), (0o700, 0o600));
    assert_eq!(home.reap(), [Outcome::Attended], "this process is its starter, and lives");
    assert!(group.is_alive());
    drop(record);
    assert_eq!(fs::read_dir(home.records()).unwrap().count(), 0);
}

#[test]
fn a_group_is_killed_when_its_starter_is_dead() {
    let home = Home::new();
    let mut group = home.start("sleep 1000 & echo $!; wait");
    let child = group.printed_pid();
    let record = home.record(&group, |_| {});
    assert_eq!(home.reap(), [Outcome::Killed { processes: 2 }]);
    assert!(!group.is_alive());
    assert!(!proc::look_at(child).is_some_and(|seen| seen.is_alive()));
    assert!(!record.exists());
}

#[test]
fn a_process_with_a_reused_pid_is_not_killed() {
    let home = Home::new();
    let group = home.start("read never");
    let record = home.record(&group, |entry| entry.leader.start -= 1);
    assert_eq!(home.reap(), [Outcome::Gone]);
    assert!(group.is_alive());
    assert!(!record.exists());
}

#[test]
fn a_record_of_another_boot_says_nothing() {
    let home = Home::new();
    let group = home.start("read never");
    home.record(&group, |entry| entry.boot = "another".to_owned());
    assert_eq!(home.reap(), [Outcome::Gone]);
    assert!(group.is_alive());
}

#[test]
fn a_damaged_record_hides_no_other_and_is_kept() {
    let home = Home::new();
    let group = home.start("read never");
    home.record(&group, |_| {});
    let damaged = home.records().join("1.json");
    fs::write(&damaged, "{\"leader\":").unwrap();
    fs::write(home.records().join("2.new"), "").unwrap();
    assert_eq!(home.reap(), [Outcome::Killed { processes: 1 }]);
    assert!(damaged.exists());
}

/// A group whose leader is dead and reaped, the one member that is left, and what the record says.
fn leaderless(home: &Home, change: impl FnOnce(&mut Entry)) -> (Group, u32) {
    // The leader waits for its input to end, as adapters do.
    let mut group = home.start("sleep 1000 & echo $!; read never");
    let member = group.printed_pid();
    home.record(&group, change);
    drop(group.0.stdin.take());
    group.0.wait().unwrap();
    assert!(proc::look_at(group.0.id()).is_none());
    assert!(proc::look_at(member).unwrap().is_alive());
    (group, member)
}

#[test]
fn members_of_a_group_that_lost_its_leader_are_killed() {
    let home = Home::new();
    let (_group, member) = leaderless(&home, |_| {});
    assert_eq!(home.reap(), [Outcome::Killed { processes: 1 }]);
    assert!(!proc::look_at(member).is_some_and(|seen| seen.is_alive()));
}

#[test]
fn processes_of_another_group_are_not_killed() {
    let changes: [fn(&mut Entry); 3] = [
        |entry| entry.session += 1,
        |entry| entry.leader.start = u64::MAX,
        |entry| entry.workspace.push("deeper"),
    ];
    for change in changes {
        let home = Home::new();
        let (_group, member) = leaderless(&home, change);
        assert_eq!(home.reap(), [Outcome::Gone]);
        assert!(proc::look_at(member).is_some_and(|seen| seen.is_alive()));
    }
}
