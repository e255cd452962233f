//! Real processes that end, hang or stay, played by a shell.

use std::time::Duration;

use convoke_core::message::Seq;
use convoke_core::session::Report;
use rustix::process::{Pid, test_kill_process};
use tempfile::TempDir;
use tokio::sync::mpsc;

use super::scene::{count, launch, reported};
use crate::acp::start;
use crate::driver::{Driver, Order, REPORTS_MAX, Start, Started};
use crate::error::{Error, Result};

/// Shakes hands.
const READY: &str = r#"read l; echo '{"id":1,"result":{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"list":{}}}}}'
read l; echo '{"id":2,"result":{"sessionId":"s"}}'
"#;

struct Play {
    folder: TempDir,
    reports: mpsc::Receiver<Report>,
    started: Result<(Driver, Started)>,
}

async fn play(script: &str) -> Play {
    let folder = tempfile::tempdir().unwrap();
    let new = Start::New { id: "unused".to_owned() };
    let mut launch = launch(folder.path().canonicalize().unwrap(), new);
    launch.program = "/bin/sh".into();
    launch.args = vec!["-c".to_owned(), script.to_owned()];
    let (to_session, reports) = mpsc::channel(REPORTS_MAX);
    let started = start(launch, count, to_session).await;
    Play { folder, reports, started }
}

impl Play {
    async fn reports(&mut self) -> String {
        let mut lines = Vec::new();
        while let Some(report) = self.reports.recv().await {
            lines.push(reported(&report));
        }
        lines.join("\n")
    }
}

fn prompt() -> Order {
    Order::Prompt { turn: Seq::new(1), text: "hello".to_owned(), attachments: Vec::new() }
}

#[tokio::test]
async fn s3_an_agent_that_exits_during_its_start_reports_how_and_why() {
    let error = play("read l; echo 'no key' >&2; exit 3").await.started.unwrap_err();
    insta::assert_snapshot!(error, @"the agent ended before it was ready: exit code 3, last output: no key");
}

#[tokio::test]
async fn what_an_agent_says_before_it_ends_counts_more_than_its_end() {
    let script = r#"read l; echo '{"id":1,"result":{"protocolVersion":1}}'
read l; echo '{"id":2,"error":{"code":-32000,"message":"run auggie login"}}'; exit 1"#;
    let error = play(script).await.started.unwrap_err();
    insta::assert_snapshot!(error, @"the agent asks for a login: run auggie login");
}

/// As pi does. The clock is paused, so that the timeout elapses as soon as nothing happens.
#[tokio::test(start_paused = true)]
async fn an_agent_that_hangs_while_it_starts_is_killed_in_time() {
    let error = play("read l; exec tail -f /dev/null").await.started.unwrap_err();
    insta::assert_snapshot!(error, @"/bin/sh was not ready within 30 seconds and was killed");
}

