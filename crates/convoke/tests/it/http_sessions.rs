//! Sessions over HTTP, with the whole program behind it.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use convoke_testkit::agent::{Ask, Script, Step, Tool};
use serde_json::{Value, json};

use crate::serve_scene::{Daemon, Known, has_ended, is_end_of};

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
fn s8_m1_a_session_is_created_prompted_and_streamed() {
    let daemon = Daemon::new(&Script::new().turn([Step::Count(50)]));
    let session = daemon.session();
    let prompt = daemon.prompt(&session, "count to 50");
    let mut events = daemon.follow(&session, 0);
    let mut revs = Vec::new();
    loop {
        let message = events.next().unwrap();
        revs.push(events.rev);
        if is_end_of(&message, &prompt) {
            break;
        }
    }
    assert!(revs.is_sorted(), "{revs:?}");
    let stored = daemon.messages(&session);
    assert_eq!(events.messages(), stored, "what was streamed is what is stored");
    assert_eq!(seqs(&stored), [1, 2], "a prompt and one answer");
    assert!(words(&stored).starts_with("1 2 3 ") && words(&stored).ends_with("49 50 "));
    let again = daemon.follow(&session, prompt.rev).next().unwrap();
    assert!(again["rev"].as_u64().unwrap() > prompt.rev);
    let listed = daemon.get("/api/sessions").json();
    assert_eq!(
        (&listed["total"], &listed["sessions"][0]["title"]),
        (&json!(1), &json!("count to 50"))
    );
    assert_eq!(listed["sessions"][0]["messageCount"], 2);
    assert_eq!(listed["sessions"][0].get("messages"), None);
}

#[test]
fn s3_an_agent_that_crashes_fails_its_turn_and_the_next_prompt_takes_it_up_again() {
    let daemon = Daemon::new(&Script::new().when("crash", [Step::say("oh"), Step::Die(9)]));
    let session = daemon.session();
    let crashed = daemon.turn(&session, "crash");
    for end in [&crashed[0]["turn"], &crashed.last().unwrap()["content"]] {
        assert_eq!((&end["stopReason"], &end["why"]), (&json!("failed"), &json!("process_exited")));
    }
    assert_eq!(words(&crashed), "oh");
    assert_eq!(daemon.get(&format!("/api/sessions/{session}")).json()["status"], "active");
    let after = daemon.turn(&session, "again");
    assert_eq!(after[..crashed.len()], crashed[..], "nothing that was stored changes");
    let rest = notices(&after[crashed.len()..]);
    assert!(rest.contains(&"resumed"), "{rest:?}");
    assert!(words(&after).contains("again"));
}

#[test]
fn s1_m3_killing_the_daemon_in_the_middle_loses_nothing_that_was_told() {
    let script = Script::new().when("slow", [Step::Count(500), Step::Hang]);
    let mut daemon = Daemon::new(&script);
    let session = daemon.session();
    let prompt = daemon.prompt(&session, "slow");
    let mut events = daemon.follow(&session, 0);
    while !events.messages().iter().any(|message| words_of(message).contains(" 200 ")) {
        events.next().unwrap();
    }
    let (told, rev) = (events.messages(), events.rev);
    daemon.kill_and_start();
    let stored = daemon.messages(&session);
    for message in &told {
        let kept = stored.iter().find(|kept| kept["id"] == message["id"]).unwrap();
        assert!(words_of(kept).starts_with(words_of(message)), "no event that was sent is lost");
    }
    assert_eq!(seqs(&stored), (1..=stored.len() as u64).collect::<Vec<_>>(), "no gaps");
    assert!(stored.iter().all(|message| message["content"].get("partial").is_none()));
    let end = &stored.iter().find(|message| is_end_of(message, &prompt)).unwrap()["turn"];
    assert_eq!((&end["stopReason"], &end["why"]), (&json!("failed"), &json!("interrupted")));
    // A reader that comes back with what it has gets the rest, at revisions that were never used before.
    let mut back = daemon.follow_with(&session, rev, events.known);
    back.until(|message| is_end_of(message, &prompt));
    assert!(back.rev > rev + (1 << 20), "{} after {rev}", back.rev);
    let shown = daemon.get(&format!("/api/sessions/{session}")).json();
    assert_eq!((&shown["status"], &shown["activity"]), (&json!("active"), &json!("idle")));
    let after = daemon.turn(&session, "go on");
    assert_eq!(after[..stored.len()], stored[..]);
    let resumed = after.iter().find(|message| message["content"]["event"] == "resumed").unwrap();
    assert!(resumed["content"]["how"].is_string(), "{resumed}");
    assert!(words(&after).contains("go on"));
}

