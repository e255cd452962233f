//! `convoke doctor`.

use std::fs;
use std::net::TcpListener;

use crate::convoke::{Convoke, set_mode};

/// A machine whose port does not depend on what else runs.
fn machine() -> Convoke {
    Convoke::new().file("config.toml", "server.listen = \"127.0.0.1:0\"\n")
}

/// What the doctor says, without what depends on the kernel or on who has the default port.
fn examine(machine: &Convoke) -> String {
    let told = machine.run("doctor");
    let (checks, agents) = told.split_once("\n\nAGENT").unwrap();
    assert!(checks.contains("  sandbox   "), "{told}");
    let mut lines: Vec<&str> = checks.lines().collect();
    // What the machine offers is another thing on each.
    let varies = ["  sandbox   ", "  secrets   ", "bubblewrap", "Landlock", "127.0.0.1:7717"];
    lines.retain(|line| !varies.iter().any(|it| line.contains(it)));
    let errors = agents.split_once("--- stderr\n").map_or("", |(_, errors)| errors);
    lines.join("\n") + "\n--- stderr\n" + errors
}

#[test]
fn a_fresh_machine_is_ready_but_for_an_agent() {
    let machine = machine();
    insta::assert_snapshot!(examine(&machine), @"
    exit 0
    --- stdout
    ok    home      [tmp]/.convoke
    ok    config    [tmp]/.convoke/config.toml
    ok    database  none yet; it will be created when needed
    ok    backups   none yet in [tmp]/.convoke/backups
    ok    port      any free port will be used
    ok    logs      none yet; the folder will be created when needed
    warn  agents    none is installed besides the demo agent
                    → install one of those below
    ok    teams     none are configured
    --- stderr
    ");
    let told = machine.run("doctor");
    insta::assert_snapshot!(told.split_once("\n\n").unwrap().1, @"
    AGENT             TITLE               INSTALLED
    claude-code       Claude Code         no; npm install -g @anthropic-ai/claude-code
    codex             Codex               no; npm install -g @agentclientprotocol/codex-acp
    gemini            Gemini CLI          no; npm install -g @google/gemini-cli
    opencode          opencode            no; npm install -g opencode-ai
    goose             goose               no; npm install -g @aaif/goose-acp
    qwen              Qwen Code           no; npm install -g @qwen-code/qwen-code
    copilot           Copilot CLI         no; npm install -g @github/copilot
    cline             Cline               no; npm install -g cline
    kimi              Kimi Code           no; npm install -g @moonshot-ai/kimi-code
    vibe              Mistral Vibe        no; uv tool install mistral-vibe
    claude-agent-acp  Claude Agent (ACP)  no; npm install -g @agentclientprotocol/claude-agent-acp
    cursor-agent      Cursor              no; curl https://cursor.com/install -fsS | bash
    droid             Factory Droid       no; npm install -g droid
    demo              Demo                [convoke]
    ");
}

#[test]
fn an_installed_agent_is_found_on_the_search_path() {
    let machine = machine();
    let folder = machine.path().join("bin");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("claude"), "").unwrap();
    set_mode(&folder.join("claude"), 0o755);
    fs::write(folder.join("goose"), "not executable").unwrap();
    let machine = machine.env("PATH", folder.to_str().unwrap());
    let told = machine.run("doctor");
    let lines: Vec<&str> = told
        .lines()
        .filter(|line| {
            line.contains("  agents  ") || line.starts_with("claude") || line.starts_with("goose")
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    ok    agents    1 of 13 are installed
    claude-code       Claude Code         [tmp]/bin/claude
    goose             goose               no; npm install -g @aaif/goose-acp
    claude-agent-acp  Claude Agent (ACP)  no; npm install -g @agentclientprotocol/claude-agent-acp
    ");
}

#[test]
fn machines_get_checks_and_agents() {
    let report = machine().json("doctor --json");
    assert_eq!(report["healthy"], true);
    let checks =
        report["checks"].as_array().unwrap().iter().map(|check| check["check"].as_str().unwrap());
    assert_eq!(
        checks.collect::<Vec<_>>(),
        [
            "home", "config", "database", "backups", "port", "logs", "sandbox", "sandbox",
            "sandbox", "secrets", "agents", "teams"
        ]
    );
    insta::assert_json_snapshot!(report["checks"][4], @r#"
    {
      "check": "port",
      "finding": "any free port will be used",
      "fix": null,
      "status": "ok"
    }
    "#);
    insta::assert_json_snapshot!(report["agents"][0], @r#"
    {
      "command": "claude",
      "install": "npm install -g @anthropic-ai/claude-code",
      "name": "claude-code",
      "path": null,
      "title": "Claude Code"
    }
    "#);
}

#[test]
fn a_broken_configuration_is_reported_and_the_rest_examined() {
    let machine = Convoke::new().file("config.toml", "colour = 1\n[pool]\nmax_processes = 0\n");
    insta::assert_snapshot!(examine(&machine), @"
    exit 1
    --- stdout
    ok    home      [tmp]/.convoke
    fail  config    [tmp]/.convoke/config.toml:1:1: unknown key `colour`
                    → known are `teams_file`, `server`, `sessions`, `limits`, `pool`, `changes`, `worktree`, `sandbox`, `teams`, `questions`, `spawner`, `notify`, `editor`, `history`, `store`, `node`, `backup`, `agents`, `projects`
    fail  config    [tmp]/.convoke/config.toml:3:17: `pool.max_processes`: expected a whole number from 1 to 1000, found 0
                    → agent processes that may run at once; further turns wait; by default `max_processes = 10`
    ok    database  none yet; it will be created when needed
    warn  backups   not checked: the configuration has errors
    warn  port      not checked: the configuration has errors
    ok    logs      none yet; the folder will be created when needed
    warn  agents    none is installed besides the demo agent
                    → install one of those below
    warn  teams     not checked: the configuration has errors
    --- stderr
    error: this machine is not ready: see config
    ");
}

#[cfg(target_os = "linux")]
#[test]
fn an_unusable_home_is_reported_and_the_rest_examined() {
    let machine = Convoke::new().file("taken", "");
    let home = machine.home().join("taken/home");
    let machine = machine.env("CONVOKE_HOME", home.to_str().unwrap());
    insta::assert_snapshot!(examine(&machine), @"
    exit 1
    --- stdout
    fail  home      cannot create the home [tmp]/.convoke/taken/home: Not a directory (os error 20)
                    → choose another home with `--home` or CONVOKE_HOME
    fail  config    [tmp]/.convoke/taken/home/config.toml: cannot read the file: Not a directory (os error 20)
                    → see what is there: `ls -l '[tmp]/.convoke/taken/home/config.toml'`
    warn  database  not checked: there is no home to check
    warn  backups   not checked: there is no home to check
    warn  port      not checked: the configuration has errors
    warn  logs      not checked: there is no home to check
    warn  agents    none is installed besides the demo agent
                    → install one of those below
    warn  teams     not checked: the configuration has errors
    --- stderr
    error: this machine is not ready: see home, config
    ");
    let machine = Convoke::new().env("CONVOKE_HOME", "nowhere");
    insta::assert_snapshot!(examine(&machine), @"
    exit 1
    --- stdout
    fail  home      the home given by env CONVOKE_HOME is not an absolute path: nowhere
                    → set CONVOKE_HOME to an absolute path, or unset it
    warn  config    not checked: there is no home to check
    warn  database  not checked: there is no home to check
    warn  backups   not checked: there is no home to check
    warn  port      not checked: there is no home to check
    warn  logs      not checked: there is no home to check
    warn  agents    none is installed besides the demo agent
                    → install one of those below
    warn  teams     not checked: the configuration has errors
    --- stderr
    error: this machine is not ready: see home
    ");
}

#[test]
fn a_failure_is_printed_as_json_too() {
    let told = Convoke::new().env("CONVOKE_HOME", "nowhere").run("doctor --json");
    assert!(told.starts_with("exit 1\n--- stdout\n{\n  \"healthy\": false,"), "{told}");
    insta::assert_snapshot!(told.split_once("--- stderr\n").unwrap().1, @r#"{"error":"this machine is not ready: see home","causes":[],"hint":null,"exitCode":1}"#);
}

#[test]
fn a_home_that_others_can_enter_is_reported_with_the_way_out() {
    let machine = machine();
    set_mode(&machine.home(), 0o755);
    let told = examine(&machine);
    let lines: Vec<&str> = told.lines().take(4).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    exit 0
    --- stdout
    warn  home      other users can read [tmp]/.convoke (mode 755)
                    → run `chmod 700 '[tmp]/.convoke'`
    ");
}

#[test]
fn the_database_is_examined() {
    let machine = machine();
    let database = || {
        let told = machine.run("doctor");
        let mut lines = told.lines().skip_while(|line| !line.contains("  database  "));
        let (finding, fix) = (lines.next().unwrap(), lines.next().unwrap());
        if fix.contains('→') { format!("{finding}\n{fix}") } else { finding.to_owned() }
    };
    insta::assert_snapshot!(database(), @"ok    database  none yet; it will be created when needed");
    machine.run("db migrate");
    insta::assert_snapshot!(database(), @"ok    database  [tmp]/.convoke/convoke.db is intact, schema 8");
    machine.run("db rollback --yes");
    insta::assert_snapshot!(database(), @"
    warn  database  [tmp]/.convoke/convoke.db has schema 7, and 8 is the newest
                    → run `convoke db migrate`
    ");
    fs::write(machine.home().join("convoke.db"), "garbage ".repeat(1000)).unwrap();
    insta::assert_snapshot!(database(), @"
    fail  database  [tmp]/.convoke/convoke.db is not a database
                    → move it away (`mv '[tmp]/.convoke/convoke.db' '[tmp]/.convoke/convoke.db.other'`), or choose another home with `--home`
    ");
}

#[test]
fn a_team_that_keeps_the_daemon_from_starting_is_reported() {
    let doctor = |teams: &str| {
        let machine = machine();
        let teams = teams.replace("HERE", machine.path().to_str().unwrap());
        let told = examine(&machine.file("teams.json", teams));
        let lines = told.lines().skip_while(|line| !line.contains("  teams  "));
        lines.take_while(|line| !line.starts_with("---")).collect::<Vec<_>>().join("\n")
    };
    let told = [
        doctor(r#"{"teams": {"a": {"path": "HERE", "agent": "demo"}}}"#),
        doctor(r#"{"teams": {"a": {"path": "HERE", "agent": "codex"}}}"#),
        doctor(r#"{"teams": {"a": {"path": "HERE", "agent": "nobody"}}}"#),
        doctor(r#"{"teams": {"a": {"path": "/no/where", "agent": "demo"}}}"#),
        doctor(r#"{"teams": {"a": {"path": "/", "agent": "demo"}}}"#),
        doctor("{"),
    ];
    insta::assert_snapshot!(told.join("\n"), @r#"
    ok    teams     1 is configured in [tmp]/.convoke/teams.json
    fail  teams     the team a has no agent: codex is not installed
                    → fix that, or remove the team from [tmp]/.convoke/teams.json
    fail  teams     the team a has no agent: none is called nobody
                    → fix that, or remove the team from [tmp]/.convoke/teams.json
    fail  teams     Invalid configuration for team 'a': Project path does not exist: /no/where
                    → fix that, or remove the team from [tmp]/.convoke/teams.json
    fail  teams     Invalid configuration for team 'a': / is outside of the workspace root [tmp] (sessions.workspace_root)
                    → fix that, or remove the team from [tmp]/.convoke/teams.json
    fail  teams     [tmp]/.convoke/teams.json:1:1: EOF while parsing an object
                    → the format is {"teams": {"NAME": {"path": "/absolute/path"}}}
    "#);
}

#[test]
fn a_port_that_is_taken_is_ours_or_someone_elses() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let machine = Convoke::new().file("config.toml", format!("server.listen = \"{address}\"\n"));
    let port = || {
        let told = machine.run("doctor").replace(&address, "[address]");
        let line = told.lines().find(|line| line.contains("  port  ")).unwrap();
        line.to_owned()
    };
    insta::assert_snapshot!(port(), @"warn  port      [address] is in use by another program");
    fs::create_dir(machine.home().join("run")).unwrap();
    let daemon =
        format!(r#"{{"pid":4242,"url":"http://{address}","token":"t","version":"0.1.0"}}"#);
    fs::write(machine.home().join("run/daemon.json"), daemon).unwrap();
    insta::assert_snapshot!(port(), @"ok    port      the daemon of this home listens on [address] (pid 4242)");
    drop(listener);
    insta::assert_snapshot!(port(), @"ok    port      [address] is free");
}

#[cfg(target_os = "linux")]
#[test]
fn a_port_that_cannot_be_had_is_reported() {
    let file = "[server]\nlisten = \"192.0.2.1:7717\"\nallow_remote = true\n";
    let told = examine(&Convoke::new().file("config.toml", file));
    let line = told.lines().find(|line| line.contains("  port  ")).unwrap();
    insta::assert_snapshot!(line, @"fail  port      cannot listen on 192.0.2.1:7717: Cannot assign requested address (os error 99)");
}

#[test]
fn a_log_folder_that_is_none_is_reported() {
    insta::assert_snapshot!(examine(&machine().file("logs", "")), @"
    exit 0
    --- stdout
    ok    home      [tmp]/.convoke
    ok    config    [tmp]/.convoke/config.toml
    ok    database  none yet; it will be created when needed
    ok    backups   none yet in [tmp]/.convoke/backups
    ok    port      any free port will be used
    warn  logs      cannot write logs in [tmp]/.convoke/logs: Not a directory (os error 20)
                    → see what is there: `ls -ld '[tmp]/.convoke/logs'`
    warn  agents    none is installed besides the demo agent
                    → install one of those below
    ok    teams     none are configured
    --- stderr
    ");
}
