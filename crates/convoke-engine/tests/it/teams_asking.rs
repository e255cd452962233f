//! Asking teams: whole answers, statuses that are no answers, and chains that do not go round in circles.

use std::time::Duration;

use convoke_core::message::Seq;
use convoke_core::team::AnswerStatus;
use convoke_engine::{
    Caller, Error, Kind, Permissions, QuestionStatus, TeamAsk, TeamLimits, Wait, WhichQuestion,
};
use convoke_testkit::agent::{Script, Step, Tool};
use serde_json::json;

use crate::log::Log;
use crate::prompting::gate;
use crate::teams::{
    CLAUDE, LIMITS, Teams, asking, name, outside, pair, session, settings, team, with_claude,
};
use crate::world::{AGENT, World};

fn at(place: u64) -> WhichQuestion {
    WhichQuestion::At(Seq::new(place))
}

fn answer_in_blocks() -> [Step; 6] {
    let call = Tool::named("t1", "read", json!({"path": "x"}));
    [
        Step::Call(call.clone()),
        Step::Update(call.clone().done("text")),
        Step::Stream(vec!["First ".to_owned(), "block.".to_owned()]),
        Step::Call(Tool { id: "t2".to_owned(), ..call.clone() }),
        Step::Update(Tool { id: "t2".to_owned(), ..call }.done("more")),
        Step::Stream(vec!["Second ".to_owned(), "block.".to_owned()]),
    ]
}

