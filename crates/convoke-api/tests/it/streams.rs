//! Readers of what streams: messages one by one, and events as they come.

use convoke_api::{Client, Cursor, Error, EventsSince, SessionEvent};
use convoke_core::message::{Message, Rev, Seq};
use serde_json::{Value, json};

use crate::scripted::{Line, Scripted, chunk, chunked};

const ID: &str = "00000000-0000-4000-8000-000000000001";
const AT: &str = "2026-11-15T10:00:00.000Z";

fn message(seq: u64) -> String {
    let content = json!({"type": "text", "text": format!("message {seq}, [with] \"brackets\"")});
    json!({
        "id": ID, "sessionId": ID, "seq": seq, "rev": seq, "role": "user", "content": content,
        "timestamp": AT, "updatedAt": AT,
    })
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

fn detail() -> Value {
    json!({
        "id": ID, "repoId": ID, "agent": "demo", "agentSessionId": null, "title": "messages",
        "status": "active", "acceptsPrompts": true, "archived": false, "createdAt": AT,
        "updatedAt": AT, "lastActiveAt": AT,
        "messageCount": 2, "metadata": {}, "activity": "idle", "attention": "idle", "unseen": false,
        "repo": {"id": ID, "name": "web", "path": "/home/me/web", "addedAt": AT},
    })
}

/// A session as text up to its messages, and then what is given.
fn with_messages(rest: &str) -> String {
    let head = detail().to_string();
    format!("{},\"messages\":[{rest}", head.strip_suffix('}').unwrap())
}

#[tokio::test]
async fn messages_are_read_one_by_one() {
    let text = with_messages(&format!("{},{},\n{}]}}", message(1), message(2), message(3)));
    for size in [1, 7, 10_000] {
        let server = Scripted::start(answer(&text, size)).await;
        let client = Client::connect(&server.url, "secret").unwrap();
        let mut messages = client.transcript("0000").await.unwrap().messages;
        let mut read = Vec::new();
        while let Some(message) = messages.next().await.unwrap() {
            read.push(message);
        }
        assert_eq!(seqs(&read), [1, 2, 3]);
        let asked = server.asked().await;
        assert!(asked.starts_with("GET /api/sessions/0000 HTTP/1.1"), "{asked}");
    }
}

#[tokio::test]
async fn a_list_that_is_cut_off_is_no_list() {
    let text = with_messages(&format!("{},", message(1)));
    let server = Scripted::start(answer(&text, 50)).await;
    let client = Client::connect(&server.url, "secret").unwrap();
    let mut messages = client.transcript("0000").await.unwrap().messages;
    assert_eq!(messages.next().await.unwrap().unwrap().seq, Seq::new(1));
    let error = messages.next().await.unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }), "{error:?}");
}

#[tokio::test]
async fn a_session_is_there_before_its_messages_are() {
    let head = with_messages(&message(1));
    let server = Scripted::start(vec![chunked(), chunk(&head), Line::Wait]).await;
    let client = Client::connect(&server.url, "secret").unwrap();
    let transcript = client.transcript("0000").await.unwrap();
    assert_eq!(transcript.detail.repo.name, "web");
    // Who has seen enough leaves, and the server hears of it.
    drop((transcript, client));
    server.asked().await;
}

fn cursor(rev: u64) -> Cursor {
    Cursor { generation: "3".to_owned(), rev: Rev::new(rev) }
}

fn event(name: &str, rev: u64, data: &str) -> String {
    format!("event: {name}\nid: {}\ndata: {data}\n\n", cursor(rev))
}

fn told(event: &SessionEvent) -> String {
    match event {
        SessionEvent::Reset => "reset".to_owned(),
        SessionEvent::Message(message) => format!("message {}", message.seq),
        SessionEvent::Delta(delta) => format!("{} += {:?}", delta.seq, delta.text),
        SessionEvent::State(state) => format!("{} at {}", state.state.kind().as_str(), state.rev),
    }
}

#[tokio::test]
async fn events_come_as_they_happen() {
    let delta = json!({"id": ID, "seq": 6, "rev": 7, "text": "more"}).to_string();
    let state = json!({"rev": 8, "kind": "queue", "prompts": []}).to_string();
    let whole = event("message", 9, &message(9));
    let script = vec![
        chunked(),
        chunk(": hello\n\n"),
        chunk("event: reset\ndata: {}\n\n"),
        chunk(&event("message", 6, &message(6))),
        chunk(&event("delta", 7, &delta)),
        chunk(&event("state", 8, &state)),
        chunk(&event("of-a-later-version", 8, "{}")),
        chunk(&whole[..40]),
        chunk(&whole[40..]),
        chunk(""),
    ];
    let server = Scripted::start(script).await;
    let client = Client::connect(&server.url, "secret").unwrap();
    let mut events = client.events("0000", &EventsSince::Cursor(cursor(5))).await.unwrap();
    let mut read = Vec::new();
    while let Some(event) = events.next().await.unwrap() {
        read.push(told(&event));
    }
    assert_eq!(read, ["reset", "message 6", "6 += \"more\"", "queue at 8", "message 9"]);
    assert_eq!(events.cursor(), Some(&cursor(9)));
    let asked = server.asked().await;
    assert!(asked.starts_with("GET /api/sessions/0000/events?cursor=3-5 HTTP/1.1"), "{asked}");
}

#[tokio::test]
async fn a_broken_stream_is_distinguished_from_an_ended_one() {
    let script = vec![chunked(), chunk(&event("message", 1, &message(1)))];
    let server = Scripted::start(script).await;
    let client = Client::connect(&server.url, "secret").unwrap();
    let mut events = client.events("0000", &EventsSince::Beginning).await.unwrap();
    assert_eq!(told(&events.next().await.unwrap().unwrap()), "message 1");
    let error = events.next().await.unwrap_err();
    assert!(matches!(error, Error::Broken { .. }) && error.is_unreachable(), "{error:?}");
    assert_eq!(events.cursor(), Some(&cursor(1)));
}
