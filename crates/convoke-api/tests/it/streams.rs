//! Readers of what streams: messages one by one, and events as they come.

use convoke_api::{Client, Error, MessageQuery};
use convoke_core::message::{Message, Seq};
use serde_json::{Value, json};

use crate::scripted::{Line, Scripted, chunk, chunked};

const ID: &str = "00000000-0000-4000-8000-000000000001";
const AT: &str = "2026-11-15T10:00:00.000Z";

fn message(seq: u64) -> String {
    let content = json!({"type": "text", "text": format!("message {seq}, [with] \"brackets\"")});
    json!({"id": ID, "sessionId": ID, "seq": seq, "role": "user", "content": content, "timestamp": AT})
        .to_string()
}

fn seqs(messages: &[Message]) -> Vec<u64> {
    messages.iter().map(|message| message.seq.get()).collect()
}

/// An answer in chunks of this many bytes, which ends as it should.
fn answer(text: &str, size: usize) -> Vec<Line> {
    let pieces: Vec<char> = text.chars().collect();
    let pieces = pieces.chunks(size).map(|piece| chunk(&piece.iter().collect::<String>()));
    std::iter::once(chunked()).chain(pieces).chain([chunk("")]).collect()
}

#[tokio::test]
async fn messages_are_read_one_by_one() {
    let text = format!("[{},{},\n{}]", message(1), message(2), message(3));
    for size in [1, 7, 10_000] {
        let server = Scripted::start(answer(&text, size)).await;
        let client = Client::connect(&server.url, "secret").unwrap();
        let query = MessageQuery { after: Some(Seq::START), ..MessageQuery::default() };
        let mut messages = client.messages("0000", &query).await.unwrap();
        let mut read = Vec::new();
        while let Some(message) = messages.next().await.unwrap() {
            read.push(message);
        }
        assert_eq!(seqs(&read), [1, 2, 3]);
        let asked = server.asked().await;
        assert!(asked.starts_with("GET /api/sessions/0000/messages?after=0 HTTP/1.1"), "{asked}");
    }
}

#[tokio::test]
async fn a_list_that_is_cut_off_is_no_list() {
    let text = format!("[{},", message(1));
    let server = Scripted::start(answer(&text, 50)).await;
    let client = Client::connect(&server.url, "secret").unwrap();
    let mut messages = client.messages("0000", &MessageQuery::default()).await.unwrap();
    assert_eq!(messages.next().await.unwrap().unwrap().seq, Seq::new(1));
    let error = messages.next().await.unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }), "{error:?}");
}

fn detail() -> Value {
    json!({
        "id": ID, "repoId": ID, "agent": "demo", "agentSessionId": null, "title": "messages",
        "status": "active", "archived": false, "createdAt": AT, "updatedAt": AT, "lastActiveAt": AT,
        "messageCount": 2, "metadata": {}, "activity": "idle",
        "repo": {"id": ID, "name": "web", "path": "/home/me/web", "addedAt": AT},
    })
}

#[tokio::test]
async fn a_session_is_there_before_its_messages_are() {
    let head = detail().to_string();
    let head = format!("{},\"messages\":[{}", head.strip_suffix('}').unwrap(), message(1));
    let server = Scripted::start(vec![chunked(), chunk(&head), Line::Wait]).await;
    let client = Client::connect(&server.url, "secret").unwrap();
    let transcript = client.transcript("0000").await.unwrap();
    assert_eq!(transcript.detail.repo.name, "web");
    // Who has seen enough leaves, and the server hears of it.
    drop((transcript, client));
    server.asked().await;
}

fn event(seq: u64) -> String {
    format!("id: {seq}\ndata: {}\n\n", message(seq))
}

#[tokio::test]
async fn events_come_as_they_happen_and_never_twice() {
    let script = vec![
        chunked(),
        chunk(": hello\n\n"),
        chunk(&event(5)),
        chunk(&event(6)),
        chunk(&event(6)),
        chunk(&event(7)[..40]),
        chunk(&event(7)[40..]),
        chunk(""),
    ];
    let server = Scripted::start(script).await;
    let client = Client::connect(&server.url, "secret").unwrap();
    let mut events = client.events("0000", Seq::new(5)).await.unwrap();
    let mut read = Vec::new();
    while let Some(message) = events.next().await.unwrap() {
        read.push(message);
    }
    assert_eq!((seqs(&read), events.last_seq()), (vec![6, 7], Seq::new(7)));
    let asked = server.asked().await;
    assert!(asked.starts_with("GET /api/sessions/0000/events?after=5 HTTP/1.1"), "{asked}");
}

#[tokio::test]
async fn a_stream_that_breaks_is_told_from_one_that_ends() {
    let server = Scripted::start(vec![chunked(), chunk(&event(1))]).await;
    let client = Client::connect(&server.url, "secret").unwrap();
    let mut events = client.events("0000", Seq::START).await.unwrap();
    assert_eq!(events.next().await.unwrap().unwrap().seq, Seq::new(1));
    let error = events.next().await.unwrap_err();
    assert!(matches!(error, Error::Broken { .. }) && error.is_unreachable(), "{error:?}");
    assert_eq!(events.last_seq(), Seq::new(1));
}
