//! `convoke project`: added, listed, removed, and what is refused.

use std::fs;

use crate::daemon_scene::Scene;

#[test]
fn s5_projects_are_added_listed_and_removed() {
    let scene = Scene::new();
    insta::assert_snapshot!(scene.run("project add web"), @r"
    exit 0
    --- stdout
    added [the-id] web [tmp]/web
    ");
    fs::create_dir_all(scene.machine.path().join("old/web")).unwrap();
    insta::assert_snapshot!(scene.run("project add old/web --name shop"), @r"
    exit 0
    --- stdout
    added [the-id] shop [tmp]/old/web
    ");
    insta::assert_snapshot!(scene.run("project list"), @r"
    exit 0
    --- stdout
    PROJECT   NAME  ADDED  PATH
    [the-id]  web   now    [tmp]/web
    [the-id]  shop  now    [tmp]/old/web
    ");
    let listed = scene.machine.json("project list --json");
    let id = listed["repos"][0]["id"].as_str().unwrap();
    assert_eq!(listed["repos"][1]["name"], "shop");
    let prefix = &id[..6];
    assert!(scene.run(&format!("project remove {prefix}")).starts_with("exit 0\n"));
    insta::assert_snapshot!(scene.run("project remove old/web"), @r"
    exit 0
    --- stdout
    removed [the-id] shop [tmp]/old/web
    ");
    insta::assert_snapshot!(scene.run("project list --json"), @r#"
    exit 0
    --- stdout
    {
      "repos": []
    }
    "#);
}

#[test]
fn s5_what_is_no_folder_of_the_workspace_is_refused() {
    let scene = Scene::new();
    insta::assert_snapshot!(scene.run("project add nowhere"), @r"
    exit 1
    --- stderr
    error: there is no folder [tmp]/nowhere
    ");
    insta::assert_snapshot!(scene.run("project add /etc"), @r"
    exit 1
    --- stderr
    error: /etc is outside of the workspace root [tmp]
    hint: choose a folder in [tmp], or change sessions.workspace_root
    ");
    scene.run("project add web");
    insta::assert_snapshot!(scene.run("project add ./web/../web"), @r"
    exit 1
    --- stderr
    error: [tmp]/web is already a project
    hint: see `convoke project list`
    ");
    insta::assert_snapshot!(scene.run("project remove shop"), @r"
    exit 1
    --- stderr
    error: there is no project shop
    hint: see `convoke project list`; a folder is added with `convoke project add PATH`
    ");
}

#[test]
fn s5_a_folder_around_convokes_home_is_refused_and_not_suggested() {
    let scene = Scene::new();
    for folder in [".", ".convoke", ".convoke/logs"] {
        let told = scene.run(&format!("project add {folder}"));
        let expected = "exit 1\n--- stderr\nerror: choose a folder that does not contain Convoke's home ([tmp]/.convoke)\n";
        assert_eq!(told, expected, "{folder}");
    }
    insta::assert_snapshot!(scene.run("session new --agent demo"), @"
    exit 2
    --- stderr
    error: [tmp] is not in a project, and contains Convoke's home
    hint: name a project with `--project`, or change to a folder of one; see `convoke project list`
    ");
}

#[test]
fn s8_an_agent_that_is_not_installed_is_told_with_the_command_that_installs_it() {
    let scene = Scene::new();
    insta::assert_snapshot!(scene.run("session new --project web --agent goose"), @"
    exit 1
    --- stderr
    [tmp]/web is now the project web
    error: the agent goose is not installed: there is no goose on the search path
    hint: install it with `npm install -g @aaif/goose-acp`
    ");
    insta::assert_snapshot!(scene.run("session list --archived"), @"
    exit 0
    --- stdout
    No archived sessions.
    ");
}

#[test]
fn a_name_that_two_projects_have_lists_them() {
    let scene = Scene::new();
    fs::create_dir_all(scene.machine.path().join("old/web")).unwrap();
    scene.run("project add web");
    scene.run("project add old/web");
    insta::assert_snapshot!(scene.run("project remove web"), @r"
    exit 2
    --- stderr
    error: web matches several projects: [id] ([tmp]/web), [id] ([tmp]/old/web)
    hint: give its path, or more characters of its id
    ");
}
