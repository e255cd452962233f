//! Sessions over HTTP, with the whole program behind it.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use convoke_testkit::agent::{Ask, Script, Step, Tool};
use serde_json::{Value, json};

use crate::serve_scene::{Daemon, is_end_of};

fn words(messages: &[Value]) -> String {
    let texts = messages.iter().filter(|message| message["role"] == "agent");
    texts.map(|message| message["content"]["text"].as_str().unwrap()).collect()
}

fn seqs(messages: &[Value]) -> Vec<u64> {
    messages.iter().map(|message| message["seq"].as_u64().unwrap()).collect()
}

/// The events of the notices.
fn notices(messages: &[Value]) -> Vec<&str> {
    messages.iter().filter_map(|message| message["content"]["event"].as_str()).collect()
}

#[test]
fn s8_a_session_is_created_prompted_and_streamed() {
    let daemon = Daemon::new(&Script::new().turn([Step::Count(50)]));
    let session = daemon.session();
    let turn = daemon.prompt(&session, "count to 50");
    let mut streamed = Vec::new();
    let mut events = daemon.follow(&session, 0);
    while !streamed.last().is_some_and(|message| is_end_of(message, turn)) {
        streamed.push(events.next().unwrap());
    }
    assert_eq!(seqs(&streamed), (1..=streamed.len() as u64).collect::<Vec<_>>());
    assert!(words(&streamed).starts_with("1 2 3 ") && words(&streamed).ends_with("49 50 "));
    assert_eq!(daemon.messages(&session), streamed, "what was streamed is what is stored");
    let mut again = daemon.follow(&session, turn + 10);
    assert_eq!(again.next().unwrap(), streamed[turn as usize + 10]);
    let listed = daemon.get("/api/sessions").json();
    assert_eq!(
        (&listed["total"], &listed["sessions"][0]["title"]),
        (&json!(1), &json!("count to 50"))
    );
    assert_eq!(listed["sessions"][0].get("messages"), None);
}

#[test]
fn s3_an_agent_that_crashes_fails_its_turn_and_the_next_prompt_takes_it_up_again() {
    let daemon = Daemon::new(&Script::new().when("crash", [Step::say("oh"), Step::Die(9)]));
    let session = daemon.session();
    let crashed = daemon.turn(&session, "crash");
    let end = crashed.last().unwrap();
    assert_eq!(
        (&end["content"]["stopReason"], &end["content"]["why"]),
        (&json!("failed"), &json!("process_exited"))
    );
    assert_eq!(words(&crashed), "oh");
    assert_eq!(daemon.get(&format!("/api/sessions/{session}")).json()["status"], "active");
    let after = daemon.turn(&session, "again");
    assert_eq!(after[..crashed.len()], crashed[..], "nothing that was stored changes");
    let rest = notices(&after[crashed.len()..]);
    assert!(rest.contains(&"resumed") && rest.contains(&"turn_ended"), "{rest:?}");
    assert!(words(&after).contains("again"));
}

#[test]
fn s1_killing_the_daemon_in_the_middle_loses_nothing_that_was_told() {
    let script = Script::new().when("slow", [Step::Count(500), Step::Hang]);
    let mut daemon = Daemon::new(&script);
    let session = daemon.session();
    let turn = daemon.prompt(&session, "slow");
    let mut events = daemon.follow(&session, 0);
    let mut told = Vec::new();
    while told.len() < 200 {
        told.push(events.next().unwrap());
    }
    daemon.kill_and_start();
    let stored = daemon.messages(&session);
    assert_eq!(stored[..told.len()], told[..], "nothing that was told changes");
    assert_eq!(seqs(&stored), (1..=stored.len() as u64).collect::<Vec<_>>(), "no gaps");
    let end = stored.iter().find(|message| is_end_of(message, turn)).unwrap();
    assert_eq!(
        (&end["content"]["stopReason"], &end["content"]["why"]),
        (&json!("failed"), &json!("interrupted"))
    );
    let shown = daemon.get(&format!("/api/sessions/{session}")).json();
    assert_eq!((&shown["status"], &shown["activity"]), (&json!("active"), &json!("idle")));
    let after = daemon.turn(&session, "go on");
    assert_eq!(after[..stored.len()], stored[..]);
    let resumed = after.iter().find(|message| message["content"]["event"] == "resumed").unwrap();
    assert!(resumed["content"]["how"].is_string(), "{resumed}");
    assert!(words(&after).contains("go on"));
}

#[test]
fn w5_ten_watchers_with_bad_connections_see_the_same() {
    let daemon = Daemon::new(&Script::new().turn([Step::Count(800)]));
    let session = daemon.session();
    let turn = daemon.prompt(&session, "count");
    let watch = |number: usize| {
        let mut seen: Vec<Value> = Vec::new();
        while !seen.last().is_some_and(|message| is_end_of(message, turn)) {
            let mut events = daemon.follow(&session, seen.len() as u64);
            for _ in 0..(number * 37 + seen.len() * 13) % 101 + 1 {
                let Some(message) = events.next() else { break };
                let is_last = is_end_of(&message, turn);
                seen.push(message);
                if is_last {
                    break;
                }
            }
        }
        seen
    };
    let all: Vec<Vec<Value>> = thread::scope(|scope| {
        let watchers: Vec<_> = (0..10).map(|number| scope.spawn(move || watch(number))).collect();
        watchers.into_iter().map(|watcher| watcher.join().unwrap()).collect()
    });
    let stored = daemon.messages(&session);
    for (number, seen) in all.into_iter().enumerate() {
        assert_eq!(seen, stored, "watcher {number}");
    }
}

