//! Requests about connections, from a supervisor's question to the human's answer; the whole way is tried on the built
//! program.

use convoke_core::message::Seq;
use convoke_core::request::Request;
use convoke_core::turn::Stop;
use std::sync::atomic::{AtomicU8, Ordering};

use super::*;

static COUNT: AtomicU8 = AtomicU8::new(0);

fn random() -> [u8; 16] {
    [COUNT.fetch_add(1, Ordering::Relaxed); 16]
}

/// A session with an agent, and with a supervisor of it.
struct Scene {
    broker: Broker,
    gate: Gate,
    agent: mpsc::Sender<Report>,
    session: mpsc::Receiver<Report>,
}

impl Scene {
    fn new() -> Self {
        let (reports, session) = mpsc::channel(16);
        let (broker, gate, agent) = Broker::open(random, reports);
        Self { broker, gate, agent, session }
    }

    fn begin_turn(&self) {
        let prompt =
            Order::Prompt { turn: Seq::new(1), text: String::new(), attachments: Vec::new() };
        assert!(self.broker.intercept(prompt).is_some(), "the agent is given its prompt");
    }

    /// A connection in a separate task.
    fn connect(&self, host: &str) -> tokio::task::JoinHandle<Ruling> {
        let (gate, target) = (self.gate.clone(), Target::read(host, Some(443)).unwrap());
        tokio::spawn(async move { gate.ask(target).await })
    }

    async fn asked(&mut self) -> (RequestId, String) {
        match self.session.recv().await {
            Some(Report::Asked(Request::Permission(record))) => (record.request_id, record.title),
            other => panic!("{other:?}"),
        }
    }

    fn answer(&self, request: RequestId, reply: Reply) {
        assert_eq!(self.broker.intercept(Order::Reply { request, reply }), None);
    }

    fn choose(&self, request: RequestId, option_id: &str) {
        self.answer(request, Reply::Chosen { option_id: option_id.to_owned() });
    }

    async fn end_turn(&mut self) {
        let ended = Report::TurnEnded { turn: Seq::new(1), stop: Stop::Cancelled };
        self.agent.send(ended.clone()).await.unwrap();
        assert_eq!(self.session.recv().await, Some(ended));
    }
}

fn denied(why: &str) -> Ruling {
    Ruling::Deny { why: why.to_owned() }
}

#[tokio::test]
async fn k9_connections_to_one_host_are_one_request_and_its_answer_holds_for_the_turn() {
    let mut scene = Scene::new();
    scene.begin_turn();
    let one = scene.connect("a.test");
    let (request, title) = scene.asked().await;
    assert_eq!(title, "Connect to a.test:443");
    // The other host is asked about next, so the second connection made no separate request.
    let two = scene.connect("a.test");
    tokio::task::yield_now().await;
    let other = scene.connect("b.test");
    let (other_request, other_title) = scene.asked().await;
    assert_eq!(other_title, "Connect to b.test:443");
    scene.choose(request, "allow_turn");
    scene.choose(other_request, "deny");
    assert_eq!((one.await.unwrap(), two.await.unwrap()), (Ruling::Allow, Ruling::Allow));
    assert_eq!(other.await.unwrap(), denied("the user denied it"));
    assert_eq!(scene.connect("a.test").await.unwrap(), Ruling::Allow);
    assert_eq!(scene.connect("b.test").await.unwrap(), denied("the user denied it"));
    scene.end_turn().await;
    scene.begin_turn();
    let again = scene.connect("a.test");
    let (request, _) = scene.asked().await;
    scene.choose(request, "allow_session");
    assert_eq!(again.await.unwrap(), Ruling::Allow);
    scene.end_turn().await;
    assert_eq!(scene.connect("a.test").await.unwrap(), Ruling::Allow, "also between turns");
}

#[tokio::test]
async fn k9_without_a_turn_or_an_answer_a_connection_is_denied() {
    let mut scene = Scene::new();
    let why = "it is not on the list, and the user is asked only while a turn runs";
    assert_eq!(scene.connect("a.test").await.unwrap(), denied(why));
    scene.begin_turn();
    let waiting = scene.connect("a.test");
    let (request, _) = scene.asked().await;
    scene.end_turn().await;
    assert_eq!(waiting.await.unwrap(), denied("the turn ended before it was answered"));
    let late = Order::Reply { request, reply: Reply::Cancelled };
    assert_eq!(scene.broker.intercept(late.clone()), Some(late), "it is not known any more");
    scene.begin_turn();
    for (reply, why) in [
        (Reply::TimedOut, "the user did not answer in time"),
        (Reply::Cancelled, "the request was cancelled"),
        (Reply::Rejected { reason: Some("no".to_owned()) }, "the user denied it: no"),
        (Reply::Chosen { option_id: "odd".to_owned() }, "the user denied it"),
    ] {
        let waiting = scene.connect(&format!("{}.test", why.len()));
        let (request, _) = scene.asked().await;
        scene.answer(request, reply);
        assert_eq!(waiting.await.unwrap(), denied(why));
    }
}

#[tokio::test]
async fn k9_a_supervisor_is_answered_over_its_socket() {
    let mut scene = Scene::new();
    scene.begin_turn();
    let socket = net::UnixStream::from(scene.gate.serve().unwrap());
    socket.set_nonblocking(true).unwrap();
    let (reading, mut writing) = UnixStream::from_std(socket).unwrap().into_split();
    let target = Target::read("a.test:22", None).unwrap();
    let line = serde_json::to_string(&ConnectionRequest { id: 7, target }).unwrap();
    writing.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    let (request, title) = scene.asked().await;
    assert_eq!(title, "Connect to a.test:22");
    scene.choose(request, "allow_turn");
    let mut answer = String::new();
    BufReader::new(reading).read_line(&mut answer).await.unwrap();
    let answer: ConnectionAnswer = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer, ConnectionAnswer { id: 7, ruling: Ruling::Allow });
}
