//! A confined agent that was allowed one change of a protected file.

use std::fs;
use std::time::Duration;

use convoke_core::message::Seq;
use convoke_core::request::Request;
use convoke_core::session::{Reply, Report};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::scene::{count, launch};
use crate::acp::start;
use crate::driver::{Order, REPORTS_MAX, Start};
use crate::process::tests::{all_layers, supervised};
use crate::sandbox::Policy;

/// Longer than any machine takes; a test that gets there has failed.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Asks to write `.git/config` and a new hook; before and after, tries to write them itself. Its exit code has a bit for
/// each of its own writes that worked.
const AGENT: &str = r#"
plant() { for file in .git/config .git/hooks/new; do echo "$1" >> $file && worked=$((worked | $2)); done; }
write() { echo "{\"id\":\"$1\",\"method\":\"fs/write_text_file\",\"params\":{\"sessionId\":\"s\",\"path\":\"$1\",\"content\":\"allowed\"}}"; read l; }
worked=0
read l; echo '{"id":1,"result":{"protocolVersion":1}}'
read l; echo '{"id":2,"result":{"sessionId":"s"}}'
read l
plant before 1
write .git/config
write .git/hooks/new
plant after 2
exit $worked
"#;

#[tokio::test]
async fn k10_an_agent_that_was_allowed_one_change_of_a_protected_file_cannot_make_another() {
    let layers = all_layers();
    if layers.bubblewrap.is_none() {
        // No other layer protects these files.
        return;
    }
    let folder = crate::scratch::folder();
    let workspace = folder.path().canonicalize().unwrap();
    fs::create_dir_all(workspace.join(".git/hooks")).unwrap();
    fs::write(workspace.join(".git/config"), "mine").unwrap();
    let mut launch = launch(workspace.clone(), Start::New { id: "unused".to_owned() });
    launch.program = "/bin/sh".into();
    launch.args = vec!["-c".to_owned(), AGENT.to_owned()];
    launch.confinement = supervised(Policy { layers, ..Policy::unconfined() });
    let (to_session, mut reports) = mpsc::channel(REPORTS_MAX);
    let (driver, _) = start(launch, count, to_session).await.unwrap();
    let prompt =
        Order::Prompt { turn: Seq::new(1), text: "go".to_owned(), attachments: Vec::new() };
    driver.send(prompt).await.unwrap();
    let exit = loop {
        let report = timeout(TIMEOUT, reports.recv()).await.unwrap().unwrap();
        if let Report::Asked(Request::Permission(asked)) = report {
            let reply = Reply::Chosen { option_id: "allow".to_owned() };
            driver.send(Order::Reply { request: asked.request_id, reply }).await.unwrap();
        } else if let Report::Exited(exit) = report {
            break exit;
        }
    };
    assert_eq!(exit.exit_code, Some(0), "{exit:?}");
    for name in [".git/config", ".git/hooks/new"] {
        assert_eq!(fs::read_to_string(workspace.join(name)).unwrap(), "allowed", "{name}");
    }
}
