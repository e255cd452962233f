//! K5, K1: a home whose disk is full, that is read-only, or whose permissions an agent has changed.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use convoke_testkit::wait::until;
use serde_json::Value;

use crate::convoke::{Convoke, set_mode};
use crate::daemon_scene::Scene;

/// How long a command may take: a second is the aim, and the machine may be busy with other tests.
const LIMIT: Duration = Duration::from_secs(5);

/// Commands that read, and need no daemon.
const READS: [&str; 6] =
    ["config show", "agent list", "questions list", "spawn --list-sessions", "doctor", "status"];

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A small disk on which the home of a machine lies.
struct Disk {
    home: PathBuf,
    /// How to run programs that see the disk.
    wrapper: Vec<String>,
    /// Keeps the namespace in which the disk is mounted, for users who may mount nothing elsewhere.
    holder: Option<Child>,
}

impl Disk {
    fn mount(home: &Path) -> Self {
        fs::create_dir_all(home).unwrap();
        let home = home.to_owned();
        let mount =
            format!("mount -t tmpfs -o size=64m,mode=700 convoke-test '{}'", home.display());
        if is_root() {
            let mounted = Command::new("/bin/sh").args(["-c", &mount]).status().unwrap();
            assert!(mounted.success(), "{mount}");
            return Self { home, wrapper: Vec::new(), holder: None };
        }
        let script = format!("{mount} && echo mounted && exec sleep 600");
        let mut holder = Command::new("/usr/bin/unshare")
            .args(["--user", "--map-root-user", "--mount", "/bin/sh", "-c", &script])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "mounted\n");
        let pid = holder.id().to_string();
        let enter = ["/usr/bin/nsenter", "-t", &pid, "-U", "-m", "--preserve-credentials"];
        // The current folder is left with the namespace that it is in.
        let stay = ["/usr/bin/env", "-C", home.parent().unwrap().to_str().unwrap()];
        let wrapper = enter.iter().chain(&stay).map(ToString::to_string).collect();
        Self { home, wrapper, holder: Some(holder) }
    }

    /// Runs a line of shell that sees the disk.
    fn shell(&self, script: &str) -> bool {
        let mut words = self.wrapper.clone();
        words.extend(["/bin/sh", "-c", script].map(str::to_owned));
        let (program, args) = words.split_first().unwrap();
        Command::new(program).args(args).stderr(Stdio::null()).status().unwrap().success()
    }

    /// The home as this process sees it.
    fn seen(&self, name: &str) -> PathBuf {
        match &self.holder {
            Some(holder) => {
                PathBuf::from(format!("/proc/{}/root{}", holder.id(), self.home.display()))
            }
            None => self.home.clone(),
        }
        .join(name)
    }

    /// Fills the disk to the last byte, as an agent's process would.
    fn fill(&self) {
        let file = self.home.join("filled-by-an-agent");
        assert!(!self.shell(&format!("cat /dev/zero > '{}'", file.display())), "it was filled");
    }
}

/// A machine whose home lies on a small disk.
struct Small {
    scene: Scene,
    disk: Disk,
}

impl Small {
    fn new() -> Self {
        let machine = Convoke::new();
        let disk = Disk::mount(&machine.home());
        let wrapper: Vec<&str> = disk.wrapper.iter().map(String::as_str).collect();
        let machine = machine.under(&wrapper);
        fs::create_dir(machine.path().join("web")).unwrap();
        let config = "printf '[server]\\nlisten = \"127.0.0.1:0\"\\n' > ";
        assert!(disk.shell(&format!("{config}'{}'", machine.home().join("config.toml").display())));
        Self { scene: Scene { machine }, disk }
    }

    fn daemon(&self) -> Value {
        serde_json::from_slice(&fs::read(self.disk.seen("run/daemon.json")).unwrap()).unwrap()
    }

