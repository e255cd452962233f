//! A turn is followed to its end in whatever order its messages arrive.

use convoke_core::id::ProjectId;
use convoke_core::message::{Draft, Rev};
use convoke_core::session::{Change, Session};
use convoke_core::time::Timestamp;
use convoke_core::update::{OpenMessages, UpdateStamp};
use convoke_store::{NewProject, NewSession, SessionKind, Sync};
use tokio::sync::broadcast;

use super::*;

/// A reader that comes after the end of a turn gets the answers first: a prompt's newest change is the end of its turn.
#[tokio::test]
async fn t13_a_turn_that_is_read_after_its_end_has_all_its_answers() {
    let folder = tempfile::tempdir().unwrap();
    let at = Timestamp::from_millis(1);
    let store = Store::open(folder.path().join("convoke.db"), at).await.unwrap();
    let (project_id, id) = (ProjectId::from_random([1; 16]), SessionId::from_random([2; 16]));
    let path = folder.path().to_owned();
    let project = NewProject { id: project_id, name: "a".to_owned(), path, added_at: at };
    store.add_project(project).await.unwrap();
    let (agent, kind) = ("demo".parse().unwrap(), SessionKind::Session);
    store.create_session(NewSession { id, project_id, agent, kind, created_at: at }).await.unwrap();

    let answer = |text: &str| Change::Begin(Draft::agent(Content::text(text.to_owned())));
    let prompt = |number, text: &str| {
        let id = MessageId::from_random([number; 16]);
        Change::Begin(Draft::prompt(id, text, Turn::Running))
    };
    let end = |seq| Change::Turn { seq: Seq::new(seq), turn: Turn::Ended(Stop::EndTurn) };
    let (mut session, mut open) = (Session::new(at), OpenMessages::default());
    for (number, change) in [
        prompt(11, "before"),
        answer("not this"),
        end(1),
        prompt(12, "this"),
        answer("one"),
        answer("two"),
        end(3),
        prompt(13, "after"),
        answer("nor this"),
    ]
    .into_iter()
    .enumerate()
    {
        session.apply(&change, at);
        let summary = session.summary();
        let stamp = UpdateStamp {
            session_id: id,
            id: MessageId::from_random([100 + u8::try_from(number).unwrap(); 16]),
            seq: summary.last_seq,
            rev: summary.rev,
            at,
        };
        let update = open.apply(change, stamp).unwrap();
        store.record(id, &[update], summary.clone(), Sync::Soon).await.unwrap();
    }

    for (prompt, expected) in [(11, "not this"), (12, "one\n\ntwo")] {
        let (_published, live) = broadcast::channel(1);
        let watcher = Watcher::new(store.clone(), id, Rev::START, live);
        let (answer_so_far, _) = watch::channel(AnswerSoFar::default());
        let ended = read_turn(MessageId::from_random([prompt; 16]), watcher, &answer_so_far).await;
        assert_eq!((ended.text.as_str(), ended.error), (expected, None));
    }
    store.close().await;
}
