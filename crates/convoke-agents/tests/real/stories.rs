//! What every agent must be able to do with us.

use std::fs;

use convoke_agents::claude::create_session;
use convoke_agents::driver::{Order, Start};
use convoke_core::request::{PermissionKind, Request};
use convoke_core::session::{Reply, Report};
use convoke_core::turn::Stop;

use super::agents::{Agent, ID, Machine};
use super::running::{Running, empties};

/// Waits for a permission and answers with the option of this kind.
async fn answer(running: &mut Running, kind: PermissionKind) {
    let Request::Permission(asked) = running.asked().await else { panic!("no permission") };
    let option = asked.options.iter().find(|option| option.kind == kind);
    let option_id = option.unwrap_or_else(|| panic!("{asked:?}")).option_id.clone();
    running.reply(asked.request_id, Reply::Chosen { option_id }).await;
}

/// Prints the versions, for runs by hand.
#[expect(clippy::print_stdout, reason = "it is the outcome of a test by hand")]
fn tell(agent: &str) {
    println!("with {agent}");
}

#[tokio::test]
async fn t11_a_real_agent_remembers_after_its_process_was_stopped() {
    for agent in Agent::ALL {
        let machine = Machine::new(agent).await;
        let mut running = machine.start().await;
        tell(running.started.introduced_as.as_deref().unwrap_or("an agent without a name"));
        let session = running.started.agent_session.clone();
        let first = running.turn("first").await;
        assert_eq!(first, ("ECHO turn=1: first".to_owned(), Stop::EndTurn), "{agent:?}");
        running.driver.stop().await;
        let mut running = machine.resume(&session).await;
        assert_eq!(running.started.agent_session, session, "{agent:?}");
        let second = running.turn("second").await;
        assert_eq!(second, ("ECHO turn=2: second".to_owned(), Stop::EndTurn), "{agent:?}");
        running.driver.stop().await;
    }
}

#[tokio::test]
async fn t11_a_real_agent_remembers_what_came_before_the_turn_that_it_was_killed_in() {
    for agent in Agent::ALL {
        let machine = Machine::new(agent).await;
        let mut running = machine.start().await;
        let session = running.started.agent_session.clone();
        running.turn("first").await;
        running.prompt("[[slow]]").await;
        let Report::Said(_) = running.next().await else { panic!("{agent:?} said nothing") };
        // Dropping kills, which is how a crash looks from here.
        drop(running);
        empties(&machine.workspace()).await;
        let mut running = machine.resume(&session).await;
        let (said, stop) = running.turn("last").await;
        // The prompt without an answer counts where the agent kept it.
        let known = ["ECHO turn=2: last", "ECHO turn=3: last"];
        assert!(known.contains(&said.as_str()), "{agent:?}: {said}");
        assert_eq!(stop, Stop::EndTurn, "{agent:?}");
        running.driver.stop().await;
    }
}

#[tokio::test]
async fn a_real_agent_runs_and_writes_what_it_is_allowed_to() {
    for agent in Agent::ALL {
        let machine = Machine::new(agent).await;
        let mut running = machine.start().await;
        let made = machine.workspace().join("made.txt");
        running.prompt(&agent.run("echo made > made.txt; cat made.txt")).await;
        answer(&mut running, PermissionKind::AllowOnce).await;
        let (said, stop) = running.rest_of_turn().await;
        assert!(said.contains("DONE turn=1: ") && said.contains("made"), "{agent:?}: {said}");
        assert_eq!(stop, Stop::EndTurn, "{agent:?}");
        assert_eq!(fs::read_to_string(&made).unwrap(), "made\n", "{agent:?}");
        let written = machine.workspace().join("written.txt");
        running.prompt(&agent.write(&written, "words")).await;
        answer(&mut running, PermissionKind::AllowOnce).await;
        let (said, _) = running.rest_of_turn().await;
        assert!(said.contains("DONE turn=2: "), "{agent:?}: {said}");
        assert_eq!(fs::read_to_string(&written).unwrap(), "words", "{agent:?}");
        running.driver.stop().await;
    }
}

#[tokio::test]
async fn a_real_agent_uses_the_tools_that_it_is_given() {
    for agent in Agent::ALL {
        let machine = Machine::new(agent).await;
        let mut running = machine.start().await;
        running.prompt(&agent.echo("hello")).await;
        answer(&mut running, PermissionKind::AllowOnce).await;
        let (said, _) = running.rest_of_turn().await;
        assert!(said.contains("echoed hello"), "{agent:?}: {said}");
        running.driver.stop().await;
        // Its servers of tools are gone with it.
        empties(&machine.workspace()).await;
    }
}

#[tokio::test]
async fn a_real_agent_does_not_do_what_it_is_denied() {
    for agent in Agent::ALL {
        let machine = Machine::new(agent).await;
        let mut running = machine.start().await;
        running.prompt(&agent.run("touch denied.txt")).await;
        answer(&mut running, PermissionKind::RejectOnce).await;
        running.rest_of_turn().await;
        assert!(!machine.workspace().join("denied.txt").exists(), "{agent:?}");
        assert_eq!(running.turn("go on").await.1, Stop::EndTurn, "{agent:?}");
        running.driver.stop().await;
    }
}

