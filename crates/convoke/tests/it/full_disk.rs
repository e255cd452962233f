//! A disk that takes nothing more in the middle of everything, and then does again.

use convoke_testkit::agent::{Script, Step};
use convoke_testkit::wait::until;
use serde_json::json;

use crate::serve_scene::{Daemon, is_end_of};

/// Waits until so many agents run.
fn wait_for_processes(daemon: &Daemon, count: usize) {
    let line = format!("convoke_processes {count}");
    until(&line, || daemon.get("/metrics").body.lines().any(|it| it == line));
}

fn prompt(daemon: &Daemon, session: &str) -> u16 {
    daemon.post(&format!("/api/sessions/{session}/prompt"), &json!({"text": "hello"})).status
}

#[test]
fn s1_a_full_disk_in_the_middle_of_a_turn_fails_the_turn_and_loses_nothing() {
    let script = Script::new().when("work", [Step::Count(1_000_000), Step::Hang]);
    let daemon = Daemon::with(&script, "[pool]\nspare = false\n");
    let (session, other) = (daemon.session(), daemon.session());
    let turn = daemon.prompt(&session, "work");
    let mut events = daemon.follow(&session, 0);
    for _ in 0..20 {
        events.next().unwrap();
    }
    daemon.limit(Some(0));
    assert_eq!(daemon.get("/healthz").status, 200);
    assert!(prompt(&daemon, &other) >= 500, "nothing is taken that cannot be kept");
    // The agent is stopped, since its output cannot be stored.
    wait_for_processes(&daemon, 1);
    assert!(prompt(&daemon, &session) >= 500);
    daemon.limit(None);

    events.until(|message| is_end_of(message, &turn));
    let end = events.until(|message| message["content"]["event"] == "turn_ended");
    let end = &end["content"];
    assert_eq!((&end["stopReason"], &end["why"]), (&json!("failed"), &json!("internal")));
    let text = end["text"].as_str().unwrap();
    assert!(text.contains("the agent's output could not be stored: "), "{text}");
    assert_eq!(
        daemon.messages(&session),
        events.messages(),
        "the events sent are the messages stored"
    );
    for session in [session, other] {
        let messages = daemon.turn(&session, "hello");
        assert!(messages.iter().any(|message| message["content"]["text"] == "hello"));
        assert_eq!(daemon.get(&format!("/api/sessions/{session}")).json()["status"], "active");
    }
}
