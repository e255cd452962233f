//! Teams of several daemons on one PostgreSQL database.

use convoke_testkit::agent::Script;
use convoke_testkit::postgres::{self, Database};
use convoke_testkit::wait::until;
use serde_json::{Value, json};

use crate::nodes_shared::away;
use crate::team_scene::Teams;

/// A machine among others, with teams whose agents ask others when they are told to.
pub(crate) fn machine(database: &Database, name: &str, teams: &[&str]) -> Teams {
    machine_with(database, name, teams, "")
}

/// The same with more of a configuration.
pub(crate) fn machine_with(database: &Database, name: &str, teams: &[&str], more: &str) -> Teams {
    let config = format!("[store]\nurl = {:?}\n[node]\nname = {name:?}\n{more}", database.url);
    let teams = teams.iter().map(|team| (*team, json!({"agent": "asking"}))).collect();
    Teams::with(teams, &Script::new(), &config)
}

pub(crate) fn count(database: &Database, sql: &str) -> u64 {
    database.value(sql).unwrap().parse().unwrap()
}

#[test]
fn n4_t1_a_team_of_another_node_is_asked_exactly_once_in_one_lasting_session() {
    let database = postgres::database();
    let _there = machine(&database, "workstation", &["web"]);
    let here = machine(&database, "laptop", &["api"]);
    // Every node lists all teams, with their nodes.
    let nodes = here.daemon.get("/api/nodes").json();
    let id = |name: &str| {
        let nodes = nodes["nodes"].as_array().unwrap();
        nodes.iter().find(|node| node["name"] == name).unwrap()["id"].clone()
    };
    let listed = here.daemon.get("/api/teams").json();
    let named: Vec<(&Value, &Value)> =
        listed["teams"].as_array().unwrap().iter().map(|it| (&it["name"], &it["node"])).collect();
    let (laptop, workstation) = (id("laptop"), id("workstation"));
    assert_eq!(named, [(&json!("api"), &laptop), (&json!("web"), &workstation)]);
    let list = here.run("team list");
    assert!(list.contains("NODE") && list.contains("workstation"), "{list}");
    // A human asks, twice, through REST and the command line.
    let answer = here.ask("web", "how are you?");
    assert_eq!(
        (&answer["status"], &answer["response"]),
        (&json!("answered"), &json!("how are you?"))
    );
    let told = here.run_args(&["team", "ask", "web", "and now?"]);
    assert!(told.starts_with("exit 0") && told.contains("and now?"), "{told}");
    let session = answer["sessionId"].as_str().unwrap().to_owned();
    let of = format!(
        "SELECT count(*) FROM messages AS m JOIN agent_sessions AS s ON s.n = m.session
                      WHERE s.id = '{session}' AND m.role = 'user'"
    );
    assert_eq!(count(&database, &of), 2, "each was asked once, in the same session");
    let home = format!(
        "SELECT n.name FROM agent_sessions AS s JOIN nodes AS n ON n.id = s.node
                        WHERE s.id = '{session}'"
    );
    assert_eq!(database.value(&home).as_deref(), Some("workstation"));
    // An agent asks: the session of its pair is over there, too.
    let answer = here.ask("api", "ask web: please");
    let said = answer["response"].to_string();
    assert!(said.contains("please"), "{answer}");
    let pairs = here.daemon.get("/api/teams/sessions?from=api&to=web").json();
    assert_eq!(pairs["sessions"][0]["node"], workstation, "{pairs}");
    assert!(here.run("team sessions").contains("workstation"));
    // What became of it, and that nothing runs any more.
    let report = here.daemon.get("/api/teams/web/report?from=api").json();
    assert_eq!(report["response"], "please", "{report}");
    let cancelled = here.daemon.post("/api/teams/web/cancel", &json!({"fromTeam": "api"}));
    assert_eq!(cancelled.status, 409, "{cancelled:?}");
    // Without waiting.
    let sent = here
        .daemon
        .post("/api/teams/web/send", &json!({"message": "no hurry", "waitForResponse": false}));
    assert_eq!(sent.status, 202, "{sent:?}");
    until("it is answered", || {
        here.daemon.get("/api/teams/web/report").json()["response"] == "no hurry"
    });
}

#[test]
fn n4_k7_a_loop_of_teams_on_two_nodes_is_refused_however_it_is_begun() {
    let database = postgres::database();
    let there = machine(&database, "workstation", &["web"]);
    let here = machine(&database, "laptop", &["api"]);
    for (asked, first, other) in [(&here, "api", "web"), (&there, "web", "api")] {
        let circle = format!("ask {other}: ask {first}: hello");
        let said = asked.ask(first, &circle)["response"].to_string();
        assert!(said.contains("would make a circle"), "{said}");
        assert!(said.contains(&format!("{first} → {other} → {first}")), "{said}");
    }
    // Begun by a human on the node that does not have the first team, and after the end of a turn.
    let said = here.ask("web", "ask api: ask web: hello")["response"].to_string();
    assert!(said.contains("web → api → web"), "{said}");
    here.ask("web", "pong api web");
    let file = there.machine().path().join("root/web/afterwards.txt");
    until("it was asked back", || file.exists());
    let back = here.machine().path().join("root/api/afterwards.txt");
    until("the answer was refused", || {
        std::fs::read_to_string(&back).is_ok_and(|said| said.contains("would make a circle"))
    });
}

#[test]
fn n4_t1_a_node_that_is_away_is_named_and_a_name_on_two_nodes_means_the_local_team() {
    let database = postgres::database();
    let mut there = machine(&database, "workstation", &["web", "docs"]);
    let here = machine(&database, "laptop", &["web"]);
    let third = machine(&database, "server", &["other"]);
    // The local one is asked, in a session of its own.
    let own = here.ask("web", "which one?")["sessionId"].clone();
    assert_ne!(there.ask("web", "which one?")["sessionId"], own);
    let home = format!(
        "SELECT n.name FROM agent_sessions AS s JOIN nodes AS n ON n.id = s.node WHERE s.id = '{}'",
        own.as_str().unwrap()
    );
    assert_eq!(database.value(&home).as_deref(), Some("laptop"));
    // Who has none of them cannot say which one is meant.
    let refused = third.ask("web", "which one?").to_string();
    assert!(refused.contains("teams called web on laptop and workstation"), "{refused}");
    there.daemon.end(rustix::process::Signal::KILL);
    away(&database, "workstation");
    let refused = here.ask("docs", "are you there?").to_string();
    assert!(refused.contains("workstation has been away"), "{refused}");
    assert!(here.run("team list").contains("docs"), "it is listed all the same");
    there.daemon.start_again();
    assert_eq!(here.ask("docs", "and now?")["response"], "and now?");
    let unknown = here.ask("nobody", "hello").to_string();
    assert!(unknown.contains("Unknown team"), "{unknown}");
}
