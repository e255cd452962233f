//! Turns with agents that ask, are cancelled, resume and fail in different ways.

use std::fmt::Write as _;

use convoke_agents::Error;
use convoke_agents::catalogue::Protocol;
use convoke_agents::driver::{Launch, Order, Start};
use convoke_core::request::{PermissionKind, Request};
use convoke_core::session::{Reply, Report};
use convoke_core::turn::{FailureKind, Stop};
use convoke_testkit::agent::{Ask, Script, Step, Tool};
use serde_json::{Value, json};

use super::scripted::{ID, Machine};

fn failed(detail: &str) -> Stop {
    Stop::failed(FailureKind::AgentError, detail)
}

#[tokio::test]
async fn s6_a_permission_goes_to_the_human_and_its_answer_to_the_agent() {
    let choices = [("y1", "allow_once"), ("y2", "allow_once"), ("n", "reject_once")];
    let ask = |tool: Tool| {
        let ask = Ask::new(tool, &choices).request(json!("id of any type"));
        Step::Ask(ask.then("y2", [Step::say("second")]).then("n", [Step::say("no")]))
    };
    let call = Tool::named("t1", "Remove", json!({"path": "x"}));
    let script = Script::new()
        .turn([Step::Call(call), ask(Tool::bare("t1"))])
        .turn([ask(Tool::named("t2", "Never announced", json!({})))]);
    let mut agent = Machine::new(Protocol::Acp, &script).start().await;
    for (title, reply, said) in [
        ("Remove", Reply::Chosen { option_id: "y2".to_owned() }, "second"),
        ("Never announced", Reply::Rejected { reason: None }, "no"),
    ] {
        agent.prompt("go").await;
        let Request::Permission(asked) = agent.asked().await else { panic!("no permission") };
        let kinds = asked.options.iter().map(|option| option.kind).collect::<Vec<_>>();
        assert_eq!(asked.title, title);
        let once = PermissionKind::AllowOnce;
        assert_eq!(kinds, [once, once, PermissionKind::RejectOnce]);
        agent.reply(asked.request_id, reply).await;
        assert_eq!(agent.rest_of_turn().await, (said.to_owned(), Stop::EndTurn));
    }
}

#[tokio::test]
async fn s6_claude_gets_the_answer_to_what_it_asks() {
    let ask = Ask::new(Tool::named("t1", "Bash", json!({"command": "rm x"})), &[])
        .then("allow", [Step::say("removed")])
        .then("deny", [Step::say("kept")]);
    let script = Script::new().turn([Step::Ask(ask.clone())]).turn([Step::Ask(ask)]);
    let mut agent = Machine::new(Protocol::Claude, &script).start().await;
    for (option, said) in [("allow", "removed"), ("deny", "kept")] {
        agent.prompt("go").await;
        let request = agent.asked().await.id();
        agent.reply(request, Reply::Chosen { option_id: option.to_owned() }).await;
        assert_eq!(agent.rest_of_turn().await, (said.to_owned(), Stop::EndTurn));
    }
}

#[tokio::test]
async fn a_request_that_is_taken_back_is_reported_so() {
    for protocol in [Protocol::Acp, Protocol::Claude] {
        let ask = Ask::new(Tool::named("t1", "Bash", json!({})), &[("y", "allow_once")]);
        let script = Script::new().turn([Step::AskInVain(ask), Step::say("never mind")]);
        let mut agent = Machine::new(protocol, &script).start().await;
        agent.prompt("go").await;
        let request = agent.asked().await.id();
        assert_eq!(agent.next().await, Report::Withdrew(request));
        assert_eq!(agent.rest_of_turn().await, ("never mind".to_owned(), Stop::EndTurn));
    }
}

#[tokio::test]
async fn a_cancelled_turn_ends_and_the_next_one_works() {
    for protocol in [Protocol::Acp, Protocol::Claude] {
        let script = Script::new().turn([Step::say("working"), Step::Hang]);
        let mut agent = Machine::new(protocol, &script).start().await;
        agent.prompt("go").await;
        assert_eq!(agent.next().await, Report::Said("working".to_owned()));
        agent.driver.send(Order::Cancel).await.unwrap();
        assert_eq!(agent.rest_of_turn().await.1, Stop::Cancelled);
        assert_eq!(agent.turn("again").await, ("again".to_owned(), Stop::EndTurn));
    }
}

#[tokio::test]
async fn a_turn_that_waits_for_a_permission_can_be_cancelled() {
    for protocol in [Protocol::Acp, Protocol::Claude] {
        let ask = Ask::new(Tool::named("t1", "Bash", json!({})), &[("y", "allow_once")]);
        let script = Script::new().turn([Step::Ask(ask)]);
        let mut agent = Machine::new(protocol, &script).start().await;
        agent.prompt("go").await;
        let request = agent.asked().await.id();
        agent.driver.send(Order::Cancel).await.unwrap();
        agent.reply(request, Reply::Cancelled).await;
        assert_eq!(agent.rest_of_turn().await.1, Stop::Cancelled);
    }
}