#[test]
fn a_client_that_never_reads_costs_neither_memory_nor_time() {
    let flood = Step::Flood(6 * 1024 * 1024);
    let daemon = Daemon::new(&Script::new().turn([flood.clone()]).turn([flood]));
    let session = daemon.session();
    daemon.turn(&session, "warm up");
    let before = resident_kib(&daemon);
    let deaf: Vec<_> = (0..20).map(|_| daemon.follow(&session, 0)).collect();
    daemon.turn(&session, "again");
    let grown = resident_kib(&daemon).saturating_sub(before);
    // Twenty readers with all of it in memory would be 240 MB.
    assert!(grown < 100_000, "grown by {grown} KiB");
    drop(deaf);
}

fn resident_kib(daemon: &Daemon) -> u64 {
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", daemon.pid().as_raw_nonzero())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse().unwrap()
}

#[test]
fn s9_however_many_come_at_once_the_limit_holds() {
    let daemon = Daemon::with(&Script::new(), "[sessions]\nmax_active = 3\n");
    let body = json!({"repoId": daemon.project(), "agent": "scripted"});
    let barrier = Barrier::new(12);
    let statuses: Vec<u16> = thread::scope(|scope| {
        let create = || {
            barrier.wait();
            let answer = daemon.post("/api/sessions", &body);
            if answer.status == 429 {
                assert_eq!(answer.header("retry-after"), Some("60"));
            }
            answer.status
        };
        let threads: Vec<_> = (0..12).map(|_| scope.spawn(create)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let count = |status: u16| statuses.iter().filter(|it| **it == status).count();
    assert_eq!((count(201), count(429)), (3, 9), "{statuses:?}");
    let listed = daemon.get("/api/sessions").json();
    let first = listed["sessions"][0]["id"].as_str().unwrap();
    assert_eq!(listed["total"], 3);
    assert_eq!(
        daemon.call("DELETE", &format!("/api/sessions/{first}"), &json!({})).json()["status"],
        "cancelled"
    );
    assert_eq!(daemon.post("/api/sessions", &body).status, 201, "freed again");
}

#[test]
fn s10_an_idle_session_is_completed_and_can_be_resumed() {
    let tool = Tool::named("t", "Write", json!({}));
    let ask = Ask::new(tool, &[("yes", "allow_once")]).then("yes", [Step::say("done")]);
    let script = Script::new().when("ask", [Step::Ask(ask)]);
    let machine = crate::convoke::Convoke::new().env("AGENT_SESSION_IDLE_TIMEOUT", "0.01");
    let daemon = Daemon::on(machine, &script, "");
    let session = daemon.session();
    daemon.prompt(&session, "ask");
    let asked =
        daemon.follow(&session, 0).until(|message| message["content"]["type"] == "permission");
    let mut events = daemon.follow(&session, asked["seq"].as_u64().unwrap());
    // Another session is completed for idleness meanwhile; whoever waits for a human is not idle.
    let other = daemon.session();
    daemon.follow(&other, 0).until(|message| message["content"]["event"] == "completed");
    assert_eq!(daemon.get(&format!("/api/sessions/{session}")).json()["activity"], "waiting");
    let id = asked["content"]["requestId"].as_str().unwrap();
    assert_eq!(
        daemon.post(&format!("/api/inbox/{id}/answer"), &json!({"optionId": "yes"})).status,
        204
    );
    events.until(|message| message["content"]["event"] == "turn_ended");
    let completed = events.until(|message| message["content"]["event"] == "completed");
    assert_eq!(completed["content"]["reason"], "idle_timeout");
    let shown = daemon.get(&format!("/api/sessions/{session}")).json();
    assert_eq!(
        (&shown["status"], &shown["metadata"]),
        (&json!("completed"), &json!({"reason": "idle_timeout"}))
    );
    let refused = daemon.post(&format!("/api/sessions/{session}/prompt"), &json!({"text": "x"}));
    assert_eq!((refused.status, &refused.json()["code"]), (409, &json!("session_ended")));
    assert!(refused.json()["detail"].as_str().unwrap().contains("/resume"), "{refused:?}");
    assert_eq!(
        daemon.post(&format!("/api/sessions/{session}/resume"), &json!({})).json()["status"],
        "active"
    );
    assert!(words(&daemon.turn(&session, "still there?")).contains("still there?"));
}

#[test]
fn s9_at_the_limit_a_session_that_has_long_been_idle_makes_room() {
    let config = "[sessions]\nmax_active = 1\n[pool]\nidle_timeout_ms = 300\n";
    let daemon = Daemon::with(&Script::new(), config);
    let first = daemon.session();
    daemon.turn(&first, "hello");
    let body = json!({"repoId": daemon.project(), "agent": "scripted"});
    let start = Instant::now();
    while daemon.post("/api/sessions", &body).status != 201 {
        assert!(start.elapsed() < Duration::from_secs(20), "no room was made");
    }
    let shown = daemon.get(&format!("/api/sessions/{first}")).json();
    assert_eq!(
        (&shown["status"], &shown["metadata"]["reason"]),
        (&json!("completed"), &json!("made_room"))
    );
}

#[test]
fn s8_the_running_turn_is_cancelled_and_the_session_goes_on() {
    let daemon = Daemon::new(&Script::new().when("long", [Step::say("begun"), Step::Hang]));
    let session = daemon.session();
    let turn = daemon.prompt(&session, "long");
    let mut events = daemon.follow(&session, 0);
    events.until(|message| message["content"]["text"] == "begun");
    let cancelled = daemon.post(&format!("/api/sessions/{session}/cancel"), &json!({}));
    assert_eq!((cancelled.status, &cancelled.json()["status"]), (200, &json!("active")));
    let end = events.until(|message| is_end_of(message, turn));
    assert_eq!(end["content"]["stopReason"], "cancelled");
    assert!(words(&daemon.turn(&session, "and now?")).contains("and now?"));
}
