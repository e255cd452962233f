//! The recorded frames that every reader replays: the terminal shows what they say, in their order.

use convoke_api::bodies::Activity;
use convoke_api::entry::EntryBody;
use convoke_api::frames::{Envelope, ServerFrame};
use serde_json::Value;

use super::stage::{Stage, session, shop};
use crate::workbench::message::Message;

const FRAMES: &str = include_str!("../../../../convoke-api/fixtures/frames.json");

/// A screen with the session open that the frames are of.
fn opened() -> Stage {
    let mut stage = Stage::new(80, 24);
    stage.send(Message::Linked);
    stage.receive(ServerFrame::ProjectList { projects: vec![shop()], editor: None });
    let sessions = vec![session(0, 1, "Counting", Activity::Running)];
    stage.receive(ServerFrame::SessionList { project_id: shop().id, sessions });
    stage.keys("enter");
    stage
}

/// The ids of what is shown, first to last.
fn shown(stage: &Stage) -> Vec<String> {
    let chat = stage.model.chat.as_ref().unwrap();
    let entries = (0..chat.len()).filter_map(|at| chat.entry(at));
    let ids = entries.flat_map(|entry| {
        if let EntryBody::Queue { prompts, .. } = &entry.body {
            prompts.iter().map(|prompt| prompt.id.to_string()).collect()
        } else {
            vec![entry.entry_id.clone()]
        }
    });
    ids.collect()
}

#[test]
fn m5_recorded_frames_are_shown_in_the_recorded_order() {
    let cases: Vec<Value> = serde_json::from_str(FRAMES).unwrap();
    for case in &cases {
        let mut stage = opened();
        for frame in case["frames"].as_array().unwrap() {
            let Envelope { frame, .. } = Envelope::read(&frame.to_string()).unwrap();
            stage.receive(frame);
        }
        let expected: Vec<String> =
            serde_json::from_value(case["expected"]["shown"].clone()).unwrap();
        assert_eq!(shown(&stage), expected, "{}", case["name"]);
        assert_eq!(stage.rev().get(), case["expected"]["cursor"]["rev"], "{}", case["name"]);
    }
}
