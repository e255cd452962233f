//! Getting teams ready: checked, begun all at once, made anew where their files are gone, given up when they are stuck.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use convoke_engine::{Engine, Error, Kind, Permissions, Team, TeamProgress, Wait};
use convoke_testkit::agent::{Script, Step};
use convoke_testkit::process::{is_alive, processes_in};
use tokio::time::timeout;

use crate::log::{Log, TIMEOUT};
use crate::teams::{CLAUDE, Teams, home, outside, pair, settings, team, with_claude};
use crate::world::{AGENT, World};

async fn refused(engine: &Engine, team: Team) -> Error {
    engine.teams().open(settings(vec![team]), |_| {}).await.unwrap_err()
}

#[tokio::test]
async fn t2_t15_a_team_that_cannot_work_is_named_with_what_is_wrong() {
    let world = World::with(&Script::new());
    let engine = world.open().await;
    let good = team(&world, "backend", AGENT);
    let file = world.root().join("file");
    fs::write(&file, "").unwrap();
    let path = |path: &str| Team { path: PathBuf::from(path), ..good.clone() };
    let cases = [
        (path("/nonexistent/path"), "Project path does not exist: /nonexistent/path".to_owned()),
        (path("backend"), "Project path must be absolute: backend".to_owned()),
        (path("/srv/../etc"), "Project path must not contain '..': /srv/../etc".to_owned()),
        (
            Team { path: file.clone(), ..good.clone() },
            format!("Project path is not a directory: {}", file.display()),
        ),
        (team(&world, "backend", "nobody"), "there is no agent called nobody".to_owned()),
    ];
    for (team, reason) in cases {
        let error = refused(&engine, team).await;
        let said = format!("Invalid configuration for team 'backend': {reason}");
        assert_eq!((error.to_string(), error.kind()), (said, Kind::Invalid));
    }
    assert!(engine.teams().list().is_empty());
    assert!(
        engine
            .teams()
            .pairs(convoke_engine::PairFilter::all(), convoke_engine::Window::first(1))
            .await
            .unwrap()
            .is_empty()
    );
    engine.stop().await;
}

#[tokio::test]
async fn t2_a_link_is_followed_and_the_team_works_where_it_leads() {
    let world = World::with(&Script::new());
    let real = world.make_folder("real");
    let link = world.root().join("link");
    symlink(&real, &link).unwrap();
    let linked = Team { path: link, ..team(&world, "a", AGENT) };
    let teams = Teams::open_as(world, settings(vec![linked])).await;
    assert_eq!(teams.ask("a", "hello").await.response, "hello");
    assert_eq!(teams.engine.teams().list()[0].path, real);
    assert_eq!(processes_in(&real).len(), 1);
    teams.engine.stop().await;
}

#[tokio::test]
async fn t3_all_teams_begin_at_once_and_nothing_is_ready_before_all_are() {
    let mut world = World::new();
    world.add_gated_agent("gated", &Script::new());
    let engine = world.open().await;
    let names = ["a", "b", "c", "d", "e"];
    let teams = settings(names.map(|name| team(&world, name, "gated")).into());
    let told: Mutex<Vec<TeamProgress>> = Mutex::default();
    let opening = engine.teams().open(teams, |progress| told.lock().unwrap().push(progress));
    tokio::pin!(opening);
    // All five are being started, and none of them is let through.
    let folders = names.map(|name| world.root().join(name));
    let all_begun = timeout(TIMEOUT, async {
        while !folders.iter().all(|folder| !processes_in(folder).is_empty()) {
            tokio::task::yield_now().await;
        }
    });
    tokio::select! {
        opened = &mut opening => panic!("{opened:?}"),
        begun = all_begun => begun.unwrap(),
    }
    assert!(told.lock().unwrap().is_empty());
    for folder in &folders {
        fs::write(folder.join("gate"), "").unwrap();
    }
    timeout(TIMEOUT, opening).await.unwrap().unwrap();
    let counts: Vec<(usize, usize)> =
        told.lock().unwrap().iter().map(|it: &TeamProgress| (it.ready, it.total)).collect();
    assert_eq!(counts, [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]);
    for name in names {
        assert!(engine.teams().pair_between(&pair(None, name)).await.unwrap().is_some());
    }
    engine.stop().await;
}

