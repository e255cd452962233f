//! Sessions: what survives, how they are listed, and by which names they are found.

use convoke_core::files::{ChangeTotals, OwnWorktree};
use convoke_core::id::SessionId;
use convoke_core::message::Seq;
use convoke_core::notice::{AgentEvent, LifecycleEvent};
use convoke_core::session::{Change, EndReason, Status};
use convoke_core::update::Update;
use convoke_store::{
    AgentSessionRecord, Archived, Error, NodeScope, SessionFilter, SessionKind, SessionOrder,
    SessionPage, StoredSession, Sync, Window,
};

use crate::world::{Talk, World, add_project, answer, at, new_session, notice, prompt, prompts};

fn ended(status: Status) -> Change {
    let reason = EndReason::User;
    notice(match status {
        Status::Active => LifecycleEvent::Reopened,
        Status::Completed => LifecycleEvent::Completed { reason },
        Status::Cancelled => LifecycleEvent::Cancelled { reason },
        Status::Error => LifecycleEvent::Failed { error: "no such program".to_owned() },
    })
}

const EVERYTHING: Window = Window::first(Window::LIMIT_MAX);

async fn list(world: &World, filter: SessionFilter) -> SessionPage {
    world.store.sessions(filter, SessionOrder::Created, EVERYTHING).await.unwrap()
}

#[tokio::test]
async fn s1_sessions_and_messages_survive_a_restart() {
    let mut world = World::new().await;
    let mut talk = world.talk_in(world.project, SessionKind::Session, at(5)).await;
    talk.turn(&world.store, "mend the roof", &["it is", " mended"]).await;
    let record = world.store.record_agent_session(talk.id, "abc".into(), "created".into(), at(6));
    record.await.unwrap();
    let expected = StoredSession {
        id: talk.id,
        project_id: world.project,
        agent: "claude-code".parse().unwrap(),
        kind: SessionKind::Session,
        created_at: at(5),
        summary: talk.session.summary().clone(),
        agent_session_id: Some("abc".to_owned()),
        changes: None,
        worktree: None,
        node: None,
        is_asking: false,
    };
    assert_eq!(expected.summary.title.as_deref(), Some("mend the roof"));
    for _ in 0..2 {
        assert_eq!(world.store.session(talk.id).await.unwrap(), Some(expected.clone()));
        let page = world.store.messages(talk.id, Seq::START, 100).await.unwrap();
        assert_eq!(page.messages, talk.messages);
        world.reopen().await;
    }
}

#[tokio::test]
async fn c3_c6_what_a_session_changed_and_where_it_works_survive_a_restart() {
    let mut world = World::new().await;
    let talk = world.talk().await;
    let changes = ChangeTotals { files: 2, added: 30, removed: 4 };
    world.store.set_changes(talk.id, changes).await.unwrap();
    let worktree = OwnWorktree {
        path: "/srv/trees/roof".to_owned(),
        branch: "roof".to_owned(),
        base: Some("main".to_owned()),
        removed: None,
    };
    world.store.set_worktree(talk.id, Some(&worktree)).await.unwrap();
    world.reopen().await;
    let stored = world.store.session(talk.id).await.unwrap().unwrap();
    assert_eq!((stored.changes, stored.worktree), (Some(changes), Some(worktree)));
    world.store.set_worktree(talk.id, None).await.unwrap();
    assert_eq!(world.store.session(talk.id).await.unwrap().unwrap().worktree, None);
}

#[tokio::test]
async fn s1_s11_a_session_needs_a_project_and_a_message_a_session_by_foreign_key() {
    let world = World::new().await;
    let unknown = convoke_core::id::ProjectId::from_random([7; 16]);
    let refused = world.store.create_session(new_session(unknown)).await;
    assert!(matches!(refused, Err(Error::UnknownProject { id }) if id == unknown));
    world.store.remove_project(world.project, at(1)).await.unwrap();
    let refused = world.store.create_session(new_session(world.project)).await;
    assert!(matches!(refused, Err(Error::UnknownProject { .. })));
    let orphan = world
        .database
        .execute("INSERT INTO deltas (session, rev, seq, at, text) VALUES (99, 1, 1, 0, 'word')");
    assert!(orphan.unwrap_err().to_lowercase().contains("foreign key"));
}

#[tokio::test]
async fn a_session_is_created_once() {
    let world = World::new().await;
    let new = new_session(world.project);
    world.store.create_session(new.clone()).await.unwrap();
    let id = new.id;
    let second = world.store.create_session(new).await;
    assert!(matches!(second, Err(Error::SessionExists { id: other }) if other == id));
}