#[tokio::test]
async fn a_real_agent_stops_in_the_middle_of_its_answer() {
    for agent in Agent::ALL {
        let machine = Machine::new(agent).await;
        let mut running = machine.start().await;
        running.prompt("[[slow]]").await;
        let Report::Said(_) = running.next().await else { panic!("{agent:?} said nothing") };
        running.driver.send(Order::Cancel).await.unwrap();
        assert_eq!(running.rest_of_turn().await.1, Stop::Cancelled, "{agent:?}");
        let (said, stop) = running.turn("next").await;
        assert!(said.ends_with(": next"), "{agent:?}: {said}");
        assert_eq!(stop, Stop::EndTurn, "{agent:?}");
        running.driver.stop().await;
    }
}

#[tokio::test]
async fn a_real_agent_stops_while_it_waits_for_a_permission() {
    for agent in Agent::ALL {
        let machine = Machine::new(agent).await;
        let mut running = machine.start().await;
        running.prompt(&agent.run("touch cancelled.txt")).await;
        let request = running.asked().await.id();
        running.driver.send(Order::Cancel).await.unwrap();
        running.reply(request, Reply::Cancelled).await;
        assert_eq!(running.rest_of_turn().await.1, Stop::Cancelled, "{agent:?}");
        assert!(!machine.workspace().join("cancelled.txt").exists(), "{agent:?}");
        assert_eq!(running.turn("next").await.1, Stop::EndTurn, "{agent:?}");
        running.driver.stop().await;
    }
}

#[tokio::test]
async fn a_real_agent_survives_a_model_that_refuses() {
    for agent in Agent::ALL {
        let machine = Machine::new(agent).await;
        let mut running = machine.start().await;
        let (said, stop) = running.turn("[[error 400]]").await;
        // Some report a failure, and some only a text.
        let is_told = matches!(stop, Stop::Failed(_)) || said.contains("400");
        assert!(is_told, "{agent:?} hides it: {said}, {stop:?}");
        assert_eq!(running.turn("next").await.1, Stop::EndTurn, "{agent:?}");
        running.driver.stop().await;
    }
}

#[tokio::test]
async fn a_real_agent_lists_its_sessions() {
    for agent in [Agent::Goose, Agent::Kimi] {
        let machine = Machine::new(agent).await;
        let mut running = machine.start().await;
        running.turn("hello").await;
        let sessions = running.driver.list(None).await.unwrap().sessions;
        let ours = &running.started.agent_session;
        assert!(sessions.iter().any(|it| it.agent_session == *ours), "{agent:?}: {sessions:?}");
        running.driver.stop().await;
    }
}

#[tokio::test]
async fn t11_claude_makes_a_session_that_is_resumed_later() {
    let machine = Machine::new(Agent::Claude).await;
    let launch = machine.launch(Start::New { id: ID.to_owned() });
    let file = create_session(&launch, ID).await.unwrap();
    assert!(file.starts_with(machine.home().join(".claude/projects")), "{}", file.display());
    assert!(create_session(&launch, ID).await.unwrap_err().to_string().contains("already in use"));
    let mut running = machine.resume(ID).await;
    assert_eq!(running.turn("hello").await.0, "ECHO turn=2: hello");
    running.driver.stop().await;
}

/// Codex confines its commands itself, inside of our bubblewrap: they run, and neither lets them write outside.
#[tokio::test]
async fn k2_codex_runs_commands_in_its_own_sandbox_inside_of_ours() {
    let machine = Machine::outside_temp(Agent::Codex).await;
    let mut running = machine.start().await;
    tell(running.started.introduced_as.as_deref().unwrap_or("an agent without a name"));
    let outside = machine.home().join("outside.txt");
    let command = format!("echo made > made.txt; cat made.txt; echo out > {}", outside.display());
    let (said, stop) = running.turn(&Agent::Codex.run(&command)).await;
    assert_eq!(stop, Stop::EndTurn, "{said}");
    assert_eq!(
        fs::read_to_string(machine.workspace().join("made.txt")).unwrap(),
        "made\n",
        "{said}"
    );
    let before = shown(&said, "DONE turn=");
    assert!(!outside.exists(), "{said}");
    let session = running.started.agent_session.clone();
    running.driver.stop().await;
    empties(&machine.workspace()).await;
    let mut running = machine.resume(&session).await;
    let (said, _) = running.turn("second").await;
    assert!(said.contains(": second") && shown(&said, "ECHO turn=") > before, "{said}");
    running.driver.stop().await;
}

/// How many prompts the model got; Codex adds some of its own.
fn shown(said: &str, before: &str) -> u64 {
    let number = said.split_once(before).and_then(|(_, rest)| rest.split(':').next());
    number.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{said}"))
}

/// Commands of a real agent are confined like the agent.
#[tokio::test]
async fn k1_a_real_agent_cannot_write_outside_or_read_secrets() {
    for agent in Agent::ALL {
        let machine = Machine::outside_temp(agent).await;
        let secret = machine.home().join(".ssh/id_ed25519");
        fs::create_dir_all(secret.parent().unwrap()).unwrap();
        fs::write(&secret, "PRIVATE-KEY").unwrap();
        let outside = machine.home().join("outside.txt");
        let mut running = machine.start().await;
        let command = format!("cat {}; echo out > {}", secret.display(), outside.display());
        running.prompt(&agent.run(&command)).await;
        answer(&mut running, PermissionKind::AllowOnce).await;
        let (said, _) = running.rest_of_turn().await;
        assert!(
            said.contains("DONE turn=1: ") && !said.contains("PRIVATE-KEY"),
            "{agent:?}: {said}"
        );
        assert!(!outside.exists(), "{agent:?}: {said}");
        running.driver.stop().await;
    }
}