#[tokio::test]
async fn t3_more_teams_than_there_may_be_processes_are_ready_one_after_the_other() {
    let mut world = World::with(&Script::new());
    world.settings.pool.processes_max = 2;
    let names = ["a", "b", "c", "d", "e"];
    let teams = Teams::open(world, &names, AGENT).await;
    for name in names {
        assert_eq!(teams.ask(name, "hello").await.response, "hello");
    }
    teams.engine.stop().await;
}

#[tokio::test]
async fn t4_t11_a_session_is_made_by_a_ping_and_then_resumed_with_frames() {
    let teams = Teams::open(with_claude(&Script::new()), &["a"], CLAUDE).await;
    let id = teams.pair(None, "a").await.agent_session_id.unwrap();
    assert!(teams.claude_file("a", &id).exists());
    assert_eq!(teams.claude_log(), [format!("--session-id {id} --print ping")]);
    let answer = teams.ask("a", "hello").await;
    assert_eq!(answer.agent_session_id.as_deref(), Some(&*id));
    let log = teams.claude_log();
    assert_eq!(log.len(), 2);
    for flag in [
        &*format!("--resume {id}"),
        "--print",
        "--output-format stream-json",
        "--input-format stream-json",
    ] {
        assert!(log[1].contains(flag), "{flag} in {}", log[1]);
    }
    // A second start finds everything as it was.
    let teams = teams.reopen().await;
    assert_eq!(teams.claude_log().len(), 2);
    teams.engine.stop().await;
}

#[tokio::test]
async fn t4_a_session_whose_file_is_gone_gets_a_new_id_and_its_transcript() {
    let teams = Teams::open(with_claude(&Script::new()), &["a"], CLAUDE).await;
    let first = teams.ask("a", "my name is Ann").await;
    let burned = first.agent_session_id.unwrap();
    fs::remove_file(teams.claude_file("a", &burned)).unwrap();
    let teams = teams.reopen().await;
    let made = teams.pair(None, "a").await;
    let id = made.agent_session_id.unwrap();
    assert_ne!(id, burned);
    assert_eq!(made.session_id, first.session_id.unwrap(), "the session itself stays");
    assert!(teams.claude_file("a", &id).exists());
    let second = teams.ask("a", "who am I?").await;
    // The scripted agent echoes its prompts.
    assert!(second.response.contains("my name is Ann"), "{}", second.response);
    assert!(second.response.ends_with("who am I?"));
    let mut log = Log::of(&teams.engine, made.session_id).await;
    log.until("resumed: replay").await;
    assert_eq!(teams.ask("a", "again").await.response, "again", "it is told once");
    teams.engine.stop().await;
}

#[tokio::test]
async fn t4_a_file_that_goes_while_the_daemon_runs_is_noticed_by_the_next_ask() {
    let teams = Teams::open(with_claude(&Script::new()), &["a", "b"], CLAUDE).await;
    let ask = async |question| {
        teams.try_ask(outside(Some("b")), "a", question, Wait::ForEver).await.unwrap()
    };
    let first = ask("my name is Ann").await;
    let burned = first.agent_session_id.unwrap();
    teams.engine.teams().sleep(&"a".parse().unwrap()).await.unwrap();
    fs::remove_file(teams.claude_file("a", &burned)).unwrap();
    let second = ask("who am I?").await;
    assert_eq!(first.session_id, second.session_id);
    assert_ne!(second.agent_session_id.unwrap(), burned);
    assert!(second.response.contains("my name is Ann"), "{}", second.response);
    teams.engine.stop().await;
}

