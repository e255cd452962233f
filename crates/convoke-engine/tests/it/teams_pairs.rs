//! Pairs of teams: one session for each, whatever happens at the same time; found, listed, counted and deleted.

use std::collections::BTreeSet;
use std::fs;

use convoke_core::Invalid;
use convoke_core::session::{EndReason, Status};
use convoke_core::team::{AnswerStatus, Pair, PairStatus};
use convoke_engine::{
    Error, Kind, PairAsker, PairFilter, PairId, PairStats, SessionFile, Wait, WhichQuestion, Window,
};
use convoke_testkit::agent::{Script, Step};
use convoke_testkit::process::processes_in;
use convoke_testkit::wait;

use crate::teams::{CLAUDE, Teams, all, asking, name, outside, pair, settings, team, with_claude};
use crate::world::{AGENT, World, now};

#[tokio::test(flavor = "multi_thread")]
async fn t1_twenty_first_asks_at_once_share_one_session_and_one_spawn() {
    let world = World::with_counted(&Script::new());
    let teams = Teams::open(world, &["front", "back"], AGENT).await;
    let before = teams.world.starts();
    assert_eq!(before, 2, "each team was prepared once");
    for from in [None, Some("front")] {
        let answers = all(20, || {
            let engine = teams.engine.clone();
            let ask = asking(outside(from), "back", "hello", Wait::ForEver);
            async move { engine.teams().ask(ask).await.unwrap() }
        })
        .await;
        assert!(answers.iter().all(|answer| answer.status == AnswerStatus::Answered));
        let sessions: BTreeSet<_> =
            answers.iter().map(|answer| answer.session_id.unwrap().to_string()).collect();
        assert_eq!(sessions.len(), 1, "{from:?}");
    }
    // One more for the pair that was new.
    assert_eq!(teams.world.starts(), before + 1);
    let found = teams.engine.teams().pairs(PairFilter::all(), Window::first(100)).await.unwrap();
    assert_eq!(found.len(), 3);
    assert_eq!(teams.pair(Some("front"), "back").await.message_count, 20);
    teams.engine.stop().await;
}

#[tokio::test]
async fn t1_t16_each_direction_and_each_thread_is_a_conversation_of_its_own() {
    let teams = Teams::open(World::with(&Script::new()), &["a", "b"], AGENT).await;
    let pairs = [
        (None, "b", None),
        (Some("a"), "b", None),
        (Some("b"), "a", None),
        (Some("a"), "b", Some("api")),
        (Some("a"), "b", Some("ui")),
    ];
    let mut sessions = BTreeSet::new();
    for (from, to, thread) in pairs {
        let mut ask = asking(outside(from), to, "hello", Wait::ForEver);
        ask.thread = thread.map(str::to_owned);
        let first = teams.engine.teams().ask(ask.clone()).await.unwrap();
        let again = teams.engine.teams().ask(ask).await.unwrap();
        assert_eq!(first.session_id, again.session_id);
        assert_eq!(again.pair.thread.as_deref(), thread);
        sessions.insert(first.session_id.unwrap().to_string());
    }
    assert_eq!(sessions.len(), pairs.len());
    teams.engine.stop().await;
}

#[tokio::test]
async fn t1_t5_a_pair_keeps_its_session_over_restarts() {
    let teams = Teams::open(World::with(&Script::new()), &["a"], AGENT).await;
    let before = teams.ask("a", "one").await;
    let teams = teams.reopen().await;
    let after = teams.ask("a", "two").await;
    assert_eq!(before.session_id, after.session_id);
    assert_eq!(after.response, "two");
    teams.engine.stop().await;
}

#[tokio::test]
async fn t5_t6_what_is_remembered_of_a_pair_is_as_new_as_its_last_use() {
    let teams = Teams::open(World::with(&Script::new()), &["a"], AGENT).await;
    let engine = &teams.engine;
    let unknown = engine.teams().pair_between(&pair(Some("a"), "b")).await.unwrap();
    assert_eq!(unknown, None);
    let created = engine.teams().get_or_create_pair(&pair(None, "a")).await.unwrap();
    assert_eq!(engine.teams().pair_between(&pair(None, "a")).await.unwrap(), Some(created.clone()));
    assert_eq!((created.message_count, created.status), (0, PairStatus::Active));
    let mut before = created.last_used_at;
    for asked in 1..=3 {
        // Times are kept in milliseconds.
        wait::until("the next millisecond", || now() > before);
        let asked_at = now();
        teams.ask("a", "hello").await;
        let used = teams.pair(None, "a").await;
        assert_eq!(used.message_count, asked, "one for each message that was sent");
        assert!(used.last_used_at >= asked_at, "{} is before {asked_at}", used.last_used_at);
        assert_eq!(used.session_id, created.session_id);
        before = used.last_used_at;
    }
    engine.stop().await;
}