#[tokio::test]
async fn s4_a_list_is_newest_first_with_an_exact_total() {
    let world = World::new().await;
    let mut ids = Vec::new();
    for minute in 0..50 {
        // Two in the same millisecond keep the order in which they were created.
        let talk = world.talk_in(world.project, SessionKind::Session, at(minute / 2)).await;
        ids.push(talk.id);
    }
    ids.reverse();
    for (limit, offset) in [(20, 0), (20, 20), (20, 40), (20, 60), (0, 0), (1, 49)] {
        let window = Window { limit, offset };
        let page = world.store.sessions(SessionFilter::all(), SessionOrder::Created, window);
        let page = page.await.unwrap();
        let expected: Vec<SessionId> =
            ids.iter().copied().skip(offset as usize).take(limit as usize).collect();
        let got: Vec<SessionId> = page.sessions.iter().map(|session| session.id).collect();
        assert_eq!((got, page.total), (expected, 50), "{window:?}");
    }
}

#[tokio::test]
async fn s4_every_filter_gives_what_a_plain_search_would() {
    let world = World::new().await;
    let other = add_project(&world.store, "/srv/other").await;
    let mut talks: Vec<Talk> = Vec::new();
    for (index, status) in Status::ALL.into_iter().cycle().take(32).enumerate() {
        let project = if index % 3 == 0 { other } else { world.project };
        let kind = if index % 5 == 0 { SessionKind::Team } else { SessionKind::Session };
        let mut talk = world.talk_in(project, kind, at(index as i64)).await;
        let archived = (index % 7 == 0).then(|| notice(LifecycleEvent::Archived));
        let ended = (status != Status::Active).then(|| ended(status));
        talk.say(&world.store, [prompt("hello")].into_iter().chain(ended).chain(archived)).await;
        talks.push(talk);
    }
    let all = list(&world, SessionFilter::all()).await.sessions;
    assert_eq!(all.len(), 32);
    for filter in every_filter(&[world.project, other]) {
        let wanted = |session: &&StoredSession| {
            filter.project.is_none_or(|project| session.project_id == project)
                && filter.kind.is_none_or(|kind| session.kind == kind)
                && (filter.statuses.is_empty() || filter.statuses.contains(&session.summary.status))
                && match filter.archived {
                    Archived::Hidden => !session.summary.archived,
                    Archived::Shown => true,
                    Archived::Only => session.summary.archived,
                }
        };
        let expected: Vec<StoredSession> = all.iter().filter(wanted).cloned().collect();
        let count = world.store.count_sessions(&filter).await.unwrap();
        let page = list(&world, filter.clone()).await;
        assert_eq!(page.total, expected.len() as u64, "{filter:?}");
        assert_eq!(count, page.total);
        assert_eq!(page.sessions, expected, "{filter:?}");
    }
}

fn every_filter(projects: &[convoke_core::id::ProjectId]) -> Vec<SessionFilter> {
    use Status::{Active, Cancelled, Completed, Error};
    let mut filters = Vec::new();
    let projects = projects.iter().copied().map(Some).chain([None]);
    for project in projects {
        for statuses in
            [vec![], vec![Active], vec![Error, Active], vec![Completed, Cancelled, Error]]
        {
            for archived in [Archived::Hidden, Archived::Shown, Archived::Only] {
                for kind in [None, Some(SessionKind::Session), Some(SessionKind::Team)] {
                    let statuses = statuses.clone();
                    filters.push(SessionFilter {
                        project,
                        statuses,
                        archived,
                        kind,
                        of: NodeScope::Own,
                    });
                }
            }
        }
    }
    filters
}

