//! Shell scripts in the place of agents.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::process::Stdio;
use std::time::Instant;

use serde_json::json;

use super::*;
use crate::catalogue::Protocol;
use crate::driver::{Confinement, OwnSandbox, Start};
use crate::leftovers::{self, Outcome};
use crate::lines::Line;

mod supervised;

pub(crate) use supervised::{Held, all_layers, supervised};

/// Longer than any machine takes; a test that gets there has failed.
const TIMEOUT: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(50);

/// A launch of a shell script.
fn launch(workspace: &Path, script: &str) -> Launch {
    Launch {
        protocol: Protocol::Acp,
        program: PathBuf::from("/bin/sh"),
        args: vec!["-c".to_owned(), script.to_owned()],
        environment: BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]),
        workspace: workspace.canonicalize().unwrap(),
        confinement: Confinement::Off,
        missing: Vec::new(),
        own_sandbox: OwnSandbox::None,
        mentions: crate::catalogue::Mentions::Link,
        tools: crate::catalogue::Tools::Stdio,
        temp: None,
        mcp_servers: Vec::new(),
        start: Start::New { id: String::new() },
        start_timeout: TIMEOUT,
        leftovers: None,
        lease: None,
        gate: None,
    }
}

async fn start(script: &str) -> (Child, Pipes) {
    Child::spawn(&launch(&std::env::temp_dir(), script)).await.unwrap()
}

async fn exit_of(script: &str) -> Exit {
    start(script).await.0.exited().await
}

fn exit(exit_code: Option<i32>, signal: Option<i32>, stderr_tail: Option<&str>) -> Exit {
    Exit { exit_code, signal, stderr_tail: stderr_tail.map(str::to_owned) }
}

/// The number that a script prints next.
async fn printed_pid(pipes: &mut Pipes) -> u32 {
    match pipes.lines.next().await.unwrap() {
        Some(Line::Json(value)) => value.as_u64().and_then(|pid| pid.try_into().ok()).unwrap(),
        other => panic!("no number but {other:?}"),
    }
}

pub(crate) async fn until(what: &str, mut fact: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !fact() {
        assert!(Instant::now() < deadline, "never: {what}");
        tokio::task::yield_now().await;
    }
}

/// The state and the parent of a process, if there is one.
fn seen(pid: u32) -> Option<(String, u32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?))
}

fn is_running(pid: u32) -> bool {
    seen(pid).is_some_and(|(state, _)| state != "Z")
}

/// Whether a process, or what is left of it, is a child of this one.
fn is_ours(pid: u32) -> bool {
    seen(pid).is_some_and(|(_, parent)| parent == std::process::id())
}

#[tokio::test]
async fn the_exit_status_is_that_of_the_operating_system() {
    assert_eq!(exit_of("exit 0").await, exit(Some(0), None, None));
    assert_eq!(exit_of("exit 7").await, exit(Some(7), None, None));
    assert_eq!(exit_of("kill -9 $$").await, exit(None, Some(9), None));
    assert_eq!(
        exit_of("printf 'first\\r\\n\\n\\033[31mlast' >&2; exit 1").await,
        exit(Some(1), None, Some("first\n[31mlast"))
    );
}

#[tokio::test]
async fn the_end_can_be_asked_for_again_and_again() {
    let (mut child, pipes) = start("read line; exit 3").await;
    for _ in 0..3 {
        tokio::select! {
            biased;
            exit = child.exited() => panic!("it waits for its input, but ended: {exit}"),
            () = std::future::ready(()) => {}
        }
    }
    pipes.input.close().await;
    assert_eq!(child.exited().await, exit(Some(3), None, None));
    assert_eq!(child.exited().await, exit(Some(3), None, None));
}

#[tokio::test]
async fn an_agent_is_talked_to_by_lines() {
    let (child, mut pipes) = start("while read -r line; do echo \"[$line]\"; done").await;
    pipes.input.send(&json!({"id": 1})).await.unwrap();
    assert_eq!(pipes.lines.next().await.unwrap(), Some(Line::Json(json!([{"id": 1}]))));
    assert_eq!(child.stop(pipes.input).await, exit(Some(0), None, None));
    assert_eq!(pipes.lines.next().await.unwrap(), None);
}

#[tokio::test]
async fn ten_megabytes_on_stderr_do_not_block_the_process() {
    for complaint in ["yes 'a warning from npm'", "tr '\\0' x < /dev/zero"] {
        let script = format!("{complaint} | head -c 10485760 >&2; echo '\"through\"'");
        let (mut child, mut pipes) = start(&script).await;
        assert_eq!(pipes.lines.next().await.unwrap(), Some(Line::Json(json!("through"))));
        let tail = child.exited().await.stderr_tail.unwrap();
        assert!(tail.len() <= 4096 && tail.lines().count() <= 20, "{}", tail.len());
    }
}

