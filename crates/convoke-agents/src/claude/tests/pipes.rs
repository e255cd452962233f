//! Pipes in memory: full ones, silent ones, and ones full of rubbish.

use convoke_core::message::Seq;
use convoke_core::turn::Stop;
use proptest::prelude::*;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex, split};
use tokio::task::JoinHandle;

use super::super::*;
use crate::driver::Order;
use crate::lines;
use crate::process::Pipes;

/// A conversation that runs, and the agent's end of its pipes.
struct Line {
    agent: DuplexStream,
    requests: mpsc::Sender<DriverRequest>,
    reports: mpsc::Receiver<Report>,
    task: JoinHandle<End>,
}

/// Opens pipes that hold so much, to a session that takes so many reports.
fn open(pipe_bytes: usize, reports_max: usize) -> Line {
    let (ours, agent) = duplex(pipe_bytes);
    let (read, write) = split(ours);
    let pipes = Pipes { lines: lines::Reader::new(read), input: lines::Writer::new(write) };
    let (sender, reports) = mpsc::channel(reports_max);
    let (requests, mut orders) = mpsc::channel(ORDERS_MAX);
    let conversation = Conversation::new("ses".to_owned(), || [7; 16]);
    let mut event_loop = EventLoop::new(conversation, pipes, sender);
    let task = tokio::spawn(async move { event_loop.run(&mut orders).await });
    Line { agent, requests, reports, task }
}

impl Line {
    async fn order(&self, order: Order) {
        self.requests.send(DriverRequest::Order(order)).await.unwrap();
    }

    async fn prompt(&self, text: String) {
        self.order(Order::Prompt { turn: Seq::new(1), text, attachments: Vec::new() }).await;
    }

    async fn say(&mut self, lines: &str) {
        self.agent.write_all(lines.as_bytes()).await.unwrap();
    }
}

const RESULT: &str = "{\"type\":\"result\",\"subtype\":\"success\"}\n";

fn ended() -> Report {
    Report::TurnEnded { turn: Seq::new(1), stop: Stop::EndTurn }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_does_not_read_can_still_be_read_and_stopped() {
    let mut line = open(64, 8);
    line.prompt("x".repeat(1 << 20)).await;
    line.say(RESULT).await;
    assert_eq!(line.reports.recv().await, Some(ended()));
    line.requests.send(DriverRequest::Stop).await.unwrap();
    assert_eq!(line.task.await.unwrap(), End::Stopped);
}

#[tokio::test(start_paused = true)]
async fn orders_are_taken_while_the_session_is_slow() {
    let mut line = open(1 << 20, 1);
    line.prompt("hello".to_owned()).await;
    let piece = r#"{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}}"#;
    for _ in 0..100 {
        line.say(&format!("{piece}\n")).await;
    }
    line.order(Order::Cancel).await;
    let mut heard = BufReader::new(&mut line.agent).lines();
    assert!(heard.next_line().await.unwrap().unwrap().contains("hello"));
    assert!(heard.next_line().await.unwrap().unwrap().contains("interrupt"));
    line.requests.send(DriverRequest::Stop).await.unwrap();
    assert_eq!(line.task.await.unwrap(), End::Stopped);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_gone_ends_the_conversation() {
    let Line { mut agent, requests: _requests, reports, task } = open(1 << 20, 1);
    drop(reports);
    agent.write_all(b"{\"type\":\"x\",\"content\":\"news\"}\n").await.unwrap();
    assert_eq!(task.await.unwrap(), End::Deserted);
    let line = open(1 << 20, 1);
    drop(line.requests);
    assert_eq!(line.task.await.unwrap(), End::Deserted);
    let line = open(1 << 20, 1);
    drop(line.agent);
    assert_eq!(line.task.await.unwrap(), End::Silent);
}

#[tokio::test(start_paused = true)]
async fn a_huge_tool_result_comes_through() {
    let mut line = open(1 << 16, 8);
    line.prompt("hello".to_owned()).await;
    let content = "x".repeat(5_000_000);
    let block = format!(r#"{{"type":"tool_result","tool_use_id":"t","content":"{content}"}}"#);
    line.say(&format!("{{\"type\":\"user\",\"message\":{{\"content\":[{block}]}}}}\n{RESULT}"))
        .await;
    assert!(matches!(line.reports.recv().await, Some(Report::ToolCalled(_))));
    assert_eq!(line.reports.recv().await, Some(ended()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_line_ends_the_connection(rubbish in prop::collection::vec("\\PC*|[\\[{\"0-9a-z:,]*", 0..20)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut line = open(1 << 20, 64);
            line.prompt("hello".to_owned()).await;
            for text in &rubbish {
                line.say(&format!("{text}\n")).await;
            }
            line.say(RESULT).await;
            while line.reports.recv().await.unwrap() != ended() {}
        });
    }
}
