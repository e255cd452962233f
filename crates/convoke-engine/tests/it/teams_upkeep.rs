//! How teams stand, sleep and wake, and how everything is stopped at once.

use convoke_core::team::{AnswerStatus, PairStatus};
use convoke_engine::{Activity, ActivityInterval, Kind, Wait};
use convoke_testkit::agent::{Ignored, Script, Step};
use convoke_testkit::process::processes_in;
use serde_json::json;
use tokio::time::timeout;

use crate::log::{Log, TIMEOUT};
use crate::prompting::gate;
use crate::teams::{Teams, name, outside, pair};
use crate::world::{AGENT, World};

#[tokio::test]
async fn t7_a_status_tells_what_every_pair_of_a_team_does() {
    let script = Script::new().turn([gate(), Step::say("done")]);
    let teams = Teams::open(World::with(&script), &["a", "b"], AGENT).await;
    let first = teams.begin(outside(Some("b")), "a", "one");
    teams.waits_for_human(1).await;
    let second = teams.try_ask(outside(Some("b")), "a", "two", Wait::No).await.unwrap();
    let all = teams.engine.teams().statuses(None).await.unwrap();
    assert_eq!(all.iter().map(|it| it.team.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    let status = teams.engine.teams().statuses(Some(&name("a"))).await.unwrap().remove(0);
    let told: Vec<_> = status
        .pairs
        .iter()
        .map(|(stored, live)| (stored.pair.to_string(), live.activity, live.queue.len()))
        .collect();
    assert!(told.contains(&("b->a".to_owned(), Activity::Waiting, 1)), "{told:?}");
    assert!(told.contains(&("external->a".to_owned(), Activity::Idle, 0)), "{told:?}");
    let unknown = teams.engine.teams().statuses(Some(&name("x"))).await.unwrap_err();
    assert_eq!(unknown.to_string(), "Unknown team: x");
    teams.allow_all().await;
    assert_eq!(first.await.unwrap().unwrap().response, "done");
    let mut log = Log::of(&teams.engine, second.session_id.unwrap()).await;
    log.until_end_of(second.message_id.unwrap()).await;
    teams.engine.stop().await;
}

#[tokio::test]
async fn t7_t10_sleep_spares_busy_processes_and_a_wake_or_a_question_starts_them_again() {
    let script = Script::new().when("work", [gate(), Step::say("done")]);
    let teams = Teams::open(World::with(&script), &["a", "b"], AGENT).await;
    let busy = teams.begin(outside(Some("b")), "a", "work");
    teams.waits_for_human(1).await;
    let folder = teams.world.root().join("a");
    assert_eq!(processes_in(&folder).len(), 2);
    assert_eq!(teams.engine.teams().sleep(&name("a")).await.unwrap(), 1);
    assert_eq!(processes_in(&folder).len(), 1);
    assert_eq!(teams.engine.teams().sleep(&name("a")).await.unwrap(), 0);
    teams.allow_all().await;
    assert_eq!(busy.await.unwrap().unwrap().response, "done");
    teams.engine.teams().wake(&name("a")).await.unwrap();
    assert_eq!(processes_in(&folder).len(), 2);
    let status = teams.engine.teams().statuses(Some(&name("a"))).await.unwrap().remove(0);
    assert!(status.pairs.iter().all(|(stored, _)| stored.status == PairStatus::Active));
    assert_eq!(teams.engine.teams().sleep(&name("a")).await.unwrap(), 2);
    assert_eq!(teams.ask("a", "hello").await.response, "hello");
    let unknown = teams.engine.teams().wake(&name("x")).await.unwrap_err();
    assert_eq!(unknown.kind(), Kind::NotFound);
    teams.engine.stop().await;
}

#[tokio::test]
async fn t13_cancelling_stops_the_question_and_those_behind_it() {
    let script = Script::new().turn([Step::say("hm"), Step::Hang]);
    let teams = Teams::open(World::with(&script), &["a"], AGENT).await;
    let first = teams.begin(outside(None), "a", "one");
    let session = teams.pair(None, "a").await.session_id;
    let mut log = Log::of(&teams.engine, session).await;
    log.until("agent: hm").await;
    let second = teams.begin(outside(None), "a", "two");
    log.until("queue: 1").await;
    teams.engine.teams().cancel_pair(&pair(None, "a")).await.unwrap();
    for (asked, said) in [(first, "hm"), (second, "")] {
        let answer = asked.await.unwrap().unwrap();
        assert_eq!((answer.status, answer.response.as_str()), (AnswerStatus::Failed, said));
    }
    let idle = teams.engine.teams().cancel_pair(&pair(None, "a")).await.unwrap_err();
    assert_eq!(idle.kind(), Kind::Conflict);
    let never = teams.engine.teams().cancel_pair(&pair(Some("a"), "a")).await.unwrap_err();
    assert_eq!(never.kind(), Kind::NotFound);
    assert_eq!(teams.ask("a", "three").await.response, "three");
    teams.engine.stop().await;
}

#[tokio::test]
async fn t16_everything_is_stopped_at_once_also_agents_that_do_not_listen() {
    let script = Script::new()
        .turn([Step::say("hm"), Step::Hang])
        .ignoring(Ignored::Cancel)
        .ignoring(Ignored::Terminate)
        .ignoring(Ignored::EndOfInput);
    let teams = Teams::open(World::with(&script), &["a", "b"], AGENT).await;
    let mut asked = Vec::new();
    for to in ["a", "b"] {
        asked.push(teams.begin(outside(None), to, "one"));
        asked.push(teams.begin(outside(None), to, "two"));
        let session = teams.pair(None, to).await.session_id;
        let mut log = Log::of(&teams.engine, session).await;
        log.until("agent: hm").await;
        log.until("queue: 1").await;
    }
    let stopped = timeout(TIMEOUT, teams.engine.sessions().stop_agents()).await.unwrap().unwrap();
    assert!(stopped.sessions >= 2 && stopped.processes >= 2, "{stopped:?}");
    for asked in asked {
        assert_eq!(asked.await.unwrap().unwrap().status, AnswerStatus::Failed);
    }
    for to in ["a", "b"] {
        assert!(processes_in(&teams.world.root().join(to)).is_empty());
    }
    let nothing = teams.engine.sessions().stop_agents().await.unwrap();
    assert_eq!((nothing.sessions, nothing.processes), (0, 0));
    teams.engine.stop().await;
}

#[tokio::test]
async fn t16_analytics_tell_who_talks_to_whom_what_failed_and_what_it_cost() {
    let usage = json!({
        "sessionUpdate": "usage_update", "used": 10, "size": 1000,
        "cost": {"amount": 0.25, "currency": "USD"},
    });
    let script = Script::new()
        .when("pay", [Step::Tell(usage), Step::say("paid")])
        .when("crash", [Step::Exit(1)]);
    let teams = Teams::open(World::with(&script), &["a", "b"], AGENT).await;
    teams.try_ask(outside(Some("b")), "a", "pay", Wait::ForEver).await.unwrap();
    teams.try_ask(outside(Some("b")), "a", "crash", Wait::ForEver).await.unwrap();
    teams.ask("b", "hello").await;
    let figures = teams.engine.teams().analytics(None, ActivityInterval::Hour).await.unwrap();
    assert_eq!(figures.stats.total, 3);
    assert_eq!(figures.pairs.len(), 3);
    let of = |from, to| {
        let pair = pair(from, to);
        let found = figures.activity.iter().filter(move |it| it.pair == pair);
        found.fold((0, 0), |sum, it| (sum.0 + it.prompts, sum.1 + it.failures))
    };
    assert_eq!(of(Some("b"), "a"), (2, 1));
    assert_eq!(of(None, "b"), (1, 0));
    assert_eq!(of(None, "a"), (0, 0));
    let id = teams.pair(Some("b"), "a").await.id;
    let cost = figures.usage.iter().find(|it| it.id == id).unwrap();
    assert_eq!(cost.cost, [("USD".to_owned(), 0.25)]);
    let now = crate::world::now();
    let later = convoke_core::time::Timestamp::from_millis(now.as_millis() + 1000);
    let none = teams.engine.teams().analytics(Some(later), ActivityInterval::Day).await.unwrap();
    assert!(none.activity.is_empty());
    teams.engine.stop().await;
}