#[tokio::test]
async fn the_environment_is_what_the_launch_says_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let given = [("API_KEY", "its own"), ("LANG", "C")];
    let launch = Launch {
        program: PathBuf::from("/usr/bin/env"),
        args: Vec::new(),
        environment: given.map(|(name, value)| (OsString::from(name), value.into())).into(),
        ..launch(folder.path(), "")
    };
    let (_child, mut pipes) = Child::spawn(&launch).await.unwrap();
    let mut reported = Vec::new();
    while let Some(Line::Junk(line)) = pipes.lines.next().await.unwrap() {
        reported.push(line);
    }
    assert_eq!(reported, ["API_KEY=its own", "LANG=C"]);
}

#[tokio::test]
async fn an_agent_works_in_its_workspace() {
    let folder = tempfile::tempdir().unwrap();
    let launch = launch(folder.path(), "echo \"\\\"$(pwd -P)\\\"\"");
    let (_child, mut pipes) = Child::spawn(&launch).await.unwrap();
    let place = json!(launch.workspace);
    assert_eq!(pipes.lines.next().await.unwrap(), Some(Line::Json(place)));
}

/// A shell that starts a shell that starts a third, each printing its pid, and waits for its input to end.
const FAMILY: &str = "sh -c 'sh -c \"echo \\$\\$; exec sleep 1000\" & echo $$; wait' & read line";

#[tokio::test]
async fn children_and_grandchildren_die_with_the_process() {
    type Ending = fn(Child, Pipes) -> std::pin::Pin<Box<dyn Future<Output = ()>>>;
    let endings: [(&str, Ending); 4] = [
        ("dropped", |child, _| Box::pin(async move { drop(child) })),
        ("killed", |mut child, pipes| {
            Box::pin(async move {
                child.kill();
                assert_eq!(child.exited().await.signal, Some(9));
                drop(pipes);
            })
        }),
        ("stopped", |child, pipes| {
            Box::pin(async move {
                child.stop(pipes.input).await;
            })
        }),
        ("ended by itself", |mut child, pipes| {
            Box::pin(async move {
                pipes.input.close().await;
                child.exited().await;
            })
        }),
    ];
    for (how, end) in endings {
        let (child, mut pipes) = start(FAMILY).await;
        let leader = child.pid();
        let (one, two) = (printed_pid(&mut pipes).await, printed_pid(&mut pipes).await);
        assert!([leader, one, two].into_iter().all(is_running));
        end(child, pipes).await;
        until(how, || ![leader, one, two].into_iter().any(is_running)).await;
        until("the leader is no zombie", || !is_ours(leader)).await;
    }
}

#[tokio::test]
async fn escalating_signals_stop_a_process_that_does_not_exit() {
    let stubborn = "while :; do sleep 1000; done";
    let cases = [
        ("echo 0; read line; exit 5".to_owned(), TIMEOUT, TIMEOUT, exit(Some(5), None, None)),
        (format!("echo 0; {stubborn}"), SHORT, TIMEOUT, exit(None, Some(15), None)),
        (format!("trap '' TERM; echo 0; {stubborn}"), SHORT, SHORT, exit(None, Some(9), None)),
    ];
    for (script, close, signal, expected) in cases {
        let (child, mut pipes) = start(&script).await;
        assert_eq!(printed_pid(&mut pipes).await, 0, "it is ready");
        let grace = Grace { close, signal };
        assert_eq!(child.stop_within(grace, pipes.input).await, expected, "{script}");
    }
}

#[tokio::test]
async fn an_escaped_child_that_holds_the_pipes_does_not_hold_up_the_end() {
    let (mut child, mut pipes) = start("setsid sh -c 'echo $$; exec sleep 1000' & read line").await;
    let escaped = printed_pid(&mut pipes).await;
    pipes.input.close().await;
    // The shell's input at its end makes `read` fail.
    assert_eq!(child.exited().await, exit(Some(1), None, None));
    assert!(is_running(escaped));
    let escaped = rustix::process::Pid::from_raw(escaped.cast_signed()).unwrap();
    rustix::process::kill_process(escaped, rustix::process::Signal::KILL).unwrap();
}

