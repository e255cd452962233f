//! From a fresh process to its end.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use convoke_core::message::Seq;
use convoke_core::turn::Stop;

use super::super::*;
use super::{ID, READY, launch};
use crate::driver::{McpServer, Order, REPORTS_MAX};

/// Starts a script that takes part in a conversation.
async fn started(launch: Launch) -> (Driver, Started, mpsc::Receiver<Report>) {
    let (sender, reports) = mpsc::channel(REPORTS_MAX);
    let (driver, started) = start(launch, || [7; 16], sender).await.unwrap();
    (driver, started, reports)
}

async fn refused(script: &str) -> Error {
    let folder = tempfile::tempdir().unwrap();
    start(launch(folder.path(), script), || [7; 16], mpsc::channel(1).0).await.unwrap_err()
}

fn prompt(text: &str) -> Order {
    Order::Prompt { turn: Seq::new(1), text: text.to_owned(), attachments: Vec::new() }
}

/// Everything that is reported after the offers at the start.
async fn all(mut reports: mpsc::Receiver<Report>) -> Vec<Report> {
    let mut all = Vec::new();
    while let Some(report) = reports.recv().await {
        if !matches!(report, Report::Noticed(_) | Report::State(_)) {
            all.push(report);
        }
    }
    all
}

#[tokio::test]
async fn t11_claude_is_started_with_frames_in_both_directions() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(r#"echo "$@" > args; {READY} cat > /dev/null"#);
    for (start, flag) in [
        (Start::New { id: ID.to_owned() }, "--session-id"),
        (Start::Resume { agent_session: ID.to_owned() }, "--resume"),
    ] {
        let launch = Launch { start, ..launch(folder.path(), &script) };
        let (driver, started, _reports) = started(launch).await;
        assert_eq!(started.agent_session, ID);
        assert_eq!(started.introduced_as.as_deref(), Some("Claude Code 2.1.325"));
        assert_eq!(driver.stop().await.exit_code, Some(0));
        let args = fs::read_to_string(folder.path().join("args")).unwrap();
        assert_eq!(
            args,
            format!(
                "--print --input-format stream-json --output-format stream-json --verbose \
                 --include-partial-messages --permission-prompt-tool stdio {flag} {ID}\n"
            )
        );
    }
}

#[tokio::test]
async fn mcp_servers_are_in_a_private_file_that_is_removed_with_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        format!(r#"shift 11; cp -p "$2" config; echo "$2" > path; {READY} cat > /dev/null"#);
    let mut launch = launch(folder.path(), &script);
    launch.mcp_servers = vec![McpServer {
        name: "convoke".to_owned(),
        command: "/bin/convoke".into(),
        args: vec!["mcp".to_owned()],
        env: BTreeMap::from([("KEY".to_owned(), "secret".to_owned())]),
        http: None,
    }];
    let (driver, ..) = started(launch.clone()).await;
    let config = launch.workspace.join("config");
    insta::assert_snapshot!(fs::read_to_string(&config).unwrap(), @r#"{"mcpServers":{"convoke":{"args":["mcp"],"command":"/bin/convoke","env":{"KEY":"secret"},"type":"stdio"}}}"#);
    assert_eq!(config.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let path = fs::read_to_string(launch.workspace.join("path")).unwrap();
    let path = Path::new(path.trim());
    assert!(path.starts_with(&launch.workspace) && path.exists());
    driver.stop().await;
    assert!(!path.exists());
}

#[tokio::test]
async fn a_process_that_ends_in_a_turn_reports_its_end_after_its_last_words_and_ends_no_turn() {
    let folder = tempfile::tempdir().unwrap();
    let said = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"well"}]}}"#;
    let script = format!("{READY} read prompt; echo '{said}'; echo oops >&2; exit 3");
    let (driver, _, reports) = started(launch(folder.path(), &script)).await;
    driver.send(prompt("hello")).await.unwrap();
    let stderr_tail = Some("oops".to_owned());
    let exit = Exit { exit_code: Some(3), signal: None, stderr_tail };
    assert_eq!(all(reports).await, [Report::Said("well".to_owned()), Report::Exited(exit.clone())]);
    assert_eq!(driver.stop().await, exit);
}

#[tokio::test]
async fn nothing_is_reported_after_a_stop_and_the_turn_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!("{READY} cat > heard; echo '{{\"type\":\"result\"}}'");
    let (driver, _, reports) = started(launch(folder.path(), &script)).await;
    driver.send(prompt("hello")).await.unwrap();
    assert_eq!(driver.stop().await.exit_code, Some(0));
    assert_eq!(all(reports).await, []);
    let heard = fs::read_to_string(folder.path().join("heard")).unwrap();
    assert!(heard.lines().last().unwrap().contains(r#"{"subtype":"interrupt"}"#), "{heard}");
}

#[tokio::test]
async fn a_stop_does_not_wait_for_a_full_report_channel() {
    let folder = tempfile::tempdir().unwrap();
    let said = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"well"}]}}"#;
    let (sender, reports) = mpsc::channel(1);
    let script = format!("{READY} echo '{said}'; echo '{said}'; exit 3");
    let started = start(launch(folder.path(), &script), || [7; 16], sender).await;
    assert_eq!(started.unwrap().0.stop().await.exit_code, Some(3));
    drop(reports);
}

#[tokio::test]
async fn a_process_that_closes_its_output_is_waited_for_and_then_killed() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!("{READY} exec 1>&-; read forever; sleep 600");
    let (_driver, _, mut reports) = started(launch(folder.path(), &script)).await;
    let exit = loop {
        if let Report::Exited(exit) = reports.recv().await.unwrap() {
            break exit;
        }
    };
    assert_eq!(exit.signal, Some(9));
}

#[tokio::test]
async fn every_way_not_to_start_has_its_error() {
    let unknown = "echo 'No conversation found with session ID: x' >&2; exit 1";
    assert!(matches!(refused(unknown).await, Error::CannotResume { .. }));
    let login = "echo 'Invalid API key · Please run /login' >&2; exit 1";
    assert!(matches!(refused(login).await, Error::AuthRequired { .. }));
    let crash = "echo 'Segmentation fault' >&2; kill -SEGV $$";
    assert!(matches!(refused(crash).await, Error::Exited(exit) if exit.signal == Some(11)));
    let no = r#"read x; echo '{"type":"control_response","response":{"subtype":"error","request_id":"convoke-1","error":"too old"}}'; cat"#;
    assert_eq!(refused(no).await.to_string(), "the agent returned an error: too old");
    let deaf = "exec 1>&-; sleep 600";
    assert!(matches!(refused(deaf).await, Error::Exited(exit) if exit.signal == Some(9)));
}

#[tokio::test(start_paused = true)]
async fn t12_a_process_that_is_not_ready_in_time_is_given_up() {
    let error = refused("cat > /dev/null").await;
    assert_eq!(error.to_string(), "/bin/sh was not ready within 30 seconds and was killed");
}

#[tokio::test]
async fn a_turn_ends_once_and_the_next_can_begin() {
    let folder = tempfile::tempdir().unwrap();
    let turn = r#"read prompt; echo '{"result":"hi","type":"result"}';"#;
    let script = format!("{READY} {turn} {turn} read x");
    let (driver, _, reports) = started(launch(folder.path(), &script)).await;
    let mut reports = reports;
    for _ in 0..2 {
        driver.send(prompt("hello")).await.unwrap();
        loop {
            if let Report::TurnEnded { stop, .. } = reports.recv().await.unwrap() {
                break assert_eq!(stop, Stop::EndTurn);
            }
        }
    }
    driver.stop().await;
}
