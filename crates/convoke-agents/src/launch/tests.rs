//! Which command line, environment and confinement an agent is launched with.

use super::*;
use crate::catalogue::built_in;
use crate::sandbox::{Available, Exceptions};

fn launch_environment() -> LaunchEnvironment {
    let variables =
        [("PATH", "/bin"), ("HOME", "/home/me"), ("CONVOKE_TOKEN", "secret"), ("KEY", "k")];
    let folder = tempfile::tempdir().unwrap().keep();
    let temp = TempFolder::create(&folder, [7; 16]);
    let mut available = Available::nothing("not here");
    available.bubblewrap = Ok(PathBuf::from("/usr/bin/bwrap"));
    available.seccomp = Ok(());
    LaunchEnvironment {
        environment: variables.map(|(name, value)| (name.into(), value.into())).into(),
        convoke: PathBuf::from("/usr/bin/convoke"),
        home: PathBuf::from("/home/me/.convoke"),
        temp: Arc::new(temp.unwrap()),
        sandbox: Settings::with(available),
    }
}

fn parameters() -> LaunchParameters {
    LaunchParameters {
        workspace: PathBuf::from("/srv/app"),
        start: Start::New { id: "id".to_owned() },
        mcp_servers: Vec::new(),
        worktree: None,
    }
}

fn shell() -> Agent {
    let mut agent = built_in(Path::new("/usr/bin/convoke")).swap_remove(0);
    agent.command = "sh".to_owned();
    agent.args = vec!["--workspace".to_owned(), "{workspace}".to_owned()];
    agent.env = BTreeMap::from([("KEY".to_owned(), "own".to_owned())]);
    agent
}

#[test]
fn s6_an_agent_is_given_its_workspace_and_none_of_our_secrets() {
    let environment = launch_environment();
    let launch = Launch::of(&shell(), &environment, parameters()).unwrap();
    assert_eq!(launch.program, Path::new("/bin/sh"));
    assert_eq!(launch.args, ["--workspace", "/srv/app"]);
    let variables: Vec<String> = launch
        .environment
        .iter()
        .map(|(name, value)| format!("{}={}", name.display(), value.display()))
        .collect();
    let temp = format!("TMPDIR={}", environment.temp.path().display());
    assert_eq!(variables, ["HOME=/home/me", "KEY=own", "PATH=/bin", &temp]);
}

fn policy(agent: &Agent, environment: &LaunchEnvironment) -> (Policy, Vec<Missing>) {
    match confinement(agent, environment, &parameters()).unwrap() {
        (Confinement::Supervised { policy, .. }, missing) => (*policy, missing),
        (Confinement::Off, _) => panic!("it is not supervised"),
    }
}

#[test]
fn s6_a_confined_agent_writes_its_own_folders_and_does_not_see_our_home() {
    let environment = launch_environment();
    let (policy, missing) = policy(&shell(), &environment);
    let own = ["/home/me/.claude", "/home/me/.claude.json"].map(PathBuf::from);
    assert_eq!(policy.writable, own);
    assert_eq!(policy.temp.as_deref(), Some(environment.temp.path()));
    assert_eq!(policy.hidden, [PathBuf::from("/home/me/.convoke")]);
    assert!(policy.protected.contains(&PathBuf::from("/home/me/.claude/settings.json")));
    let hides = |path: &str| policy.secrets.contains(&PathBuf::from(path));
    assert!(hides("/home/me/.ssh") && hides("/home/me/.codex") && !hides("/home/me/.claude"));
    let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
    assert_eq!(missing, ["landlock is off: not here"]);
}

#[test]
fn k2_a_layer_that_is_demanded_and_missing_keeps_the_agent_from_starting() {
    let mut environment = launch_environment();
    environment.sandbox.require = vec![Layer::Landlock];
    let error = Launch::of(&shell(), &environment, parameters()).err().unwrap();
    insta::assert_snapshot!(error, @"the agent claude-code is not started: sandbox.require lists landlock, which does not work here: not here");
    environment.sandbox.require = vec![Layer::Bubblewrap, Layer::Seccomp];
    assert!(Launch::of(&shell(), &environment, parameters()).is_ok());
    environment.sandbox.layers = vec![Layer::Bubblewrap];
    let error = Launch::of(&shell(), &environment, parameters()).err().unwrap();
    insta::assert_snapshot!(error, @"the agent claude-code is not started: sandbox.require lists seccomp, which does not work here: sandbox.layers does not include it");
}