fn words_of(message: &Value) -> &str {
    message["content"]["text"].as_str().unwrap_or_default()
}

#[test]
fn w5_m2_ten_watchers_with_bad_connections_see_the_same() {
    let daemon = Daemon::new(&Script::new().turn([Step::Count(800)]));
    let session = daemon.session();
    let prompt = daemon.prompt(&session, "count");
    let watch = |number: usize| {
        let (mut known, mut rev, mut turns) = (Known::new(), 0, 0);
        loop {
            let mut events = daemon.follow_with(&session, rev, known);
            turns += 1;
            for _ in 0..(number * 37 + turns * 13) % 101 + 1 {
                let Some(message) = events.next() else { break };
                if is_end_of(&message, &prompt) {
                    return events.messages();
                }
            }
            (known, rev) = (events.known, events.rev);
        }
    };
    let all: Vec<Vec<Value>> = thread::scope(|scope| {
        let watch = &watch;
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
    let mut events = daemon.follow(&session, asked["rev"].as_u64().unwrap());
    // Another session is completed for idleness meanwhile; one with a pending request is not idle.
    let other = daemon.session();
    daemon.follow(&other, 0).until(|message| message["content"]["event"] == "completed");
    assert_eq!(daemon.get(&format!("/api/sessions/{session}")).json()["activity"], "waiting");
    let id = asked["content"]["requestId"].as_str().unwrap();
    assert_eq!(
        daemon.post(&format!("/api/inbox/{id}/answer"), &json!({"optionId": "yes"})).status,
        204
    );
    events.until(has_ended);
    let completed = events.until(|message| message["content"]["event"] == "completed");
    assert_eq!(completed["content"]["reason"], "idle_timeout");
    let shown = daemon.get(&format!("/api/sessions/{session}")).json();
    assert_eq!(
        (&shown["status"], &shown["metadata"]),
        (&json!("completed"), &json!({"reason": "idle_timeout"}))
    );
    assert_eq!(shown["acceptsPrompts"], true);
    // A prompt resumes what idleness ended, and not what a human did.
    let path = |what: &str| format!("/api/sessions/{session}/{what}");
    assert_eq!(daemon.post(&path("prompt"), &json!({"text": "/x"})).status, 202);
    daemon.follow(&session, 0).until(|message| message["content"]["event"] == "reopened");
    let completed = daemon.post(&path("complete"), &json!({}));
    assert_eq!((completed.status, &completed.json()["acceptsPrompts"]), (200, &json!(false)));
    let refused = daemon.post(&path("prompt"), &json!({"text": "x"}));
    assert_eq!((refused.status, &refused.json()["code"]), (409, &json!("session_ended")));
    assert!(refused.json()["detail"].as_str().unwrap().contains("/resume"), "{refused:?}");
    assert_eq!(daemon.post(&path("resume"), &json!({})).json()["status"], "active");
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
    let end = events.until(|message| is_end_of(message, &turn));
    assert_eq!(end["turn"]["stopReason"], "cancelled");
    assert!(words(&daemon.turn(&session, "and now?")).contains("and now?"));
}