    /// Runs a command, which must succeed in time.
    #[expect(clippy::print_stdout, reason = "what was measured is shown with a failure")]
    fn in_time(&self, line: &str) -> String {
        let start = Instant::now();
        let told = self.scene.machine.run(line);
        let took = start.elapsed();
        println!("{line} took {} ms", took.as_millis());
        assert!(told.starts_with("exit 0\n"), "{line}: {told}");
        assert!(took < LIMIT, "{line} took {took:?}");
        told
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        // Before the folder of the machine is removed, and also when a test fails.
        self.scene.machine.command(&["stop"]).output().ok();
        match &mut self.disk.holder {
            Some(holder) => {
                holder.kill().ok();
                holder.wait().ok();
            }
            // Twice: one test mounts the home over itself.
            None => {
                for _ in 0..2 {
                    Command::new("umount").arg("-l").arg(&self.disk.home).output().ok();
                }
            }
        }
    }
}

fn health(daemon: &Value) -> String {
    let host = daemon["url"].as_str().unwrap().strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let head = format!("GET /healthz HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn k5_decisions_and_commands_work_on_a_disk_that_an_agent_has_filled() {
    let small = Small::new();
    let (scene, disk) = (&small.scene, &small.disk);
    let (session, other) = (scene.session(), scene.session());
    let count = scene.count(&session);
    scene.run_args(&["session", "send", &session, "/write notes.txt hello"]);
    let request = scene.asked(&session, &count)["id"].as_str().unwrap().to_owned();
    let reserved = || fs::metadata(disk.seen("run/reserve")).map_or(0, |file| file.blocks() * 512);
    until("the reserve is allocated", || reserved() == 8 << 20);
    assert!(health(&small.daemon()).contains(r#""status":"ok""#));

    disk.fill();
    let daemon = small.daemon();
    until("the daemon says that it is degraded", || health(&daemon).contains("degraded"));
    let told = health(&daemon);
    assert!(told.starts_with("HTTP/1.1 200 ") && told.contains("is full"), "{told}");
    let told = scene.machine.run(&format!("session send {other} hello"));
    assert!(told.starts_with("exit 1\n"), "the disk takes nothing more: {told}");

    let status = small.in_time("status");
    assert!(status.contains("PROBLEM   the disk of the home is full"), "{status}");
    let reading = "inbox list, rule list, session list, agent list, questions list, config show";
    for line in reading.split(", ") {
        small.in_time(line);
    }
    small.in_time(&format!("session show {session}"));
    small.in_time(&format!("inbox allow {request}"));
    assert!(reserved() < 8 << 20, "the reserve gave up space");
    small.in_time("stop --agents");
    small.in_time("stop");

    // It starts on the full disk, too, and remembers the decision.
    let pending = scene.machine.json("inbox list --json")["items"].to_string();
    assert!(!pending.contains(&request), "{pending}");
    small.in_time("stop");
}

#[test]
fn k5_space_that_comes_free_is_set_aside_again() {
    let small = Small::new();
    small.scene.session();
    let reserve = small.disk.seen("run/reserve");
    let reserved = || fs::metadata(&reserve).map_or(0, |file| file.blocks() * 512);
    until("the reserve is allocated", || reserved() == 8 << 20);
    small.disk.fill();
    small.scene.run("stop");
    // The next daemon needs some of it to start.
    small.scene.session();
    assert!(reserved() < 8 << 20, "{}", reserved());
    assert!(
        small.disk.shell(&format!("rm '{}'", small.disk.home.join("filled-by-an-agent").display()))
    );
    until("the reserve is allocated again", || reserved() == 8 << 20);
    let daemon = small.daemon();
    until("all is well again", || health(&daemon).contains(r#""status":"ok""#));
}

#[test]
fn k5_commands_that_read_work_in_a_read_only_home() {
    let small = Small::new();
    small.scene.session();
    small.scene.run("stop");
    let home = small.disk.home.display().to_string();
    let script = format!("mount --bind '{home}' '{home}' && mount -o remount,bind,ro '{home}'");
    assert!(small.disk.shell(&script));
    assert!(!small.disk.shell(&format!("touch '{home}/x'")), "it is read-only");
    for line in READS {
        let told = small.scene.machine.run(line);
        let code = match line {
            "status" => "exit 3\n",
            "doctor" => "exit 1\n",
            _ => "exit 0\n",
        };
        assert!(told.starts_with(code), "{line}: {told}");
        assert!(!told.contains("WARN"), "{line}: {told}");
    }
    let told = small.scene.machine.run("serve");
    assert!(told.starts_with("exit 1\n--- stderr\nerror: cannot write in the home "), "{told}");
}

/// Everything in a folder, with when it was changed.
fn contents(folder: &Path) -> Vec<(PathBuf, SystemTime, u64)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let metadata = entry.metadata().unwrap();
            found.push((entry.path(), metadata.modified().unwrap(), metadata.len()));
            folders.extend(metadata.is_dir().then(|| entry.path()));
        }
        let changed = fs::metadata(&folder).unwrap().modified().unwrap();
        found.push((folder, changed, 0));
    }
    found.sort();
    found
}

#[test]
fn k5_commands_that_read_write_nothing_into_the_home() {
    let scene = Scene::new();
    let none = Convoke::new();
    for line in READS {
        none.run(line);
        assert!(!none.home().exists(), "{line} made a home");
    }
    scene.session();
    scene.run("stop");
    let before = contents(&scene.machine.home());
    for line in READS {
        scene.machine.run(line);
        assert_eq!(contents(&scene.machine.home()), before, "{line} wrote");
    }
}

/// A machine of a user for whom permissions count: root is let in everywhere.
fn ordinary() -> Convoke {
    let machine = Convoke::new().file("config.toml", "[server]\nlisten = \"127.0.0.1:0\"\n");
    if !is_root() {
        return machine;
    }
    let given = Command::new("chown").args(["-R", "65534:65534"]).arg(machine.path()).status();
    assert!(given.unwrap().success());
    machine.under(&["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn k1_permissions_that_an_agent_changed_are_put_back_while_the_daemon_runs() {
    let machine = ordinary();
    let home = machine.home();
    machine.run("session list");
    let changed = [("", 0o755, 0o700), ("convoke.db", 0o666, 0o600), ("run/token", 0o644, 0o600)];
    for (name, given, _) in changed {
        set_mode(&home.join(name), given);
    }
    for (name, _, wanted) in changed {
        until(name, || mode(&home.join(name)) == wanted);
    }
    until("the log says so", || {
        let logs = fs::read_dir(home.join("logs")).unwrap();
        let mut texts = logs.map(|log| fs::read_to_string(log.unwrap().path()).unwrap());
        let is_it = |line: &str| {
            line.contains("convoke.db from 666") && line.contains(r#""target":"security""#)
        };
        texts.any(|text| text.lines().any(is_it))
    });
    machine.run("stop");
}

#[test]
fn k1_a_home_that_an_agent_made_unreadable_does_not_keep_the_daemon_from_starting() {
    let machine = ordinary();
    let home = machine.home();
    machine.run("session list");
    machine.run("stop");
    let take_away = || {
        for name in ["run/token", "convoke.db", "logs", "run", ""] {
            set_mode(&home.join(name), 0o000);
        }
    };
    take_away();
    let told = machine.run("status");
    assert!(told.starts_with("exit 3\n") && told.contains("the daemon is not running"), "{told}");
    take_away();
    let told = machine.run("session list");
    assert!(told.starts_with("exit 0\n"), "{told}");
    assert!(told.contains("from 000 to 700"), "it says so: {told}");
    assert_eq!(mode(&home), 0o700);
    take_away();
    let told = machine.run("stop");
    assert!(told.contains("stopped the daemon"), "{told}");
}
