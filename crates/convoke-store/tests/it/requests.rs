//! Requests to humans: stored in step with their messages.

use convoke_core::content::Content;
use convoke_core::id::RequestId;
use convoke_core::message::Seq;
use convoke_core::notice::LifecycleEvent;
use convoke_core::request::{
    Choice, PermissionKind, PermissionOption, PermissionRecord, QuestionRecord, Request, State,
};
use convoke_core::session::Change;
use convoke_store::{Error, StoredRequest, Window};

use crate::world::{World, at, notice, request_id, system};

fn permission(request_id: RequestId, state: State<Choice>) -> PermissionRecord {
    let allow = PermissionOption {
        option_id: "allow".to_owned(),
        name: "Allow".to_owned(),
        kind: PermissionKind::AllowOnce,
    };
    let title = "rm -r build".to_owned();
    PermissionRecord {
        by: None,
        request_id,
        tool_call_id: None,
        tool: None,
        evidence: None,
        rules: Vec::new(),
        title,
        options: vec![allow],
        state,
    }
}

fn asks(record: &PermissionRecord) -> Change {
    system(Content::Permission(record.clone()))
}

/// The first message of the session is about this from now on.
fn settles(record: PermissionRecord) -> Change {
    Change::Replace { seq: Seq::new(1), content: Content::Permission(record) }
}

const ALL: Window = Window::first(100);

#[tokio::test]
async fn a_request_is_stored_with_its_message_and_changes_with_it() {
    let mut world = World::new().await;
    let mut talk = world.talk().await;
    let asked = permission(request_id(), State::Pending);
    let batch = talk.next_at(at(10), [asks(&asked)]);
    talk.record(&world.store, &batch).await.unwrap();
    let pending = StoredRequest {
        session_id: Some(talk.id),
        asked_at: at(10),
        changed_at: at(10),
        seq: Some(Seq::new(1)),
        request: Request::Permission(asked.clone()),
    };
    assert_eq!(world.store.pending_requests(ALL).await.unwrap(), std::slice::from_ref(&pending));
    assert_eq!(world.store.request(asked.request_id).await.unwrap(), Some(pending.clone()));

    let chosen = State::Answered(Choice { option_id: "allow".to_owned() });
    let answered = PermissionRecord { state: chosen, ..asked };
    let batch = talk.next_at(at(20), [settles(answered.clone())]);
    talk.record(&world.store, &batch).await.unwrap();
    world.reopen().await;
    assert_eq!(world.store.pending_requests(ALL).await.unwrap(), []);
    let stored = world.store.request(answered.request_id).await.unwrap();
    let expected =
        StoredRequest { changed_at: at(20), request: Request::Permission(answered), ..pending };
    assert_eq!(stored, Some(expected));
    assert_eq!(world.store.request(request_id()).await.unwrap(), None);
}

#[tokio::test]
async fn q4_a_request_without_a_waiting_asker_can_still_be_found_and_answered() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    let id = request_id();
    let mut states = Vec::new();
    let chosen = State::Answered(Choice { option_id: "allow".to_owned() });
    talk.say(&world.store, [asks(&permission(id, State::Pending))]).await;
    for state in [State::Pending, State::TimedOut, chosen] {
        talk.say(&world.store, [settles(permission(id, state))]).await;
        let stored = world.store.request(id).await.unwrap().unwrap();
        let pending = world.store.pending_requests(ALL).await.unwrap().len();
        states.push((stored.request.status().as_str(), pending));
    }
    assert_eq!(states, [("pending", 1), ("timed_out", 0), ("answered", 0)]);
}

#[tokio::test]
async fn pending_requests_are_listed_by_session_and_together_oldest_first() {
    let world = World::new().await;
    let (mut one, mut two) = (world.talk().await, world.talk().await);
    let mut ids = Vec::new();
    for moment in 0..6 {
        let talk = if moment % 2 == 0 { &mut one } else { &mut two };
        let id = request_id();
        let questions =
            QuestionRecord { by: None, request_id: id, questions: vec![], state: State::Pending };
        let change = match moment {
            3 => system(Content::Question(questions)),
            _ => asks(&permission(id, State::Pending)),
        };
        let batch = talk.next_at(at(moment), [change]);
        talk.record(&world.store, &batch).await.unwrap();
        ids.push(id);
    }
    let ids_of = |requests: Vec<StoredRequest>| {
        requests.iter().map(|stored| stored.request.id()).collect::<Vec<_>>()
    };
    assert_eq!(ids_of(world.store.pending_requests(ALL).await.unwrap()), ids);
    let window = Window { limit: 2, offset: 3 };
    assert_eq!(ids_of(world.store.pending_requests(window).await.unwrap()), ids[3..5]);
}

#[tokio::test]
async fn a_request_of_another_session_is_refused_and_stays_as_it_was() {
    let world = World::new().await;
    let (mut one, mut two) = (world.talk().await, world.talk().await);
    let asked = permission(request_id(), State::Pending);
    one.say(&world.store, [asks(&asked)]).await;
    let taken = PermissionRecord { state: State::Abandoned, ..asked.clone() };
    let batch = two.next([asks(&taken)]);
    let refused = two.record(&world.store, &batch).await;
    assert!(matches!(refused, Err(Error::Misuse { .. })));
    let stored = world.store.request(asked.request_id).await.unwrap().unwrap();
    assert_eq!(stored.request, Request::Permission(asked));
    let untouched = world.store.session(two.id).await.unwrap().unwrap();
    assert_eq!(untouched.summary.last_seq.get(), 0);
}

#[tokio::test]
async fn q4_questions_whose_asker_left_are_listed_while_their_session_is_active() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    let ids = [request_id(), request_id(), request_id()];
    let states = [State::Abandoned, State::TimedOut, State::Rejected { reason: None }];
    for (request_id, state) in ids.into_iter().zip(states) {
        let record = QuestionRecord { by: None, request_id, questions: vec![], state };
        talk.say(&world.store, [system(Content::Question(record))]).await;
    }
    talk.say(&world.store, [asks(&permission(request_id(), State::Abandoned))]).await;
    let left = world.store.left_questions(ALL).await.unwrap();
    let left: Vec<RequestId> = left.iter().map(|stored| stored.request.id()).collect();
    assert_eq!(left, ids[..2]);
    talk.say(&world.store, [asks(&permission(request_id(), State::Pending))]).await;
    assert_eq!(world.store.count_pending_requests().await.unwrap(), 1);
    talk.say(&world.store, [notice(LifecycleEvent::Archived)]).await;
    assert_eq!(world.store.left_questions(ALL).await.unwrap(), []);
    assert_eq!(world.store.count_pending_requests().await.unwrap(), 1);
}

#[tokio::test]
async fn requests_are_found_by_the_beginning_of_their_ids() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    let id = request_id();
    talk.say(&world.store, [asks(&permission(id, State::Pending))]).await;
    let prefix = id.to_string()[..8].to_uppercase();
    let found = world.store.requests_by_prefix(&prefix, 10).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].request.id(), id);
    assert_eq!(world.store.requests_by_prefix("xyz", 10).await.unwrap(), []);
}
