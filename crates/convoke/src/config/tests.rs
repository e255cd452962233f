//! Loading, as a function of its sources: files, variables and flags in, values or mistakes out.

mod agents;

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use super::*;
use crate::environment::Environment;

/// Loads `file` with these variables and flags; Ann is the user, and her home is where it should be.
fn load_with(
    file: &str,
    variables: &[(&'static str, &str)],
    flags: &[(&'static str, &str)],
) -> Result<Loaded, Mistakes> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    fs::write(&path, file).unwrap();
    let mut all = vec![("HOME", "/home/ann")];
    all.extend(variables);
    load(&Sources {
        home: Path::new("/home/ann/.convoke"),
        file: &path,
        environment: &all.into_iter().collect::<Environment>(),
        flags: flags
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect::<BTreeMap<_, _>>(),
        program: Path::new("/usr/bin/convoke"),
    })
}

fn config(file: &str) -> Config {
    load_with(file, &[], &[]).unwrap().config
}

/// A value and its source, as `config show` has them.
fn shown(loaded: &Loaded, key: &str) -> String {
    let effective = loaded.effective.iter().find(|effective| effective.key == key).unwrap();
    format!("{} ({})", effective.value, effective.origin)
}

/// The mistakes in a file, without the folder it is in.
fn mistakes(file: &str) -> String {
    let mistakes = load_with(file, &[], &[]).unwrap_err();
    let folder = format!("{}/", mistakes.file.parent().unwrap().display());
    let line = |mistake| mistakes.describe(mistake).replace(&folder, "") + "\n  " + &mistake.hint;
    mistakes.list.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn q17_t10_r6_without_a_file_the_documented_defaults_hold() {
    let loaded = config("");
    let Config { server, sessions, pool, sandbox, teams, questions, spawner, .. } = &loaded;
    let Config { teams_file, agents, backup, limits, .. } = &loaded;
    assert_eq!((backup.every, backup.keep), (Some(Duration::from_secs(86_400)), 3));
    assert!(backup.dir.ends_with("backups"));
    let all = (server, sessions, limits, pool, sandbox, teams, questions, spawner, teams_file);
    insta::assert_debug_snapshot!(all, @r#"
    (
        Server {
            listen: 127.0.0.1:7717,
            allow_remote: false,
            public_url: None,
        },
        Sessions {
            max_active: 5,
            idle_timeout: 1800s,
            workspace_root: "/home/ann",
        },
        Limits {
            turn_bytes: 67108864,
            session_bytes: 1073741824,
        },
        Pool {
            max_processes: 10,
            idle_timeout_ms: 300000,
            health_check_interval_ms: 30000,
            spare: true,
        },
        Sandbox {
            layers: [
                "bwrap",
                "landlock",
                "seccomp",
            ],
            require: [],
            network: "open",
            caches: "project",
            domains: [],
            hidden: [],
            sockets: [],
            projects: {},
        },
        Teams {
            max_hops: 5,
            max_chain_messages: 50,
            max_pair_messages_per_hour: 200,
        },
        Questions {
            dir: "/home/ann/.convoke/questions",
            max_sessions: 100,
            max_questions: 5,
            max_options: 5,
            retention_days: 7,
            timeout_ms: 0,
        },
        Spawner {
            session_expiry_days: 0,
            max_tokens: 100000,
        },
        "/home/ann/.convoke/teams.json",
    )
    "#);
    let agents: Vec<&str> = agents.iter().map(|agent| agent.name.as_str()).collect();
    assert_eq!(
        agents.join(" "),
        "claude-code codex gemini opencode goose qwen copilot cline kimi vibe claude-agent-acp cursor-agent droid demo"
    );
}

#[test]
fn k9_hosts_are_read_and_what_is_none_is_refused() {
    let sandbox = config(
        "[sandbox]
        network = 'proxy'
        domains = ['*.Example.com', 'localhost:3000']
        [projects.'/srv/app']
        domains = ['[::1]:8080']",
    )
    .sandbox;
    let shown =
        |domains: &[Domain]| domains.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    assert_eq!(sandbox.network, "proxy");
    assert_eq!(shown(&sandbox.domains), "*.example.com localhost:3000");
    assert_eq!(shown(&sandbox.projects[Path::new("/srv/app")].domains), "[::1]:8080");
    let told = mistakes("[sandbox]\nnetwork = 'closed'\ndomains = ['https://example.com']");
    assert!(told.contains("out of open, proxy, off"), "{told}");
    assert!(told.contains("`https://example.com` is not a domain such as"), "{told}");
}

#[test]
fn q17_limits_of_questions_come_from_the_configuration() {
    let questions = config(
        "[questions]
        dir = '/srv/questions'
        max_sessions = 7
        max_questions = 3
        max_options = 4
        retention_days = 2
        timeout_ms = 1500",
    )
    .questions;
    insta::assert_debug_snapshot!(questions, @r#"
    Questions {
        dir: "/srv/questions",
        max_sessions: 7,
        max_questions: 3,
        max_options: 4,
        retention_days: 2,
        timeout_ms: 1500,
    }
    "#);
}

#[test]
fn t10_the_pools_limits_come_from_the_configuration() {
    let pool = config(
        "[pool]
        max_processes = 2
        idle_timeout_ms = 50
        health_check_interval_ms = 10",
    )
    .pool;
    assert_eq!(
        (pool.max_processes, pool.idle_timeout_ms, pool.health_check_interval_ms),
        (2, 50, 10)
    );
}

#[test]
fn r6_the_expiry_of_interactive_sessions_comes_from_the_configuration() {
    let spawner = config("spawner.interactive.session_expiry_days = 3").spawner;
    assert_eq!((spawner.session_expiry_days, spawner.max_tokens), (3, 100_000));
}

#[test]
fn s9_s10_variables_beat_the_file() {
    let file = "[sessions]\nmax_active = 2\nidle_timeout_minutes = 10\nworkspace_root = '/file'";
    let variables = [
        ("AGENT_MAX_CONCURRENT_SESSIONS", "9"),
        ("AGENT_SESSION_IDLE_TIMEOUT", "0.05"),
        ("AGENT_WORKSPACE_ROOT", "~/work"),
    ];
    let loaded = load_with(file, &variables, &[]).unwrap();
    let Sessions { max_active, idle_timeout, ref workspace_root } = loaded.config.sessions;
    assert_eq!((max_active, idle_timeout), (9, Duration::from_secs(3)));
    assert_eq!(workspace_root, Path::new("/home/ann/work"));
    assert_eq!(shown(&loaded, "sessions.max_active"), "9 (env AGENT_MAX_CONCURRENT_SESSIONS)");
    let loaded = load_with(file, &[], &[]).unwrap();
    assert_eq!(shown(&loaded, "sessions.max_active"), "2 (config.toml:2)");
    assert_eq!(shown(&loaded, "sessions.idle_timeout_minutes"), "10 (config.toml:3)");
    assert_eq!(shown(&loaded, "pool.max_processes"), "10 (default)");
}

#[test]
fn a_flag_beats_everything() {
    let file = "server.listen = '127.0.0.1:1'";
    let loaded = load_with(file, &[], &[("--listen", "[::1]:2")]).unwrap();
    assert_eq!(loaded.config.server.listen, SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], 2)));
    assert_eq!(shown(&loaded, "server.listen"), "\"[::1]:2\" (flag --listen)");
    let mistakes = load_with(file, &[], &[("--listen", "8080")]).unwrap_err();
    assert_eq!(
        mistakes.describe(&mistakes.list[0]),
        "flag --listen: `server.listen`: expected an IP address and a port, found `8080`"
    );
}

#[test]
fn a_mistake_in_the_file_is_one_even_when_a_variable_beats_it() {
    let file = "sessions.max_active = 0";
    let loaded = load_with(file, &[("AGENT_MAX_CONCURRENT_SESSIONS", "9")], &[]);
    assert_eq!(loaded.unwrap_err().list.len(), 1);
}

#[test]
fn relative_paths_are_relative_to_the_home_and_a_tilde_is_expanded() {
    let loaded = config("teams_file = 'my/teams.json'\nquestions.dir = '~/q'");
    assert_eq!(loaded.teams_file, Path::new("/home/ann/.convoke/my/teams.json"));
    assert_eq!(loaded.questions.dir, Path::new("/home/ann/q"));
}

#[test]
fn a_remote_address_needs_leave() {
    let open = "[server]\nlisten = '0.0.0.0:80'\n";
    assert_eq!(
        mistakes(open),
        "config.toml:2:10: `server.listen`: other machines could reach 0.0.0.0:80
  use 127.0.0.1, or set `allow_remote = true` in [server]"
    );
    assert!(config(&format!("{open}allow_remote = true")).server.allow_remote);
}

#[test]
fn what_comes_from_a_variable_is_not_shown_among_arguments_either() {
    let file = "[agents.goose]\nargs = ['acp', '--token', '${SECRET}']";
    let loaded = load_with(file, &[("SECRET", "hunter2")], &[]).unwrap();
    assert_eq!(shown(&loaded, "agents.goose.args"), r#"["acp","--token","***"] (config.toml:2)"#);
    assert!(!format!("{:?}", loaded.effective).contains("hunter2"));
}

/// What is wrong with each of these files.
fn told<const N: usize>(files: [&str; N]) -> String {
    files.map(|file| format!("{file}\n→ {}", mistakes(file))).join("\n")
}

#[test]
fn an_unknown_key_is_reported_with_its_position() {
    let files = [
        "sesions = 1",
        "server.lisen = 1",
        "max_active = 1",
        "[server]\ncolour = 'red'",
        "server = 3",
        "[[sessions]]",
        "\"server.listen\" = '127.0.0.1:1'",
    ];
    insta::assert_snapshot!(told(files), @r#"
    sesions = 1
    → config.toml:1:1: unknown key `sesions`
      did you mean `sessions`?
    server.lisen = 1
    → config.toml:1:8: unknown key `server.lisen`
      did you mean `listen`?
    max_active = 1
    → config.toml:1:1: unknown key `max_active`
      did you mean `sessions.max_active`?
    [server]
    colour = 'red'
    → config.toml:2:1: unknown key `server.colour`
      known are `listen`, `allow_remote`, `public_url`
    server = 3
    → config.toml:1:10: `server`: expected a table, found a whole number
      start it with `[server]`
    [[sessions]]
    → config.toml:1:1: `sessions`: expected a table, found a list
      start it with `[sessions]`
    "server.listen" = '127.0.0.1:1'
    → config.toml:1:1: unknown key `server.listen`
      known are `teams_file`, `server`, `sessions`, `limits`, `pool`, `changes`, `worktree`, `sandbox`, `teams`, `questions`, `spawner`, `notify`, `editor`, `history`, `store`, `node`, `backup`, `agents`, `projects`
    "#);
}

#[test]
fn an_invalid_value_is_reported_with_its_position() {
    let files = [
        "sessions.max_active = 1.5",
        "sessions.max_active = []",
        "sessions.max_active = 1_001",
        "sessions.idle_timeout_minutes = nan",
        "server.allow_remote = 'yes'",
        "server.listen = 'localhost:7717'",
        "server.public_url = 'https://me:secret@convoke.example.org/path'",
        "questions.dir = ''",
        "questions.dir = '~bob/q'",
        "questions.dir = \"a\\u0000b\"",
        "sessions.workspace_root = 'work'",
        "teams_file = 'ü${NOPE}'",
    ];
    insta::assert_snapshot!(told(files), @r#"
    sessions.max_active = 1.5
    → config.toml:1:23: `sessions.max_active`: expected a whole number, found a fractional number
      sessions that may be active at once; by default `max_active = 5`
    sessions.max_active = []
    → config.toml:1:23: `sessions.max_active`: expected a whole number, found a list
      sessions that may be active at once; by default `max_active = 5`
    sessions.max_active = 1_001
    → config.toml:1:23: `sessions.max_active`: expected a whole number from 1 to 1000, found 1001
      sessions that may be active at once; by default `max_active = 5`
    sessions.idle_timeout_minutes = nan
    → config.toml:1:33: `sessions.idle_timeout_minutes`: expected a number of minutes from 0.001 to 525600, found NaN
      minutes without activity after which a session is completed; fractions are allowed; by default `idle_timeout_minutes = 30`
    server.allow_remote = 'yes'
    → config.toml:1:23: `server.allow_remote`: expected true or false, found a string
      whether `listen` may be an address that other machines can reach; by default `allow_remote = false`
    server.listen = 'localhost:7717'
    → config.toml:1:17: `server.listen`: expected an IP address and a port, found `localhost:7717`
      where the daemon listens; port 0 picks a free one; by default `listen = "127.0.0.1:7717"`
    server.public_url = 'https://me:secret@convoke.example.org/path'
    → config.toml:1:21: `server.public_url`: expected http:// or https://, a host name and perhaps a port, without a path, found `https://me:secret@convoke.example.org/path`
      where a proxy serves the page to other machines, such as "https://convoke.example.org"; its host is then accepted, and links for people lead there; by default `public_url = ""`
    questions.dir = ''
    → config.toml:1:17: `questions.dir`: expected a path, found an empty string
      the folder for questions to you, relative to the home; by default `dir = "questions"`
    questions.dir = '~bob/q'
    → config.toml:1:17: `questions.dir`: cannot expand `~bob/q`
      only `~` and `~/` are expanded; write an absolute path
    questions.dir = "a\u0000b"
    → config.toml:1:17: the string contains a NUL character
      remove the `\u0000`
    sessions.workspace_root = 'work'
    → config.toml:1:27: `sessions.workspace_root`: expected an absolute path, found `work`
      the folder that all projects must be inside of; by default `workspace_root = "~"`
    teams_file = 'ü${NOPE}'
    → config.toml:1:14: the environment variable NOPE is not set
      set it, or give a default: `${NOPE:-…}`
    "#);
}

#[test]
fn an_error_in_an_agents_table_is_reported_with_its_position() {
    let files = [
        "agents = []",
        "agents.new = {}",
        "agents.claud-code = {}",
        "agents.'a b'.command = 'x'",
        "agents.new.command = 'bin/new'",
        "agents.new.command = ' '",
        "agents.goose.comand = 'goose'",
        "agents.goose.args = ['acp', 1]",
        "agents.goose.env = { 'A=B' = 'c' }",
        "agents.goose.env = { A = ['c'] }",
        "agents.goose.title = ''",
        "agents.goose.sandbox = 'none'",
        "agents.goose.protocol = 'apc'",
        "agents.goose.writable = ['state']",
    ];
    insta::assert_snapshot!(told(files), @r#"
    agents = []
    → config.toml:1:10: `agents`: expected a table, found a list
      start it with `[agents]`
    agents.new = {}
    → config.toml:1:8: `agents.new`: the agent has no command
      add `command = "…"`: a name on the search path, or an absolute path
    agents.claud-code = {}
    → config.toml:1:8: `agents.claud-code`: the agent has no command
      did you mean `agents.claude-code`? A new agent needs a `command`
    agents.'a b'.command = 'x'
    → config.toml:1:8: `a b` cannot be the name of an agent
      use letters, digits, `-`, `_` and `.`
    agents.new.command = 'bin/new'
    → config.toml:1:22: `agents.new.command`: expected an absolute path, found `bin/new`
      the program: a name on the search path, or an absolute path
    agents.new.command = ' '
    → config.toml:1:22: `agents.new.command`: expected a program, found an empty string
      the program: a name on the search path, or an absolute path
    agents.goose.comand = 'goose'
    → config.toml:1:14: unknown key `agents.goose.comand`
      did you mean `command`?
    agents.goose.args = ['acp', 1]
    → config.toml:1:29: `agents.goose.args`: expected a string, found a whole number
      its arguments; {workspace} is replaced by the project's absolute path
    agents.goose.env = { 'A=B' = 'c' }
    → config.toml:1:20: `agents.goose.env`: `A=B` cannot be the name of a variable
      environment variables in addition to the inherited ones and to those that the catalogue sets
    agents.goose.env = { A = ['c'] }
    → config.toml:1:26: `agents.goose.env`: expected a string, found a list
      environment variables in addition to the inherited ones and to those that the catalogue sets
    agents.goose.title = ''
    → config.toml:1:22: `agents.goose.title`: expected 1 to 60 printable characters, found 0
      the name shown to people
    agents.goose.sandbox = 'none'
    → config.toml:1:24: `agents.goose.sandbox`: `none` is not one of the choices
      known are `workspace`, `off`
    agents.goose.protocol = 'apc'
    → config.toml:1:25: `agents.goose.protocol`: `apc` is not one of the choices
      did you mean `acp`?
    agents.goose.writable = ['state']
    → config.toml:1:25: `agents.goose.writable`: expected an absolute path, found `state`
      what else a sandboxed agent must write: absolute paths, or below ~
    "#);
}

#[test]
fn the_mistakes_of_a_file_are_told_together_and_in_order() {
    let file = "[sessions]
        max_active = 'ü' # é
        [pool]
        max_processes = 0
        idle = 1
        [server]
        listen = '${NOPE}'";
    insta::assert_snapshot!(mistakes(file), @"
    config.toml:2:22: `sessions.max_active`: expected a whole number, found a string
      sessions that may be active at once; by default `max_active = 5`
    config.toml:4:25: `pool.max_processes`: expected a whole number from 1 to 1000, found 0
      agent processes that may run at once; further turns wait; by default `max_processes = 10`
    config.toml:5:9: unknown key `pool.idle`
      known are `max_processes`, `idle_timeout_ms`, `health_check_interval_ms`, `spare`
    config.toml:7:18: the environment variable NOPE is not set
      set it, or give a default: `${NOPE:-…}`
    ");
}
