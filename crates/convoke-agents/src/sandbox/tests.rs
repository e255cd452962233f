//! Tests that need no confinement; the others run the built program.

use std::fs;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use std::path::Path;

use super::layout::Layout;
use super::*;

/// A folder with these folders in it.
fn tree(names: &[&str]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for name in names {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    (folder, root)
}

/// What is readable below a folder.
fn readable_in(root: &Path, hidden: &[&str]) -> Vec<String> {
    let hidden: Vec<PathBuf> = hidden.iter().map(|name| root.join(name)).collect();
    let paths = reading::readable(&hidden, &mut Vec::new());
    let inside = paths.iter().filter_map(|path| path.strip_prefix(root).ok());
    let mut names: Vec<String> = inside.map(|path| path.display().to_string()).collect();
    names.sort();
    names
}

#[test]
fn probing_the_kernel_restricts_nothing() {
    let before = landlock_generation();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("still-writable"), "").unwrap();
    assert_eq!(landlock_generation(), before);
}

#[test]
fn s6_all_that_is_beside_the_way_to_a_hidden_folder_is_readable() {
    let (_folder, root) = tree(&["me/.convoke/run", "me/code", "me/.config", "you", "you-too"]);
    fs::write(root.join("me/notes"), "").unwrap();
    assert_eq!(
        readable_in(&root, &["me/.convoke"]),
        ["me/.config", "me/code", "me/notes", "you", "you-too"]
    );
    assert_eq!(
        readable_in(&root, &["me/.convoke/run", "you"]),
        ["me/.config", "me/code", "me/notes", "you-too"]
    );
    assert_eq!(readable_in(&root, &["me", "me/.convoke"]), ["you", "you-too"]);
    assert_eq!(
        readable_in(&root, &["me/.not-yet", "you/not/yet"]),
        ["me/.config", "me/.convoke", "me/code", "me/notes", "you-too"]
    );
}

#[test]
fn s6_links_beside_a_hidden_folder_are_not_followed() {
    let (_folder, root) = tree(&["me/.convoke"]);
    symlink(root.join("me/.convoke"), root.join("me/link")).unwrap();
    symlink("/", root.join("me/everything")).unwrap();
    assert_eq!(readable_in(&root, &["me/.convoke"]), Vec::<String>::new());
}

#[test]
fn s6_devices_are_not_among_what_is_readable() {
    let paths = reading::readable(&[], &mut Vec::new());
    assert!(paths.contains(&PathBuf::from("/usr")));
    assert!(!paths.iter().any(|path| path.starts_with("/dev") || path == Path::new("/")));
}

#[test]
fn s6_a_hidden_folder_is_known_by_where_its_links_lead() {
    let (_folder, root) = tree(&["real"]);
    symlink(root.join("real"), root.join("link")).unwrap();
    let resolve = |name: &str| reading::resolve(&root.join(name)).unwrap();
    assert_eq!(resolve("link"), root.join("real"));
    assert_eq!(resolve("link/not/yet"), root.join("real/not/yet"));
    assert_eq!(resolve("nothing"), root.join("nothing"));
}

/// A policy that lets these paths be written.
fn writing(paths: Vec<PathBuf>) -> Policy {
    Policy { writable: paths, ..Policy::unconfined() }
}

#[test]
fn s6_what_is_writable_is_granted_once_and_by_its_real_place() {
    let (_folder, root) = tree(&["workspace/inner", "real"]);
    symlink(root.join("real"), root.join("link")).unwrap();
    // What a program that may write the workspace could do before the next start.
    symlink(root.join("real"), root.join("workspace/trap")).unwrap();
    let ask = |names: &[&str]| {
        let mut shortfalls = Vec::new();
        let policy = writing(names.iter().map(|name| root.join(name)).collect());
        let workspace = layout::open(&root.join("workspace")).unwrap();
        let layout = Layout::resolve(&policy, workspace, &mut shortfalls)?;
        let granted = layout.writable.iter().map(|opened| opened.path.strip_prefix(&root).unwrap());
        let granted: Vec<String> = granted.map(|path| path.display().to_string()).collect();
        Ok::<_, Error>((granted, shortfalls.len()))
    };
    let granted = |names: &[&str]| ask(names).unwrap().0;
    assert_eq!(granted(&["new/state", "link"]), ["workspace", "real", "new/state"]);
    assert_eq!(granted(&["workspace/inner"]), ["workspace"]);
    assert_eq!(granted(&["workspace/trap", "workspace/trap/deeper"]), ["workspace"]);
    assert_eq!(ask(&["missing.json"]).unwrap(), (vec!["workspace".to_owned()], 1));
    let error = ask(&["workspace/../real"]).unwrap_err();
    assert!(matches!(error, Error::Confine { .. }), "{error}");
}

#[test]
fn k10_secrets_that_an_agent_is_let_into_are_not_hidden_from_it() {
    let (_folder, root) = tree(&["workspace", "me/.aws", "me/.codex", "me/.kube/cache"]);
    let policy = Policy {
        secrets: secret_places(Some(&root.join("me"))),
        writable: vec![root.join("me/.codex")],
        readable: vec![root.join("me/.kube/cache")],
        ..Policy::unconfined()
    };
    let workspace = layout::open(&root.join("workspace")).unwrap();
    let layout = Layout::resolve(&policy, workspace, &mut Vec::new()).unwrap();
    let inside = layout.hidden.iter().filter_map(|path| path.strip_prefix(root.join("me")).ok());
    assert_eq!(inside.collect::<Vec<_>>(), [".aws", ".kube"].map(Path::new));
}

#[test]
fn k10_paths_that_are_not_utf8_reach_the_last_stage() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let path = PathBuf::from(OsStr::from_bytes(b"/folder/\xff"));
    let several = vec![path.clone(), PathBuf::from("/plain")];
    // Every field is named, so that no path is added without a test.
    let policy = Policy {
        layers: Layers { bubblewrap: Some(path.clone()), ..Layers::NONE },
        writable: several.clone(),
        writable_direct: several.clone(),
        hidden: several.clone(),
        secrets: several.clone(),
        readable: several.clone(),
        protected: several.clone(),
        start_files: StartFiles::Protected,
        shown: several.clone(),
        sockets: several,
        temp: Some(path.clone()),
        network: Network::Open,
        domains: Vec::new(),
        tools: None,
        limits: Limits::default(),
        scope: None,
    };
    let plan = policy::Plan {
        program: path.clone(),
        args: Vec::new(),
        environment: Vec::new(),
        workspace: path,
        policy,
        ending: Ending::WithProgram,
    };
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<policy::Plan>(&text).unwrap(), plan);
}

#[test]
fn k10_nothing_inside_of_a_protected_folder_is_mounted_writable() {
    let (_folder, root) = tree(&["workspace/.vscode/extension/.git/hooks"]);
    let policy = Policy {
        layers: Layers { bubblewrap: Some("/usr/bin/bwrap".into()), ..Layers::NONE },
        ..Policy::unconfined()
    };
    let workspace = layout::open(&root.join("workspace")).unwrap();
    let layout = Layout::resolve(&policy, workspace, &mut Vec::new()).unwrap();
    assert_eq!(layout.protected, [root.join("workspace/.vscode")]);
    assert_eq!(layout.held, Vec::<PathBuf>::new());
}