#[tokio::test]
async fn t13_an_answer_is_whole_also_when_it_begins_with_a_tool() {
    let script = Script::new().turn(answer_in_blocks());
    let mut world = World::with(&script);
    crate::teams::add_claude(&mut world, &script);
    let both = vec![team(&world, "acp", AGENT), team(&world, "claude", CLAUDE)];
    let teams = Teams::open_as(world, settings(both)).await;
    for to in ["acp", "claude"] {
        let answer = teams.ask(to, "tell me").await;
        assert_eq!(answer.response, "First block.\n\nSecond block.", "{to}");
        assert_eq!((answer.status, answer.error), (AnswerStatus::Answered, None));
        assert_eq!(answer.seq, Some(Seq::new(1)));
        assert_eq!(answer.agent_session_id, teams.pair(None, to).await.agent_session_id);
        // Another question is answered by the same session, and by its own words only.
        assert_eq!(teams.ask(to, "and now?").await.response, "and now?");
    }
    teams.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn t13_a_large_answer_is_whole() {
    let large = "word ".repeat(2000);
    let call = Tool::named("t1", "read", json!({"path": "x"}));
    let mut script = Script::new();
    for _ in 0..20 {
        let call = [Step::Call(call.clone()), Step::Update(call.clone().done("text"))];
        let said = [Step::Say(large.clone()), Step::Say(large.clone())];
        script = script.turn([call.to_vec(), said.to_vec()].concat());
    }
    let teams = Teams::open(World::with(&script), &["a"], AGENT).await;
    for round in 0..20 {
        let answer = teams.ask("a", "tell me").await;
        assert_eq!(answer.status, AnswerStatus::Answered, "{:?}", answer.error);
        assert_eq!(answer.response.len(), 2 * large.len(), "round {round}");
    }
    teams.engine.stop().await;
}

#[tokio::test]
async fn t13_a_question_without_waiting_is_queued_and_answered_later() {
    let script = Script::new().turn([Step::say("so far"), gate(), Step::say(" so good")]);
    let teams = Teams::open(World::with(&script), &["a"], AGENT).await;
    let at_once = teams.try_ask(outside(None), "a", "one", Wait::No).await.unwrap();
    assert_eq!((at_once.status, at_once.queued), (AnswerStatus::Queued, 0));
    assert_eq!((at_once.response.as_str(), at_once.seq), ("", Some(Seq::new(1))));
    let queued = teams.try_ask(outside(None), "a", "two", Wait::No).await.unwrap();
    assert_eq!((queued.status, queued.queued), (AnswerStatus::Queued, 1));
    teams.waits_for_human(1).await;
    let wait = Wait::For(Duration::from_millis(50));
    let timed_out = teams.try_ask(outside(None), "a", "three", wait).await.unwrap();
    assert_eq!((timed_out.status, timed_out.queued), (AnswerStatus::TimedOut, 2));
    let state_of = async |answer: &convoke_engine::TeamAnswer| {
        let report = answer.message_id.map(WhichQuestion::Message).unwrap();
        let report = teams.engine.teams().report(&pair(None, "a"), report).await.unwrap();
        let question = report.question.unwrap();
        (question.text, question.status, question.response)
    };
    let (working, waiting) = (QuestionStatus::Working, QuestionStatus::Queued { place: 1 });
    assert_eq!(state_of(&at_once).await, ("one".into(), working, "so far".into()));
    assert_eq!(state_of(&queued).await, ("two".into(), waiting, String::new()));
    let mut log = Log::of(&teams.engine, at_once.session_id.unwrap()).await;
    teams.allow_all().await;
    log.until_end_of(timed_out.message_id.unwrap()).await;
    let done = QuestionStatus::Answered;
    assert_eq!(state_of(&at_once).await, ("one".into(), done, "so far\n\n so good".into()));
    assert_eq!(state_of(&queued).await, ("two".into(), done, "two".into()));
    let last = teams
        .engine
        .teams()
        .report(&pair(None, "a"), WhichQuestion::Last)
        .await
        .unwrap()
        .question
        .unwrap();
    assert_eq!((last.text.as_str(), last.response.as_str()), ("three", "three"));
    let error = teams.engine.teams().report(&pair(None, "a"), at(99)).await.unwrap_err();
    assert_eq!(error.to_string(), "external->a has no question at seq 99");
    teams.engine.stop().await;
}

#[tokio::test]
async fn t13_a_timeout_returns_the_partial_answer_and_the_turn_continues() {
    let script = Script::new().turn([Step::say("thinking"), gate(), Step::say("done")]);
    let teams = Teams::open(World::with(&script), &["a"], AGENT).await;
    let engine = teams.engine.clone();
    let wait = Wait::For(Duration::from_secs(2));
    let asked = tokio::spawn(async move {
        engine.teams().ask(asking(outside(None), "a", "one", wait)).await.unwrap()
    });
    teams.waits_for_human(1).await;
    let answer = asked.await.unwrap();
    assert_eq!((answer.status, answer.response.as_str()), (AnswerStatus::TimedOut, "thinking"));
    assert!(answer.duration >= Duration::from_secs(2));
    teams.allow_all().await;
    let next = teams.ask("a", "two").await;
    assert_eq!(next.response, "two");
    let late =
        teams.engine.teams().report(&pair(None, "a"), at(answer.seq.unwrap().get())).await.unwrap();
    assert_eq!(late.question.unwrap().response, "thinking\n\ndone");
    teams.engine.stop().await;
}

#[tokio::test]
async fn t13_a_pair_whose_session_was_cancelled_continues_in_a_new_one() {
    let teams = Teams::open(World::with(&Script::new()), &["a"], AGENT).await;
    let first = teams.ask("a", "one").await.session_id.unwrap();
    teams.engine.sessions().cancel(first).await.unwrap();
    let second = teams.ask("a", "two").await;
    assert_eq!((second.status, second.response.as_str()), (AnswerStatus::Answered, "two"));
    assert_ne!(second.session_id, Some(first));
    // The cancelled session stays as it is, and a team that is woken gets a new one, too.
    teams.engine.sessions().cancel(second.session_id.unwrap()).await.unwrap();
    let woken = teams.engine.teams().wake(&"a".parse().unwrap()).await.unwrap();
    assert_ne!(Some(woken.session_id), second.session_id);
    let kept = teams.engine.sessions().get(first).await.unwrap().stored.summary.status;
    assert_eq!(kept, convoke_core::session::Status::Cancelled);
    teams.engine.stop().await;
}

#[tokio::test]
async fn t13_what_is_written_as_a_time_out_means_what_it_says() {
    let read = [-2, -1, 0, 1500].map(Wait::from_millis);
    let so_long = Wait::For(Duration::from_millis(1500));
    assert_eq!(read, [None, Some(Wait::No), Some(Wait::ForEver), Some(so_long)]);
}

#[tokio::test]
async fn t13_an_ask_without_waiting_returns_while_the_pair_is_created() {
    let mut world = World::new();
    world.add_gated_agent("slow", &Script::new());
    // The gate is open while the teams begin, and shut afterwards.
    let mut slow = team(&world, "a", "slow");
    std::fs::write(slow.path.join("gate"), "").unwrap();
    slow.init_timeout = Some(Duration::from_secs(60));
    let teams = Teams::open_as(world, settings(vec![slow])).await;
    std::fs::remove_file(teams.world.root().join("a/gate")).unwrap();
    let queued = teams.try_ask(outside(Some("a")), "a", "x", Wait::No).await;
    assert!(matches!(queued, Err(Error::AskLoop { .. })), "a team does not ask itself");
    let mut ask = asking(outside(None), "a", "hello", Wait::No);
    ask.thread = Some("new".to_owned());
    let queued = teams.engine.teams().ask(ask).await.unwrap();
    assert_eq!((queued.status, queued.session_id, queued.seq), (AnswerStatus::Queued, None, None));
    std::fs::write(teams.world.root().join("a/gate"), "").unwrap();
    let threaded = convoke_core::team::Pair { thread: Some("new".into()), ..pair(None, "a") };
    let stored = teams.engine.teams().get_or_create_pair(&threaded).await.unwrap();
    let mut log = Log::of(&teams.engine, stored.session_id).await;
    log.until_end_of(1).await;
    let report = teams
        .engine
        .teams()
        .report(&threaded, WhichQuestion::Last)
        .await
        .unwrap()
        .question
        .unwrap();
    assert_eq!((report.text.as_str(), report.response.as_str()), ("hello", "hello"));
    teams.engine.stop().await;
}

#[tokio::test]
async fn t13_a_failed_turn_is_reported_with_its_partial_answer() {
    let script = Script::new()
        .when("crash", [Step::say("oh"), Step::Exit(3)])
        .when("refuse", [Step::say("no"), Step::stop("refusal")])
        .when("overflow", [Step::say("too"), Step::stop("max_tokens")]);
    let teams = Teams::open(World::with(&script), &["a"], AGENT).await;
    for (question, said) in [("refuse", "no"), ("overflow", "too"), ("crash", "oh")] {
        let answer = teams.ask("a", question).await;
        assert_eq!((answer.status, answer.response.as_str()), (AnswerStatus::Failed, said));
        assert!(answer.error.is_some(), "{question}");
        let report =
            teams.engine.teams().report(&pair(None, "a"), WhichQuestion::Last).await.unwrap();
        let report = report.question.unwrap();
        assert_eq!((report.status, report.error), (QuestionStatus::Failed, answer.error));
    }
    // The pair goes on with another process.
    assert_eq!(teams.ask("a", "hello").await.response, "hello");
    teams.engine.stop().await;
}

#[tokio::test]
async fn t15_unknown_teams_and_empty_questions_are_refused_before_anything_happens() {
    let teams = Teams::open(World::with(&Script::new()), &["a"], AGENT).await;
    let refused = async |caller, to, question| {
        let error = teams.try_ask(caller, to, question, Wait::No).await.unwrap_err();
        (error.to_string(), error.kind())
    };
    let unknown = |name: &str| (format!("Unknown team: {name}"), Kind::NotFound);
    assert_eq!(refused(outside(None), "nonexistent", "x").await, unknown("nonexistent"));
    assert_eq!(refused(outside(Some("nobody")), "a", "x").await, unknown("nobody"));
    assert_eq!(refused(outside(None), "a", " \n").await.1, Kind::Invalid);
    assert_eq!(teams.engine.teams().pair_stats().await.unwrap().total, 1);
    teams.engine.stop().await;
}

#[tokio::test]
async fn t16_a_chain_of_asks_does_not_go_round_in_a_circle() {
    let teams = Teams::open(
        World::with(&Script::new().turn([gate(), Step::say("done")])),
        &["a", "b", "c"],
        AGENT,
    )
    .await;
    let first = teams.begin(outside(Some("a")), "b", "ask c");
    teams.waits_for_human(1).await;
    let in_b = teams.pair(Some("a"), "b").await.session_id;
    let second = teams.begin(session(in_b), "c", "ask a");
    teams.waits_for_human(2).await;
    let in_c = teams.pair(Some("b"), "c").await.session_id;
    for (to, chain) in [("a", "a → b → c → a"), ("b", "a → b → c → b"), ("c", "a → b → c → c")]
    {
        let error = teams.try_ask(session(in_c), to, "x", Wait::ForEver).await.unwrap_err();
        assert_eq!(error.to_string(), format!("this ask would make a circle: {chain}"));
        assert_eq!(error.kind(), Kind::Conflict);
    }
    teams.allow_all().await;
    assert_eq!(second.await.unwrap().unwrap().response, "done");
    assert_eq!(first.await.unwrap().unwrap().response, "done");
    teams.engine.stop().await;
}

#[tokio::test]
async fn k7_an_agent_that_asks_after_its_turn_goes_on_with_its_chain_until_it_is_prompted_anew() {
    let teams = Teams::open(World::with(&Script::new()), &["a", "b", "c"], AGENT).await;
    let asked = teams.try_ask(outside(Some("a")), "b", "hello", Wait::ForEver).await.unwrap();
    let in_b = session(asked.session_id.unwrap());
    // Its turn is over, and still it asks because of it.
    for thread in [None, Some("another")] {
        let ask = TeamAsk {
            thread: thread.map(str::to_owned),
            ..asking(in_b.clone(), "a", "x", Wait::No)
        };
        let error = teams.engine.teams().ask(ask).await.unwrap_err();
        assert_eq!(error.to_string(), "this ask would make a circle: a → b → a");
    }
    let asked = teams.try_ask(in_b.clone(), "c", "hello", Wait::ForEver).await.unwrap();
    let in_c = session(asked.session_id.unwrap());
    for (to, chain) in [("a", "a → b → c → a"), ("b", "a → b → c → b")] {
        let error = teams.try_ask(in_c.clone(), to, "x", Wait::No).await.unwrap_err();
        assert_eq!(error.to_string(), format!("this ask would make a circle: {chain}"));
    }
    // What a human says begins anew.
    let Caller::Session(id) = in_c.clone() else { unreachable!() };
    let prompt = teams.engine.sessions().prompt(id, "ask b".to_owned()).await.unwrap();
    Log::of(&teams.engine, id).await.until_end_of(prompt.message_id).await;
    let answer = teams.try_ask(in_c, "b", "hello", Wait::ForEver).await.unwrap();
    assert_eq!(answer.pair, pair(Some("c"), "b"));
    teams.engine.stop().await;
}

#[tokio::test]
async fn k7_what_is_asked_after_a_turn_counts_on_its_chain() {
    let world = World::with(&Script::new());
    let mut configured = settings(["a", "b", "c"].map(|it| team(&world, it, AGENT)).into());
    configured.limits =
        TeamLimits { hops_max: 5, chain_messages_max: 10, pair_messages_per_hour: 1000 };
    let teams = Teams::open_as(world, configured).await;
    let asked = teams.try_ask(outside(Some("a")), "b", "hello", Wait::ForEver).await.unwrap();
    let in_b = session(asked.session_id.unwrap());
    let mut turns = 0;
    let error = loop {
        match teams.try_ask(in_b.clone(), "c", "again", Wait::ForEver).await {
            Ok(_) => turns += 1,
            Err(error) => break error,
        }
        assert!(turns < 130, "nothing stops it");
    };
    assert_eq!(turns, 9, "ten asks follow from one, that one included");
    assert_eq!(error.to_string(), "one ask has caused more than 10 asks: a → b → c");
    teams.engine.stop().await;
}

#[tokio::test]
async fn t16_only_a_session_in_a_teams_folder_asks_as_that_team() {
    let teams = Teams::open(World::with(&Script::new()), &["a", "b"], AGENT).await;
    let engine = &teams.engine;
    let projects = engine.projects().list().await.unwrap();
    let of_a = projects.iter().find(|project| project.name == "a").unwrap().id;
    let human = engine.sessions().create(of_a, None).await.unwrap().stored.id;
    let answer = teams.try_ask(session(human), "b", "hello", Wait::ForEver).await.unwrap();
    assert_eq!(answer.pair, pair(Some("a"), "b"));
    let elsewhere = engine.projects().add(&teams.world.workspace(), None).await.unwrap().id;
    let other = engine.sessions().create(elsewhere, None).await.unwrap().stored.id;
    let answer = teams.try_ask(session(other), "b", "hello", Wait::ForEver).await.unwrap();
    assert_eq!(answer.pair, pair(None, "b"));
    assert_eq!(engine.teams().speaks_for(&session(human)).await.unwrap(), Some(name("a")));
    assert_eq!(engine.teams().speaks_for(&session(other)).await.unwrap(), None);
    engine.stop().await;
}

#[tokio::test]
async fn t16_chains_and_pairs_have_budgets() {
    let world = World::with(&Script::new().turn([gate(), Step::say("done")]));
    let mut configured = settings(["a", "b", "c", "d"].map(|it| team(&world, it, AGENT)).into());
    configured.limits =
        TeamLimits { hops_max: 2, chain_messages_max: 3, pair_messages_per_hour: 4 };
    let teams = Teams::open_as(world, configured).await;
    let first = teams.begin(outside(Some("a")), "b", "ask c");
    teams.waits_for_human(1).await;
    let in_b = teams.pair(Some("a"), "b").await.session_id;
    let second = teams.begin(session(in_b), "c", "ask d");
    teams.waits_for_human(2).await;
    let in_c = teams.pair(Some("b"), "c").await.session_id;
    let error = teams.try_ask(session(in_c), "d", "x", Wait::No).await.unwrap_err();
    assert_eq!(error.to_string(), "a chain of asks may have at most 2 teams: a → b → c → d");
    teams.try_ask(session(in_b), "d", "x", Wait::No).await.unwrap();
    let error = teams.try_ask(session(in_b), "d", "x", Wait::No).await.unwrap_err();
    assert_eq!(error.to_string(), "one ask has caused more than 3 asks: a → b → d");
    assert_eq!(error.kind(), Kind::Busy);
    teams.waits_for_human(3).await;
    teams.allow_all().await;
    second.await.unwrap().unwrap();
    first.await.unwrap().unwrap();
    for _ in 0..3 {
        teams.try_ask(outside(Some("a")), "b", "x", Wait::ForEver).await.unwrap();
    }
    let error = teams.try_ask(outside(Some("a")), "b", "x", Wait::No).await.unwrap_err();
    let said = "a->b has asked 4 times within an hour, which is the limit";
    assert_eq!((error.to_string().as_str(), error.kind()), (said, Kind::Busy));
    teams.engine.stop().await;
}

#[tokio::test]
async fn t10_agents_do_not_all_wait_for_each_other() {
    let mut world = World::with(&Script::new().turn([gate(), Step::say("done")]));
    world.settings.pool.processes_max = 2;
    let teams = Teams::open(world, &["a", "b", "c"], AGENT).await;
    let asked = teams.begin(outside(None), "a", "ask b");
    teams.waits_for_human(1).await;
    let in_a = teams.pair(None, "a").await.session_id;
    let second = teams.begin(session(in_a), "b", "ask c");
    teams.waits_for_human(2).await;
    let in_b = teams.pair(Some("a"), "b").await.session_id;
    let error = teams.try_ask(session(in_b), "c", "x", Wait::ForEver).await.unwrap_err();
    assert_eq!(error.to_string(), "all 2 agent processes would wait for each other");
    assert_eq!(error.kind(), Kind::Busy);
    teams.allow_all().await;
    assert_eq!(second.await.unwrap().unwrap().response, "done");
    assert_eq!(asked.await.unwrap().unwrap().response, "done");
    teams.engine.stop().await;
}

#[tokio::test]
async fn t14_a_team_that_skips_permissions_is_never_waited_for() {
    let script = Script::new().turn([gate(), Step::say("done")]);
    let world = World::with(&script);
    let mut trusted = team(&world, "a", AGENT);
    trusted.permissions = Permissions::Skip;
    let teams = Teams::open_as(world, settings(vec![trusted])).await;
    let answer = teams.ask("a", "do it").await;
    assert_eq!((answer.status, answer.response.as_str()), (AnswerStatus::Answered, "done"));
    assert!(teams.engine.inbox().list().await.unwrap().is_empty());
    let mut log = Log::of(&teams.engine, answer.session_id.unwrap()).await;
    log.until("rule applied: gate").await;
    teams.engine.stop().await;
}

#[tokio::test]
async fn t11_p2_claude_never_starts_with_skipped_permissions_so_that_rules_can_deny() {
    let world = with_claude(&Script::new());
    let mut trusted = team(&world, "a", CLAUDE);
    trusted.permissions = Permissions::Skip;
    let both = vec![trusted.clone(), team(&world, "b", CLAUDE)];
    let teams = Teams::open_as(world, settings(both)).await;
    teams.ask("a", "hello").await;
    teams.ask("b", "hello").await;
    let flag = "--dangerously-skip-permissions";
    let log = teams.claude_log();
    assert!(log.len() >= 2 && !log.iter().any(|line| line.contains(flag)), "{log:#?}");
    assert_eq!(LIMITS.hops_max, 5);
    teams.engine.stop().await;
}
