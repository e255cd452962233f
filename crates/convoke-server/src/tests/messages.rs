//! Logs that are longer than a page, and following them.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Response};
use convoke_testkit::agent::{Script, Step, Tool};
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use super::scene::Scene;

fn seqs(messages: &Value) -> Vec<u64> {
    messages.as_array().unwrap().iter().map(|message| message["seq"].as_u64().unwrap()).collect()
}

fn revs(messages: &Value) -> Vec<u64> {
    messages.as_array().unwrap().iter().map(|message| message["rev"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn s2_m1_a_conversation_of_many_pages_is_read_in_order_and_whole() {
    let tool = |number: u32| {
        let call = Tool::named(&format!("t{number}"), "Read", json!({}));
        [Step::Call(call), Step::Update(Tool::bare(&format!("t{number}")).done("ok"))]
    };
    let steps: Vec<Step> = (0..400).flat_map(tool).chain([Step::Count(700)]).collect();
    let script = Script::new().turn(steps);
    let scene = Scene::with(&script, |_| {}).await;
    let session = scene.session().await;
    let count = scene.turn(&session, "count").await.len() as u64;
    assert_eq!(count, 402, "a prompt, its calls, and one answer in 700 pieces");
    let answer = scene.get(&format!("/api/sessions/{session}/messages")).await;
    assert!(answer.headers.contains_key("convoke-generation"));
    let all = answer.json();
    assert_eq!(seqs(&all), (1..=count).collect::<Vec<_>>());
    let shown = scene.get(&format!("/api/sessions/{session}")).await.json();
    assert_eq!((&shown["messages"], &shown["messageCount"]), (&all, &json!(count)));
    let path = |query: &str| format!("/api/sessions/{session}/messages?{query}");
    // The change feed: by revision, each message once, and the last one's revision is the next cursor.
    let (mut after, mut fed) = (0, Vec::new());
    loop {
        let some = scene.get(&path(&format!("after={after}&limit=100"))).await.json();
        let Some(last) = revs(&some).last().copied() else { break };
        assert!(revs(&some).is_sorted());
        fed.extend(seqs(&some));
        after = last;
    }
    fed.sort_unstable();
    assert_eq!(fed, (1..=count).collect::<Vec<_>>());
    let older = scene.get(&path("before=101&limit=30")).await.json();
    assert_eq!(seqs(&older), (71..=100).collect::<Vec<_>>());
    let last = all.as_array().unwrap().iter().map(|it| it["updatedAt"].as_str().unwrap()).max();
    assert_eq!(scene.get(&path(&format!("since={}", last.unwrap()))).await.body, "[]");
    let first = all[0]["timestamp"].as_str().unwrap().replace('Z', "%2B00:00");
    let later = scene.get(&path(&format!("since={first}"))).await.json();
    assert!(seqs(&later).contains(&count));
    let wrong = scene.get(&path("since=yesterday")).await.problem();
    assert_eq!(wrong, "422 invalid: invalid query: since: not an RFC 3339 timestamp: yesterday");
    let early = scene.get(&path("before=5&after=1")).await.json();
    assert!(revs(&early).is_sorted() && revs(&early)[0] > 1);
    assert!(seqs(&early).iter().all(|seq| *seq < 5));
}

/// Reads events until there are so many; gives their names and revisions.
async fn events(response: Response<Body>, count: usize) -> Vec<(String, u64)> {
    let mut pieces = response.into_body().into_data_stream();
    let mut text = String::new();
    let mut found = Vec::new();
    while found.len() < count {
        text.push_str(std::str::from_utf8(&pieces.next().await.unwrap().unwrap()).unwrap());
        while let Some((event, rest)) = text.split_once("\n\n") {
            if let Some(event) = event.strip_prefix("event: ") {
                let (name, rest) = event.split_once('\n').unwrap();
                let rev = match rest.strip_prefix("id: ") {
                    Some(rest) => {
                        let (id, data) = rest.split_once("\ndata: ").unwrap();
                        let data: Value = serde_json::from_str(data).unwrap();
                        let rev = id.split_once('-').unwrap().1;
                        assert_eq!(data["rev"].to_string(), rev);
                        rev.parse().unwrap()
                    }
                    None => 0,
                };
                found.push((name.to_owned(), rev));
            }
            text = rest.to_owned();
        }
    }
    found
}

#[tokio::test]
async fn m2_events_bring_what_changed_and_then_follow() {
    let scene = Scene::new().await;
    let session = scene.session().await;
    scene.turn(&session, "one").await;
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
    let messages = scene.get(&format!("/api/sessions/{session}/messages?after=0")).await.json();
    let changed = revs(&messages);
    let newest = scene.get(&format!("/api/sessions/{session}/state")).await.json();
    let states = newest["state"].as_array().unwrap().len();
    let found = events(response, changed.len() + states).await;
    let of_messages = found.iter().filter(|(name, _)| name == "message").map(|(_, rev)| *rev);
    assert!(of_messages.eq(changed.iter().copied()), "{found:?}");
    let generation = newest["generation"].as_str().unwrap().to_owned();
    let newest = newest["rev"].as_u64().unwrap();
    let before = format!("{generation}-{}", changed[changed.len() - 2]);
    let response = follow("?after=1", Some(&before)).await;
    assert_eq!(events(response, 1).await[0].1, changed[changed.len() - 1], "the header wins");
    let following = follow(&format!("?cursor={generation}-{newest}"), None).await;
    scene.turn(&session, "two").await;
    let found = events(following, 2).await;
    assert!(found.iter().all(|(_, rev)| *rev > newest), "{found:?}");
    for strange in [format!("{generation}-{}", newest + 1_000_000), "0-1".to_owned()] {
        let response = follow("", Some(&strange)).await;
        assert_eq!(events(response, 1).await[0].0, "reset");
    }
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