#[tokio::test]
async fn w2_sessions_are_listed_by_their_last_activity_and_archived_ones_are_hidden() {
    let world = World::new().await;
    let mut talks = Vec::new();
    for created in 0..4 {
        talks.push(world.talk_in(world.project, SessionKind::Session, at(created)).await);
    }
    let [first, second, third, fourth] = &mut talks[..] else { unreachable!() };
    for (talk, moment) in [(&mut *fourth, 10), (&mut *first, 20), (&mut *third, 30), (second, 40)] {
        let batch = talk.next_at(at(moment), [prompt("hello")]);
        talk.record(&world.store, &batch).await.unwrap();
    }
    // What is no activity moves nothing to the front.
    let batch = fourth.next_at(at(50), [answer("still"), notice(AgentEvent::Compacted)]);
    fourth.record(&world.store, &batch).await.unwrap();
    let batch = third.next_at(at(60), [notice(LifecycleEvent::Archived)]);
    third.record(&world.store, &batch).await.unwrap();
    let expected = [second_id(&talks), talks[0].id, talks[3].id];
    let filter = SessionFilter {
        project: Some(world.project),
        archived: Archived::Hidden,
        ..SessionFilter::all()
    };
    for filter in [filter.clone(), SessionFilter { project: None, ..filter }] {
        let page =
            world.store.sessions(filter, SessionOrder::Active, Window::first(20)).await.unwrap();
        let ids: Vec<SessionId> = page.sessions.iter().map(|session| session.id).collect();
        assert_eq!((ids, page.total), (expected.to_vec(), 3));
    }
}

fn second_id(talks: &[Talk]) -> SessionId {
    talks[1].id
}

#[tokio::test]
async fn s9_only_active_sessions_of_humans_that_are_not_archived_are_counted_for_the_limit() {
    let world = World::new().await;
    let limited = SessionFilter {
        project: None,
        statuses: vec![Status::Active],
        archived: Archived::Hidden,
        kind: Some(SessionKind::Session),
        of: NodeScope::Own,
    };
    let mut talk = world.talk().await;
    world.talk_in(world.project, SessionKind::Team, at(0)).await;
    let mut counts = Vec::new();
    let events = [
        vec![],
        vec![notice(LifecycleEvent::Archived)],
        vec![notice(LifecycleEvent::Unarchived)],
        vec![ended(Status::Completed)],
        vec![ended(Status::Active)],
        vec![ended(Status::Error)],
    ];
    for changes in events {
        if !changes.is_empty() {
            talk.say(&world.store, changes).await;
        }
        counts.push(world.store.count_sessions(&limited).await.unwrap());
    }
    assert_eq!(counts, [1, 0, 1, 0, 1, 0]);
}

#[tokio::test]
async fn law_8_an_agents_ids_are_only_ever_appended() {
    let world = World::new().await;
    let talk = world.talk().await;
    let given = [("one", "created"), ("one", "resumed"), ("two", "the file was gone")];
    for (moment, (id, why)) in given.into_iter().enumerate() {
        let at = at(moment as i64);
        let record = world.store.record_agent_session(talk.id, id.to_owned(), why.to_owned(), at);
        record.await.unwrap();
    }
    let records = world.store.agent_session_records(talk.id, Window::first(10)).await.unwrap();
    let expected = given.into_iter().enumerate().rev().map(|(moment, (id, why))| {
        let (agent_session_id, why) = (id.to_owned(), why.to_owned());
        AgentSessionRecord { agent_session_id, why, recorded_at: at(moment as i64) }
    });
    assert_eq!(records, expected.collect::<Vec<_>>());
    let stored = world.store.session(talk.id).await.unwrap().unwrap();
    assert_eq!(stored.agent_session_id.as_deref(), Some("two"));

    let empty = world.store.record_agent_session(talk.id, String::new(), "probe".into(), at(9));
    assert!(matches!(empty.await, Err(Error::Misuse { .. })));
    for sql in
        ["UPDATE agent_session_ids SET agent_session_id = 'x'", "DELETE FROM agent_session_ids"]
    {
        let error = world.database.execute(sql).unwrap_err();
        assert!(error.contains("agent session ids are only ever appended"), "{error}");
    }
    assert_eq!(
        world.store.agent_session_records(talk.id, Window::first(10)).await.unwrap(),
        records
    );
}

#[tokio::test]
async fn w1_a_session_is_found_by_every_id_its_agent_ever_had() {
    let world = World::new().await;
    let (one, two) = (world.talk().await, world.talk().await);
    for (talk, id) in [(&one, "a:b:c"), (&one, "later"), (&two, "second")] {
        let record =
            world.store.record_agent_session(talk.id, id.to_owned(), "created".to_owned(), at(1));
        record.await.unwrap();
    }
    for (canonical, expected) in [
        ("claude-code:a:b:c", Some(one.id)),
        ("claude-code:later", Some(one.id)),
        ("claude-code:second", Some(two.id)),
        ("codex:second", None),
        ("claude-code:third", None),
    ] {
        let found = world.store.session_by_canonical_id(&canonical.parse().unwrap()).await.unwrap();
        assert_eq!(found.map(|session| session.id), expected, "{canonical}");
    }
}

