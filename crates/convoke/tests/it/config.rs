//! `convoke config show`, and every mistake a configuration can have.

use std::os::unix::ffi::OsStrExt;

use crate::convoke::Convoke;

/// What `config show` says about the settings, without the agents.
fn settings(machine: &Convoke) -> String {
    let told = machine.run("config show");
    told.lines()
        .filter(|line| !line.starts_with("agents."))
        .map(|line| line.to_owned() + "\n")
        .collect()
}

fn with_file(content: impl AsRef<[u8]>) -> Convoke {
    Convoke::new().file("config.toml", content)
}

#[test]
fn q17_every_value_is_shown_with_its_source() {
    let machine = with_file("[questions]\nmax_sessions = 50\n\n[sessions]\nmax_active = 3\n")
        .env("AGENT_SESSION_IDLE_TIMEOUT", "0.05")
        .env("AGENT_MAX_CONCURRENT_SESSIONS", "8")
        .env("CONVOKE_QUESTIONS_DIR", "q");
    insta::assert_snapshot!(settings(&machine), @r#"
    exit 0
    --- stdout
    KEY                                      SOURCE                             VALUE
    home                                     default                            [tmp]/.convoke
    teams_file                               default                            [tmp]/.convoke/teams.json
    server.listen                            default                            127.0.0.1:7717
    server.allow_remote                      default                            false
    server.public_url                        default
    sessions.max_active                      env AGENT_MAX_CONCURRENT_SESSIONS  8
    sessions.idle_timeout_minutes            env AGENT_SESSION_IDLE_TIMEOUT     0.05
    sessions.workspace_root                  default                            [tmp]
    limits.turn_bytes                        default                            67108864
    limits.session_bytes                     default                            1073741824
    pool.max_processes                       default                            10
    pool.idle_timeout_ms                     default                            300000
    pool.health_check_interval_ms            default                            30000
    pool.spare                               default                            true
    changes.checkpoints                      default                            true
    worktree.root                            default
    sandbox.layers                           default                            ["bwrap","landlock","seccomp"]
    sandbox.require                          default                            []
    sandbox.caches                           default                            project
    sandbox.network                          default                            open
    sandbox.domains                          default                            []
    sandbox.hidden                           default                            []
    sandbox.sockets                          default                            []
    teams.max_hops                           default                            5
    teams.max_chain_messages                 default                            50
    teams.max_pair_messages_per_hour         default                            200
    questions.dir                            env CONVOKE_QUESTIONS_DIR          [tmp]/.convoke/q
    questions.max_sessions                   config.toml:2                      50
    questions.max_questions                  default                            5
    questions.max_options                    default                            5
    questions.retention_days                 default                            7
    questions.timeout_ms                     default                            0
    spawner.interactive.session_expiry_days  default                            0
    spawner.interactive.max_tokens           default                            100000
    notify.command                           default                            []
    editor.open                              default
    editor.command                           default                            []
    history.import                           default                            ask
    history.recall                           default                            project
    history.open_for                         default                            5m
    store.url                                default
    store.password_file                      default
    node.name                                default
    backup.every                             default                            24h
    backup.keep                              default                            3
    backup.dir                               default                            [tmp]/.convoke/backups
    "#);
}

#[test]
fn the_agents_are_shown_too() {
    let told = Convoke::new().run("config show");
    let demo: String = told
        .lines()
        .filter(|line| line.contains("agents.demo."))
        .map(|line| line.to_owned() + "\n")
        .collect();
    insta::assert_snapshot!(demo, @r#"
    agents.demo.like                         default  null
    agents.demo.protocol                     default  acp
    agents.demo.command                      default  [convoke]
    agents.demo.args                         default  ["demo-agent"]
    agents.demo.env                          default  {}
    agents.demo.title                        default  Demo
    agents.demo.badge                        default  DM
    agents.demo.sandbox                      default  workspace
    agents.demo.writable                     default  ["[tmp]/.local/state/convoke-demo"]
    agents.demo.readable                     default  []
    agents.demo.nested_sandbox               default  none
    agents.demo.resume                       default  native
    agents.demo.tools                        default  stdio
    agents.demo.mentions                     default  link
    agents.demo.domains                      default  []
    agents.demo.memory_max                   default  auto
    agents.demo.tasks_max                    default  auto
    agents.demo.temp_max                     default  auto
    "#);
}

#[test]
fn machines_get_keys_values_and_sources() {
    let shown = with_file("pool.max_processes = 2").json("config show --json");
    let values = shown["values"].as_array().unwrap();
    let of = |key: &str| values.iter().find(|value| value["key"] == key).unwrap().to_string();
    insta::assert_snapshot!(
        [of("pool.max_processes"), of("server.listen"), of("server.allow_remote")].join("\n"), @r#"
    {"key":"pool.max_processes","source":"config.toml:1","value":2}
    {"key":"server.listen","source":"default","value":"127.0.0.1:7717"}
    {"key":"server.allow_remote","source":"default","value":false}
    "#);
    assert_eq!(shown.as_object().unwrap().keys().collect::<Vec<_>>(), ["home", "values"]);
}

#[test]
fn the_flag_for_the_home_beats_the_variable() {
    let machine = Convoke::new().env("CONVOKE_HOME", "/var/empty/convoke");
    let home = |line: &str| machine.run(line).lines().nth(3).unwrap().to_owned();
    insta::assert_snapshot!(home("config show"), @"home                                     env CONVOKE_HOME  /var/empty/convoke");
    insta::assert_snapshot!(home("config show --home ~/other"), @"home                                     flag --home  [tmp]/other");
}

#[test]
fn secrets_are_masked_and_references_expanded() {
    let file = r#"
        teams_file = "${TEAMS:-teams.json}"
        questions.dir = "$${literally}"
        [agents.mine]
        command = "mine"
        env = { API_KEY = "sk-1", FROM = "${ELSEWHERE}", LEVEL = "high", db_password = "x" }
    "#;
    let machine = with_file(file).env("ELSEWHERE", "hunter2").env("TEAMS", "a.json");
    let told = machine.run("config show");
    assert!(!told.contains("hunter2") && !told.contains("sk-1"), "{told}");
    let lines: String = told
        .lines()
        .filter(|line| {
            ["teams_file", "questions.dir", "agents.mine"].iter().any(|key| line.starts_with(key))
        })
        .map(|line| line.to_owned() + "\n")
        .collect();
    insta::assert_snapshot!(lines, @r#"
    teams_file                               config.toml:2  [tmp]/.convoke/a.json
    questions.dir                            config.toml:3  [tmp]/.convoke/${literally}
    agents.mine.like                         default        null
    agents.mine.protocol                     default        acp
    agents.mine.command                      config.toml:5  mine
    agents.mine.args                         default        []
    agents.mine.env                          config.toml:6  {"API_KEY":"***","FROM":"***","LEVEL":"high","db_password":"***"}
    agents.mine.title                        default        mine
    agents.mine.badge                        default        MI
    agents.mine.sandbox                      default        workspace
    agents.mine.writable                     default        []
    agents.mine.readable                     default        []
    agents.mine.nested_sandbox               default        none
    agents.mine.resume                       default        native
    agents.mine.tools                        default        stdio
    agents.mine.mentions                     default        link
    agents.mine.domains                      default        []
    agents.mine.memory_max                   default        auto
    agents.mine.tasks_max                    default        auto
    agents.mine.temp_max                     default        auto
    "#);
}

#[test]
fn an_unknown_key_is_refused_with_the_nearest_known_one() {
    insta::assert_snapshot!(with_file("[sessions]\nmax_actve = 3\n").run("config show"), @"
    exit 2
    --- stderr
    error: the configuration has an error
      [tmp]/.convoke/config.toml:2:1: unknown key `sessions.max_actve`
        hint: did you mean `max_active`?
    ");
}

#[test]
fn an_unknown_key_like_no_other_is_refused_with_the_known_ones() {
    insta::assert_snapshot!(with_file("[sessions]\ncolour = 3\n").run("config show"), @"
    exit 2
    --- stderr
    error: the configuration has an error
      [tmp]/.convoke/config.toml:2:1: unknown key `sessions.colour`
        hint: known are `max_active`, `idle_timeout_minutes`, `workspace_root`
    ");
}

#[test]
fn a_wrong_type_is_refused() {
    insta::assert_snapshot!(with_file("[sessions]\nmax_active = \"3\"\n").run("config show"), @"
    exit 2
    --- stderr
    error: the configuration has an error
      [tmp]/.convoke/config.toml:2:14: `sessions.max_active`: expected a whole number, found a string
        hint: sessions that may be active at once; by default `max_active = 5`
    ");
}

#[test]
fn a_value_out_of_range_is_refused_with_the_range() {
    insta::assert_snapshot!(with_file("[pool]\nmax_processes = 0\n").run("config show"), @"
    exit 2
    --- stderr
    error: the configuration has an error
      [tmp]/.convoke/config.toml:2:17: `pool.max_processes`: expected a whole number from 1 to 1000, found 0
        hint: agent processes that may run at once; further turns wait; by default `max_processes = 10`
    ");
}

#[test]
fn a_remote_address_is_refused_without_leave() {
    insta::assert_snapshot!(with_file("[server]\nlisten = \"0.0.0.0:7717\"\n").run("config show"), @"
    exit 2
    --- stderr
    error: the configuration has an error
      [tmp]/.convoke/config.toml:2:10: `server.listen`: other machines could reach 0.0.0.0:7717
        hint: use 127.0.0.1, or set `allow_remote = true` in [server]
    ");
}

#[test]
fn broken_toml_is_refused() {
    insta::assert_snapshot!(with_file("[server\nlisten = 3\n").run("config show"), @"
    exit 2
    --- stderr
    error: the configuration has an error
      [tmp]/.convoke/config.toml:1:8: invalid TOML: unclosed table, expected `]`
        hint: strings need quotes, each key appears once, and a table starts with `[name]`
    ");
}

#[test]
fn a_key_that_stands_twice_is_refused() {
    insta::assert_snapshot!(with_file("[pool]\nmax_processes = 1\nmax_processes = 2\n").run("config show"), @"
    exit 2
    --- stderr
    error: the configuration has an error
      [tmp]/.convoke/config.toml:3:1: invalid TOML: duplicate key
        hint: strings need quotes, each key appears once, and a table starts with `[name]`
    ");
}

#[test]
fn a_variable_that_is_not_set_is_refused() {
    insta::assert_snapshot!(with_file("teams_file = \"${TEAMS}\"\n").run("config show"), @"
    exit 2
    --- stderr
    error: the configuration has an error
      [tmp]/.convoke/config.toml:1:14: the environment variable TEAMS is not set
        hint: set it, or give a default: `${TEAMS:-…}`
    ");
}

#[test]
fn a_file_that_is_not_utf_8_is_refused() {
    insta::assert_snapshot!(with_file(b"# caf\xe9\n").run("config show"), @"
    exit 2
    --- stderr
    error: the configuration has an error
      [tmp]/.convoke/config.toml:1:6: the file is not valid UTF-8 from here on
        hint: save it as UTF-8
    ");
}

#[test]
fn a_folder_in_place_of_the_file_is_refused() {
    insta::assert_snapshot!(Convoke::new().folder("config.toml").run("config show"), @"
    exit 2
    --- stderr
    error: the configuration has an error
      [tmp]/.convoke/config.toml: this is a folder, not a file
        hint: move it away: `mv '[tmp]/.convoke/config.toml' '[tmp]/.convoke/config.toml.d'`
    ");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_read_is_refused() {
    let machine = Convoke::new().folder("");
    std::os::unix::fs::symlink("config.toml", machine.home().join("config.toml")).unwrap();
    insta::assert_snapshot!(machine.run("config show"), @"
    exit 2
    --- stderr
    error: the configuration has an error
      [tmp]/.convoke/config.toml: cannot read the file: Too many levels of symbolic links (os error 40)
        hint: see what is there: `ls -l '[tmp]/.convoke/config.toml'`
    ");
}

#[test]
fn s9_s10_a_variable_with_a_bad_value_is_named() {
    let machine = Convoke::new()
        .env("AGENT_MAX_CONCURRENT_SESSIONS", "many")
        .env("AGENT_SESSION_IDLE_TIMEOUT", "-1")
        .env("AGENT_WORKSPACE_ROOT", "work")
        .env("CONVOKE_QUESTIONS_DIR", "");
    insta::assert_snapshot!(machine.run("config show"), @r#"
    exit 2
    --- stderr
    error: the configuration has 4 errors
      env AGENT_MAX_CONCURRENT_SESSIONS: `sessions.max_active`: expected a whole number, found `many`
        hint: sessions that may be active at once; by default `max_active = 5`
      env AGENT_SESSION_IDLE_TIMEOUT: `sessions.idle_timeout_minutes`: expected a number of minutes from 0.001 to 525600, found -1
        hint: minutes without activity after which a session is completed; fractions are allowed; by default `idle_timeout_minutes = 30`
      env AGENT_WORKSPACE_ROOT: `sessions.workspace_root`: expected an absolute path, found `work`
        hint: the folder that all projects must be inside of; by default `workspace_root = "~"`
      env CONVOKE_QUESTIONS_DIR: `questions.dir`: expected a path, found an empty string
        hint: the folder for questions to you, relative to the home; by default `dir = "questions"`
    "#);
}

#[test]
fn a_variable_that_is_not_text_is_named() {
    let machine = Convoke::new();
    let value = std::ffi::OsStr::from_bytes(b"\xff");
    let output =
        machine.command(&["config", "show"]).env("CONVOKE_QUESTIONS_DIR", value).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    insta::assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @r#"
    error: the configuration has an error
      env CONVOKE_QUESTIONS_DIR: `questions.dir`: the value is not valid UTF-8
        hint: the folder for questions to you, relative to the home; by default `dir = "questions"`
    "#);
}

#[test]
fn all_mistakes_are_told_at_once_to_machines_too() {
    let machine = with_file("colour = 1\n[pool]\nmax_processes = 0\n");
    insta::assert_snapshot!(machine.run("config show"), @"
    exit 2
    --- stderr
    error: the configuration has 2 errors
      [tmp]/.convoke/config.toml:1:1: unknown key `colour`
        hint: known are `teams_file`, `server`, `sessions`, `limits`, `pool`, `changes`, `worktree`, `sandbox`, `teams`, `questions`, `spawner`, `notify`, `editor`, `history`, `store`, `node`, `backup`, `agents`, `projects`
      [tmp]/.convoke/config.toml:3:17: `pool.max_processes`: expected a whole number from 1 to 1000, found 0
        hint: agent processes that may run at once; further turns wait; by default `max_processes = 10`
    ");
    insta::assert_snapshot!(machine.run("config show --json"), @r#"
    exit 2
    --- stderr
    {"error":"the configuration has 2 errors","causes":["[tmp]/.convoke/config.toml:1:1: unknown key `colour` (known are `teams_file`, `server`, `sessions`, `limits`, `pool`, `changes`, `worktree`, `sandbox`, `teams`, `questions`, `spawner`, `notify`, `editor`, `history`, `store`, `node`, `backup`, `agents`, `projects`)","[tmp]/.convoke/config.toml:3:17: `pool.max_processes`: expected a whole number from 1 to 1000, found 0 (agent processes that may run at once; further turns wait; by default `max_processes = 10`)"],"hint":null,"exitCode":2}
    "#);
}
