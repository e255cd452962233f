//! Search with filters: over REST, on the socket, and on the command line.

use convoke_testkit::agent::{Script, Step};
use serde_json::{Value, json};

use crate::serve_scene::Daemon;
use crate::socket_scene::Socket;

/// A daemon with two sessions in which the roof was talked about.
fn daemon() -> (Daemon, [String; 2]) {
    let daemon = Daemon::new(&Script::new().when("roof", [Step::say("The roof is tight.")]));
    let sessions = [daemon.session(), daemon.session()];
    for session in &sessions {
        daemon.turn(session, "mend the roof");
    }
    (daemon, sessions)
}

/// Who said what was found, and in which session, newest first.
fn found(hits: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let hits = hits["hits"].as_array().unwrap().iter();
    hits.map(|hit| (text(&hit["role"]), text(&hit["session"]["uid"]))).collect()
}

#[test]
fn p7_words_and_filters_find_messages_with_their_sessions() {
    let (daemon, [first, second]) = daemon();
    let search = |query: &str| {
        let hits = daemon.get(&format!("/api/search?{query}"));
        assert_eq!(hits.status, 200, "{hits:?}");
        hits.json()
    };
    let all = search("q=roof");
    let (user, agent) = ("user".to_owned(), "agent".to_owned());
    let newest_first = [
        (agent.clone(), second.clone()),
        (user, second.clone()),
        (agent.clone(), first.clone()),
        ("user".to_owned(), first.clone()),
    ];
    assert_eq!(found(&all), newest_first);
    let session = &all["hits"][0]["session"];
    assert_eq!(
        (&session["title"], &session["agent"], &session["project"], &session["archived"]),
        (&json!("mend the roof"), &json!("scripted"), &json!("app"), &json!(false))
    );
    let message = daemon.messages(&second)[1].clone();
    assert_eq!(all["hits"][0]["messageId"], message["id"]);
    let agents = [(agent.clone(), second), (agent, first.clone())];
    assert_eq!(found(&search("q=roof%20role:agent")), agents);
    assert_eq!(found(&search("q=roof&role=agent")), agents);
    assert_eq!(found(&search(&format!("q=roof&sessionId={first}"))).len(), 2);
    for (query, count) in [
        ("q=roof%20agent:scripted%20project:app", 4),
        ("q=roof%20agent:codex", 0),
        ("q=roof&agent=codex", 0),
        ("q=roof%20since:2020-01-01", 4),
        ("q=roof%20until:2020-01-01", 0),
        ("q=roof&since=2999-01-01", 0),
        ("q=role:agent", 0),
        ("q=roof&limit=3", 3),
        ("q=roof&order=best", 4),
        ("q=roof&order=newest", 4),
    ] {
        assert_eq!(found(&search(query)).len(), count, "{query}");
    }
    // All are short, and none repeats the word: the newer is the better one.
    let best = found(&search("q=roof%20order:best&limit=2"));
    assert_eq!(best, newest_first[..2]);
    let page = search("q=roof&role=user&limit=1");
    let older = search(&format!("q=roof&role=user&limit=1&before={}", page["next"]));
    assert_eq!(found(&older), [("user".to_owned(), first)]);
    for (query, status) in [
        ("q=x%20role:boss", 422),
        ("q=x&since=soon", 422),
        ("q=x&order=worst", 422),
        ("q=x%20project:none", 404),
    ] {
        assert_eq!(daemon.get(&format!("/api/search?{query}")).status, status, "{query}");
    }
}

#[test]
fn p7_the_socket_searches_and_opens_a_session_at_a_message() {
    let daemon = Daemon::new(&Script::new().when("needle", [Step::say("here it is")]));
    let session = daemon.session();
    for number in 0..20 {
        daemon.turn(&session, if number == 3 { "needle" } else { "hay" });
    }
    let mut socket = Socket::open(&daemon);
    let hits = socket.ask(json!({"type": "search", "query": "needle role:user", "limit": 5}));
    assert_eq!(
        (&hits["type"], &hits["query"]),
        (&json!("search:hits"), &json!("needle role:user"))
    );
    let seq = hits["hits"][0]["seq"].as_u64().unwrap();
    assert_eq!((hits["hits"].as_array().unwrap().len(), seq), (1, 7));
    let open = json!({"type": "session:open", "sessionId": session, "at": seq, "limit": 15});
    let history = socket.ask(open);
    let places: Vec<u64> = history["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["seq"].as_u64().unwrap())
        .filter(|seq| *seq > 0)
        .collect();
    assert_eq!(places, (3..=17).collect::<Vec<_>>());
    assert_eq!((&history["more"], &history["newer"]), (&json!(true), &json!(true)));
    // Near the end there is nothing newer.
    let history = socket.ask(json!({"type": "session:open", "sessionId": session, "at": 39}));
    assert_eq!((history["entries"][39]["seq"].as_u64(), history.get("newer")), (Some(40), None));
    let refused = socket.ask(json!({"type": "search", "query": "x role:boss"}));
    assert_eq!(refused["type"], "error");
}

#[test]
fn p7_the_command_line_shows_where_the_words_are() {
    let (daemon, [_, second]) = daemon();
    let told = daemon.machine.run("search tight --limit 1");
    let expected = format!(
        "exit 0\n--- stdout\n{}  #2  scripted in app, now  mend the roof\n    The roof is tight.\n",
        &second[..8]
    );
    assert_eq!(told, expected);
    let (screen, code) = daemon.machine.run_on_terminal("search tight --limit 1", "");
    assert_eq!(code, 0);
    assert!(screen.contains("The roof is \u{1b}[1;33mtight\u{1b}[0m."), "{screen:?}");
    let hits = daemon.machine.json("search roof --role user --project app --json");
    assert_eq!(hits["hits"].as_array().unwrap().len(), 2);
    let hits = daemon.machine.json("search mend roof --order best --json");
    assert_eq!(hits["hits"][0]["role"], "user");
    assert_eq!(daemon.machine.run("search walnut"), "exit 0\n--- stdout\nNothing found.\n");
    let told = daemon.machine.run("search roof --since soon");
    assert!(told.starts_with("exit 2\n"), "{told}");
}
