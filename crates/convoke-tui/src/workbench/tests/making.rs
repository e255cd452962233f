//! A new session.

use convoke_api::bodies::Activity;
use convoke_api::frames::{ClientFrame, ServerFrame};

use super::stage::{Stage, session, session_id, shop, site};

#[test]
fn a_session_begins_with_a_project_and_an_agent() {
    let mut stage = Stage::with_sessions(80, 14);
    stage.keys("n down");
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter");
    insta::assert_snapshot!(stage.screen());
    stage.keys("down down enter");
    assert!(stage.screen().contains("Codex is not installed: npm install -g codex"));
    stage.keys("up enter");
    let project_id = site().id.to_string();
    let cli_type = Some("demo".to_owned());
    assert_eq!(stage.said(), [ClientFrame::SessionCreate { project_id, cli_type, prompt: None }]);
}

#[test]
fn a_session_that_has_begun_is_opened() {
    let mut stage = Stage::with_sessions(80, 14);
    stage.keys("n enter enter");
    assert!(stage.screen().contains("Starting claude-code…"), "{}", stage.screen());
    stage.answer(ServerFrame::SessionCreated {
        session_id: "demo:9".to_owned(),
        uid: session_id(9),
        project_id: shop().id,
        session: session(9, 0, "New Session", Activity::Idle),
        refused: None,
    });
    assert_eq!(stage.model.chat.as_ref().map(|chat| chat.id), Some(session_id(9)));
    assert!(stage.screen().contains("Message claude-code"), "{}", stage.screen());
}

#[test]
fn an_agent_that_does_not_start_leads_back_to_the_others() {
    let mut stage = Stage::with_sessions(80, 14);
    stage.keys("n enter down enter");
    stage.refuse("demo did not start");
    let screen = stage.screen();
    assert!(screen.contains("demo did not start") && screen.contains("▸ DM Demo"), "{screen}");
}

#[test]
fn another_folder_becomes_a_project() {
    let mut stage = Stage::with_sessions(80, 16);
    stage.keys("n G enter");
    insta::assert_snapshot!(stage.screen());
    stage.keys("ctrl-u").types("~/sr").keys("tab");
    let path = "/home/ann/sr".to_owned();
    assert_eq!(stage.said(), [ClientFrame::FolderComplete { path: path.clone() }]);
    let folders = ["/home/ann/src", "/home/ann/srv"].map(str::to_owned).to_vec();
    stage.hear(ServerFrame::FolderCompletions { path: path.clone(), folders });
    assert!(stage.screen().contains("~/srv"), "{}", stage.screen());
    let folders = vec!["/home/ann/src".to_owned()];
    stage.hear(ServerFrame::FolderCompletions { path, folders });
    stage.types("tea/").keys("enter");
    let path = "/home/ann/src/tea".to_owned();
    assert_eq!(stage.said(), [ClientFrame::ProjectAdd { path, name: None }]);
    let mut project = site();
    project.id = convoke_core::id::ProjectId::from_random([103; 16]);
    project.name = "tea".to_owned();
    stage.answer(ServerFrame::ProjectAdded { project });
    assert!(stage.screen().contains("New session in tea"), "{}", stage.screen());
}

#[test]
fn who_changes_their_mind_goes_back_step_by_step() {
    let mut stage = Stage::with_sessions(80, 14);
    stage.keys("n enter esc esc");
    assert!(stage.screen().contains("release notes"), "{}", stage.screen());
    assert_eq!(stage.said(), []);
}
