//! Real commands in real groups.

use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::acp::tests::scene::launch;
use crate::driver::Start;
use crate::process::tests::{Held, all_layers, supervised};
use crate::sandbox::{Layers, Policy};

fn terminals() -> (TempDir, Terminals) {
    let folder = tempfile::tempdir().unwrap();
    let start = Start::New { id: "unused".to_owned() };
    let launch = launch(folder.path().canonicalize().unwrap(), start);
    (folder, Terminals::new(launch))
}

fn order(command: &str, args: &[&str]) -> Order {
    Order {
        command: command.to_owned(),
        args: args.iter().map(ToString::to_string).collect(),
        environment: vec![("GREETING".into(), "hi".into())],
        folder: None,
        output_bytes_max: None,
    }
}

async fn run(terminals: &mut Terminals, order: Order) -> (Value, Value) {
    let id = terminals.create(order).unwrap();
    let exit = terminals.exit(&id).unwrap().await.unwrap();
    (exit, terminals.output(&id).unwrap())
}

/// As goose does.
#[tokio::test]
async fn a_line_without_arguments_is_for_a_shell() {
    let (folder, mut terminals) = terminals();
    let line = "echo $GREETING > s1.txt; cat s1.txt; echo oops >&2; exit 3";
    let (exit, output) = run(&mut terminals, order(line, &[])).await;
    insta::assert_snapshot!(exit, @r#"{"exitCode":3,"signal":null}"#);
    insta::assert_snapshot!(output, @r#"{"exitStatus":{"exitCode":3,"signal":null},"output":"hi\noops\n","truncated":false}"#);
    assert!(folder.path().join("s1.txt").exists());
}

/// As kimi does.
#[tokio::test]
async fn a_command_with_arguments_is_run_as_it_is() {
    let (folder, mut terminals) = terminals();
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    let mut order = order("sh", &["-c", "basename \"$PWD\"; echo \"$0\"", "a b"]);
    order.folder = Some(folder.path().canonicalize().unwrap().join("sub"));
    let (_, output) = run(&mut terminals, order).await;
    insta::assert_snapshot!(output, @r#"{"exitStatus":{"exitCode":0,"signal":null},"output":"sub\na b\n","truncated":false}"#);
}

/// Started through a supervisor, as in the daemon; what the environment preloads must not reach that.
#[tokio::test]
async fn k1_a_command_is_confined_as_the_agent_is_whatever_its_environment_says() {
    let (folder, mut terminals) = terminals();
    let outside = crate::scratch::folder();
    let secret = outside.path().canonicalize().unwrap().join("secret");
    std::fs::write(&secret, "for the owner only").unwrap();
    let touch = format!("echo in > inside; echo out > {}/new", outside.path().display());
    let (_, output) = run(&mut terminals, order(&touch, &[])).await;
    assert_eq!(output["output"], "", "unconfined, it works");
    std::fs::remove_file(outside.path().join("new")).unwrap();

    terminals.launch.confinement = supervised(Policy {
        layers: all_layers(),
        hidden: vec![outside.path().canonicalize().unwrap()],
        ..Policy::unconfined()
    });
    let mut preloaded = order(&format!("cat {}; {touch}", secret.display()), &[]);
    let library = folder.path().join("evil.so");
    std::fs::write(&library, "not even a library").unwrap();
    preloaded.environment = vec![("LD_PRELOAD".into(), library.into())];
    let (_, output) = run(&mut terminals, preloaded).await;
    let reported = output["output"].as_str().unwrap();
    assert!(!reported.contains("for the owner only"), "{reported}");
    // The dynamic linker complains in the program, and in none of the stages before it.
    assert!(reported.contains("LD_PRELOAD") && !reported.contains("convoke:"), "{reported}");
    assert!(folder.path().join("inside").exists());
    assert!(!outside.path().join("new").exists());
}

/// Files in `/tmp` and the like that the user has an agent started with are shown to it. What an agent names itself is
/// not.
#[tokio::test]
async fn k1_a_command_does_not_see_a_file_of_others_by_naming_it() {
    let (_folder, mut terminals) = terminals();
    let theirs = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(theirs.path(), "theirs").unwrap();
    let path = theirs.path().to_str().unwrap();
    let mut reported = Vec::new();
    for layers in [Layers::NONE, all_layers()] {
        terminals.launch.confinement = supervised(Policy { layers, ..Policy::unconfined() });
        let (exit, _) = run(&mut terminals, order("grep", &["theirs", path])).await;
        reported.push(exit["exitCode"].as_i64());
    }
    assert_eq!(reported, [Some(0), Some(2)]);
}

/// What a command leaves running is the agent's until it releases the terminal, and ends then, whatever it moved to.
#[tokio::test]
async fn k3_what_a_command_leaves_running_ends_with_its_terminal() {
    let (folder, mut terminals) = terminals();
    for layers in [Layers::NONE, all_layers()] {
        terminals.launch.confinement = supervised(Policy { layers, ..Policy::unconfined() });
        let held = Held::new(folder.path(), "held");
        let line = "setsid sh -c 'exec 3>held; echo > up; exec sleep 1000' & \
                    while [ ! -e up ]; do sleep 0.01; done";
        let id = terminals.create(order(line, &[])).unwrap();
        let exit = terminals.exit(&id).unwrap().await.unwrap();
        assert_eq!(exit["exitCode"], 0);
        terminals.release(&id).unwrap();
        held.released("the terminal is released").await;
        for name in ["held", "up"] {
            std::fs::remove_file(folder.path().join(name)).unwrap();
        }
    }
}

#[tokio::test]
async fn what_cannot_be_run_is_an_error() {
    let (_folder, mut terminals) = terminals();
    let missing = terminals.create(order("no-such-program", &["x"])).unwrap_err();
    assert_eq!(missing.message, "there is no program no-such-program");
    let mut elsewhere = order("true", &[]);
    elsewhere.folder = Some(Path::new("/no/such/folder").to_owned());
    assert!(terminals.create(elsewhere).is_err());
    let unknown = "there is no terminal x";
    assert_eq!(terminals.output("x").unwrap_err().message, unknown);
    assert_eq!(terminals.kill("x").unwrap_err().message, unknown);
    assert_eq!(terminals.release("x").unwrap_err().message, unknown);
    assert_eq!(terminals.exit("x").err().unwrap().message, unknown);
}

#[tokio::test]
async fn only_the_end_of_a_long_output_is_kept() {
    let (_folder, mut terminals) = terminals();
    let mut order = order("printf '1234567890'", &[]);
    order.output_bytes_max = Some(4);
    let (_, output) = run(&mut terminals, order).await;
    insta::assert_snapshot!(output, @r#"{"exitStatus":{"exitCode":0,"signal":null},"output":"7890","truncated":true}"#);
}

#[tokio::test]
async fn a_killed_command_ends_with_all_that_it_started_and_can_still_be_read() {
    let (_folder, mut terminals) = terminals();
    let id = terminals.create(order("echo begun; tail -f /dev/null & wait", &[])).unwrap();
    let exit = terminals.exit(&id).unwrap();
    assert_eq!(terminals.output(&id).unwrap()["exitStatus"], Value::Null);
    terminals.kill(&id).unwrap();
    insta::assert_snapshot!(exit.await.unwrap(), @r#"{"exitCode":null,"signal":"SIGKILL"}"#);
    assert_eq!(terminals.output(&id).unwrap()["exitStatus"]["signal"], "SIGKILL");
}

#[tokio::test]
async fn what_a_command_left_running_is_the_agents_until_it_is_released() {
    let (folder, mut terminals) = terminals();
    let fifo = folder.path().join("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    // The one that is left holds the pipe open for reading as long as it lives.
    let (_, output) = run(
        &mut terminals,
        order("{ exec 3<>fifo; echo ready; read x <&3; read x <&3; } & echo done", &[]),
    )
    .await;
    assert!(output["output"].as_str().unwrap().contains("done"));
    let open = || {
        std::fs::OpenOptions::new()
            .write(true)
            .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
            .open(&fifo)
    };
    while open().is_err() {
        tokio::task::yield_now().await;
    }
    terminals.release("terminal-1").unwrap();
    while open().is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(terminals.shown("terminal-1").unwrap().contains("done"));
    assert!(terminals.output("terminal-1").is_err());
}

#[tokio::test]
async fn waiting_for_a_command_that_is_released_ends() {
    let (_folder, mut terminals) = terminals();
    let id = terminals.create(order("tail -f /dev/null", &[])).unwrap();
    let exit = terminals.exit(&id).unwrap();
    terminals.release(&id).unwrap();
    insta::assert_snapshot!(exit.await.unwrap(), @r#"{"exitCode":null,"signal":null}"#);
}

#[tokio::test]
async fn there_are_only_so_many_terminals() {
    let (_folder, mut terminals) = terminals();
    for _ in 0..OPEN_MAX {
        terminals.create(order("true", &[])).unwrap();
    }
    assert_eq!(terminals.create(order("true", &[])).unwrap_err().code, INTERNAL);
    terminals.release("terminal-1").unwrap();
    terminals.create(order("true", &[])).unwrap();
}
