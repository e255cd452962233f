//! Rules: made by answers, applied to later requests, revoked; denials win.

use convoke_core::evidence::Evidence;
use convoke_core::request::{PermissionRecord, Request};
use convoke_core::rule::{Effect, Matcher};
use convoke_engine::{Engine, Error, Kind, NewRule, Permissions, Remember};
use convoke_testkit::agent::{Ask, Script, Step, Tool};
use serde_json::{Value, json};

use crate::log::Log;
use crate::teams::{Teams, settings, team};
use crate::world::{AGENT, Scene, World, until};

/// One question of an agent, as it might lie about it.
fn wants(id: &str, title: &str, args: Value) -> Step {
    let tool = Tool { title: Some(title.to_owned()), ..Tool::named(id, "Bash", args) };
    let ask = Ask::new(tool, &[("yes", "allow_once"), ("no", "reject_once")]);
    Step::Ask(ask.then("yes", [Step::say("did it")]).then("no", [Step::say("left it")]))
}

fn runs(command: &str) -> Step {
    wants(&format!("run {command}"), command, json!({"command": command}))
}

fn rule(effect: Effect, line: &str) -> NewRule {
    let matcher = Matcher::command(line).unwrap();
    NewRule { user: None, effect, matcher, agent: None, project_id: None, from: None }
}

/// The only permission that waits, once there is one.
async fn asked(engine: &Engine) -> PermissionRecord {
    until("a permission is asked for", async || engine.inbox().list().await.unwrap().len() == 1)
        .await;
    match engine.inbox().list().await.unwrap().pop().unwrap().request {
        Request::Permission(record) => record,
        Request::Questions(record) => panic!("{record:?}"),
    }
}

async fn choose(engine: &Engine, option: &str, remember: Remember) {
    let id = asked(engine).await.request_id.to_string();
    engine.inbox().choose(&id, option.to_owned(), remember, None).await.unwrap();
}

#[tokio::test]
async fn p1_a_permission_carries_what_the_arguments_say_and_not_what_the_title_says() {
    let args = json!({"command": "rm -rf /", "env": {"A": "b"}});
    let mut scene =
        World::with(&Script::new().turn([wants("t", "cargo test", args)])).begin().await;
    scene.prompt("work").await;
    let record = asked(&scene.engine).await;
    let evidence = Evidence::Command {
        command: "rm -rf /".to_owned(),
        working_directory: None,
        arguments: Some(json!({"env": {"A": "b"}})),
        omitted_bytes: 0,
    };
    assert_eq!((record.evidence, record.rules), (Some(evidence), Vec::new()));
    choose(&scene.engine, "no", Remember::No).await;
    scene.log.until_end_of(1).await;
    scene.engine.stop().await;
}

