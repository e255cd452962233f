//! Rules: listed, revoked, and shown where they were applied.

use convoke_api::bodies::Rule;
use convoke_api::entry::EntryBody;
use convoke_api::frames::{ClientFrame, ServerFrame};
use convoke_core::id::RuleId;
use convoke_core::notice::{Notice, RuleEvent};
use convoke_core::rule::{Effect, Matcher};
use convoke_core::time::Timestamp;

use ratatui::layout::Position;

use super::stage::{Stage, entry, prompt, shop};
use crate::picture::Direction;
use crate::workbench::message::Message;

fn rule(number: u8, effect: Effect, text: &str, used_count: u64) -> Rule {
    let at = Timestamp::from_millis(1_794_736_000_000);
    Rule {
        user: None,
        id: RuleId::from_random([number; 16]),
        effect,
        matcher: Matcher::Command { words: vec!["cargo".to_owned()], more: true },
        agent: None,
        project_id: Some(shop().id),
        project: Some("shop".to_owned()),
        text: text.to_owned(),
        created_at: at,
        request_id: None,
        session_id: None,
        used_count,
        last_used_at: (used_count > 0).then_some(at),
    }
}

fn rules() -> ServerFrame {
    let rules = vec![
        rule(1, Effect::Allow, "Allow `cargo test …` in shop", 12),
        rule(2, Effect::Deny, "Deny `git push …` everywhere", 0),
    ];
    ServerFrame::RuleList { rules }
}

#[test]
fn p2_rules_are_listed_and_revoked_when_asked_twice() {
    let mut stage = Stage::at_home(80, 14);
    stage.keys("4");
    assert_eq!(stage.said(), [ClientFrame::RuleList {}]);
    stage.answer(rules());
    stage.keys("down");
    insta::assert_snapshot!(stage.screen());
    stage.keys("d up d");
    assert_eq!(stage.said(), [], "another rule is asked about anew");
    stage.keys("d");
    let rule_id = RuleId::from_random([1; 16]).to_string();
    assert_eq!(stage.said(), [ClientFrame::RuleRemove { rule_id }]);
    stage.receive(ServerFrame::RuleChanged {});
    assert_eq!(stage.said(), [ClientFrame::RuleList {}]);
}

#[test]
fn pages_and_the_wheel_move_through_the_rules() {
    let mut stage = Stage::at_home(80, 14);
    stage.keys("4");
    stage.answer(rules());
    stage.keys("pgdn");
    assert!(stage.screen().contains("▸ ✗ Deny `git push …`"), "{}", stage.screen());
    let at = Position { x: 3, y: 5 };
    stage.send(Message::Wheeled { direction: Direction::Up, at });
    assert!(stage.screen().contains("▸ ✓ Allow `cargo test …`"), "{}", stage.screen());
}

#[test]
fn p2_an_applied_rule_is_a_quiet_line_that_leads_to_the_rule() {
    let event = RuleEvent::Applied {
        rule_id: Some(RuleId::from_random([2; 16])),
        rule: "Allow `cargo test …` in shop".to_owned(),
        what: "cargo test".to_owned(),
    };
    let notice = Notice::worded(event, "Allowed by a rule: cargo test.".to_owned());
    let entries = vec![prompt(1, "Test it"), entry("n2", 2, EntryBody::Notice(notice))];
    let mut stage = Stage::talking(80, 14, entries);
    assert!(stage.screen().contains("── Allowed by a rule: cargo test."), "{}", stage.screen());
    stage.keys("tab enter");
    assert_eq!(stage.said(), [ClientFrame::RuleList {}]);
    stage.answer(rules());
    assert!(stage.screen().contains("▸ ✗ Deny `git push …`"), "{}", stage.screen());
}

#[test]
fn a_notice_that_is_longer_than_the_rule_is_shown_whole_above_it() {
    let mut stage = Stage::with_sessions(60, 14);
    let text = "/srv/web is outside of the workspace root /home/ann (choose a folder in /home/ann, or \
                change sessions.workspace_root)";
    stage.model.refuse(text);
    let screen = stage.screen();
    let rows: Vec<&str> = screen.lines().map(str::trim_end).collect();
    assert_eq!(
        rows[rows.len() - 5..rows.len() - 1],
        [
            " /srv/web is outside of the workspace root /home/ann",
            " (choose a folder in /home/ann, or change",
            " sessions.workspace_root)",
            &"─".repeat(60),
        ],
        "{screen}"
    );
}
