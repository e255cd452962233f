//! Several machines and several people: where something is, and who said it.

use convoke_api::bodies::{Activity, Node};
use convoke_api::entry::{Entry, EntryBody};
use convoke_api::frames::ServerFrame;
use convoke_core::id::NodeId;
use convoke_core::time::Timestamp;
use convoke_core::user::UserName;

use super::stage::{Stage, prompt, queue, session, shop};
use crate::workbench::message::Message;

fn node(number: u8, name: &str) -> Node {
    let at = Timestamp::from_millis(0);
    Node {
        id: NodeId::from_random([number; 16]),
        name: name.to_owned(),
        version: "1".to_owned(),
        started_at: at,
        seen_at: at,
        away: false,
        own: number == 1,
    }
}

fn by(mut entry: Entry, name: &str) -> Entry {
    let name: UserName = name.parse().unwrap();
    if let EntryBody::User(prompted) = &mut entry.body {
        prompted.by = Some(name);
    } else if let EntryBody::Queue { prompts, .. } = &mut entry.body {
        for prompt in prompts {
            prompt.by = Some(name.clone());
            prompt.waits_for = Some("workstation".to_owned());
        }
    }
    entry
}

#[test]
fn n4_n7_the_node_of_a_session_and_the_user_of_a_prompt_are_shown() {
    let mut stage = Stage::talking(110, 24, vec![by(prompt(1, "Fix it"), "ada")]);
    let there = node(2, "workstation");
    let mut moved = session(1, 1, "Fix the price", Activity::Idle);
    moved.node = Some(there.id);
    let mut project = shop();
    project.node = Some(there.id);
    stage.receive(ServerFrame::ProjectAdded { project });
    stage.receive(ServerFrame::SessionChanged { session: moved });
    assert!(!stage.screen().contains("workstation"), "{}", stage.screen());
    stage.send(Message::Nodes(vec![node(1, "laptop"), there]));
    let screen = stage.screen();
    assert!(screen.contains("shop on workstation"), "the session: {screen}");
    assert_eq!(screen.matches("workstation").count(), 2, "and its project: {screen}");
    assert!(screen.contains("from ada"), "{screen}");
    // A prompt that waits for the node.
    stage.update(by(queue(2, &[(1, "and test it")]), "grace"));
    let screen = stage.screen();
    assert!(screen.contains("waits for workstation, which is away"), "{screen}");
    assert!(screen.contains("from grace"), "{screen}");
    // One machine alone is not worth a word.
    stage.send(Message::Nodes(vec![node(2, "workstation")]));
    assert!(!stage.screen().contains("shop on"), "{}", stage.screen());
}
