//! `convoke completions` and `convoke man-pages`: what packages bring along.

use crate::convoke::Convoke;

#[test]
fn every_shell_gets_a_script_that_asks_this_program() {
    let machine = Convoke::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let told = machine.run(&format!("completions {shell}"));
        assert!(told.starts_with("exit 0\n--- stdout\n"), "{told}");
        assert!(told.contains("CONVOKE_COMPLETE"), "{shell}: {told}");
        assert!(!told.contains("--- stderr"), "{told}");
    }
    assert!(!machine.home().exists());
}

#[test]
fn machines_get_the_script_in_a_json_string() {
    let script = Convoke::new().json("completions bash --json");
    assert_eq!(script["shell"], "bash");
    assert!(script["script"].as_str().unwrap().contains(" convoke"));
}

/// What a shell offers for the last of some words.
fn offered(machine: Convoke, words: &[&str]) -> Vec<String> {
    let machine = machine
        .env("CONVOKE_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", &words.len().to_string())
        .env("_CLAP_COMPLETE_COMP_TYPE", "9")
        .env("_CLAP_COMPLETE_SPACE", "true")
        .env("_CLAP_IFS", "\n");
    let words: Vec<&str> = ["--", "convoke"].iter().chain(words).copied().collect();
    let told = machine.run_args(&words);
    let told = told.strip_prefix("exit 0\n").unwrap_or_else(|| panic!("{told}"));
    told.lines().skip(1).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn a_shell_completes_commands_options_and_agents_without_a_daemon() {
    assert_eq!(offered(Convoke::new(), &["sess"]), ["session"]);
    assert_eq!(offered(Convoke::new(), &["session", "new", "--wor"]), ["--worktree"]);
    let agents = offered(Convoke::new(), &["session", "new", "--agent", "c"]);
    assert!(agents.contains(&"claude-code".to_owned()), "{agents:?}");
    let nothing = offered(Convoke::new(), &["session", "show", "3f"]);
    assert_eq!(nothing, [""; 0]);
}

#[test]
fn a_shell_completes_the_sessions_and_projects_of_the_daemon() {
    let machine = Convoke::new().file("config.toml", "[server]\nlisten = \"127.0.0.1:0\"\n");
    let work = machine.path().join("work");
    std::fs::create_dir(&work).unwrap();
    machine.json(&format!("project add {} --json", work.display()));
    let session = machine.json("session new --project work --agent demo --json");
    let id = session["id"].as_str().unwrap()[..8].to_owned();
    let home = machine.home().to_str().unwrap().to_owned();
    let offers = |words: &[&str]| {
        let words: Vec<&str> = ["--home", &home].iter().chain(words).copied().collect();
        offered(Convoke::new(), &words)
    };
    machine.run_args(&["rule", "add", "deny", "command", "git push", "--everywhere"]);
    let rule = machine.json("rule list --json")["rules"][0]["id"].as_str().unwrap()[..8].to_owned();
    let rules = offers(&["rule", "remove", &rule[..4]]);
    let own = offers(&["worktree", "restore", &id[..4]]);
    let sources = offers(&["import", "cl"]);
    let sessions = offers(&["session", "show", &id[..4]]);
    let projects = offers(&["session", "list", "--project", "w"]);
    let told = machine.run("stop");
    assert!(told.starts_with("exit 0"), "{told}");
    assert_eq!(rules, [rule]);
    assert_eq!(own, [&*id]);
    assert_eq!(sources, ["claude", "cline"]);
    assert_eq!(sessions, [id]);
    assert_eq!(projects, ["work"]);
}

#[test]
fn every_command_that_people_see_has_a_page_in_the_manual() {
    let machine = Convoke::new();
    let folder = machine.path().join("man1");
    let told = machine.run_args(&["man-pages", folder.to_str().unwrap()]);
    assert!(told.starts_with("exit 0\n"), "{told}");
    let mut pages: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    for page in ["convoke.1", "convoke-ask.1", "convoke-db-rollback.1"] {
        assert!(pages.iter().any(|it| it == page), "{pages:?} lack {page}");
    }
    assert!(!pages.iter().any(|page| page.contains("sandbox-exec")), "{pages:?}");
    let page = std::fs::read_to_string(folder.join("convoke-ask.1")).unwrap();
    assert!(page.contains(".TH convoke-ask 1"), "{page}");
}

#[test]
fn an_unknown_shell_is_asked_wrongly() {
    insta::assert_snapshot!(Convoke::new().run("completions tcsh"), @"
    exit 2
    --- stderr
    error: invalid value 'tcsh' for '<SHELL>'
      [possible values: bash, elvish, fish, powershell, zsh]

      tip: a similar value exists: 'zsh'

    For more information, try 'convoke completions --help'.
    ");
}
