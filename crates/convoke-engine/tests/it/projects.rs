//! Where agents may work, and where they may not, however it is written.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use convoke_engine::{Error, Kind};
use convoke_testkit::agent::{Script, Step};
use convoke_testkit::process::processes_in;

use crate::world::World;

#[tokio::test]
async fn s5_only_folders_inside_the_root_become_projects() {
    let world = World::with(&Script::new());
    let engine = world.open().await;
    let (root, outside) = (world.root(), world.folder().join("root-evil"));
    fs::create_dir_all(outside.join("app")).unwrap();
    fs::create_dir_all(root.join("sub")).unwrap();
    fs::write(root.join("file"), "").unwrap();
    symlink(&outside, root.join("out")).unwrap();
    symlink(world.workspace(), root.join("in")).unwrap();
    symlink(root.join("nowhere"), root.join("dangling")).unwrap();
    for (path, kind) in [
        (PathBuf::from("app"), Kind::Invalid),
        (PathBuf::from("./app"), Kind::Invalid),
        (PathBuf::new(), Kind::Invalid),
        (root.join("missing"), Kind::NotFound),
        (root.join("file"), Kind::NotFound),
        (root.join("dangling"), Kind::NotFound),
        (outside.clone(), Kind::Forbidden),
        (outside.join("app"), Kind::Forbidden),
        (root.join("../root-evil/app"), Kind::Forbidden),
        (root.join("sub/../../root-evil"), Kind::Forbidden),
        (root.join("out"), Kind::Forbidden),
        (root.join("out/app"), Kind::Forbidden),
        (root.join("out/.."), Kind::Forbidden),
        (PathBuf::from("/"), Kind::Forbidden),
        // What is not there outside must not be told from what is.
        (outside.join("missing"), Kind::Forbidden),
        (root.join("../missing"), Kind::Forbidden),
    ] {
        let error = engine.projects().add(&path, None).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{}: {error}", path.display());
    }
    assert_eq!(engine.projects().list().await.unwrap(), []);

    // The same folder is the same project, whichever way leads to it.
    let project = engine.projects().add(&root.join("sub/../app/."), None).await.unwrap();
    assert_eq!((project.path, project.name.as_str()), (world.workspace(), "app"));
    let error =
        engine.projects().add(&root.join("in"), Some("other".to_owned())).await.unwrap_err();
    assert!(matches!(&error, Error::ProjectExists { path } if *path == world.workspace()));
    assert_eq!(error.kind(), Kind::Conflict);
    let named = engine.projects().add(&root, Some("  All  ".to_owned())).await.unwrap();
    assert_eq!(named.name, "All");
    engine.stop().await;
}

#[tokio::test]
async fn s5_a_removed_project_takes_no_new_sessions_and_keeps_its_old_ones() {
    let mut scene = World::with(&Script::new()).begin().await;
    let engine = scene.engine.clone();
    engine.projects().remove(scene.project).await.unwrap();
    assert_eq!(engine.projects().list().await.unwrap(), []);
    assert!(engine.projects().get(scene.project).await.unwrap().removed_at.is_some());
    let error = engine.sessions().create(scene.project, None).await.unwrap_err();
    assert!(matches!(error, Error::UnknownProject { .. }), "{error}");
    assert_eq!(engine.projects().remove(scene.project).await.unwrap_err().kind(), Kind::NotFound);
    scene.turn("still there?").await;
    assert_eq!(scene.log.count("agent: still there?"), 1);
    engine.stop().await;
}

/// Puts a link in the place of the project's folder.
fn replace(world: &World, target: &Path) {
    let folder = world.workspace();
    if folder.is_symlink() {
        fs::remove_file(&folder).unwrap();
    } else {
        fs::rename(&folder, world.folder().join("moved")).unwrap();
    }
    symlink(target, &folder).unwrap();
}

#[tokio::test]
async fn s5_a_project_that_became_a_link_is_not_followed() {
    let world = World::with(&Script::new().turn([Step::Exit(1)]));
    let mut scene = world.begin().await;
    let engine = scene.engine.clone();
    scene.turn("crash").await;
    let outside = world.folder().join("outside");
    fs::create_dir_all(&outside).unwrap();
    let neighbour = world.make_folder("neighbour");
    for (target, kind) in [(&outside, Kind::Forbidden), (&neighbour, Kind::Agent)] {
        replace(&world, target);
        let error = engine.sessions().create(scene.project, None).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        // A session that was there before goes no other way.
        let turn = scene.prompt("again").await;
        scene.log.until_end_of(turn).await;
        assert_eq!(scene.log.turn_of(turn), "failed(not_started)");
        assert!(processes_in(target).is_empty());
        scene.log.until("failed").await;
        engine.sessions().resume(scene.session, None).await.unwrap();
    }
    fs::remove_file(world.workspace()).unwrap();
    let error = engine.sessions().create(scene.project, None).await.unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound, "{error}");
    fs::rename(world.folder().join("moved"), world.workspace()).unwrap();
    scene.turn("back").await;
    engine.stop().await;
}

#[tokio::test]
async fn folders_are_completed_inside_the_root_only() {
    let world = World::with(&Script::new());
    let engine = world.open().await;
    let root = world.root();
    world.make_folder("apple");
    world.make_folder(".hidden");
    fs::write(root.join("apart"), "").unwrap();
    fs::create_dir_all(world.folder().join("outside/app")).unwrap();
    let path = |name: &str| root.join(name).display().to_string();
    let complete = async |text: String| engine.projects().complete_folder(&text).await;
    assert_eq!(complete(path("ap")).await, [path("app"), path("apple")]);
    assert_eq!(complete(path(".h")).await, [path(".hidden")]);
    assert_eq!(complete(path("")).await, [path("app"), path("apple")]);
    assert_eq!(complete("ap".to_owned()).await, [path("app"), path("apple")]);
    assert_eq!(complete("/".to_owned()).await, [root.display().to_string()]);
    // The user's home directory is the parent of the root.
    let name = root.file_name().unwrap().to_string_lossy().into_owned();
    assert_eq!(complete(format!("~/{name}/ap")).await, [path("app"), path("apple")]);
    assert_eq!(complete(format!("~/{name}/")).await, [path("app"), path("apple")]);
    assert_eq!(complete("~".to_owned()).await, [root.display().to_string()]);
    let added = engine.projects().add(format!("~/{name}/apple").as_ref(), None).await.unwrap();
    assert_eq!(added.path, root.join("apple"));
    for elsewhere in ["../outside/a", "nowhere/x", "../../"] {
        assert!(
            complete(path(elsewhere))
                .await
                .iter()
                .all(|it| it.starts_with(&path("")) || *it == root.display().to_string()),
            "{elsewhere}"
        );
    }
    engine.stop().await;
}