#[tokio::test]
async fn p2_an_answer_makes_a_rule_that_decides_later_requests_until_it_is_revoked() {
    let turn = || [runs("cargo test"), runs("cargo build")];
    let script = Script::new().turn(turn()).turn(turn()).turn(turn());
    let mut scene = World::with(&script).begin().await;
    let engine = scene.engine.clone();
    scene.prompt("one").await;
    let record = asked(&engine).await;
    let labels: Vec<&str> = record.rules.iter().map(|rule| &*rule.label).collect();
    let name = engine.projects().get(scene.project).await.unwrap().name;
    let [exact, more] = ["cargo test", "cargo test …"].map(|line| format!("`{line}` in {name}"));
    assert_eq!(labels, [&*exact, &*more, "`cargo test …` everywhere"]);
    // What is not offered is refused, and the request stays open.
    let id = record.request_id.to_string();
    let error =
        engine.inbox().choose(&id, "yes".to_owned(), Remember::Rule(3), None).await.unwrap_err();
    assert!(matches!(error, Error::NothingToRemember { number: 3, offered: 3 }), "{error}");
    // An option that is not there makes no rule either.
    let error =
        engine.inbox().choose(&id, "maybe".to_owned(), Remember::Rule(0), None).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Invalid, "{error}");
    assert_eq!(engine.rules().list(None).await.unwrap(), []);
    choose(&engine, "yes", Remember::Rule(0)).await;
    choose(&engine, "no", Remember::No).await;
    scene.log.until_end_of(1).await;
    scene.log.until(&format!("rule made: Allow {exact}")).await;
    let made = engine.rules().list(Some(scene.project)).await.unwrap().pop().unwrap();
    assert_eq!(made.text(), format!("Allow {exact}"));
    assert_eq!(
        (made.rule.request_id, made.rule.session_id),
        (Some(record.request_id), Some(scene.session))
    );

    // In a later session, too: the listed one is allowed, the other one is asked.
    let second = engine.sessions().create(scene.project, None).await.unwrap().stored.id;
    engine.sessions().prompt(second, "two".to_owned()).await.unwrap();
    let mut log = Log::of(&engine, second).await;
    let other = asked(&engine).await;
    assert_eq!(other.evidence, Some(Evidence::command("cargo build".to_owned())));
    log.until("rule applied: cargo test").await;
    choose(&engine, "no", Remember::No).await;
    log.until_end_of(1).await;
    let used = engine.rules().list(None).await.unwrap().pop().unwrap().rule;
    assert!(used.used_count == 1 && used.last_used_at.is_some(), "{used:?}");

    // Other projects ask all the same.
    assert_eq!(engine.rules().list(None).await.unwrap().len(), 1);
    // A rule that is revoked while a request waits does not settle it, and decides nothing more.
    let id = made.rule.id.to_string();
    engine.rules().remove(&id[..8]).await.unwrap();
    assert_eq!(engine.rules().remove(&id).await.unwrap_err().kind(), Kind::NotFound);
    let third = engine.sessions().create(scene.project, None).await.unwrap().stored.id;
    engine.sessions().prompt(third, "three".to_owned()).await.unwrap();
    assert_eq!(asked(&engine).await.evidence, Some(Evidence::command("cargo test".to_owned())));
    // Nor does one that is made while it waits.
    engine.rules().add(rule(Effect::Allow, "cargo test")).await.unwrap();
    assert_eq!(engine.inbox().list().await.unwrap().len(), 1);
    engine.stop().await;
}

/// Commands that look like `cargo test` to those who do not look closely.
const HOSTILE: [&str; 24] = [
    "cargo test && touch x",
    "cargo test; touch x",
    "cargo test || touch x",
    "cargo test | sh",
    "cargo test & touch x",
    "cargo test\ntouch x",
    "cargo test $(touch x)",
    "cargo test `touch x`",
    "cargo test > ~/.bashrc",
    "cargo test < /etc/passwd",
    "cargo test --config 'target.x.runner=\"sh\"'",
    "cargo test --manifest-path /tmp/evil/Cargo.toml",
    "cargo test -- --nocapture",
    "cargo test *",
    "cargo test ~",
    "cargo\u{a0}test",
    "CARGO test",
    "cargo test\0",
    "cargo test #",
    "RUSTC_WRAPPER=evil cargo test",
    "env cargo test",
    "sudo cargo test",
    "cd /tmp && cargo test",
    "cargo tesT",
];