#[tokio::test]
async fn a_prefix_finds_its_candidates_and_no_more_than_asked_for() {
    let world = World::new().await;
    let mut ids: Vec<SessionId> = Vec::new();
    for last in [0, 1, 2, 0xff] {
        let mut bytes = [0xab; 16];
        bytes[15] = last;
        let id = SessionId::from_random(bytes);
        let new = convoke_store::NewSession { id, ..new_session(world.project) };
        world.store.create_session(new).await.unwrap();
        ids.push(id);
    }
    world.talk().await;
    let find = async |prefix: &str, limit| {
        let found = world.store.sessions_by_prefix(prefix, limit).await.unwrap();
        found.into_iter().map(|session| session.id).collect::<Vec<_>>()
    };
    assert_eq!(find("abab", 10).await, ids);
    assert_eq!(find("ABABABAB-ABAB", 2).await, ids[..2]);
    assert_eq!(find(&ids[3].to_string(), 10).await, ids[3..]);
    for nothing in ["abac", "' OR 1 = 1", "abab%", "ab_b", "größe", "zzzz"] {
        assert_eq!(find(nothing, 10).await, [], "{nothing}");
    }
    let short = world.store.sessions_by_prefix("aba", 10).await;
    assert!(matches!(short, Err(Error::Misuse { .. })));
}

#[tokio::test]
async fn what_must_be_recovered_is_found_page_by_page() {
    let world = World::new().await;
    let mut unsettled = Vec::new();
    for index in 0..10 {
        let mut talk = world.talk().await;
        talk.play(&world.store, prompts("begin")).await;
        if index % 2 == 0 {
            let end = talk.ends();
            talk.play(&world.store, end).await;
        } else {
            unsettled.push(talk.id);
        }
    }
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = world.store.unsettled_sessions(after, 2).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        assert!(page.iter().all(|session| !session.summary.is_settled()));
        found.extend(page.into_iter().map(|session| session.id));
    }
    assert_eq!(found, unsettled);
}

#[tokio::test]
async fn updates_that_do_not_fit_what_is_stored_store_nothing() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    talk.turn(&world.store, "one", &["two"]).await;
    let before = world.store.session(talk.id).await.unwrap();
    let batch = talk.next([prompt("three"), answer("four")]);
    let (more, summary) = (batch.updates.as_slice(), &batch.summary);
    let wrong = async |updates: &[Update]| {
        world.store.record(talk.id, updates, summary.clone(), Sync::Soon).await
    };

    let gap = wrong(&more[1..]).await.unwrap_err();
    assert!(matches!(gap, Error::UnknownMessage { seq, .. } if seq.get() == 4), "{gap:?}");
    let repeated = wrong(&[more[0].clone(), more[0].clone()]).await;
    assert!(matches!(repeated, Err(Error::Misuse { .. })), "the same revision twice");
    let swapped = wrong(&[more[1].clone(), more[0].clone()]).await;
    assert!(matches!(swapped, Err(Error::Misuse { .. })), "the revisions go back");
    assert!(matches!(wrong(&more[..1]).await, Err(Error::Misuse { .. })), "the summary is ahead");
    assert!(matches!(wrong(&[]).await, Err(Error::Misuse { .. })), "nothing to record");
    let other = world.talk().await;
    let elsewhere = other.record(&world.store, &batch).await;
    assert!(matches!(elsewhere, Err(Error::Misuse { .. })), "of another session");
    assert_eq!(world.store.session(talk.id).await.unwrap(), before);

    wrong(more).await.unwrap();
    let again = wrong(more).await.unwrap_err();
    let next = summary.rev.next();
    assert!(matches!(again, Error::OutOfOrder { expected, .. } if expected == next), "{again:?}");
    let unknown = SessionId::from_random([9; 16]);
    let mut lost = Talk::new(unknown, at(0));
    let batch = lost.next([prompt("anybody?")]);
    let nowhere = lost.record(&world.store, &batch).await;
    assert!(matches!(nowhere, Err(Error::UnknownSession { id }) if id == unknown));
}

#[tokio::test]
async fn a_message_that_begins_and_changes_in_one_commit_is_stored_as_it_is_then() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    // The prompt's turn ends after the answer began, so the prompt is the last of the updates.
    talk.turn(&world.store, "question", &["an", "swer"]).await;
    talk.turn(&world.store, "question", &["answer"]).await;
    let page = world.store.messages(talk.id, Seq::START, 10).await.unwrap();
    assert_eq!(page.messages, talk.messages);
    assert_eq!(page.messages.len(), 4);
}