#[tokio::test]
async fn s3_an_agent_that_ends_in_a_turn_is_reported_after_its_last_words() {
    let said = r#"{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"bye"}}}}"#;
    let mut play = play(&format!("{READY} read l; echo '{said}'; echo broken >&2; exit 7")).await;
    let (driver, started) = play.started.as_ref().unwrap();
    assert_eq!(started.agent_session, "s");
    driver.send(prompt()).await.unwrap();
    insta::assert_snapshot!(play.reports().await, @r#"
    ! said "bye"
    ! exited {"exitCode":7,"stderrTail":"broken"}
    "#);
    let (driver, _) = play.started.unwrap();
    assert!(matches!(driver.send(prompt()).await, Err(Error::Gone)));
    assert!(matches!(driver.list(None).await, Err(Error::Gone)));
    assert_eq!(driver.stop().await.exit_code, Some(7));
}

/// A process that closed its output can be talked to no more.
#[tokio::test]
async fn an_agent_that_closes_its_output_is_ended() {
    let mut play = play(&format!("{READY} exec >/dev/null; exec tail -f /dev/null")).await;
    insta::assert_snapshot!(play.reports().await, @r#"! exited {"signal":9}"#);
}

#[tokio::test]
async fn a_stopped_agent_closes_its_session_and_reports_nothing() {
    let ready = READY.replace("\"list\"", "\"close\"");
    let script = format!(
        "{ready} read l; echo \"$l\" > closed; echo '{{\"id\":3,\"result\":{{}}}}'; cat >/dev/null"
    );
    let mut play = play(&script).await;
    let (driver, _) = play.started.unwrap();
    assert_eq!(driver.stop().await.exit_code, Some(0));
    play.started = Err(Error::Gone);
    assert_eq!(play.reports().await, "");
    let closed = std::fs::read_to_string(play.folder.path().join("closed")).unwrap();
    insta::assert_snapshot!(closed, @r#"{"id":3,"jsonrpc":"2.0","method":"session/close","params":{"sessionId":"s"}}"#);
}

#[tokio::test]
async fn an_exited_agent_can_be_stopped_while_its_reports_are_unread() {
    let said = r#"{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}}"#;
    let script =
        format!("{READY} for i in 1 2 3 4; do for j in $(seq 100); do echo '{said}'; done; done");
    let play = play(&script).await;
    let (driver, _) = play.started.unwrap();
    let pid = Pid::from_raw(driver.pid().cast_signed()).unwrap();
    while test_kill_process(pid).is_ok() {
        tokio::task::yield_now().await;
    }
    assert_eq!(driver.stop().await.exit_code, Some(0));
}

#[tokio::test]
async fn a_dropped_agent_is_killed_with_all_that_it_started() {
    let play = play(&format!("{READY} tail -f /dev/null & echo $! > child; wait")).await;
    let file = play.folder.path().join("child");
    let child = loop {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        if text.ends_with('\n') {
            break Pid::from_raw(text.trim().parse().unwrap()).unwrap();
        }
        tokio::task::yield_now().await;
    };
    drop(play.started);
    while test_kill_process(child).is_ok() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn the_sessions_of_an_agent_can_be_listed() {
    let sessions = r#"{"id":3,"result":{"sessions":[{"sessionId":"20261115_1","cwd":"/w","title":"hello","updatedAt":"2026-11-15T00:00:00Z"},{"sessionId":"b"},{}],"nextCursor":"2"}}"#;
    let refusal = r#"{"id":4,"error":{"code":-32601,"message":"Method not found"}}"#;
    let script =
        format!("{READY} read l; echo '{sessions}'; read l; echo '{refusal}'; cat >/dev/null");
    let (driver, _) = play(&script).await.started.unwrap();
    insta::assert_debug_snapshot!(driver.list(None).await.unwrap(), @r#"
    Page {
        sessions: [
            Listed {
                agent_session: "20261115_1",
                workspace: Some(
                    "/w",
                ),
                title: Some(
                    "hello",
                ),
                updated_at: Some(
                    "2026-11-15T00:00:00Z",
                ),
            },
            Listed {
                agent_session: "b",
                workspace: None,
                title: None,
                updated_at: None,
            },
        ],
        next: Some(
            "2",
        ),
    }
    "#);
    let refused = driver.list(Some("2".to_owned())).await.unwrap_err();
    assert_eq!(refused.to_string(), "the agent returned an error: Method not found");
}

#[tokio::test]
async fn commands_of_an_agent_end_with_it() {
    let create = r#"{"id":"t","method":"terminal/create","params":{"sessionId":"s","command":"echo $$ > child; exec tail -f /dev/null"}}"#;
    let mut play =
        play(&format!("{READY} echo '{create}'; read l; while [ ! -s child ]; do :; done; exit 0"))
            .await;
    insta::assert_snapshot!(play.reports().await, @r#"! exited {"exitCode":0}"#);
    let child = std::fs::read_to_string(play.folder.path().join("child")).unwrap();
    let child = Pid::from_raw(child.trim().parse().unwrap()).unwrap();
    let gone = async {
        while test_kill_process(child).is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), gone).await.unwrap();
}
