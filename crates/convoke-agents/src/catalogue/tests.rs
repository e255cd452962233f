//! What the catalogue holds, and how a program is found.

use std::ffi::OsString;
use std::fs;

use super::*;

#[test]
fn l1_the_catalogue_has_a_badge_and_a_command_for_every_agent() {
    let lines: Vec<String> = built_in(Path::new("/usr/bin/convoke"))
        .iter()
        .map(|agent| {
            let Agent { badge, name, protocol, command, args, .. } = agent;
            format!("{badge} {name}: {protocol:?} {command} {}", args.join(" "))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn l1_variables_keep_cline_from_its_hub_and_let_codex_work_where_its_sandbox_cannot() {
    let agents = built_in(Path::new("/usr/bin/convoke"));
    let agent = |name: &str| agents.iter().find(|agent| agent.name.as_str() == name).unwrap();
    // The hub of the user runs outside of every sandbox and would run the agent's commands there.
    assert_eq!(agent("cline").env["CLINE_SESSION_BACKEND_MODE"], "local");
    let codex = agent("codex");
    assert_eq!(codex.nested_sandbox, NestedSandbox::Bubblewrap);
    assert_eq!(codex.unnested_env["INITIAL_AGENT_MODE"], "agent-full-access");
    assert!(!codex.env.contains_key("INITIAL_AGENT_MODE"));
}

/// Folders with programs that the agent, an editor or a scheduler of the user runs without a sandbox.
#[test]
fn k10_programs_hooks_and_plugins_in_the_folders_of_agents_are_protected() {
    let agents = built_in(Path::new("/usr/bin/convoke"));
    let programs = [
        ("claude-code", "~/.claude/local"),
        ("claude-code", "~/.claude/plugins"),
        ("claude-agent-acp", "~/.claude/local"),
        ("codex", "~/.codex/packages"),
        ("codex", "~/.codex/plugins"),
        ("gemini", "~/.gemini/tmp/bin"),
        ("opencode", "~/.cache/opencode/bin"),
        ("opencode", "~/.cache/opencode/packages"),
        ("opencode", "~/.config/opencode/tools"),
        ("goose", "~/.local/share/goose/schedule.json"),
        ("qwen", "~/.qwen/updates"),
        ("copilot", "~/.cache/copilot/pkg"),
        ("copilot", "~/.copilot/pkg"),
        ("cline", "~/.cline/plugins"),
        ("kimi", "~/.kimi-code/bin"),
        ("vibe", "~/.vibe/hooks.toml"),
        ("cursor-agent", "~/.cursor/extensions"),
        ("droid", "~/.factory/bin"),
    ];
    for (name, path) in programs {
        let agent = agents.iter().find(|agent| agent.name.as_str() == name).unwrap();
        assert!(agent.protected.contains(&PathBuf::from(path)), "{name}: {path}");
    }
    for agent in &agents {
        let is_inside = |path: &PathBuf| agent.writable.iter().any(|it| path.starts_with(it));
        let useless: Vec<_> = agent.protected.iter().filter(|path| !is_inside(path)).collect();
        assert_eq!(useless, Vec::<&PathBuf>::new(), "{}", agent.name);
    }
}

#[test]
fn a_new_agent_gets_its_badge_from_its_name() {
    let badges = ["my-agent", "qwen", "x", "a.b.c", "-"].map(badge_of);
    assert_eq!(badges, ["MA", "QW", "X", "AB", ""]);
}

#[test]
fn only_an_executable_file_on_the_search_path_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let program = |folder: &Path, name: &str, mode: u32| {
        let path = folder.join(name);
        fs::create_dir_all(folder).unwrap();
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    program(&first, "agent", 0o644);
    let agent = program(&second, "agent", 0o755);
    fs::create_dir(first.join("folder")).unwrap();
    let path: OsString =
        std::env::join_paths([Path::new(""), Path::new("."), &first, &second]).unwrap();

    assert_eq!(find("agent", Some(&path)), Some(agent.clone()));
    assert_eq!(find(agent.to_str().unwrap(), None), Some(agent));
    for absent in ["folder", "missing", "", "second/agent", "../second/agent", "/nowhere/agent"] {
        assert_eq!(find(absent, Some(&path)), None, "{absent}");
    }
    assert_eq!(find("agent", None), None);
}
