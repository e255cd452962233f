//! `convoke team`, as people and scripts use it.

use convoke_testkit::agent::{Script, Step, Tool};
use serde_json::json;

use crate::team_scene::{Teams, keys};

#[test]
fn t13_an_answer_is_printed_and_a_script_gets_all_that_is_known() {
    let call = Tool::named("t1", "read", json!({"path": "x"}));
    let script = Script::new().turn([
        Step::Call(call.clone()),
        Step::Update(call.done("text")),
        Step::say("POST /users"),
        Step::Plan(vec!["x".to_owned()]),
        Step::say("and that is all."),
    ]);
    let teams = Teams::new(&["backend"], &script);
    insta::assert_snapshot!(teams.run_args(&["team", "ask", "backend", "Which endpoint?"]), @r"
    exit 0
    --- stdout
    POST /users

    and that is all.
    ");
}

#[test]
fn t13_the_shapes_are_those_of_the_contract() {
    let teams = Teams::new(&["backend", "frontend"], &Script::new());
    let asked = teams.machine().json("team ask backend hello --from frontend --thread x --json");
    let of_an_answer = [
        "agentSessionId",
        "durationMs",
        "fromTeam",
        "response",
        "sessionId",
        "status",
        "team",
        "thread",
        "timestamp",
    ];
    assert_eq!(keys(&asked), of_an_answer);
    assert_eq!(asked["status"], "answered");
    assert_eq!((&asked["team"], &asked["fromTeam"]), (&json!("backend"), &json!("frontend")));
    assert_eq!((&asked["thread"], &asked["response"]), (&json!("x"), &json!("hello")));
    let sent = teams.machine().json("team send backend hello --json");
    assert_eq!(keys(&sent), of_an_answer);
    assert_eq!((&sent["fromTeam"], &sent["thread"]), (&json!(null), &json!(null)));
    let listed = teams.machine().json("team sessions --json");
    let of_a_session = [
        "agentSessionId",
        "createdAt",
        "fromTeam",
        "id",
        "lastUsedAt",
        "messageCount",
        "sessionId",
        "status",
        "thread",
        "toTeam",
    ];
    assert_eq!(keys(&listed), ["sessions"]);
    assert_eq!(keys(&listed["sessions"][0]), of_a_session);
    let stats = teams.machine().json("team stats --json");
    assert_eq!(
        stats,
        json!({"total": 3, "active": 3, "compactPending": 0, "archived": 0, "totalMessages": 2})
    );
}

#[test]
fn t13_the_exit_code_tells_an_answer_from_everything_else() {
    let script = Script::new()
        .when("slow", [Step::say("well"), Step::Hang])
        .when("crash", [Step::say("oh"), Step::Exit(3)]);
    let teams = Teams::new(&["backend"], &script);
    insta::assert_snapshot!(teams.run("team ask backend slow --timeout-ms 300"), @"
    exit 5
    --- stderr
    backend has said so far:
    well
    error: backend did not answer within 0.3 s and is still working
    hint: fetch the answer with `convoke team report backend --seq 1`
    ");
    let told = teams.run("team send backend later --no-wait");
    insta::assert_snapshot!(told, @r"
    exit 0
    --- stdout
    backend has queued it behind another question; fetch the answer with `convoke team report backend --message [id]`
    ");
    insta::assert_snapshot!(teams.run("team report backend --seq 1"), @"
    exit 5
    --- stderr
    backend has said so far:
    well
    error: backend has not answered yet
    hint: try again later
    ");
    let queued = teams.machine().json("team send backend more --no-wait --json");
    assert_eq!((&queued["status"], &queued["queued"]), (&json!("queued"), &json!(2)));
    let message = queued["messageId"].as_str().unwrap();
    insta::assert_snapshot!(teams.run(&format!("team report backend --message {message}")), @"
    exit 5
    --- stderr
    error: backend has not answered yet
    hint: try again later
    ");
    let busy = teams.run("team status backend");
    assert!(busy.contains("busy (1, 2 waiting)"), "{busy}");
    insta::assert_snapshot!(teams.run("team cancel backend"), @"
    exit 0
    --- stdout
    asked backend to stop
    ");
    insta::assert_snapshot!(teams.run("team ask backend crash"), @r"
    exit 1
    --- stderr
    backend has said so far:
    oh
    error: backend did not answer: The turn failed: the agent's process ended: exit code 3
    ");
    insta::assert_snapshot!(teams.run("team report backend"), @r"
    exit 1
    --- stderr
    backend has said so far:
    oh
    error: backend did not answer: The turn failed: the agent's process ended: exit code 3
    ");
    let told = teams.run("team ask backend hello --timeout-ms -1");
    assert!(told.starts_with("exit 0\n--- stdout\nbackend has it"), "{told}");
}

#[test]
fn t15_wrong_requests_fail_in_the_words_of_the_contract() {
    let teams = Teams::new(&["backend"], &Script::new());
    insta::assert_snapshot!(teams.run("team ask nonexistent hello"), @r"
    exit 1
    --- stderr
    error: Unknown team: nonexistent
    hint: see `convoke team list`
    ");
    insta::assert_snapshot!(teams.run("team ask ../etc hello"), @r"
    exit 2
    --- stderr
    error: Invalid team name: ../etc
    ");
    insta::assert_snapshot!(teams.run("team compact not-a-uuid"), @r"
    exit 2
    --- stderr
    error: Invalid session ID format: not-a-uuid
    ");
    insta::assert_snapshot!(teams.run("team delete 99"), @"
    exit 1
    --- stderr
    error: there is no team session 99
    hint: see `convoke team sessions`
    ");
    insta::assert_snapshot!(teams.run("team report backend"), @r"
    exit 1
    --- stderr
    error: backend has not been asked anything yet
    hint: ask it with `convoke team ask backend TEXT`
    ");
    insta::assert_snapshot!(teams.run("team sessions --used-after yesterday"), @r"
    exit 2
    --- stderr
    error: not a date or time: yesterday
    hint: write it as 2026-11-15, 2026-11-15T10:00:00Z, or 12h, 7d, 2w ago
    ");
    insta::assert_snapshot!(teams.run("team ask backend hello --from backend"), @r"
    exit 1
    --- stderr
    error: this ask would make a circle: backend → backend
    hint: answer with what you know; the teams before you in the chain wait for it
    ");
}

#[test]
fn t5_t7_teams_and_their_conversations_are_listed() {
    let mut properties = json!({"agent": "scripted", "description": "Answers for the server"});
    properties["color"] = json!("#E91E63");
    let teams = Teams::with(
        vec![("backend", properties), ("frontend", json!({"agent": "scripted"}))],
        &Script::new(),
        "",
    );
    // How wide the paths are depends on the machine.
    let listed = teams.run("team list");
    let listed: Vec<String> =
        listed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    insta::assert_snapshot!(listed.join("\n").replace("root", "workspaces"), @r"
    exit 0
    --- stdout
    TEAM AGENT STATUS PATH DESCRIPTION
    backend scripted awake [tmp]/workspaces/backend Answers for the server
    frontend scripted awake [tmp]/workspaces/frontend
    ");
    teams.run("team ask backend hello --from frontend");
    insta::assert_snapshot!(teams.run("team sessions --from frontend"), @r"
    exit 0
    --- stdout
    ID  FROM      TO       THREAD  STATUS  MESSAGES  USED  SESSION
    3   frontend  backend          active  1         now   [the-id]
    ");
    insta::assert_snapshot!(teams.run("team sleep backend"), @r"
    exit 0
    --- stdout
    backend is asleep: 2 processes stopped
    ");
    // Both teams are begun at once, so either may be the first.
    let status = teams.run("team status backend").replace("  2   (outside)", "  1   (outside)");
    insta::assert_snapshot!(status, @r"
    exit 0
    --- stdout
    backend  scripted, asleep
      ID  FROM       THREAD  STATUS  ACTIVITY  WAITING  MESSAGES  USED
      3   frontend           idle    idle      0        1         now
      1   (outside)          idle    idle      0        0         now
    ");
    let ids = |line: &str| -> Vec<u64> {
        let listed = teams.machine().json(line);
        listed["sessions"].as_array().unwrap().iter().map(|it| it["id"].as_u64().unwrap()).collect()
    };
    let idle = ids("team sessions --status idle --to backend --json");
    assert_eq!((idle.len(), idle[0]), (2, 3));
    assert_eq!(ids("team sessions --external --limit 1 --json").len(), 1);
    assert_eq!(ids("team sessions --used-after 1h --json").len(), 3);
    assert_eq!(ids("team sessions --created-after 2099-01-01 --json"), [0; 0]);
    insta::assert_snapshot!(teams.run("team wake backend"), @r"
    exit 0
    --- stdout
    backend is awake
    ");
    insta::assert_snapshot!(teams.run("team stats"), @r"
    exit 0
    --- stdout
    conversations    3
    active           3
    compact pending  0
    archived         0
    messages         1
    ");
}

#[test]
fn t8_t9_conversations_are_compacted_and_deleted() {
    let script = Script::new().when("Write only the summary.", [Step::say("All is well.")]);
    let teams = Teams::with(
        vec![("acp", json!({"agent": "scripted"})), ("claude", json!({}))],
        &script,
        "",
    );
    for team in ["acp", "claude"] {
        teams.run(&format!("team ask {team} hello"));
    }
    // All teams begin at once, so either of them may be the first.
    let number = |team: &str| {
        let sessions = teams.machine().json(&format!("team sessions --to {team} --json"));
        sessions["sessions"][0]["id"].as_u64().unwrap()
    };
    let (acp, claude) = (number("acp"), number("claude"));
    assert_eq!(
        teams.run(&format!("team compact {acp}")),
        format!(
            "exit 0\n--- stdout\nconversation {acp} continues in session [the-id], with a summary\n"
        )
    );
    assert_eq!(
        teams.run(&format!("team compact {claude}")),
        format!("exit 0\n--- stdout\nthe agent compacted conversation {claude}\n")
    );
    let sessions = teams.machine().json("team sessions --to claude --json");
    let agent_session = sessions["sessions"][0]["agentSessionId"].as_str().unwrap().to_owned();
    let files = || {
        let folders = std::fs::read_dir(teams.machine().path().join(".claude/projects")).unwrap();
        let mut names = Vec::new();
        for folder in folders {
            for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
                names.push(file.unwrap().file_name().into_string().unwrap());
            }
        }
        names
    };
    assert_eq!(files(), [format!("{agent_session}.jsonl")]);
    let deleted = teams.run(&format!("team delete {} --with-file", &agent_session[..8]));
    assert_eq!(
        deleted,
        format!("exit 0\n--- stdout\ndeleted conversation {claude}, from outside to claude\n")
    );
    assert_eq!(files(), [""; 0]);
    assert_eq!(teams.ask("claude", "hello")["status"], "answered");
}

#[test]
fn t16_all_agents_are_stopped_by_one_word() {
    let teams = Teams::new(&["a", "b"], &Script::new().when("work", [Step::say("hm"), Step::Hang]));
    for team in ["a", "b"] {
        teams.run(&format!("team send {team} work --no-wait"));
    }
    let told = teams.run("stop --agents");
    assert!(told.starts_with("exit 0\n--- stdout\nstopped 2 agents, 2 of them busy"), "{told}");
    insta::assert_snapshot!(teams.run("stop --agents"), @r"
    exit 0
    --- stdout
    no agent is running
    ");
    assert_eq!(teams.ask("a", "hello")["response"], "hello");
    let report = teams.machine().run("team report a --seq 1 --json");
    assert!(report.contains(r#""status": "failed""#), "{report}");
}
