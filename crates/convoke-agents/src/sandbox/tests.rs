//! What can be told without being confined; the rest is tried on the built program.

use std::fs;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

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
fn asking_the_kernel_restricts_nobody() {
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

#[test]
fn s6_what_is_writable_is_granted_once_and_by_its_real_place() {
    let (_folder, root) = tree(&["workspace/inner", "real"]);
    symlink(root.join("real"), root.join("link")).unwrap();
    // What somebody who may write the workspace could do before the next start.
    symlink(root.join("real"), root.join("workspace/trap")).unwrap();
    let ask = |names: &[&str]| {
        let mut shortfalls = Vec::new();
        let paths: Vec<PathBuf> = names.iter().map(|name| root.join(name)).collect();
        let granted = writing::writable(&paths, &mut shortfalls)?;
        let granted = granted.iter().map(|path| path.strip_prefix(&root).unwrap().to_owned());
        let granted: Vec<String> = granted.map(|path| path.display().to_string()).collect();
        Ok::<_, Error>((granted, shortfalls.len()))
    };
    let granted = |names: &[&str]| ask(names).unwrap().0;
    assert_eq!(granted(&["new/state", "link", "workspace"]), ["real", "workspace", "new/state"]);
    assert_eq!(granted(&["workspace/inner", "workspace"]), ["workspace"]);
    assert_eq!(granted(&["workspace", "workspace/trap", "workspace/trap/deeper"]), ["workspace"]);
    assert_eq!(ask(&["workspace", "missing.json"]).unwrap(), (vec!["workspace".to_owned()], 1));
    let error = ask(&["workspace/../real"]).unwrap_err();
    assert!(matches!(error, Error::Confine { .. }), "{error}");
}

#[test]
fn s6_a_confined_agent_is_started_through_convoke() {
    let mut launch = Launch {
        protocol: crate::catalogue::Protocol::Acp,
        program: PathBuf::from("/usr/bin/agent"),
        args: vec!["--acp".to_owned()],
        environment: std::collections::BTreeMap::new(),
        workspace: PathBuf::from("/srv/app"),
        confinement: Confinement::Off,
        mcp_servers: Vec::new(),
        start: crate::driver::Start::New { id: String::new() },
        patience: std::time::Duration::ZERO,
        leftovers: None,
        lease: None,
    };
    let told = |launch: &Launch| {
        let (program, args) = command_line(launch);
        format!("{} {}", program.display(), args.join(" ".as_ref()).display())
    };
    assert_eq!(told(&launch), "/usr/bin/agent --acp");
    launch.confinement = Confinement::Workspace {
        helper: PathBuf::from("/usr/bin/convoke"),
        writable: vec![PathBuf::from("/home/me/.agent"), PathBuf::from("/run/tmp")],
        hidden: vec![PathBuf::from("/home/me/.convoke")],
    };
    assert_eq!(
        told(&launch),
        "/usr/bin/convoke sandbox-exec --own-session --write /srv/app --write /home/me/.agent \
         --write /run/tmp --hide /home/me/.convoke -- /usr/bin/agent --acp"
    );
}
