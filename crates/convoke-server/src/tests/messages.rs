//! Logs that are longer than a page, and following them.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Response};
use convoke_testkit::agent::{Script, Step};
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use super::scene::Scene;

fn seqs(messages: &Value) -> Vec<u64> {
    messages.as_array().unwrap().iter().map(|message| message["seq"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn s2_a_log_of_many_pages_is_read_in_order_and_whole() {
    let script = Script::new().turn([Step::Count(700)]);
    let scene = Scene::with(&script, |_| {}).await;
    let session = scene.session().await;
    let count = scene.turn(&session, "count").await.len() as u64;
    assert!(count > 700);
    let all = scene.get(&format!("/api/sessions/{session}/messages")).await.json();
    assert_eq!(seqs(&all), (1..=count).collect::<Vec<_>>());
    let shown = scene.get(&format!("/api/sessions/{session}")).await.json();
    assert_eq!((&shown["messages"], &shown["messageCount"]), (&all, &json!(count)));
    let path = |query: &str| format!("/api/sessions/{session}/messages?{query}");
    let some = scene.get(&path("after=100&limit=600")).await.json();
    assert_eq!(seqs(&some), (101..=700).collect::<Vec<_>>());
    let none = scene.get(&path(&format!("after={count}"))).await;
    assert_eq!(none.body, "[]");
    let last = all[count as usize - 1]["timestamp"].as_str().unwrap();
    assert_eq!(scene.get(&path(&format!("since={last}"))).await.body, "[]");
    let first = all[0]["timestamp"].as_str().unwrap().replace('Z', "%2B00:00");
    let later = scene.get(&path(&format!("since={first}"))).await.json();
    assert_eq!(seqs(&later).last(), Some(&count));
    assert!(seqs(&later).first() > Some(&1), "strictly after");
    let wrong = scene.get(&path("since=yesterday")).await.problem();
    assert_eq!(
        wrong,
        "422 invalid: the query does not fit: since: not an RFC 3339 timestamp: yesterday"
    );
}

/// Reads events until there are so many messages; tells their ids, and that each is its message's place.
async fn events(response: Response<Body>, count: usize) -> Vec<u64> {
    let mut pieces = response.into_body().into_data_stream();
    let mut text = String::new();
    let mut ids = Vec::new();
    while ids.len() < count {
        text.push_str(std::str::from_utf8(&pieces.next().await.unwrap().unwrap()).unwrap());
        while let Some((event, rest)) = text.split_once("\n\n") {
            if let Some(event) = event.strip_prefix("id: ") {
                let (id, data) = event.split_once("\ndata: ").unwrap();
                let message: Value = serde_json::from_str(data).unwrap();
                assert_eq!(message["seq"].to_string(), id);
                ids.push(id.parse().unwrap());
            }
            text = rest.to_owned();
        }
    }
    ids
}

#[tokio::test]
async fn events_replay_what_was_missed_and_then_follow() {
    let scene = Scene::new().await;
    let session = scene.session().await;
    let count = scene.turn(&session, "one").await.len();
    let path = format!("/api/sessions/{session}/events");
    let follow = |query: &str, last: Option<&str>| {
        let request = scene.request(Method::GET, &format!("{path}{query}"));
        let request = match last {
            Some(last) => request.header("last-event-id", last),
            None => request,
        };
        scene.send(request.body(Body::empty()).unwrap())
    };
    let response = follow("", None).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(events(response, count).await, (1..=count as u64).collect::<Vec<_>>());
    let response = follow("?after=1", Some("2")).await;
    assert_eq!(events(response, 1).await, [3], "what the browser says beats the address");
    let following = follow(&format!("?after={count}"), None).await;
    let more = scene.turn(&session, "two").await.len() - count;
    let expected: Vec<u64> = (count as u64 + 1..=(count + more) as u64).collect();
    assert_eq!(events(following, more).await, expected);
    assert_eq!(follow("", Some("x")).await.status(), 422);
}

#[tokio::test]
async fn a_stream_ends_when_the_daemon_stops() {
    let scene = Scene::new().await;
    let session = scene.session().await;
    let request = scene.request(Method::GET, &format!("/api/sessions/{session}/events"));
    let response = scene.send(request.body(Body::empty()).unwrap()).await;
    scene.app.stop.cancel();
    let mut pieces = response.into_body().into_data_stream();
    let drained = async { while pieces.next().await.is_some() {} };
    tokio::time::timeout(Duration::from_secs(5), drained).await.unwrap();
}
