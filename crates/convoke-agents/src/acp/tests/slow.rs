//! Sessions and agents that do not read in time: nothing is lost, and nothing blocks for ever.

use std::cell::Cell;

use convoke_core::message::Seq;
use convoke_core::session::Report;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;

use super::scene::Scene;
use crate::driver::{DriverRequest, Order, REPORTS_MAX, Start};
use crate::lines::Line;

fn chunk(number: usize) -> Vec<u8> {
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": number.to_string()}});
    let line = json!({"method": "session/update", "params": {"sessionId": "s", "update": update}});
    format!("{line}\n").into_bytes()
}

#[tokio::test(start_paused = true)]
async fn a_slow_session_stops_the_agent_and_loses_nothing() {
    let count = 3 * REPORTS_MAX;
    let (mut scene, _) = Scene::with_pipe(Start::New { id: "unused".to_owned() }, 1024);
    let (requests, mut queue) = mpsc::channel(8);
    let sent = Cell::new(0);
    let agent = async {
        for number in 0..count {
            scene.to_driver.write_all(&chunk(number)).await.unwrap();
            sent.set(number);
        }
    };
    let session = async {
        while scene.reports.len() < REPORTS_MAX {
            tokio::task::yield_now().await;
        }
        // Orders are followed all the same.
        let prompt =
            Order::Prompt { turn: Seq::new(1), text: "hello".to_owned(), attachments: Vec::new() };
        requests.send(DriverRequest::Order(prompt)).await.unwrap();
        let Ok(Some(Line::Json(line))) = scene.from_driver.next().await else {
            panic!("no prompt")
        };
        assert_eq!(line["method"], "session/prompt");
        assert!(sent.get() < 2 * REPORTS_MAX);
        for number in 0..count {
            let report = scene.reports.recv().await.unwrap();
            assert_eq!(report, Report::Said(number.to_string()));
        }
    };
    tokio::select! {
        end = scene.event_loop.run(&mut queue) => panic!("the conversation ended: {end:?}"),
        _ = async { tokio::join!(agent, session) } => {}
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_talks_before_it_reads_is_listened_to() {
    let (mut scene, _) = Scene::with_pipe(Start::New { id: "unused".to_owned() }, 1024);
    let (requests, mut queue) = mpsc::channel(8);
    let text = "x".repeat(1 << 20);
    requests
        .send(DriverRequest::Order(Order::Prompt {
            turn: Seq::new(1),
            text,
            attachments: Vec::new(),
        }))
        .await
        .unwrap();
    let agent = async {
        for number in 0..200 {
            scene.to_driver.write_all(&chunk(number)).await.unwrap();
        }
        let Ok(Some(Line::Json(line))) = scene.from_driver.next().await else {
            panic!("no prompt")
        };
        assert_eq!(line["method"], "session/prompt");
    };
    tokio::select! {
        end = scene.event_loop.run(&mut queue) => panic!("the conversation ended: {end:?}"),
        () = agent => {}
    }
}
