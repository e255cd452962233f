//! Agents that hang, crash, flood and leave others behind.

use std::time::Duration;

use convoke_agents::Error;
use convoke_agents::catalogue::Protocol;
use convoke_agents::driver::Launch;
use convoke_core::id::RequestId;
use convoke_core::session::{Reply, Report};
use convoke_core::turn::Stop;
use convoke_testkit::agent::{Ignored, Script, Step};

use super::running::random;
use super::scripted::Machine;

/// What an agent that hangs is given.
const SHORT: Duration = Duration::from_millis(300);

#[tokio::test]
async fn t12_an_agent_that_hangs_while_it_starts_is_killed_at_its_timeout() {
    for (protocol, method) in [
        (Protocol::Acp, "initialize"),
        (Protocol::Acp, "session/new"),
        (Protocol::Claude, "initialize"),
    ] {
        let script = Script::new()
            .on(method, [Step::Spawn("child".to_owned()), Step::Hang])
            .ignoring(Ignored::Terminate)
            .ignoring(Ignored::EndOfInput);
        let machine = Machine::new(protocol, &script);
        let error = machine.fail(Launch { start_timeout: SHORT, ..machine.launch() }).await;
        assert!(matches!(error, Error::Timeout { after: SHORT, .. }), "{method}: {error}");
        machine.empties().await;
    }
}

#[tokio::test]
async fn output_before_a_crash_is_reported() {
    for protocol in [Protocol::Acp, Protocol::Claude] {
        for (step, code, signal) in [(Step::Exit(7), Some(7), None), (Step::Die(6), None, Some(6))]
        {
            let script = Script::new().turn([Step::say("half an ans"), Step::Complain(200), step]);
            let mut agent = Machine::new(protocol, &script).start().await;
            agent.prompt("go").await;
            assert_eq!(agent.next().await, Report::Said("half an ans".to_owned()));
            let Report::Exited(exit) = agent.next().await else { panic!("no end") };
            assert_eq!((exit.exit_code, exit.signal), (code, signal));
            assert!(exit.stderr_tail.unwrap().contains("complaint"));
        }
    }
}

#[tokio::test]
async fn what_an_agent_leaves_behind_ends_with_it() {
    for protocol in [Protocol::Acp, Protocol::Claude] {
        let script = Script::new().turn([Step::Spawn("child".to_owned()), Step::Exit(0)]);
        let machine = Machine::new(protocol, &script);
        let mut agent = machine.start().await;
        agent.prompt("go").await;
        let Report::Exited(exit) = agent.next().await else { panic!("no end") };
        assert_eq!(exit.exit_code, Some(0));
        assert!(machine.workspace().join("child").exists(), "there was no child");
        machine.empties().await;
    }
}

#[tokio::test]
async fn an_agent_that_does_not_leave_is_killed_with_its_children() {
    let script = Script::new()
        .turn([Step::Spawn("child".to_owned()), Step::say("ready"), Step::Hang])
        .ignoring(Ignored::Cancel)
        .ignoring(Ignored::Terminate)
        .ignoring(Ignored::EndOfInput);
    let machine = Machine::new(Protocol::Acp, &script);
    let mut agent = machine.start().await;
    agent.prompt("go").await;
    assert_eq!(agent.next().await, Report::Said("ready".to_owned()));
    // Dropped, not stopped: there is no time for manners when a session is gone.
    drop(agent);
    machine.empties().await;
}

#[tokio::test]
async fn a_slow_session_loses_none_of_ten_thousand_updates() {
    for protocol in [Protocol::Acp, Protocol::Claude] {
        let script = Script::new().turn([Step::Count(10_000)]);
        let mut agent = Machine::new(protocol, &script).start().await;
        agent.prompt("count").await;
        // While the session takes no report, the driver still takes more orders than fit into any queue.
        for _ in 0..100 {
            let request = RequestId::from_random(random());
            agent.reply(request, Reply::TimedOut).await;
        }
        let (said, stop) = agent.rest_of_turn().await;
        let numbers = said.split_whitespace().map(|number| number.parse::<u64>().unwrap());
        assert!(numbers.eq(1..=10_000), "something is lost or out of order");
        assert_eq!(stop, Stop::EndTurn);
    }
}

#[tokio::test]
async fn floods_and_long_lines_arrive_whole() {
    let flood = 20 << 20;
    let steps = [
        Step::Print("npm warn this is not JSON".to_owned()),
        Step::LongLine(600 << 10),
        Step::Complain(1 << 20),
        Step::Flood(flood),
        Step::Print("{\"half\": ".to_owned()),
    ];
    let script = Script::new().turn(steps);
    let mut agent = Machine::new(Protocol::Acp, &script).start().await;
    let (said, stop) = agent.turn("flood").await;
    assert_eq!((said.len(), stop), ("long".len() + flood, Stop::EndTurn));
    assert_eq!(agent.turn("still there?").await.0, "still there?");
}

#[tokio::test]
async fn an_agent_that_stops_in_order_leaves_nothing() {
    for protocol in [Protocol::Acp, Protocol::Claude] {
        let machine = Machine::new(protocol, &Script::new());
        let mut agent = machine.start().await;
        assert_eq!(agent.turn("hello").await, ("hello".to_owned(), Stop::EndTurn));
        assert_eq!(agent.driver.stop().await.exit_code, Some(0));
        machine.empties().await;
    }
}
