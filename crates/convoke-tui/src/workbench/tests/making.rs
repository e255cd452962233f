//! A new session: written on the start screen, with its project and its agent.

use convoke_api::bodies::Activity;
use convoke_api::frames::{ClientFrame, ServerFrame};

use super::stage::{Stage, session, session_id, shop, site};

fn created(number: u8) -> ServerFrame {
    ServerFrame::SessionCreated {
        session_id: format!("claude-code:{number}"),
        uid: session_id(number),
        project_id: shop().id,
        session: session(number, 0, "Price it", Activity::Running),
        refused: None,
    }
}

#[test]
fn p3_a_session_begins_with_its_prompt_in_one_step() {
    let mut stage = Stage::at_home(80, 16);
    stage.keys("n").types("Price it");
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter");
    let frame = |prompt: Option<&str>| ClientFrame::SessionCreate {
        project_id: shop().id.to_string(),
        cli_type: Some("claude-code".to_owned()),
        model: None,
        mode: None,
        prompt: prompt.map(str::to_owned),
        attachments: Vec::new(),
        files: Vec::new(),
        worktree: None,
    };
    assert_eq!(stage.said(), [frame(Some("Price it"))]);
    assert!(stage.screen().contains("Starting Claude Code…"), "{}", stage.screen());
    stage.answer(created(9));
    assert_eq!(stage.model.chat.as_ref().map(|chat| chat.id), Some(session_id(9)));
    assert!(!stage.screen().contains("Starting"), "{}", stage.screen());
    stage.keys("alt-1 n enter");
    assert!(stage.said().contains(&frame(None)), "without a prompt it waits for one");
}

#[test]
fn p3_project_and_agent_are_chosen_and_remembered() {
    let mut stage = Stage::at_home(80, 16);
    stage.keys("n alt-p down");
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter alt-a");
    insta::assert_snapshot!(stage.screen());
    stage.keys("down down enter");
    assert!(stage.screen().contains("Codex is not installed: npm install -g codex"));
    stage.keys("up enter");
    assert!(stage.screen().contains("site · Demo"), "{}", stage.screen());
    stage.types("Hello").keys("enter");
    stage.answer(created(9));
    stage.keys("alt-1 n");
    assert!(stage.screen().contains("site · Demo"), "{}", stage.screen());
}

#[test]
fn p3_mode_and_model_are_chosen_before_the_session_begins() {
    let mut stage = Stage::at_home(80, 16);
    stage.keys("n alt-m");
    insta::assert_snapshot!(stage.screen());
    stage.keys("down enter alt-m end enter").types("Go").keys("enter");
    let frame = ClientFrame::SessionCreate {
        project_id: shop().id.to_string(),
        cli_type: Some("claude-code".to_owned()),
        model: Some("opus".to_owned()),
        mode: Some("plan".to_owned()),
        prompt: Some("Go".to_owned()),
        attachments: Vec::new(),
        files: Vec::new(),
        worktree: None,
    };
    assert_eq!(stage.said(), [frame]);
    assert!(stage.screen().contains("Claude Code · Plan · Opus"), "{}", stage.screen());
}

#[test]
fn p3_a_session_that_was_not_created_gives_its_prompt_back() {
    let mut stage = Stage::at_home(80, 16);
    stage.keys("n").types("Price it").keys("enter").types("and");
    stage.refuse("claude-code did not start");
    let screen = stage.screen();
    assert!(screen.contains("claude-code did not start"), "{screen}");
    assert!(screen.contains("❯ Price it\n   and"), "{screen}");
}

#[test]
fn another_folder_becomes_a_project() {
    let mut stage = Stage::at_home(80, 16);
    stage.keys("n alt-p G enter");
    insta::assert_snapshot!(stage.screen());
    stage.keys("ctrl-u").types("~/sr").keys("tab");
    let path = "/home/ann/sr".to_owned();
    assert_eq!(stage.said(), [ClientFrame::FolderComplete { path: path.clone() }]);
    let folders = ["/home/ann/src", "/home/ann/srv"].map(str::to_owned).to_vec();
    stage.receive(ServerFrame::FolderCompletions { path: path.clone(), folders });
    assert!(stage.screen().contains("~/srv"), "{}", stage.screen());
    let folders = vec!["/home/ann/src".to_owned()];
    stage.receive(ServerFrame::FolderCompletions { path, folders });
    stage.types("tea/").keys("enter");
    let path = "/home/ann/src/tea".to_owned();
    assert_eq!(stage.said(), [ClientFrame::ProjectAdd { path, name: None }]);
    let mut project = site();
    project.id = convoke_core::id::ProjectId::from_random([103; 16]);
    project.name = "tea".to_owned();
    stage.answer(ServerFrame::ProjectAdded { project });
    assert!(stage.screen().contains("tea · Claude Code"), "{}", stage.screen());
}

#[test]
fn n_in_the_list_of_sessions_means_the_project_at_the_cursor() {
    let mut stage = Stage::with_sessions(80, 16);
    stage.keys("G n");
    assert!(stage.screen().contains("site · Claude Code"), "{}", stage.screen());
    stage.keys("esc");
    assert!(stage.screen().contains("Fix the parser"), "{}", stage.screen());
    assert_eq!(stage.said(), []);
}
