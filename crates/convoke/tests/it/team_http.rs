//! The REST interface of teams.

use convoke_testkit::agent::{Script, Step};
use convoke_testkit::wait::until;
use serde_json::json;

use crate::team_scene::{Teams, keys};

#[test]
fn t13_the_outcome_of_a_question_is_in_status_and_body() {
    let script = Script::new().when("slow", [Step::say("well"), Step::Hang]);
    let teams = Teams::new(&["backend", "frontend"], &script);
    let ask = |body| teams.daemon.post("/api/teams/backend/ask", &body);
    let answered = ask(json!({"question": "hello", "fromTeam": "frontend"}));
    assert_eq!(answered.status, 200);
    assert_eq!(answered.json()["response"], "hello");
    let late = ask(json!({"question": "slow", "timeout": 200}));
    assert_eq!((late.status, &late.json()["status"]), (202, &json!("timed_out")));
    assert_eq!(late.json()["response"], "well");
    let send = json!({"message": "more", "waitForResponse": false});
    let queued = teams.daemon.post("/api/teams/backend/send", &send);
    assert_eq!((queued.status, &queued.json()["queued"]), (202, &json!(1)));
    let seq = late.json()["seq"].clone();
    let report = teams.daemon.get(&format!("/api/teams/backend/report?seq={seq}")).json();
    assert_eq!((&report["status"], &report["question"]), (&json!("working"), &json!("slow")));
    let cancelled = teams.daemon.post("/api/teams/backend/cancel", &json!({}));
    assert_eq!(cancelled.status, 200);
    until("it has ended", || {
        let report = teams.daemon.get(&format!("/api/teams/backend/report?seq={seq}"));
        report.json()["status"] == "failed"
    });
    let idle = teams.daemon.post("/api/teams/backend/cancel", &json!({}));
    assert_eq!((idle.status, &idle.json()["code"]), (409, &json!("no_turn")));
}

#[test]
fn t5_t15_mistakes_are_problems_with_words_for_programs() {
    let teams = Teams::new(&["backend"], &Script::new());
    let cases = [
        ("POST", "/api/teams/nobody/ask", json!({"question": "x"}), 404, "unknown_team"),
        ("POST", "/api/teams/a_b/ask", json!({"question": "x"}), 422, "invalid_id"),
        ("POST", "/api/teams/backend/ask", json!({"question": " "}), 422, "empty_prompt"),
        ("POST", "/api/teams/backend/ask", json!({"question": "x", "timeout": -2}), 422, "invalid"),
        ("POST", "/api/teams/backend/ask", json!({"q": "x"}), 422, "invalid"),
        (
            "POST",
            "/api/teams/backend/ask",
            json!({"question": "x", "thread": "a b"}),
            422,
            "invalid",
        ),
        (
            "POST",
            "/api/teams/backend/ask",
            json!({"question": "x", "fromTeam": "backend"}),
            409,
            "ask_loop",
        ),
        ("GET", "/api/teams/backend/report?from=nobody", json!(null), 404, "unknown_team"),
        ("GET", "/api/teams/backend/report?seq=7", json!(null), 404, "team_session_not_found"),
        ("GET", "/api/teams/sessions?status=asleep", json!(null), 422, "invalid"),
        ("GET", "/api/teams/analytics?stretch=week", json!(null), 422, "invalid"),
        ("POST", "/api/teams/sessions/99/compact", json!(null), 404, "team_session_not_found"),
        ("DELETE", "/api/teams/sessions/not-a-uuid", json!(null), 422, "invalid_id"),
        ("POST", "/api/teams/nobody/wake", json!(null), 404, "unknown_team"),
    ];
    for (method, path, body, status, code) in cases {
        let answer = teams.daemon.call(method, path, &body);
        assert_eq!(
            (answer.status, &answer.json()["code"]),
            (status, &json!(code)),
            "{path} {answer:?}"
        );
    }
}

#[test]
fn t16_figures_are_told_for_the_dashboard_which_is_a_page_of_the_daemons() {
    let teams = Teams::new(&["backend", "frontend"], &Script::new().when("crash", [Step::Exit(1)]));
    teams.daemon.post("/api/teams/backend/ask", &json!({"question": "x", "fromTeam": "frontend"}));
    teams.ask("backend", "crash");
    let figures = teams.daemon.get("/api/teams/analytics?stretch=hour").json();
    assert_eq!(keys(&figures), ["activity", "sessions", "since", "stats", "usage"]);
    let activity = figures["activity"].as_array().unwrap();
    let of = |from: serde_json::Value| {
        let own = activity.iter().filter(|it| it["fromTeam"] == from && it["toTeam"] == "backend");
        own.fold((0, 0), |sum, it| {
            let count = |what: &str| it[what].as_u64().unwrap();
            (sum.0 + count("prompts"), sum.1 + count("failures"))
        })
    };
    assert_eq!(of(json!("frontend")), (1, 0));
    assert_eq!(of(json!(null)), (1, 1));
    let listed = teams.daemon.get("/api/teams").json();
    assert_eq!(listed["teams"][0]["name"], "backend");
    // The page's files hold no secrets; what it shows it asks for with those of its browser.
    let head = format!("GET /teams HTTP/1.1\r\nhost: {}\r\n", teams.daemon.address());
    let page = teams.daemon.send(&head, "");
    assert_eq!(page.status, 200);
    assert!(page.body.contains("/assets/teams.js"));
    let document = teams.daemon.get("/api/openapi.json").json();
    for path in
        ["/api/teams", "/api/teams/{team}/ask", "/api/teams/sessions/{id}", "/api/agents/stop"]
    {
        assert!(document["paths"][path].is_object(), "{path}");
    }
}

#[test]
fn t6_t9_a_conversation_is_counted_and_forgotten() {
    let teams = Teams::new(&["backend"], &Script::new());
    teams.ask("backend", "one");
    let stats = teams.daemon.get("/api/teams/stats").json();
    assert_eq!((&stats["total"], &stats["totalMessages"]), (&json!(1), &json!(1)));
    let deleted = teams.daemon.call("DELETE", "/api/teams/sessions/1?withFile=true", &json!(null));
    assert_eq!((deleted.status, &deleted.json()["messageCount"]), (200, &json!(1)));
    assert_eq!(teams.daemon.get("/api/teams/stats").json()["total"], 0);
    assert_eq!(teams.ask("backend", "two")["response"], "two");
    let stopped = teams.daemon.post("/api/agents/stop", &json!(null)).json();
    assert_eq!(stopped, json!({"sessions": 0, "processes": 1}));
}