/// After one "always" for `cargo test …`, whatever else an agent asks for is asked of the human.
#[tokio::test]
async fn p2_k7_after_one_always_hostile_commands_are_each_asked_and_the_listed_one_is_not() {
    let command = |command: &str| json!({"command": command});
    let mut asks: Vec<Step> = vec![wants("first", "cargo test", command("cargo test"))];
    for (number, hostile) in HOSTILE.iter().enumerate() {
        asks.push(wants(&format!("h{number}"), "cargo test", command(hostile)));
    }
    for (number, args) in [
        json!({"command": ["sh", "-c", "cargo test; touch x"]}),
        json!({"command": "cargo test", "cwd": "/tmp"}),
        json!({"command": "cargo test", "env": {"LD_PRELOAD": "/tmp/evil.so"}}),
        json!({"command": "cargo test", "dangerouslyDisableSandbox": true}),
        json!({"cmd": "cargo test"}),
        json!({"script": "touch x"}),
    ]
    .into_iter()
    .enumerate()
    {
        asks.push(wants(&format!("o{number}"), "cargo test", args));
    }
    let hostile = asks.len() - 1;
    assert_eq!(hostile, 30);
    asks.push(wants("last", "Something else entirely", command("cargo test again")));
    let mut scene = World::with(&Script::new().turn(asks)).begin().await;
    let engine = scene.engine.clone();
    scene.prompt("work").await;
    for number in 0..=hostile {
        let remember = if number == 0 { Remember::Rule(1) } else { Remember::No };
        let id = asked(&engine).await.request_id;
        engine.inbox().choose(&id.to_string(), "yes".to_owned(), remember, None).await.unwrap();
    }
    scene.log.until_end_of(1).await;
    assert_eq!(scene.log.count("rule applied: cargo test again"), 1, "the listed one only");
    assert_eq!(engine.rules().list(None).await.unwrap().len(), 1);
    engine.stop().await;
}

#[tokio::test]
async fn p2_a_denial_wins_over_an_allowance_and_the_agent_goes_on() {
    let script = Script::new().turn([runs("git status && git push"), runs("git status")]);
    let mut scene = World::with(&script).begin().await;
    let engine = scene.engine.clone();
    for (effect, line) in
        [(Effect::Allow, "git status"), (Effect::Allow, "git push …"), (Effect::Deny, "git push")]
    {
        engine.rules().add(rule(effect, line)).await.unwrap();
    }
    scene.prompt("work").await;
    scene.log.until_end_of(1).await;
    assert_eq!(scene.log.count("rule denied: git status && git push"), 1);
    assert_eq!(scene.log.count("rule applied: git status"), 1);
    assert_eq!(engine.inbox().list().await.unwrap(), []);
    assert_eq!(scene.log.count("agent: left it"), 1);
    assert_eq!(scene.log.count("agent: did it"), 1);
    engine.stop().await;
}

#[tokio::test]
async fn p2_an_answer_of_no_makes_a_denial_for_the_agent_and_everywhere() {
    let mut scene =
        World::with(&Script::new().turn([runs("git push")]).turn([runs("git push")])).begin().await;
    let engine = scene.engine.clone();
    scene.prompt("one").await;
    let record = asked(&engine).await;
    let everywhere = record.rules.iter().position(|rule| rule.everywhere).unwrap();
    choose(&engine, "no", Remember::Rule(everywhere)).await;
    scene.log.until_end_of(1).await;
    scene.log.until("rule made: Deny `git push …` everywhere").await;
    let two = scene.prompt("two").await;
    scene.log.until_end_of(two).await;
    assert_eq!(scene.log.count("rule denied: git push"), 1);
    engine.stop().await;
}

#[tokio::test]
async fn p2_a_denial_wins_over_a_team_that_skips_permissions_and_doubt_is_asked() {
    let turn = [runs("ls"), runs("git push"), runs("git -C . push"), Step::say("done")];
    let world = World::with(&Script::new().turn(turn));
    let mut trusted = team(&world, "a", AGENT);
    trusted.permissions = Permissions::Skip;
    let teams = Teams::open_as(world, settings(vec![trusted])).await;
    teams.engine.rules().add(rule(Effect::Deny, "git push")).await.unwrap();
    let (answer, ()) = tokio::join!(teams.ask("a", "do it"), async {
        let record = asked(&teams.engine).await;
        assert_eq!(record.evidence, Some(Evidence::command("git -C . push".to_owned())));
        choose(&teams.engine, "no", Remember::No).await;
    });
    let mut log = Log::of(&teams.engine, answer.session_id.unwrap()).await;
    log.until("rule applied: ls").await;
    log.until("rule denied: git push").await;
    teams.engine.stop().await;
}

