//! What holds for every sequence of commands.

use proptest::prelude::*;

use super::scene::Scene;
use crate::content::Content;
use crate::message::Seq;
use crate::notice::Event;
use crate::request::Status as RequestStatus;
use crate::session::{Effect, Session, Status};

const WORDS: [&str; 32] = [
    "prompt",
    "prompt",
    "prompt",
    "blank",
    "stop",
    "complete",
    "cancel",
    "resume",
    "resume",
    "rename",
    "archive",
    "unarchive",
    "allow",
    "answer",
    "reject",
    "timeout",
    "late-answer",
    "recover",
    "say",
    "silence",
    "think",
    "plan",
    "tool",
    "finish-tool",
    "spend",
    "ask",
    "question",
    "withdraw",
    "end",
    "end",
    "exit",
    "fail",
];

fn scripts() -> impl Strategy<Value = Vec<&'static str>> {
    proptest::collection::vec(proptest::sample::select(&WORDS[..]), 0..60)
}

/// The session as a daemon would load it: from its columns, its pending requests, and the rest of its log.
fn reloaded(scene: &Scene) -> Session {
    let summary = scene.session.summary().clone();
    let settled = summary.settled_seq;
    let mut session = Session::restore(summary, scene.session.pending().to_vec());
    for message in scene.log.iter().filter(|message| message.seq > settled) {
        session.apply(message);
    }
    session
}

proptest! {
    #[test]
    fn folding_the_log_gives_the_live_state(script in scripts()) {
        let mut scene = Scene::new();
        let created_at = scene.session.summary().updated_at;
        for word in script {
            // A refusal is an answer like any other.
            scene.step(word).ok();
            let mut folded = Session::new(created_at);
            scene.log.iter().for_each(|message| folded.apply(message));
            prop_assert_eq!(&folded, &scene.session);
            prop_assert_eq!(&reloaded(&scene), &scene.session);
        }
    }

    #[test]
    fn a_refused_command_changes_nothing(script in scripts()) {
        let mut scene = Scene::new();
        for word in script {
            let before = scene.session.clone();
            if scene.step(word).is_err() {
                prop_assert_eq!(&before, &scene.session);
            }
        }
    }

    #[test]
    fn nothing_leaves_a_final_state(script in scripts()) {
        let mut scene = Scene::new();
        for word in script {
            let was_cancelled = scene.session.summary().status == Status::Cancelled;
            let settled: Vec<_> = final_requests(&scene);
            scene.step(word).ok();
            if was_cancelled {
                prop_assert_eq!(scene.session.summary().status, Status::Cancelled);
                prop_assert_eq!(scene.session.running(), None);
            }
            let now = final_requests(&scene);
            prop_assert!(settled.iter().all(|request| now.contains(request)));
        }
    }

    #[test]
    fn a_turn_starts_once_ends_once_and_only_one_runs(script in scripts()) {
        let mut scene = Scene::new();
        let (mut started, mut ended) = (Vec::new(), Vec::new());
        for word in script {
            let Ok(decision) = scene.step(word) else { continue };
            let first = scene.log.len() - decision.drafts.len();
            ended.extend(scene.log[first..].iter().filter_map(|message| ended_turn(&message.content)));
            started.extend(decision.effects.iter().filter_map(started_turn));
            prop_assert!(started.iter().filter(|turn| !ended.contains(turn)).count() <= 1);
            let open = started.iter().find(|turn| !ended.contains(turn)).copied();
            prop_assert_eq!(open, scene.session.running());
        }
        for turns in [&mut started, &mut ended] {
            let count = turns.len();
            turns.sort_unstable();
            turns.dedup();
            prop_assert_eq!(turns.len(), count);
        }
    }

    #[test]
    fn an_ended_session_has_nothing_open(script in scripts()) {
        let mut scene = Scene::new();
        for word in script {
            scene.step(word).ok();
            if scene.session.summary().status != Status::Active {
                prop_assert!(scene.session.is_idle());
                prop_assert!(scene.session.summary().is_settled());
            }
        }
    }

    #[test]
    fn every_stream_of_words_is_closed_by_its_last_piece(script in scripts()) {
        let mut scene = Scene::new();
        for word in script {
            scene.step(word).ok();
        }
        scene.step("recover").unwrap();
        let mut open = None;
        for message in &scene.log {
            match (&message.content, open) {
                (Content::Text { partial: Some(partial), .. }, None | Some("text")) => {
                    open = partial.then_some("text");
                }
                (Content::Thinking { partial, .. }, None | Some("thinking")) => {
                    open = partial.then_some("thinking");
                }
                (Content::Tool(_) | Content::Plan { .. }, open) => prop_assert_eq!(open, None),
                (Content::Text { partial: Some(_), .. } | Content::Thinking { .. }, open) => {
                    prop_assert!(false, "words of another kind while {open:?} was open");
                }
                _ => {}
            }
        }
        prop_assert_eq!(open, None);
    }
}

fn final_requests(scene: &Scene) -> Vec<crate::request::Request> {
    let settled = [RequestStatus::Answered, RequestStatus::Rejected];
    scene.requests.iter().filter(|request| settled.contains(&request.status())).cloned().collect()
}

fn started_turn(effect: &Effect) -> Option<Seq> {
    match effect {
        Effect::StartTurn { turn } => Some(*turn),
        Effect::CancelTurn { .. }
        | Effect::Reply { .. }
        | Effect::StopProcess
        | Effect::RecordAgentSession { .. } => None,
    }
}

fn ended_turn(content: &Content) -> Option<Seq> {
    let Content::Notice(notice) = content else { return None };
    let Event::TurnEnded { turn, .. } = notice.event else { return None };
    Some(turn)
}
