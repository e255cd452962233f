//! What is left of a daemon that was killed, or stopped in the middle of everything.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use convoke_core::content::Content;
use convoke_core::id::SessionId;
use convoke_core::message::{Message, Rev, Role, Seq};
use convoke_core::session::Status;
use convoke_core::update::Update;
use convoke_engine::{Activity, Asker, Outcome};
use convoke_testkit::agent::{Ignored, Script, Step};
use convoke_testkit::host::example;
use convoke_testkit::process::is_alive;
use serde_json::json;

use crate::asked::{answers, question};
use crate::log::TIMEOUT;
use crate::prompting::gate;
use crate::world::{AGENT, Scene, World};

/// Another process with an engine in the same world, and the session that it is in the middle of.
struct Other {
    process: Child,
    session: SessionId,
}

impl Drop for Other {
    fn drop(&mut self) {
        // One that has ended cannot be killed, and need not be.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

impl Other {
    /// Lets the other engine begin a session, prompt it with `work`, `two` and `three`, and ask a question.
    fn start(world: &World) -> Self {
        let mut command = Command::new(example("engine_until_killed"));
        let command = command.arg(world.folder()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let session = line.trim().parse().expect("the other engine has a session");
        Self { process, session }
    }

    /// Lets it stop in order.
    fn stop(mut self) -> SessionId {
        drop(self.process.stdin.take());
        assert!(self.process.wait().unwrap().success());
        self.session
    }

    fn kill(self) -> SessionId {
        self.session
    }
}

/// What a reader in the other engine received of an answer before that engine was killed.
struct Told {
    rev: Rev,
    /// How many bytes of the answer.
    bytes: usize,
}

/// Lets another engine prompt a session, or a new one, with `count`, and kills it after so many updates of the answer.
fn count_until_killed(
    world: &World,
    session: Option<SessionId>,
    updates: usize,
) -> (SessionId, Vec<Told>) {
    let mut command = Command::new(example("engine_until_killed"));
    command.arg(world.folder()).arg("count").args(session.map(|id| id.to_string()));
    let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let session = lines.next().unwrap().unwrap().parse().expect("the other engine has a session");
    let told = lines.by_ref().take(updates).map(|line| {
        let line = line.unwrap();
        let (rev, bytes) = line.split_once(' ').unwrap();
        Told { rev: Rev::new(rev.parse().unwrap()), bytes: bytes.parse().unwrap() }
    });
    let told = told.collect();
    // What it wrote and the daemon had not read reached no reader.
    drop(Other { process, session });
    (session, told)
}

#[tokio::test]
async fn m3_a_killed_daemon_keeps_every_word_that_was_told_and_uses_no_revision_twice() {
    let world = World::with(&Script::new().when("count", [Step::Count(1 << 20), Step::Hang]));
    let counted: String = (1..1 << 20).map(|number| format!("{number} ")).collect();
    let mut known: Option<SessionId> = None;
    let mut rounds: Vec<Vec<Told>> = Vec::new();
    for updates in [1, 40, 3, 400] {
        // Scripts begin anew with every process of the agent.
        let (session, told) = count_until_killed(&world, known, updates);
        known = Some(session);
        rounds.push(told);
    }
    world.change_script(AGENT, &Script::new());
    let mut scene = world.begin_again(known.unwrap()).await;
    scene.log.catch_up().await;
    let messages = scene.log.messages();
    assert_eq!(messages, stored(&scene).await);
    assert!(messages.iter().all(|message| !message.is_open()), "{messages:#?}");
    let answers: Vec<(Seq, Rev, String)> = messages
        .iter()
        .filter_map(|message| match (&message.content, message.role) {
            (Content::Text { text, .. }, Role::Agent) => {
                Some((message.seq, message.rev, text.clone()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(answers.len(), rounds.len(), "{:#?}", scene.log.story().len());
    let prompts = prompts(&scene);
    let mut before = Rev::START;
    for (round, (told, (seq, closed, text))) in rounds.iter().zip(&answers).enumerate() {
        let last = told.last().unwrap();
        assert!(text.len() >= last.bytes, "round {round}: words are lost");
        assert!(counted.starts_with(text.as_str()), "round {round}: {seq} is no count");
        assert!(told.is_sorted_by_key(|told| (told.rev, told.bytes)), "round {round}");
        assert!(told[0].rev > before, "round {round}: a revision is used twice");
        // The next daemon closed it, far beyond what may have been lost.
        assert!(closed.get() >= last.rev.get() + Rev::CRASH_GAP, "round {round}: {closed}");
        assert!(prompts[round].rev > *closed, "round {round}: the turn ends last");
        assert_eq!(scene.log.turn_of(prompts[round].id), "failed(interrupted)");
        before = prompts[round].rev;
    }
    // A reader of the killed daemon continues from its revision, and receives the end.
    let last = rounds.last().unwrap().last().unwrap().rev;
    let page = scene.engine.sessions().updates_after(scene.session, last, 100).await.unwrap();
    let changed: Vec<Seq> = page
        .updates
        .iter()
        .filter_map(|update| match update {
            Update::Message(message) => Some(message.seq),
            Update::Delta(_) | Update::State { .. } => None,
        })
        .collect();
    let (answer, prompt) = (answers.last().unwrap().0, prompts.last().unwrap().seq);
    assert_eq!(changed[..2], [answer, prompt], "{changed:?}");
    scene.turn("hello").await;
    assert_eq!(scene.log.count("agent: hello"), 1);
    scene.engine.stop().await;
}

#[tokio::test]
async fn m3_a_session_in_which_nothing_was_under_way_keeps_its_revisions() {
    let world = World::with(&Script::new());
    let mut scene = world.begin().await;
    scene.turn("hello").await;
    let (session, rev) = (scene.session, scene.log.rev());
    scene.engine.stop().await;
    let mut scene = world.begin_again(session).await;
    scene.turn("again").await;
    let changed = scene.engine.sessions().updates_after(session, rev, 100).await.unwrap().updates;
    assert!(changed.iter().all(|update| update.rev().get() < rev.get() + 100), "{changed:#?}");
    scene.engine.stop().await;
}

fn working() -> Script {
    Script::new()
        .when("work", [Step::Spawn("child".to_owned()), Step::say("working"), Step::Hang])
        .ignoring(Ignored::EndOfInput)
        .ignoring(Ignored::Terminate)
}

#[tokio::test]
async fn s1_a_killed_daemon_loses_nothing_and_its_queue_goes_on() {
    let world = World::with(&working());
    let other = Other::start(&world);
    let left = world.processes();
    assert!(left.len() >= 2, "an agent and its child: {left:?}");
    let session = other.kill();
    world.change_script(AGENT, &Script::new());

    let mut scene = world.begin_again(session).await;
    for pid in left {
        assert!(!is_alive(pid), "{pid} of the killed daemon is still there");
    }
    scene.log.until("agent: three").await;
    let three = prompts(&scene)[2].clone();
    scene.log.until_end_of(three.id).await;
    assert_eq!(
        scene.log.story(),
        [
            "user: work → failed(interrupted)",
            "agent: working",
            "question: abandoned",
            "turn 1: failed(interrupted)",
            "user: two → end_turn",
            "resumed: native",
            "agent: two",
            "user: three → end_turn",
            "agent: three"
        ]
    );
    assert_eq!(scene.log.messages(), stored(&scene).await);
    assert_eq!(scene.view().await.stored.summary.status, Status::Active);

    // The question can still be answered, and the answer becomes the next turn.
    let items = scene.engine.inbox().list().await.unwrap();
    let id = items[0].request.id().to_string();
    scene.engine.inbox().answer(&id, answers("Blue"), None).await.unwrap();
    scene.log.until("question: answered").await;
    let answer = scene
        .log
        .until_message(|message| message.role == Role::User && message.seq > three.seq)
        .await;
    scene.log.until_end_of(answer.id).await;
    let told = scene.log.line("user: You asked the user earlier");
    assert!(told.contains("Which colour?") && told.contains("→ Blue"), "{told}");
    assert_eq!(scene.engine.inbox().list().await.unwrap(), []);
    scene.engine.stop().await;
}

#[tokio::test]
async fn s1_a_daemon_that_is_killed_again_and_again_ends_every_turn_once() {
    let world = World::with(&working());
    let other = Other::start(&world);
    let session = other.kill();
    // Interrupted again during the recovery: the second prompt hangs as well.
    world.change_script(AGENT, &Script::new().turn([Step::say("working on two"), Step::Hang]));
    let mut scene = world.begin_again(session).await;
    scene.log.until("agent: working on two").await;
    let two = prompts(&scene)[1].clone();
    scene.engine.stop().await;
    world.change_script(AGENT, &Script::new());
    let mut scene = world.begin_again(session).await;
    scene.log.until("agent: three").await;
    let turns = prompts(&scene);
    scene.log.until_end_of(turns[2].id).await;
    for turn in [turns[0].seq, two.seq] {
        assert_eq!(scene.log.turn_of(turn.get()), "failed(interrupted)");
        assert_eq!(scene.log.count(&format!("turn {turn}: failed(interrupted)")), 1);
    }
    assert_eq!(scene.log.count("agent: three"), 1);
    assert_eq!(turns.len(), 3);
    scene.engine.stop().await;
}

#[tokio::test]
async fn s1_a_second_daemon_on_the_same_home_is_refused_and_ends_nothing() {
    let world = World::with(&working());
    let other = Other::start(&world);
    let before = world.processes();
    let opened = convoke_engine::Engine::open(world.settings.clone(), world.host()).await;
    let error = opened.map(drop).unwrap_err();
    let told = format!("{error:?}");
    assert!(told.contains(&format!("Some({})", other.process.id())), "{told}");
    assert_eq!(world.processes(), before);
    other.kill();
    let engine = world.open().await;
    engine.stop().await;
}

#[tokio::test]
async fn s1_a_stop_in_the_middle_takes_less_than_five_seconds_and_loses_nothing() {
    let script = working().when("ask", [gate()]);
    let world = World::with(&script);
    let mut scene = world.begin().await;
    let engine = scene.engine.clone();
    let second = engine.sessions().create(scene.project, None).await.unwrap().stored.id;
    scene.prompt("work").await;
    scene.log.until("agent: working").await;
    let two = scene.prompt("two").await;
    engine.sessions().prompt(second, "ask".to_owned()).await.unwrap();
    let mut asked = engine.inbox().ask(Asker::Session(second), vec![question()]).await.unwrap();
    let waiting = tokio::spawn(async move { asked.wait().await });
    let mut watcher = engine.sessions().watch(second, Rev::START).await.unwrap();
    while engine.inbox().list().await.unwrap().len() < 2 {
        watcher.next().await.unwrap();
    }

    let begun = Instant::now();
    engine.stop().await;
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    // Waiting callers get an outcome when the daemon stops.
    assert_eq!(waiting.await.unwrap().unwrap(), Outcome::Abandoned);
    loop {
        match watcher.next().await {
            Ok(_) => {}
            Err(error) => break assert_eq!(error.kind(), convoke_engine::Kind::Unavailable),
        }
    }
    for error in [
        engine.sessions().prompt(scene.session, "more".to_owned()).await.map(drop).unwrap_err(),
        engine.sessions().create(scene.project, None).await.map(drop).unwrap_err(),
        engine.sessions().get(scene.session).await.map(drop).unwrap_err(),
    ] {
        assert_eq!(error.kind(), convoke_engine::Kind::Unavailable, "{error}");
    }
    let session = scene.session;
    drop((scene.engine, engine));
    world.change_script(AGENT, &Script::new());

    let mut scene = world.begin_again(session).await;
    scene.log.until_end_of(two).await;
    assert_eq!(scene.log.count("turn 1: failed(interrupted)"), 1);
    assert_eq!(scene.log.count("agent: two"), 1);
    let view = scene.engine.sessions().get(second).await.unwrap();
    assert_eq!((view.stored.summary.status, view.activity), (Status::Active, Activity::Idle));
    // The permission went with its agent; the question waits for an answer.
    let items = scene.engine.inbox().list().await.unwrap();
    assert_eq!(items.len(), 1);
    scene.engine.stop().await;
}

#[tokio::test]
async fn s1_a_stop_ends_agents_that_will_not_end() {
    let world = World::with(&working());
    let other = Other::start(&world);
    let left = world.processes();
    let begun = Instant::now();
    let session = other.stop();
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    // They were killed, and the kernel does not notify when it has removed them.
    let gone = async {
        while left.iter().any(|pid| is_alive(*pid)) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(TIMEOUT, gone).await.expect("an agent outlived the daemon");
    world.change_script(AGENT, &Script::new());
    let mut scene = world.begin_again(session).await;
    scene.log.until("agent: three").await;
    scene.engine.stop().await;
}

/// All messages as the store has them.
async fn stored(scene: &Scene) -> Vec<Message> {
    scene.engine.sessions().messages(scene.session, Seq::START, 1000).await.unwrap().messages
}

fn prompts(scene: &Scene) -> Vec<Message> {
    let messages = scene.log.messages().into_iter();
    messages.filter(|message| message.role == Role::User).collect()
}

#[tokio::test]
async fn m3_what_an_agent_says_after_its_turn_is_closed_though_no_turn_ends() {
    let script = Script::new().turn([
        Step::say("done"),
        Step::Answer(json!({"stopReason": "end_turn"})),
        Step::say("and another thing"),
    ]);
    let mut scene = World::with(&script).begin().await;
    scene.prompt("work").await;
    let is_late = |message: &Message| matches!(&message.content, Content::Text { text, partial: false, .. } if text.contains("another thing"));
    let closed = scene.log.until_message(is_late).await;
    assert_eq!(closed.seq, scene.log.last_seq());
    // With nothing open, a restart has nothing to recover.
    let summary = scene.view().await.stored.summary;
    assert!(summary.is_settled(), "{summary:?}");
    scene.engine.stop().await;
}