#[tokio::test]
async fn p2_rules_of_another_agent_or_project_do_not_decide() {
    let world = World::with(&Script::new().turn([runs("ls")]));
    let mut scene: Scene = world.begin().await;
    let engine = scene.engine.clone();
    let other = engine.projects().add(&world.make_folder("other"), None).await.unwrap().id;
    let foreign = NewRule { project_id: Some(other), ..rule(Effect::Allow, "ls") };
    engine.rules().add(foreign.clone()).await.unwrap();
    let agent = Some("codex".parse().unwrap());
    engine.rules().add(NewRule { agent, ..rule(Effect::Allow, "ls") }).await.unwrap();
    assert_eq!(engine.rules().list(Some(scene.project)).await.unwrap().len(), 1);
    // The same rule again is the same rule, and nonsense is refused.
    engine.rules().add(foreign).await.unwrap();
    assert_eq!(engine.rules().list(None).await.unwrap().len(), 2);
    let error = engine.rules().add(rule(Effect::Allow, "sudo …")).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Invalid, "{error}");
    scene.prompt("work").await;
    asked(&engine).await;
    choose(&engine, "yes", Remember::No).await;
    scene.log.until_end_of(1).await;
    engine.stop().await;
}

#[tokio::test]
async fn p2_a_rule_of_the_first_release_for_every_use_of_a_tool_is_said_and_dropped_and_never_applied()
 {
    let world = World::with(&Script::new().turn([runs("ls")]).turn([runs("ls")]));
    let mut scene = world.begin().await;
    let engine = scene.engine.clone();
    // This version makes no such rule, and the database is the store's alone; so another program writes it.
    let write = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('INSERT INTO permission_rules \
                 VALUES (?, ?, ?, 1)', sys.argv[2:]); db.commit()";
    scene.prompt("one").await;
    let tool = asked(&engine).await.tool.unwrap();
    let status = std::process::Command::new("python3")
        .args(["-c", write])
        .arg(world.home().join("convoke.db"))
        .args([scene.project.to_string().as_str(), AGENT, tool.as_str()])
        .status()
        .unwrap();
    assert!(status.success());
    choose(&engine, "no", Remember::No).await;
    scene.log.until_end_of(1).await;
    let two = scene.prompt("two").await;
    scene.log.until(&format!("rule dropped: {tool}")).await;
    choose(&engine, "no", Remember::No).await;
    scene.log.until_end_of(two).await;
    assert_eq!(scene.log.count("agent: left it"), 2);
    let three = scene.prompt("three").await;
    scene.log.until_end_of(three).await;
    assert_eq!(scene.log.count(&format!("rule dropped: {tool}")), 1);
    engine.stop().await;
}

#[tokio::test]
async fn p2_a_team_that_loses_its_trust_is_asked_about_from_then_on() {
    let turn = || [runs("ls"), Step::say("done")];
    let world = World::with(&Script::new().turn(turn()).turn(turn()));
    let mut trusted = team(&world, "a", AGENT);
    trusted.permissions = Permissions::Skip;
    let plain = team(&world, "a", AGENT);
    let teams = Teams::open_as(world, settings(vec![trusted])).await;
    teams.ask("a", "one").await;
    assert!(teams.engine.inbox().list().await.unwrap().is_empty());
    teams.engine.teams().open(settings(vec![plain]), |_| {}).await.unwrap();
    let (answer, ()) = tokio::join!(teams.ask("a", "two"), async {
        asked(&teams.engine).await;
        choose(&teams.engine, "no", Remember::No).await;
    });
    let mut log = Log::of(&teams.engine, answer.session_id.unwrap()).await;
    log.until("agent: left itdone").await;
    assert_eq!(log.count("rule applied: ls"), 1);
    teams.engine.stop().await;
}
