//! `convoke serve` with teams: checked and ready before anything is served, and read again when they change.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;

use convoke_testkit::agent::Script;
use convoke_testkit::host::example;
use convoke_testkit::tools::search_path;
use convoke_testkit::wait::until;
use serde_json::{Value, json};

use crate::convoke::Convoke;
use crate::team_scene::{Teams, install_claude, replace, teams_json};

/// A machine with these teams, whose daemon is not running.
fn machine(teams: Vec<(&str, Value)>) -> Convoke {
    let machine = Convoke::new().env("PATH", &search_path());
    let file = teams_json(&machine, teams);
    let machine = install_claude(machine.file("teams.json", file), &Script::new());
    let config = format!(
        "[server]\nlisten = \"127.0.0.1:0\"\n[agents.claude-code]\ncommand = {:?}\nsandbox = \"off\"\n\
         [agents.asking]\ncommand = {:?}\nsandbox = \"off\"\n",
        machine.path().join("claude"),
        example("asking_agent"),
    );
    machine.file("config.toml", config)
}

#[test]
fn t2_t15_a_team_that_cannot_work_keeps_the_daemon_from_starting() {
    let told = |properties: Value| machine(vec![("backend", properties)]).run("serve");
    insta::assert_snapshot!(told(json!({"path": "/nonexistent/path"})), @r"
    exit 2
    --- stderr
    error: Invalid configuration for team 'backend': Project path does not exist: /nonexistent/path
    hint: fix it in teams.json; nothing was started
    ");
    insta::assert_snapshot!(told(json!({"path": "relative"})), @r"
    exit 2
    --- stderr
    error: Invalid configuration for team 'backend': Project path must be absolute: relative
    hint: fix it in teams.json; nothing was started
    ");
    insta::assert_snapshot!(told(json!({"agent": "nobody"})), @r"
    exit 2
    --- stderr
    error: Invalid configuration for team 'backend': there is no agent called nobody
    hint: fix it in teams.json; nothing was started
    ");
    insta::assert_snapshot!(told(json!({"colour": "red"})), @r#"
    exit 2
    --- stderr
    error: [tmp]/.convoke/teams.json:1:29: unknown field `colour`, expected one of `path`, `description`, `skipPermissions`, `sessionInitTimeout`, `color`, `agent`
    hint: the format is {"teams": {"NAME": {"path": "/absolute/path"}}}
    "#);
    insta::assert_snapshot!(machine(vec![("a_b", json!({}))]).run("serve"), @r"
    exit 2
    --- stderr
    error: Invalid team name: a_b
    hint: fix it in teams.json; nothing was started
    ");
}

#[test]
fn t12_t15_a_team_whose_agent_is_stuck_or_missing_is_a_matter_of_processes() {
    let stuck = machine(vec![("backend", json!({"sessionInitTimeout": 300}))]);
    fs::write(stuck.path().join("slow"), "").unwrap();
    insta::assert_snapshot!(stuck.run("serve"), @r#"
    exit 1
    --- stderr
    error: Process error for team "backend": Session initialization timed out after 300ms
    hint: try again, or start the agent by hand to see what it waits for
    "#);
    assert!(!stuck.home().join("run/daemon.json").exists());
    fs::remove_file(stuck.path().join("slow")).unwrap();
    let missing = machine(vec![("backend", json!({"agent": "codex"}))]);
    insta::assert_snapshot!(missing.run("serve"), @r#"
    exit 1
    --- stderr
    error: Process error for team "backend": the agent codex is not installed: there is no codex-acp on the search path
    hint: install it with `npm install -g @agentclientprotocol/codex-acp`
    "#);
    // A command that starts the daemon tells why it does not start.
    let told = missing.run("team list");
    assert!(told.starts_with("exit 3"), "{told}");
    assert!(told.contains("the agent codex is not installed"), "{told}");
}

#[test]
fn t3_nothing_is_served_before_every_team_is_ready() {
    let machine = machine(vec![("backend", json!({}))]);
    fs::write(machine.path().join("slow"), "").unwrap();
    // Where it listens must be known before it says so.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let address = port.to_string();
    let mut command = machine.command(&["serve", "--listen", &address]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let token = || fs::read_to_string(machine.home().join("run/token")).unwrap_or_default();
    until("it listens and has a token", || {
        !token().is_empty() && TcpStream::connect(&address).is_ok()
    });
    let ask = || {
        let token = fs::read_to_string(machine.home().join("run/token")).unwrap_or_default();
        let mut stream = TcpStream::connect(&address).unwrap();
        let head = format!("GET /api/teams HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
        write!(stream, "{head}authorization: Bearer {token}\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let early = ask();
    assert!(early.starts_with("HTTP/1.1 503"), "{early}");
    assert!(early.contains("the daemon is still preparing the teams"), "{early}");
    assert!(!machine.home().join("run/daemon.json").exists());
    // It can be seen and stopped all the same, and the next attempt goes well.
    let pid = child.id();
    let told = machine.run("status");
    let error = format!("error: the daemon, process {pid}, is starting or stopping\n");
    assert!(told.starts_with(&format!("exit 3\n--- stderr\n{error}")), "{told}");
    let told = machine.run("stop");
    assert!(told.contains(&format!("stopped the daemon, process {pid}")), "{told}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    fs::remove_file(machine.path().join("slow")).unwrap();
    let mut child =
        machine.command(&["serve", "--listen", &address]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("Convoke is ready"), "{line}");
    let late = ask();
    assert!(late.starts_with("HTTP/1.1 200"), "{late}");
    machine.run("stop");
    child.wait().unwrap();
}

#[test]
fn t3_t11_the_session_of_every_team_is_there_when_the_daemon_is() {
    let teams = Teams::with(vec![("a", json!({})), ("b", json!({}))], &Script::new(), "");
    let log = fs::read_to_string(teams.machine().path().join("claude.log")).unwrap();
    assert_eq!(log.lines().count(), 2, "{log}");
    assert!(
        log.lines().all(|line| line.starts_with("--session-id ") && line.ends_with("--print ping"))
    );
    let sessions = teams.machine().json("team sessions --external --json");
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 2);
    assert_eq!(teams.ask("a", "hello")["response"], "hello");
    let log = fs::read_to_string(teams.machine().path().join("claude.log")).unwrap();
    assert!(log.lines().last().unwrap().contains("--resume "), "{log}");
}

#[test]
fn t4_a_lost_file_of_claudes_is_made_anew_by_the_next_start() {
    let mut teams = Teams::with(vec![("a", json!({}))], &Script::new(), "");
    let first = teams.ask("a", "my name is Ann");
    let burned = first["agentSessionId"].as_str().unwrap().to_owned();
    teams.daemon.end(rustix::process::Signal::TERM);
    fs::remove_dir_all(teams.machine().path().join(".claude/projects")).unwrap();
    teams.daemon.start_again();
    let second = teams.ask("a", "who am I?");
    assert_eq!(first["sessionId"], second["sessionId"]);
    assert_ne!(second["agentSessionId"], json!(burned));
    assert!(second["response"].as_str().unwrap().contains("my name is Ann"), "{second}");
}

#[test]
fn t14_a_valid_change_of_the_file_is_reloaded_and_a_broken_one_is_not() {
    let teams = Teams::new(&["a"], &Script::new());
    let file = teams.machine().home().join("teams.json");
    let names = || -> Vec<String> {
        let listed = teams.machine().json("team list --json");
        let all = listed["teams"].as_array().unwrap().clone();
        all.iter().map(|team| team["name"].as_str().unwrap().to_owned()).collect()
    };
    let both = vec![("a", json!({"agent": "scripted"})), ("b", json!({"agent": "scripted"}))];
    replace(&file, &teams_json(teams.machine(), both));
    until("the new team is there", || names() == ["a", "b"]);
    assert_eq!(teams.ask("b", "hello")["response"], "hello");
    replace(&file, "{ not json");
    until("it is logged", || !teams.daemon.logged("the teams were not reloaded").is_empty());
    assert_eq!(names(), ["a", "b"]);
    insta::assert_snapshot!(teams.run("team reload"), @r"
    exit 2
    --- stderr
    error: [tmp]/.convoke/teams.json:1:3: key must be a string
    hint: the earlier teams stay in use; fix the file and reload
    ");
    let broken = vec![("a", json!({"agent": "scripted", "path": "/nonexistent"}))];
    replace(&file, &teams_json(teams.machine(), broken));
    insta::assert_snapshot!(teams.run("team reload"), @r"
    exit 2
    --- stderr
    error: Invalid configuration for team 'a': Project path does not exist: /nonexistent
    ");
    assert_eq!(teams.ask("a", "still there?")["response"], "still there?");
    fs::remove_file(&file).unwrap();
    until("there are no teams", || names().is_empty());
    insta::assert_snapshot!(teams.run("team list"), @r"
    exit 0
    --- stdout
    No teams. Configure them in teams.json in the home, then run `convoke team reload`
    ");
}

#[test]
fn t10_t14_what_the_file_says_about_processes_is_shown_and_followed() {
    let machine = Convoke::new().file(
        "teams.json",
        r#"{"settings": {"maxProcesses": 3, "idleTimeout": 1000}, "teams": {}}"#,
    );
    let shown = machine.run("config show");
    let of = |key: &str| shown.lines().find(|line| line.starts_with(key)).unwrap().to_owned();
    let told = [of("pool.max_processes"), of("pool.idle"), of("pool.health")].join("\n");
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        told,
        "pool.max_processes teams.json 3 pool.idle_timeout_ms teams.json 1000 \
         pool.health_check_interval_ms default 30000"
    );
    let wrong = Convoke::new().file("teams.json", "{\"teams\": 1}").run("config show");
    assert!(wrong.starts_with("exit 2"), "{wrong}");
}

#[test]
fn t3_a_person_who_watches_sees_the_teams_come_up() {
    let machine = machine(vec![("a", json!({})), ("b", json!({}))]);
    let mut terminal = machine.on_terminal("serve");
    terminal.sees("Preparing 2 teams");
    terminal.sees("(2 of 2)");
    terminal.sees("Convoke is ready at");
    terminal.types("\u{3}");
    let (_, code) = terminal.ends();
    assert_eq!(code, 0);
}