#[tokio::test]
async fn t5_pairs_are_listed_by_every_filter_the_last_used_first() {
    let teams = Teams::open(World::with(&Script::new()), &["a", "b"], AGENT).await;
    teams.try_ask(outside(Some("a")), "b", "x", Wait::ForEver).await.unwrap();
    teams.try_ask(outside(Some("b")), "a", "x", Wait::ForEver).await.unwrap();
    let list = async |filter: PairFilter, limit| -> Vec<String> {
        let found = teams.engine.teams().pairs(filter, Window::first(limit)).await.unwrap();
        found.iter().map(|pair| pair.pair.to_string()).collect()
    };
    let all = PairFilter::all;
    assert_eq!(list(all(), 100).await[..2], ["b->a", "a->b"]);
    assert_eq!(list(all(), 1).await, ["b->a"]);
    let from = |from| PairFilter { from, ..all() };
    assert_eq!(list(from(PairAsker::Team(name("a"))), 100).await, ["a->b"]);
    let outside: BTreeSet<_> = list(from(PairAsker::External), 100).await.into_iter().collect();
    assert_eq!(outside, ["external->a", "external->b"].map(str::to_owned).into());
    let to_a = PairFilter { to: Some(name("a")), ..all() };
    assert_eq!(list(to_a, 100).await, ["b->a", "external->a"]);
    let used = teams.pair(Some("a"), "b").await.last_used_at;
    let lately = PairFilter { used_after: Some(used), ..all() };
    assert_eq!(list(lately, 100).await, ["b->a"]);
    let created = teams.pair(Some("a"), "b").await.created_at;
    let newest = PairFilter { created_after: Some(created), ..all() };
    assert_eq!(list(newest, 100).await, ["b->a"]);
    // All of them are warm until they are sent to sleep.
    let with_status = |status| PairFilter { status: Some(status), ..all() };
    assert_eq!(list(with_status(PairStatus::Active), 100).await.len(), 4);
    assert_eq!(teams.engine.teams().sleep(&name("b")).await.unwrap(), 2);
    assert_eq!(list(with_status(PairStatus::Active), 100).await, ["b->a", "external->a"]);
    assert_eq!(list(with_status(PairStatus::Idle), 1).await, ["a->b"]);
    assert_eq!(list(with_status(PairStatus::Archived), 100).await, [""; 0]);
    let stats = teams.engine.teams().pair_stats().await.unwrap();
    let expected =
        PairStats { total: 4, active: 4, compact_pending: 0, archived: 0, total_messages: 2 };
    assert_eq!(stats, expected);
    teams.engine.stop().await;
}

#[tokio::test]
async fn t5_t15_a_pair_is_found_by_its_number_and_by_either_id_of_its_session() {
    let teams = Teams::open(with_claude(&Script::new()), &["a", "b"], CLAUDE).await;
    let stored = teams.pair(None, "b").await;
    let session = stored.session_id.to_string();
    let agent_session = stored.agent_session_id.clone().unwrap();
    let ways = [
        stored.id.to_string(),
        session.clone(),
        session[..8].to_owned(),
        agent_session.clone(),
        agent_session[..8].to_owned(),
        format!("{CLAUDE}:{agent_session}"),
    ];
    for way in ways {
        assert_eq!(teams.engine.teams().find_pair(&way).await.unwrap(), stored, "{way}");
    }
    let error = teams.engine.teams().find_pair("not-a-uuid").await.unwrap_err();
    assert_eq!(error.to_string(), "Invalid session ID format: not-a-uuid");
    assert!(matches!(error, Error::Invalid(Invalid::SessionId { .. })));
    assert_eq!(error.kind(), Kind::Invalid);
    for gone in ["99", "00000000-0000-4000-8000-000000000000", "abcdef01"] {
        let error = teams.engine.teams().find_pair(gone).await.unwrap_err();
        assert_eq!(error.to_string(), format!("there is no team session {gone}"));
        assert_eq!(error.kind(), Kind::NotFound);
    }
    let error = teams.engine.teams().pair(PairId::new(99)).await.unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound);
    teams.engine.stop().await;
}

#[tokio::test]
async fn t9_a_deleted_pair_leaves_a_readable_session_and_its_file_as_wished() {
    let teams = Teams::open(with_claude(&Script::new()), &["a"], CLAUDE).await;
    for wish in [SessionFile::Keep, SessionFile::Delete] {
        let answer = teams.ask("a", "hello").await;
        let stored = teams.pair(None, "a").await;
        let file = teams.claude_file("a", stored.agent_session_id.as_deref().unwrap());
        assert!(file.exists());
        let deleted = teams.engine.teams().delete_pair(stored.id, wish).await.unwrap();
        assert_eq!(deleted.session_id, answer.session_id.unwrap());
        assert_eq!(file.exists(), wish == SessionFile::Keep);
        assert_eq!(teams.engine.teams().pair_between(&pair(None, "a")).await.unwrap(), None);
        let view = teams.engine.sessions().get(deleted.session_id).await.unwrap();
        assert_eq!(view.stored.summary.status, Status::Completed);
        assert_eq!(view.stored.summary.reason, Some(EndReason::PairDeleted));
        let gone = teams.engine.teams().delete_pair(stored.id, wish).await.unwrap_err();
        assert_eq!(gone.kind(), Kind::NotFound);
        // The next ask begins anew.
        let next = teams.ask("a", "again").await;
        assert_ne!(next.session_id, answer.session_id);
        assert_eq!(next.response, "again");
    }
    teams.engine.stop().await;
}

