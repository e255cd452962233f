//! The list of sessions.

use convoke_api::bodies::Activity;
use convoke_api::frames::{ClientFrame, ServerFrame};

use super::stage::{Stage, session, session_id};
use convoke_api::entry::Older;

#[test]
fn sessions_stand_below_their_projects_last_active_first() {
    insta::assert_snapshot!(Stage::with_sessions(80, 14).screen());
}

#[test]
fn on_a_wide_screen_the_list_stays_beside_the_page() {
    insta::assert_snapshot!(Stage::with_sessions(110, 14).screen());
}

#[test]
fn a_small_terminal_shows_the_list_or_the_session() {
    let mut stage = Stage::with_sessions(40, 12);
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter");
    stage.open(vec![], Older::Nothing);
    insta::assert_snapshot!(stage.screen());
    stage.resize(39, 9);
    insta::assert_snapshot!(stage.screen());
}

#[test]
fn before_the_daemon_answers_the_screen_says_so() {
    insta::assert_snapshot!(Stage::new(60, 10).screen());
}

#[test]
fn a_project_can_be_collapsed() {
    let mut stage = Stage::with_sessions(80, 14);
    stage.keys("space");
    insta::assert_snapshot!(stage.screen());
    stage.keys("space down enter");
    assert_eq!(stage.model.chat.as_ref().map(|chat| chat.id), Some(session_id(1)));
}

#[test]
fn a_session_is_archived_and_taken_back() {
    let mut stage = Stage::with_sessions(80, 14);
    stage.keys("a");
    let id = session_id(1).to_string();
    assert_eq!(
        stage.said(),
        [ClientFrame::SessionArchive { session_id: id.clone() }],
        "archived at once: it can be taken back"
    );
    stage.keys("a");
    let (session_id, uid) = (id, session_id(1));
    stage.answer(ServerFrame::SessionArchived { session_id, uid });
    insta::assert_snapshot!(stage.screen());
    stage.said();
    stage.keys("u");
    let said = stage.said();
    assert_eq!(said.len(), 1);
    assert!(matches!(said[0], ClientFrame::SessionUnarchive { .. }), "{said:?}");
}

#[test]
fn archived_sessions_have_a_shelf_of_their_own() {
    let mut stage = Stage::with_sessions(80, 14);
    stage.keys("A");
    let asked =
        |it: &ClientFrame| matches!(it, ClientFrame::SessionList { archived: Some(true), .. });
    assert_eq!(stage.said().iter().filter(|frame| asked(frame)).count(), 2);
    assert!(stage.screen().contains("No archived sessions."), "{}", stage.screen());
    let mut old = session(9, 9000, "Put away", Activity::Idle);
    old.archived = true;
    let project_id = old.project_id;
    stage.receive(ServerFrame::SessionList { project_id, sessions: vec![old] });
    insta::assert_snapshot!(stage.screen());
}

#[test]
fn a_session_is_renamed() {
    let mut stage = Stage::with_sessions(80, 14);
    stage.keys("r ctrl-u").types("Prices");
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter");
    let session_id = session_id(1).to_string();
    let title = "Prices".to_owned();
    assert_eq!(stage.said(), [ClientFrame::SessionRename { session_id, title }]);
}

#[test]
fn news_of_sessions_change_the_list() {
    let mut stage = Stage::with_sessions(80, 14);
    let session = session(2, 0, "Write the release notes", Activity::Running);
    stage.receive(ServerFrame::SessionChanged { session });
    let screen = stage.screen();
    let first = screen.lines().find(|line| line.contains("CC")).unwrap();
    assert!(first.contains("◐ CC Write the release notes") && first.ends_with("now"), "{screen}");
}

#[test]
fn a_turn_is_stopped_and_an_ended_session_resumed() {
    let mut stage = Stage::with_sessions(80, 14);
    stage.keys("x");
    let id = session_id(1).to_string();
    assert_eq!(stage.said(), [ClientFrame::SessionCancel { session_id: id, queue: None }]);
    stage.keys("R");
    assert_eq!(stage.said(), [], "it takes prompts as it is");
    stage.keys("down down R");
    let id = session_id(3).to_string();
    assert_eq!(stage.said(), [ClientFrame::SessionResume { session_id: id }]);
}

#[test]
fn the_keys_are_explained() {
    let mut stage = Stage::with_sessions(80, 24);
    stage.keys("?");
    insta::assert_snapshot!(stage.screen());
    stage.keys("pgdn");
    insta::assert_snapshot!(stage.screen());
    stage.keys("esc");
    assert!(stage.screen().contains("release notes"));
}

#[test]
fn rows_and_views_can_be_clicked() {
    let mut stage = Stage::with_sessions(110, 14);
    stage.clicks("Write the release");
    assert_eq!(stage.model.chat.as_ref().map(|chat| chat.id), Some(session_id(2)));
    stage.clicks("1 Home");
    assert!(stage.screen().contains("Recent"), "{}", stage.screen());
}