#[test]
fn k2_an_agent_with_its_own_sandbox_is_confined_by_bubblewrap() {
    let mut environment = launch_environment();
    environment.sandbox.available.landlock = Ok(7);
    let agent = Agent { nested_sandbox: NestedSandbox::Bubblewrap, ..shell() };
    let (with, _) = policy(&agent, &environment);
    assert_eq!((with.layers.landlock, with.layers.seccomp), (Use::Off, Seccomp::Nested));
    let variables = |environment: &LaunchEnvironment| {
        let agent = Agent {
            unnested_env: BTreeMap::from([("MODE".to_owned(), "full".to_owned())]),
            ..agent.clone()
        };
        let launch = Launch::of(&agent, environment, parameters()).unwrap();
        (launch.own_sandbox, launch.environment.contains_key(OsStr::new("MODE")))
    };
    assert_eq!(variables(&environment), (OwnSandbox::Nested, false));
    environment.sandbox.available.bubblewrap = Err("not here".to_owned());
    assert_eq!(variables(&environment), (OwnSandbox::Off, true));
    let (without, _) = policy(&agent, &environment);
    assert_eq!((without.layers.landlock, without.layers.seccomp), (Use::On, Seccomp::Strict));
}

#[test]
fn k10_a_project_opens_what_its_agents_may_read() {
    let mut environment = launch_environment();
    let readable = vec![PathBuf::from("/home/me/.aws")];
    let exceptions = Exceptions { readable, ..Exceptions::default() };
    environment.sandbox.projects.insert(PathBuf::from("/srv/app"), exceptions);
    let (policy, _) = policy(&shell(), &environment);
    let hides = |path: &str| policy.secrets.contains(&PathBuf::from(path));
    assert!(!hides("/home/me/.aws") && hides("/home/me/.kube"));
}

#[test]
fn k9_a_closed_network_needs_bubblewrap_and_an_open_one_does_not() {
    let mut environment = launch_environment();
    environment.sandbox.available.bubblewrap = Err("not here".to_owned());
    assert!(Launch::of(&shell(), &environment, parameters()).is_ok());
    environment.sandbox.network = Network::Off;
    let error = Launch::of(&shell(), &environment, parameters()).err().unwrap();
    insta::assert_snapshot!(error, @"the agent claude-code is not started: sandbox.network = off needs bubblewrap, which does not work here: not here");
    let unconfined = Agent { sandbox: Sandbox::Off, ..shell() };
    let launch = Launch::of(&unconfined, &environment, parameters()).unwrap();
    assert_eq!(launch.confinement.network(), Network::Open, "it is not sandboxed at all");
}

#[test]
fn k9_a_proxied_agent_reaches_its_model_what_is_listed_and_the_tools() {
    let mut environment = launch_environment();
    environment.sandbox.network = Network::Proxy;
    environment.sandbox.domains = vec!["example.com".parse().unwrap()];
    let domains = vec!["*.internal.test:8443".parse().unwrap()];
    let exceptions = Exceptions { domains, ..Exceptions::default() };
    environment.sandbox.projects.insert(PathBuf::from("/srv/app"), exceptions);
    let url = "http://127.0.0.1:7717/mcp".to_owned();
    let server = McpServer {
        name: "convoke".to_owned(),
        command: environment.convoke.clone(),
        args: Vec::new(),
        env: BTreeMap::from([("CONVOKE_MCP_URL".to_owned(), url)]),
        http: None,
    };
    let parameters = LaunchParameters { mcp_servers: vec![server], ..parameters() };
    let (confinement, _) = confinement(&shell(), &environment, &parameters).unwrap();
    let Confinement::Supervised { policy, .. } = confinement else { panic!("not supervised") };
    let domains: Vec<String> = policy.domains.iter().map(ToString::to_string).collect();
    let model = ["*.anthropic.com", "claude.ai", "*.claude.com"];
    assert_eq!(domains, [&model[..], &["example.com", "*.internal.test:8443"]].concat());
    assert_eq!(policy.tools, Some("127.0.0.1:7717".parse().unwrap()));
}