#[tokio::test]
async fn t9_a_pair_of_a_team_that_is_gone_is_deleted_with_its_file() {
    let teams = Teams::open(with_claude(&Script::new()), &["a"], CLAUDE).await;
    let stored = teams.pair(None, "a").await;
    let file = teams.claude_file("a", stored.agent_session_id.as_deref().unwrap());
    teams.engine.teams().open(settings(Vec::new()), |_| {}).await.unwrap();
    let error = teams.try_ask(outside(None), "a", "x", Wait::ForEver).await.unwrap_err();
    assert_eq!(error.to_string(), "Unknown team: a");
    teams.engine.teams().delete_pair(stored.id, SessionFile::Delete).await.unwrap();
    assert!(!file.exists());
    teams.engine.stop().await;
}

#[tokio::test]
async fn t9_deleting_a_pair_ends_the_question_that_it_works_on() {
    let world = World::with(&Script::new().turn([Step::say("hm"), Step::Hang]));
    let teams = Teams::open(world, &["a"], AGENT).await;
    let asked = teams.begin(outside(None), "a", "hello");
    let stored = teams.pair(None, "a").await;
    let mut log = crate::log::Log::of(&teams.engine, stored.session_id).await;
    log.until("agent: hm").await;
    teams.engine.teams().delete_pair(stored.id, SessionFile::Keep).await.unwrap();
    let answer = asked.await.unwrap().unwrap();
    assert_eq!(answer.status, AnswerStatus::Failed);
    assert!(processes_in(&teams.world.root().join("a")).is_empty());
    teams.engine.stop().await;
}

#[tokio::test]
async fn t10_the_death_of_one_pairs_process_leaves_the_others_alone() {
    let teams = Teams::open(World::with(&Script::new()), &["a", "b", "c"], AGENT).await;
    for from in ["a", "b"] {
        teams.try_ask(outside(Some(from)), "c", "hello", Wait::ForEver).await.unwrap();
    }
    let folder = teams.world.root().join("c");
    let before: BTreeSet<u32> = processes_in(&folder).into_iter().collect();
    assert_eq!(before.len(), 3);
    let doomed = teams.pair(Some("a"), "c").await;
    teams.engine.teams().delete_pair(doomed.id, SessionFile::Keep).await.unwrap();
    let after: BTreeSet<u32> = processes_in(&folder).into_iter().collect();
    assert_eq!(before.difference(&after).count(), 1);
    assert!(after.is_subset(&before));
    let answer =
        teams.try_ask(outside(Some("b")), "c", "still there?", Wait::ForEver).await.unwrap();
    assert_eq!(answer.response, "still there?");
    let same: BTreeSet<u32> = processes_in(&folder).into_iter().collect();
    assert_eq!(same, after, "the same process answered");
    teams.engine.stop().await;
}

#[tokio::test]
async fn t14_a_team_with_another_agent_or_folder_begins_a_new_session_for_the_same_pair() {
    let mut world = World::with(&Script::new());
    world.add_agent("other", &Script::new().session("other-1"));
    let teams = Teams::open(world, &["a"], AGENT).await;
    let first = teams.ask("a", "one").await;
    let id = teams.pair(None, "a").await.id;
    let mut moved = team(&teams.world, "a", "other");
    teams.engine.teams().open(settings(vec![moved.clone()]), |_| {}).await.unwrap();
    let second = teams.ask("a", "two").await;
    assert_ne!(first.session_id, second.session_id);
    assert_eq!(second.agent_session_id.as_deref(), Some("other-1"));
    moved.path = teams.world.make_folder("elsewhere");
    teams.engine.teams().open(settings(vec![moved]), |_| {}).await.unwrap();
    let third = teams.ask("a", "three").await;
    assert_ne!(second.session_id, third.session_id);
    let now = teams.pair(None, "a").await;
    assert_eq!((now.id, now.message_count), (id, 1));
    let old = teams.engine.sessions().get(first.session_id.unwrap()).await.unwrap().stored.summary;
    assert_eq!(old.reason, Some(EndReason::TeamReconfigured));
    assert!(processes_in(&teams.world.root().join("a")).is_empty());
    teams.engine.stop().await;
}

#[tokio::test]
async fn t15_threads_have_names_that_fit_into_a_key() {
    let teams = Teams::open(World::with(&Script::new()), &["a"], AGENT).await;
    let mut ask = asking(outside(None), "a", "hello", Wait::ForEver);
    ask.thread = Some("a thread".to_owned());
    let error = teams.engine.teams().ask(ask).await.unwrap_err();
    assert_eq!(error.to_string(), "Invalid thread name: a thread");
    assert_eq!(error.kind(), Kind::Invalid);
    let missing = Pair { thread: Some("x".to_owned()), ..pair(None, "a") };
    let error = teams.engine.teams().report(&missing, WhichQuestion::Last).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no team session external->a#x");
    fs::metadata(teams.world.root().join("a")).unwrap();
    teams.engine.stop().await;
}