#[tokio::test]
async fn t4_a_used_session_id_is_replaced_by_a_new_one() {
    let world = with_claude(&Script::new());
    fs::write(home(&world).join("burn-next"), "").unwrap();
    let teams = Teams::open(world, &["a"], CLAUDE).await;
    let log = teams.claude_log();
    assert_eq!(log.len(), 2, "{log:#?}");
    assert_ne!(log[0], log[1]);
    let id = teams.pair(None, "a").await.agent_session_id.unwrap();
    assert!(log[1].contains(&id));
    teams.engine.stop().await;
}

#[tokio::test]
async fn t12_a_claude_that_is_stuck_is_killed_and_the_error_names_team_and_time() {
    let world = with_claude(&Script::new());
    let slow = home(&world).join("slow");
    fs::write(&slow, "").unwrap();
    let engine = world.open().await;
    let mut stuck = team(&world, "backend", CLAUDE);
    stuck.init_timeout = Some(Duration::from_secs(1));
    let begun = Instant::now();
    let error = refused(&engine, stuck.clone()).await;
    assert!(begun.elapsed() < Duration::from_secs(20), "the team's own time counts");
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(
        format!("{error}: {source}"),
        "Process error for team \"backend\": Session initialization timed out after 1000ms"
    );
    assert_eq!(error.kind(), Kind::Agent);
    let pid: u32 = fs::read_to_string(&slow).unwrap().trim().parse().unwrap();
    timeout(TIMEOUT, async {
        while is_alive(pid) {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
    // Nothing is left of it that would hinder the next attempt.
    fs::remove_file(&slow).unwrap();
    stuck.init_timeout = None;
    engine.teams().open(settings(vec![stuck]), |_| {}).await.unwrap();
    engine.stop().await;
}

#[tokio::test]
async fn t12_an_acp_agent_that_is_stuck_is_killed_too() {
    let world = World::with(&Script::new().on("session/new", [Step::Hang]));
    let engine = world.open().await;
    let mut configured = settings(vec![team(&world, "backend", AGENT)]);
    configured.init_timeout = Duration::from_millis(300);
    let error = engine.teams().open(configured, |_| {}).await.unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(
        format!("{error}: {source}"),
        "Process error for team \"backend\": Session initialization timed out after 300ms"
    );
    timeout(TIMEOUT, async {
        while !processes_in(&world.root().join("backend")).is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
    engine.stop().await;
}

#[tokio::test]
async fn t2_an_invalid_reload_keeps_the_configured_teams() {
    let mut world = World::with(&Script::new());
    world.add_agent("broken", &Script::new().on("session/new", [Step::fail(500, "broken")]));
    let teams = Teams::open(world, &["a"], AGENT).await;
    let engine = &teams.engine;
    let mut broken = team(&teams.world, "b", AGENT);
    broken.path = PathBuf::from("/nonexistent");
    let both = vec![team(&teams.world, "a", AGENT), broken];
    engine.teams().open(settings(both), |_| {}).await.unwrap_err();
    assert_eq!(engine.teams().list().len(), 1);
    assert_eq!(teams.ask("a", "hello").await.response, "hello");
    // An agent that would have been started differently works on: its team has not changed after all.
    let running = processes_in(&teams.world.root().join("a"));
    let mut trusted = team(&teams.world, "a", AGENT);
    trusted.permissions = Permissions::Skip;
    let both = vec![trusted, team(&teams.world, "b", "broken")];
    let error = engine.teams().open(settings(both), |_| {}).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Agent, "{error}");
    assert_eq!(processes_in(&teams.world.root().join("a")), running);
    assert_eq!(running.len(), 1);
    let progress = Mutex::new(Vec::new());
    let both = vec![team(&teams.world, "a", AGENT), team(&teams.world, "b", AGENT)];
    let told = |it: TeamProgress| progress.lock().unwrap().push(it.ready);
    engine.teams().open(settings(both), told).await.unwrap();
    assert_eq!(*progress.lock().unwrap(), [1, 2]);
    assert_eq!(teams.ask("b", "hello").await.response, "hello");
    engine.stop().await;
}