#[test]
fn l1_package_managers_of_a_confined_agent_write_a_cache_of_its_project() {
    let mut environment = launch_environment();
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".cargo")).unwrap();
    std::fs::write(folder.path().join(".cargo/config.toml"), "[net]").unwrap();
    environment.environment.insert("HOME".into(), folder.path().into());
    environment.sandbox.caches = Caches::Project;
    let launch = Launch::of(&shell(), &environment, parameters()).unwrap();
    let npm = PathBuf::from(&launch.environment[OsStr::new("npm_config_cache")]);
    let cache = npm.parent().unwrap();
    assert_eq!(cache.parent(), Some(folder.path().join(".cache/convoke").as_path()));
    let cargo = PathBuf::from(&launch.environment[OsStr::new("CARGO_HOME")]);
    assert_eq!(std::fs::read_to_string(cargo.join("config.toml")).unwrap(), "[net]");
    assert!(policy(&shell(), &environment).0.writable.contains(&cache.to_owned()));
    let elsewhere = LaunchParameters { workspace: PathBuf::from("/srv/other"), ..parameters() };
    let other = Launch::of(&shell(), &environment, elsewhere).unwrap();
    assert_ne!(other.environment[OsStr::new("npm_config_cache")], npm.as_os_str());
    let unconfined = Agent { sandbox: Sandbox::Off, ..shell() };
    let launch = Launch::of(&unconfined, &environment, parameters()).unwrap();
    assert!(!launch.environment.contains_key(OsStr::new("CARGO_HOME")));
}

/// The daemon links cargo's settings into a folder that agents of the project can write.
#[test]
fn k1_a_link_in_the_cache_of_a_project_does_not_lead_the_daemon_elsewhere() {
    use std::os::unix::fs::symlink;

    let mut environment = launch_environment();
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    for name in [".cargo", ".ssh"] {
        std::fs::create_dir(home.join(name)).unwrap();
    }
    std::fs::write(home.join(".cargo/config.toml"), "[net]").unwrap();
    environment.environment.insert("HOME".into(), home.into());
    environment.sandbox.caches = Caches::Project;
    let (cache, _) = caches(&environment, &parameters().workspace).unwrap();
    assert_eq!(
        cache.join("cargo/config.toml").read_link().unwrap(),
        home.join(".cargo/config.toml")
    );
    // What stands there is not replaced.
    std::fs::remove_file(cache.join("cargo/config.toml")).unwrap();
    std::fs::write(cache.join("cargo/config.toml"), "own").unwrap();
    caches(&environment, &parameters().workspace).unwrap();
    assert_eq!(std::fs::read_to_string(cache.join("cargo/config.toml")).unwrap(), "own");
    for swapped in [cache.join("cargo"), cache.clone(), home.join(".cache/convoke")] {
        std::fs::remove_dir_all(&swapped).unwrap();
        symlink(home.join(".ssh"), &swapped).unwrap();
        caches(&environment, &parameters().workspace).unwrap();
        let inside = std::fs::read_dir(home.join(".ssh")).unwrap().count();
        assert_eq!(inside, 0, "{}", swapped.display());
        std::fs::remove_file(&swapped).unwrap();
        caches(&environment, &parameters().workspace).unwrap();
    }
    // The user's own cache folder may be a link.
    std::fs::rename(home.join(".cache"), home.join("elsewhere")).unwrap();
    symlink("elsewhere", home.join(".cache")).unwrap();
    std::fs::remove_dir_all(&cache).unwrap();
    caches(&environment, &parameters().workspace).unwrap();
    assert!(cache.join("cargo/config.toml").is_symlink());
}

#[test]
fn k10_the_program_of_an_agent_is_protected_in_a_folder_that_it_may_write() {
    let (policy, _) = policy(&shell(), &launch_environment());
    let protects = |path: &str| policy.protected.contains(&PathBuf::from(path));
    assert!(protects("/bin/sh") && protects("/home/me/.claude/local"));
}

#[test]
fn an_agent_that_is_not_installed_is_named() {
    let agent = built_in(Path::new("/usr/bin/convoke")).swap_remove(1);
    let Err(error) = Launch::of(&agent, &launch_environment(), parameters()) else {
        panic!("it was found");
    };
    assert_eq!(
        error.to_string(),
        "the agent codex is not installed: there is no codex-acp on the search path"
    );
}
