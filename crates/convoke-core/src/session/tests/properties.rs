//! What holds for every sequence of commands.

use proptest::prelude::*;

use super::scene::Scene;
use crate::content::Content;
use crate::message::{Message, Role, Seq};
use crate::request::Status as RequestStatus;
use crate::session::{Change, Effect, Session, Status};

const WORDS: [&str; 39] = [
    "prompt",
    "prompt",
    "prompt",
    "blank",
    "edit",
    "remove",
    "move",
    "send",
    "see",
    "wait",
    "stop",
    "stop-keep",
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

/// The session as a daemon would load it: from its summary, its open messages and its state.
fn reloaded(scene: &Scene) -> Session {
    let summary = scene.session.summary().clone();
    let open: Vec<_> = scene.messages.iter().filter(|message| message.is_open()).cloned().collect();
    Session::restore(summary, &open, scene.states.values().cloned().collect())
}

proptest! {
    #[test]
    fn m3_what_is_stored_gives_the_live_state(script in scripts()) {
        let mut scene = Scene::new();
        for word in script {
            // A refusal is a valid result.
            scene.step(word).ok();
            prop_assert_eq!(&reloaded(&scene), &scene.session.without_memory_of_turn());
            for message in scene.messages.iter().filter(|message| message.is_open()) {
                prop_assert_eq!(scene.open.get(message.seq).map(|open| &**open), Some(message));
            }
        }
    }

    #[test]
    fn m1_messages_have_places_without_gaps_and_revisions_that_grow(script in scripts()) {
        let mut scene = Scene::new();
        for word in script {
            let before = scene.session.summary().rev;
            let changes = scene.step(word).map_or_else(|_| Vec::new(), |decision| decision.changes);
            let changes = changes.iter().filter(|change| **change != Change::Seen).count();
            prop_assert_eq!(scene.session.summary().rev, before.plus(changes as u64));
            let places = scene.messages.iter().map(|message| message.seq.get());
            prop_assert!(places.eq(1..=scene.session.summary().last_seq.get()));
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
            ended.extend(decision.changes.iter().filter_map(ended_turn));
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
                prop_assert!(scene.messages.iter().all(|message| !message.is_open()));
            }
        }
    }

    #[test]
    fn no_prompt_is_lost_unless_it_is_removed(script in scripts()) {
        let mut scene = Scene::new();
        let mut said = Vec::new();
        for word in script {
            let removed = scene.session.queue().last().map(|prompt| prompt.id);
            let accepted = scene.step(word).is_ok();
            match (word, accepted) {
                ("prompt", true) => {
                    let last = scene.messages.iter().rfind(|message| message.role == Role::User);
                    let queued = scene.session.queue().last().map(|prompt| prompt.id);
                    said.extend(queued.or(last.map(|message| message.id)));
                }
                ("remove", true) => said.retain(|id| Some(*id) != removed),
                _ => {}
            }
            for id in &said {
                let is_message = scene.messages.iter().filter(|message| message.id == *id).count();
                let is_queued = scene.session.queue().filter(|prompt| prompt.id == *id).count();
                prop_assert_eq!(is_message + is_queued, 1);
            }
        }
    }

    #[test]
    fn only_the_newest_words_are_open_and_recovery_closes_all(script in scripts()) {
        let mut scene = Scene::new();
        for word in script {
            scene.step(word).ok();
            let open = |message: &&Message| {
                matches!(
                    message.content,
                    Content::Text { partial: true, .. } | Content::Thinking { partial: true, .. }
                )
            };
            prop_assert!(scene.messages.iter().filter(open).count() <= 1);
        }
        while scene.session.running().is_some() || !scene.session.summary().is_settled() {
            scene.step("recover").unwrap();
        }
        let is_open = |message: &Message| message.is_open();
        prop_assert!(!scene.messages.iter().any(is_open) || scene.session.pending().len() > 0);
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

fn ended_turn(change: &Change) -> Option<Seq> {
    let Change::Turn { seq, turn } = change else { return None };
    turn.is_over().then_some(*seq)
}
