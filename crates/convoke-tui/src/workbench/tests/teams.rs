//! How teams talk.

use convoke_api::bodies::{Activity, TeamSession, TeamStats};
use convoke_api::frames::ServerFrame;
use convoke_core::message::Rev;
use convoke_core::team::PairStatus;
use convoke_core::time::Timestamp;

use super::stage::{Stage, session, session_id};
use crate::workbench::message::{Effect, Message};

fn pair(id: u64, from: Option<&str>, to: &str, status: PairStatus) -> TeamSession {
    let at = Timestamp::from_millis(1_794_739_500_000 - i64::try_from(id).unwrap() * 600_000);
    TeamSession {
        id,
        from_team: from.map(|team| team.parse().unwrap()),
        to_team: to.parse().unwrap(),
        thread: (id == 2).then(|| "release".to_owned()),
        session_id: session_id(u8::try_from(id).unwrap()),
        agent_session_id: None,
        created_at: at,
        last_used_at: at,
        message_count: id * 10,
        status,
        error: None,
        node: None,
    }
}

#[test]
fn pairs_are_listed_with_their_figures_and_lead_to_their_sessions() {
    let mut stage = Stage::with_sessions(80, 14);
    stage.keys("3");
    assert_eq!(stage.effects(), [Effect::FetchTeams]);
    let sessions = vec![
        pair(1, Some("web"), "store", PairStatus::Active),
        pair(2, None, "web", PairStatus::CompactPending),
    ];
    let stats =
        TeamStats { total: 2, active: 1, compact_pending: 1, archived: 0, total_messages: 30 };
    stage.send(Message::Teams { sessions, stats });
    stage.keys("down");
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter");
    assert_eq!(stage.model.chat.as_ref().map(|chat| chat.id), Some(session_id(2)));
}

#[test]
fn the_session_of_a_pair_is_shown_and_not_listed() {
    let mut stage = Stage::with_sessions(80, 14);
    let sessions = vec![pair(9, Some("web"), "store", PairStatus::Active)];
    let stats =
        TeamStats { total: 1, active: 1, compact_pending: 0, archived: 0, total_messages: 3 };
    stage.keys("3").send(Message::Teams { sessions, stats });
    stage.keys("enter");
    let before = stage.model.list.rows();
    stage.receive(ServerFrame::SessionHistory {
        session_id: "claude-code:9".to_owned(),
        uid: session_id(9),
        rev: Rev::START,
        generation: "1".to_owned(),
        entries: Vec::new(),
        more: false,
        newer: false,
        session: session(9, 0, "Between teams", Activity::Idle),
    });
    assert!(stage.screen().contains("Between teams"), "{}", stage.screen());
    assert_eq!(stage.model.list.rows(), before);
}

#[test]
fn without_teams_a_hint_is_shown() {
    let mut stage = Stage::with_sessions(80, 14);
    stage.keys("3");
    let stats =
        TeamStats { total: 0, active: 0, compact_pending: 0, archived: 0, total_messages: 0 };
    stage.send(Message::Teams { sessions: vec![], stats });
    assert!(stage.screen().contains("teams.json"), "{}", stage.screen());
}
