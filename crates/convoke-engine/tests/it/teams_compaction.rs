//! Long conversations are compacted: by the agent, or by a summary for a successor.

use std::time::Duration;

use convoke_core::content::Content;
use convoke_core::notice::LifecycleEvent;
use convoke_core::session::Status;
use convoke_core::team::{AnswerStatus, PairStatus};
use convoke_engine::{
    ActivityInterval, Compaction, Engine, Error, Kind, QuestionStatus, StoredPair, Wait,
    WhichQuestion,
};
use convoke_testkit::agent::{Script, Step};
use serde_json::json;
use tokio::time::timeout;

use crate::log::{Log, TIMEOUT};
use crate::prompting::gate;
use crate::teams::{CLAUDE, Teams, outside, pair, with_claude};
use crate::world::{AGENT, World, leap};

/// What a predecessor is asked for.
const SUMMARISE: &str = "Write only the summary.";
/// The first prompt of a successor.
const TAKE_OVER: &str = "You take the place of a predecessor";

/// Waits until a pair stands as wished.
async fn stands(engine: &Engine, id: convoke_engine::PairId, status: PairStatus) -> StoredPair {
    timeout(TIMEOUT, async {
        loop {
            let pair = engine.teams().pair(id).await.unwrap();
            if pair.status == status {
                return pair;
            }
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap()
}

/// A context of which so much is used.
fn usage(used: u64) -> Step {
    Step::Tell(json!({"sessionUpdate": "usage_update", "used": used, "size": 1000}))
}

#[tokio::test]
async fn t8_claude_compacts_by_its_own_command_and_counting_begins_anew() {
    let teams = Teams::open(with_claude(&Script::new()), &["a"], CLAUDE).await;
    teams.ask("a", "one").await;
    let before = teams.pair(None, "a").await;
    assert_eq!(before.message_count, 1);
    let compacted = teams.engine.teams().compact_pair(before.id).await.unwrap();
    assert_eq!(compacted, Compaction::Own);
    let after = teams.pair(None, "a").await;
    assert_eq!((after.message_count, after.status), (0, PairStatus::Active));
    assert_eq!(after.session_id, before.session_id);
    let mut log = Log::of(&teams.engine, after.session_id).await;
    log.until("user: /compact").await;
    // Convoke's own prompts are not reported as questions.
    let report = teams.engine.teams().report(&pair(None, "a"), WhichQuestion::Last).await.unwrap();
    assert_eq!(report.question.unwrap().text, "one");
    teams.engine.stop().await;
}

#[tokio::test]
async fn t8_an_agent_that_offers_compact_gets_that_command() {
    let offer = json!({"sessionUpdate": "available_commands_update", "availableCommands": [
        {"name": "compact", "description": "Make room"},
    ]});
    let script = Script::new()
        .on("session/new", [Step::Answer(json!({"sessionId": "s1"})), Step::Tell(offer)]);
    let teams = Teams::open(World::with(&script), &["a"], AGENT).await;
    let before = teams.pair(None, "a").await;
    let mut log = Log::of(&teams.engine, before.session_id).await;
    log.until("commands: 1").await;
    teams.ask("a", "one").await;
    assert_eq!(teams.engine.teams().compact_pair(before.id).await.unwrap(), Compaction::Own);
    log.until("agent: /compact").await;
    assert_eq!(teams.pair(None, "a").await.message_count, 0);
    teams.engine.stop().await;
}

#[tokio::test]
async fn t16_other_agents_hand_a_summary_to_a_successor_and_the_sessions_name_each_other() {
    let script = Script::new().when(SUMMARISE, [Step::say("The user is called Ann.")]);
    let teams = Teams::open(World::with(&script), &["a"], AGENT).await;
    let first = teams.ask("a", "my name is Ann").await;
    let before = teams.pair(None, "a").await;
    let compacted = teams.engine.teams().compact_pair(before.id).await.unwrap();
    let Compaction::Successor { session } = compacted else { panic!("{compacted:?}") };
    let after = teams.pair(None, "a").await;
    assert_eq!((after.id, after.session_id), (before.id, session));
    assert_eq!((after.message_count, after.status), (0, PairStatus::Active));
    let mut successor = Log::of(&teams.engine, session).await;
    successor.until_end_of(2).await;
    let messages = successor.messages();
    let Content::Notice(notice) = &messages[0].content else { panic!("{messages:#?}") };
    let continues = LifecycleEvent::Continues { session: before.session_id };
    assert_eq!(notice.event, continues.into());
    let told = successor.line("user: ");
    assert!(
        told.contains(TAKE_OVER)
            && told.contains(r#"{"role":"assistant","text":"The user is called Ann."}"#),
        "{told}"
    );
    let mut old = Log::of(&teams.engine, before.session_id).await;
    old.until("archived").await;
    let story = old.story();
    assert_eq!(story[story.len() - 3..], ["continued_in", "completed: compacted", "archived"]);
    let summary = teams.engine.sessions().get(before.session_id).await.unwrap().stored.summary;
    assert_eq!((summary.status, summary.archived), (Status::Completed, true));
    // The pair goes on, and what was asked before is still to be had.
    let second = teams.ask("a", "who am I?").await;
    assert_eq!((second.response.as_str(), second.session_id), ("who am I?", Some(session)));
    let asked = WhichQuestion::Message(first.message_id.unwrap());
    let report = teams.engine.teams().report(&pair(None, "a"), asked).await.unwrap();
    let question = report.question.unwrap();
    assert_eq!(question.text, "my name is Ann");
    assert_eq!(question.session_id, before.session_id);
    // Figures are those of both.
    let figures = teams.engine.teams().analytics(None, ActivityInterval::Day).await.unwrap();
    let sum = |count: fn(&convoke_engine::PairActivity) -> u64| -> u64 {
        figures.activity.iter().map(count).sum()
    };
    assert_eq!((sum(|it| it.prompts), sum(|it| it.compactions)), (4, 1));
    teams.engine.stop().await;
}

#[tokio::test]
async fn t16_what_is_asked_while_a_successor_takes_over_is_asked_of_the_successor() {
    let script = Script::new()
        .when(SUMMARISE, [Step::say("All is well.")])
        .when(TAKE_OVER, [gate(), Step::say("ready")]);
    let teams = Teams::open(World::with(&script), &["a"], AGENT).await;
    teams.ask("a", "one").await;
    let before = teams.pair(None, "a").await;
    let engine = teams.engine.clone();
    let compacting =
        tokio::spawn(async move { engine.teams().compact_pair(before.id).await.unwrap() });
    teams.waits_for_human(1).await;
    assert_eq!(teams.engine.teams().pair(before.id).await.unwrap().status, PairStatus::Migrating);
    let again = teams.engine.teams().compact_pair(before.id).await.unwrap_err();
    assert_eq!(again.to_string(), "external->a is already being compacted");
    assert_eq!(again.kind(), Kind::Conflict);
    let waiting = teams.begin(outside(None), "a", "two");
    let queued = teams.try_ask(outside(None), "a", "three", Wait::No).await.unwrap();
    assert_eq!((queued.status, queued.seq), (AnswerStatus::Queued, None));
    teams.allow_all().await;
    let Compaction::Successor { session } = compacting.await.unwrap() else { panic!() };
    let answer = waiting.await.unwrap().unwrap();
    assert_eq!((answer.session_id, answer.response.as_str()), (Some(session), "two"));
    let mut log = Log::of(&teams.engine, session).await;
    log.until("user: three").await;
    teams.engine.stop().await;
}

#[tokio::test]
async fn t8_a_failed_compaction_is_an_error_of_the_pair_which_still_answers_and_can_be_tried_again()
{
    let script = Script::new()
        .when(SUMMARISE, [Step::fail(500, "out of money")])
        .when(SUMMARISE, [Step::say(" \n")])
        .when(SUMMARISE, [Step::say("fine")]);
    let teams = Teams::open(World::with(&script), &["a"], AGENT).await;
    teams.ask("a", "one").await;
    let before = teams.pair(None, "a").await;
    for reason in ["out of money", "the agent wrote no summary"] {
        let error = teams.engine.teams().compact_pair(before.id).await.unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
        assert_eq!(error.kind(), Kind::Agent);
        let pair = teams.engine.teams().pair(before.id).await.unwrap();
        assert_eq!((pair.status, pair.session_id), (PairStatus::Error, before.session_id));
        assert!(pair.error.unwrap().contains(reason));
        assert_eq!(teams.ask("a", "still there?").await.response, "still there?");
    }
    teams.engine.teams().compact_pair(before.id).await.unwrap();
    let after = teams.engine.teams().pair(before.id).await.unwrap();
    assert_eq!((after.status, after.error), (PairStatus::Active, None));
    teams.engine.stop().await;
}

#[tokio::test]
async fn t16_a_full_context_is_compacted_by_itself_and_a_failure_is_tried_again_later() {
    let mut script = Script::new();
    for question in ["1", "2", "3", "4", "5", "6"] {
        script = script.when(&format!("question {question}"), [usage(900), Step::say("ok")]);
    }
    let script = script
        .when(SUMMARISE, [Step::fail(500, "out of money")])
        .when(SUMMARISE, [Step::say("fine")]);
    let teams = Teams::open(World::with(&script), &["a"], AGENT).await;
    let id = teams.pair(None, "a").await.id;
    for question in 1..=4 {
        teams.ask("a", &format!("question {question}")).await;
        assert_eq!(teams.engine.teams().pair(id).await.unwrap().status, PairStatus::Active);
    }
    teams.ask("a", "question 5").await;
    stands(&teams.engine, id, PairStatus::Error).await;
    // Too early for another attempt.
    teams.ask("a", "question 6").await;
    assert_eq!(teams.engine.teams().pair(id).await.unwrap().status, PairStatus::Error);
    leap(Duration::from_secs(61)).await;
    teams.ask("a", "question 7").await;
    assert_eq!(stands(&teams.engine, id, PairStatus::Active).await.message_count, 0);
    // A successor begins with an empty context.
    teams.ask("a", "question 8").await;
    assert_eq!(teams.engine.teams().pair(id).await.unwrap().message_count, 1);
    teams.engine.stop().await;
}

#[tokio::test]
async fn t8_t16_more_than_500_messages_are_compacted_in_the_background() {
    let world = with_claude(&Script::new());
    let mut configured = crate::teams::settings(vec![crate::teams::team(&world, "a", CLAUDE)]);
    configured.limits.pair_messages_per_hour = 1000;
    let teams = Teams::open_as(world, configured).await;
    let id = teams.pair(None, "a").await.id;
    for _ in 0..500 {
        teams.ask("a", "hello").await;
    }
    let pair = teams.engine.teams().pair(id).await.unwrap();
    assert_eq!((pair.message_count, pair.status), (500, PairStatus::Active));
    teams.ask("a", "one more").await;
    let mut log = Log::of(&teams.engine, pair.session_id).await;
    log.until("user: /compact").await;
    timeout(TIMEOUT, async {
        while teams.engine.teams().pair(id).await.unwrap().message_count > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
    assert_eq!(stands(&teams.engine, id, PairStatus::Active).await.session_id, pair.session_id);
    teams.engine.stop().await;
}

#[tokio::test]
async fn t7_a_compaction_that_a_killed_daemon_left_half_done_does_not_stay_so() {
    let script = Script::new().when(SUMMARISE, [gate(), Step::say("fine")]);
    let teams = Teams::open(World::with(&script), &["a"], AGENT).await;
    teams.ask("a", "one").await;
    let id = teams.pair(None, "a").await.id;
    let engine = teams.engine.clone();
    let compacting = tokio::spawn(async move { engine.teams().compact_pair(id).await });
    teams.waits_for_human(1).await;
    assert_eq!(teams.engine.teams().pair(id).await.unwrap().status, PairStatus::Compacting);
    compacting.abort();
    let teams = teams.reopen().await;
    let status = teams.engine.teams().pair(id).await.unwrap().status;
    assert!(matches!(status, PairStatus::Active | PairStatus::Error), "{status:?}");
    let answer = teams.ask("a", "hello").await;
    assert_eq!(answer.response, "hello");
    let report = teams.engine.teams().report(&pair(None, "a"), WhichQuestion::Last).await.unwrap();
    assert_eq!(report.question.unwrap().status, QuestionStatus::Answered);
    let unknown =
        teams.engine.teams().compact_pair(convoke_engine::PairId::new(99)).await.unwrap_err();
    assert!(matches!(unknown, Error::UnknownPair { .. }));
    teams.engine.stop().await;
}