#[tokio::test]
async fn a_thousand_rounds_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let launch = Launch {
        program: PathBuf::from("/bin/cat"),
        args: Vec::new(),
        leftovers: Some(folder.path().join("run")),
        gate: None,
        ..launch(folder.path(), "")
    };
    let mut pids = BTreeSet::new();
    for round in 0..1000 {
        let (child, pipes) = Child::spawn(&launch).await.unwrap();
        pids.insert(child.pid());
        if round % 2 == 0 {
            assert_eq!(child.stop(pipes.input).await, exit(Some(0), None, None));
        }
    }
    until("every child is reaped", || !pids.iter().copied().any(is_ours)).await;
    assert_eq!(fs::read_dir(folder.path().join("run")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_workspace_is_an_existing_folder_with_its_links_resolved() {
    let folder = tempfile::tempdir().unwrap();
    let inside = |name: &str| folder.path().canonicalize().unwrap().join(name);
    fs::write(inside("file"), "").unwrap();
    fs::create_dir(inside("folder")).unwrap();
    std::os::unix::fs::symlink(inside("folder"), inside("link")).unwrap();
    let mut reported = Vec::new();
    for name in ["missing", "file", "link", "folder"] {
        let launch = Launch { workspace: inside(name), ..launch(folder.path(), "") };
        reported.push(match Child::spawn(&launch).await {
            Ok(_) => format!("{name}: ok"),
            Err(Error::Workspace { source, .. }) => format!("{name}: {source}"),
            Err(other) => panic!("{other}"),
        });
    }
    let place = inside("").display().to_string();
    insta::assert_snapshot!(reported.join("\n").replace(&place, "[tmp]/"), @r"
    missing: No such file or directory (os error 2)
    file: Not a directory (os error 20)
    link: its links lead to [tmp]/folder
    folder: ok
    ");
}

#[tokio::test]
async fn a_missing_program_is_distinguished_from_one_that_cannot_be_started() {
    let folder = tempfile::tempdir().unwrap();
    let mut launch = launch(folder.path(), "");
    launch.program = folder.path().join("nothing");
    let error = Child::spawn(&launch).await.err().unwrap();
    assert!(matches!(error, Error::NotFound { program } if program == launch.program));
    fs::write(&launch.program, "not executable").unwrap();
    let error = Child::spawn(&launch).await.err().unwrap();
    assert!(matches!(error, Error::Spawn { program, .. } if program == launch.program));
}

/// The variable that passes the arguments to the daemon of the next test.
const DAEMON: &str = "CONVOKE_TEST_DAEMON_FOLDER";

#[test]
fn what_a_killed_daemon_leaves_is_ended_by_its_successor() {
    use std::io::{BufRead, BufReader};

    let folder = tempfile::tempdir().unwrap();
    let mut daemon = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", "process::tests::a_daemon_that_is_killed"])
        .env(DAEMON, folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let reported = BufReader::new(daemon.stdout.take().unwrap());
    let pids: Vec<u32> = reported
        .lines()
        .filter_map(|line| line.unwrap().strip_prefix("pid ")?.parse().ok())
        .take(3)
        .collect();
    assert!(pids.iter().copied().all(is_running) && pids.len() == 3, "{pids:?}");
    let records = folder.path().join("run");
    let outcomes = || {
        let found = leftovers::reap(&records).unwrap();
        found.into_iter().map(|leftover| leftover.outcome).collect::<Vec<_>>()
    };
    assert_eq!(outcomes(), [Outcome::Attended], "as long as the daemon lives");

    daemon.kill().unwrap();
    daemon.wait().unwrap();
    let [Outcome::Killed { processes }] = outcomes()[..] else { panic!("nothing was killed") };
    // The leader may have exited already, as its input has ended.
    assert!((2..=3).contains(&processes), "{processes}");
    assert!(!pids.iter().copied().any(is_running));
    assert_eq!(outcomes(), []);
}

/// Not a separate test: the process that the test above starts, and kills.
#[tokio::test]
async fn a_daemon_that_is_killed() {
    let Some((_, folder)) = std::env::vars_os().find(|(name, _)| name == DAEMON) else { return };
    let workspace = tempfile::tempdir_in(&folder).unwrap();
    let launch = Launch {
        leftovers: Some(Path::new(&folder).join("run")),
        gate: None,
        ..launch(workspace.path(), FAMILY)
    };
    let (mut child, mut pipes) = Child::spawn(&launch).await.unwrap();
    let mut family = vec![child.pid()];
    for _ in 0..2 {
        family.push(printed_pid(&mut pipes).await);
    }
    for pid in family {
        use std::io::Write;
        writeln!(std::io::stdout(), "pid {pid}").unwrap();
    }
    child.exited().await;
}