#[tokio::test]
async fn t11_what_is_replayed_is_not_reported_again() {
    let old = |text: &str| Step::say(text);
    let answers = [json!({}), Value::Null, json!({"sessionId": "ses_ü/1"})];
    for answer in answers {
        let steps = [Step::Echo, old("before"), Step::Answer(answer), old("after")];
        let script = Script::new().session("ses_ü/1").on("session/load", steps);
        let mut agent = Machine::new(Protocol::Acp, &script).resume("ses_ü/1").await;
        assert_eq!(agent.started.agent_session, "ses_ü/1");
        agent.prompt("new").await;
        assert_eq!(agent.next().await, Report::Said("new".to_owned()));
    }
}

#[tokio::test]
async fn t11_claude_gets_the_id_of_the_session_it_resumes() {
    let mut agent = Machine::new(Protocol::Claude, &Script::new()).resume(ID).await;
    assert_eq!(agent.started.agent_session, ID);
    assert_eq!(agent.turn("hello").await, ("hello".to_owned(), Stop::EndTurn));
}

#[tokio::test]
async fn errors_at_the_start_are_distinguished() {
    let resume = Start::Resume { agent_session: "gone".to_owned() };
    let new = Start::New { id: ID.to_owned() };
    let login = Step::fail(-32000, "log in first");
    for (method, step, start, reported) in [
        ("initialize", Step::Answer(json!({"protocolVersion": 2})), &new, "version 2 of ACP"),
        ("session/new", login.clone(), &new, "asks for a login: log in first"),
        ("session/new", Step::fail(-32603, "no"), &new, "the agent returned an error: no"),
        ("session/load", Step::fail(-32002, "what?"), &resume, "cannot resume the session: what?"),
        ("session/load", login, &resume, "asks for a login: log in first"),
    ] {
        let machine = Machine::new(Protocol::Acp, &Script::new().on(method, [step]));
        let error = machine.fail(Launch { start: start.clone(), ..machine.launch() }).await;
        assert!(error.to_string().contains(reported), "{method}: {error}");
        assert_eq!(matches!(error, Error::AuthRequired { .. }), reported.contains("login"));
    }
}

#[tokio::test]
async fn a_failure_is_reported_even_when_the_agent_calls_it_a_success() {
    let nothing = Step::stop("end_turn");
    let said_nothing = "the agent ended the turn without saying anything";
    for (protocol, step, detail) in [
        (Protocol::Acp, nothing, said_nothing),
        (Protocol::Acp, Step::fail(400, "Bad Request"), "Bad Request"),
        (Protocol::Claude, Step::fail(400, "API Error: 400"), "API Error: 400"),
    ] {
        let mut agent = Machine::new(protocol, &Script::new().turn([step])).start().await;
        assert_eq!(agent.turn("go").await.1, failed(detail));
        assert_eq!(agent.turn("again").await, ("again".to_owned(), Stop::EndTurn));
    }
}

#[tokio::test]
async fn pieces_of_a_message_are_reported_once() {
    for protocol in [Protocol::Acp, Protocol::Claude] {
        let pieces = ["one ", "two ", "three"].map(str::to_owned);
        let script = Script::new().turn([Step::Stream(pieces.to_vec())]);
        let mut agent = Machine::new(protocol, &script).start().await;
        agent.prompt("go").await;
        for piece in pieces {
            assert_eq!(agent.next().await, Report::Said(piece));
        }
        assert_eq!(agent.rest_of_turn().await, (String::new(), Stop::EndTurn));
    }
}

#[tokio::test]
async fn what_is_learned_late_of_a_tool_is_reported_when_it_is() {
    let late = Tool { name: None, ..Tool::named("t1", "Run ls", json!({"command": "ls"})) };
    let steps = [
        Step::Call(Tool { title: Some("Terminal".to_owned()), ..Tool::bare("t1") }),
        Step::Update(late),
        Step::Update(Tool::bare("t1").done("a.txt")),
        Step::Call(Tool::named("t2", "Never ends", json!({}))),
    ];
    let mut agent = Machine::new(Protocol::Acp, &Script::new().turn(steps)).start().await;
    agent.prompt("go").await;
    let mut reported = String::new();
    while let Report::ToolCalled(call) = agent.next().await {
        let output = call.result.and_then(|result| result.text);
        let args = call.args.unwrap_or_default();
        let title = call.title.unwrap_or_default();
        writeln!(reported, "{title}: {args} {:?} {output:?}", call.status).unwrap();
    }
    insta::assert_snapshot!(reported, @r#"
    Terminal: null None None
    Run ls: {"command":"ls"} None None
    Run ls: {"command":"ls"} Some(Complete) Some("a.txt")
    Never ends: null None None
    "#);
}

#[tokio::test]
async fn oddities_of_a_turn_change_nothing_for_the_human() {
    let call = Tool::named("t1", "Read", json!({}));
    let steps = [
        Step::Echo,
        Step::say(""),
        Step::Call(call.clone()),
        Step::Call(call),
        Step::Update(Tool::bare("never announced")),
        Step::Tell(json!({"sessionUpdate": "nobody_knows_this", "payload": 1})),
        Step::Request { method: "craft/drainMidTurnQueue".to_owned(), params: json!({}) },
        Step::stop("end_turn"),
        Step::Tell(json!({"sessionUpdate": "usage_update", "used": 1, "size": 2})),
    ];
    let mut agent = Machine::new(Protocol::Acp, &Script::new().turn(steps)).start().await;
    assert_eq!(agent.turn("go").await, (r#"{"error":-32601}"#.to_owned(), Stop::EndTurn));
    assert_eq!(agent.turn("again").await, ("again".to_owned(), Stop::EndTurn));
}
