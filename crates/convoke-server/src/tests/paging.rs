//! Sessions and turns that are longer than a page.

use std::collections::HashSet;

use convoke_api::entry::{Entries, Entry};
use convoke_core::message::Message;
use convoke_testkit::agent::{Ask, Script, Step, Tool};
use serde_json::{Value, json};

use super::scene::Scene;
use super::socket::Page;
use super::stories::begin;

/// Pages backwards from a history to the beginning, as a client does: what it has already it keeps.
async fn whole(page: &mut Page, session: &str, history: &Value) -> Vec<Entry> {
    let parsed =
        |frame: &Value| -> Vec<Entry> { serde_json::from_value(frame["entries"].clone()).unwrap() };
    let mut entries = parsed(history);
    let mut more = history["more"] == true;
    while more {
        // Open ones that are older than the rest come with the history; the page is asked for by the rest.
        let before = oldest_of_the_rest(&entries);
        let ask =
            json!({"type": "session:page", "sessionId": session, "before": before, "limit": 50});
        let older = page.ask(ask).await;
        let names: HashSet<&str> = entries.iter().map(|entry| &*entry.entry_id).collect();
        let mut fresh = parsed(&older);
        assert!(fresh.len() <= 60, "{} in a page of 50", fresh.len());
        fresh.retain(|entry| !names.contains(&*entry.entry_id));
        assert!(!fresh.is_empty(), "a page before {before} brings nothing");
        fresh.append(&mut entries);
        entries = fresh;
        entries.sort_by_key(|entry| entry.seq);
        more = older["more"] == true;
    }
    entries
}

/// The place of the oldest entry without a gap to the newest.
fn oldest_of_the_rest(entries: &[Entry]) -> u64 {
    let mut seqs: Vec<u64> =
        entries.iter().map(|entry| entry.seq.get()).filter(|seq| *seq > 0).collect();
    seqs.sort_unstable();
    let mut oldest = *seqs.last().unwrap();
    for seq in seqs.into_iter().rev() {
        if seq + 1 < oldest {
            break;
        }
        oldest = seq;
    }
    oldest
}

/// The conversation as REST gives it.
async fn told(scene: &Scene, uid: &str) -> Entries {
    let messages = scene.get(&format!("/api/sessions/{uid}/messages")).await.json();
    let messages: Vec<Message> = serde_json::from_value(messages).unwrap();
    messages.iter().map(Entry::from).collect()
}

#[tokio::test]
async fn w2_a_turn_of_thousands_opens_with_its_newest_entries_and_is_paged_whole() {
    let call = |id: String| Tool::named(&id, "Read", json!({"path": id}));
    let work = (0..700).flat_map(|number| {
        let words = Step::Stream(vec!["so ".to_owned(), format!("{number}")]);
        [
            Step::Call(call(format!("t{number}"))),
            Step::Update(Tool::bare(&format!("t{number}")).done("ok")),
            words,
        ]
    });
    let ask = Step::Ask(Ask::new(Tool::bare("slow"), &[("yes", "allow_once")]));
    let slow = Step::Call(call("slow".to_owned()));
    let end = [ask, Step::Update(Tool::bare("slow").done("at last"))];
    let steps: Vec<Step> = [slow].into_iter().chain(work).chain(end).collect();
    let (scene, address) = Scene::listening(&Script::new().when("go", steps)).await;
    let mut page = Page::open(&scene, address).await;
    let (session, uid) = begin(&mut page, &scene).await;
    page.ask(json!({"type": "session:open", "sessionId": session})).await;
    for text in ["go", "then this", "and that"] {
        page.ask(json!({"type": "session:send", "sessionId": session, "content": text})).await;
    }
    let asked = page
        .until(|frame| {
            frame["entry"]["type"] == "permission" && frame["entry"]["status"] == "pending"
        })
        .await;

    // While it runs: what waits is there, and stands where older ones can be asked for.
    let open = json!({"type": "session:open", "sessionId": session, "limit": 20});
    let running = page.ask(open.clone()).await;
    let entries = running["entries"].as_array().unwrap();
    let queue = entries.iter().find(|entry| entry["entryId"] == "queue").unwrap();
    assert_eq!(queue["prompts"].as_array().unwrap().len(), 2);
    let is_open = |entry: &&Value| entry["state"] == "running" || entry["status"] == "pending";
    assert_eq!(entries.iter().filter(is_open).count(), 2, "the prompt that runs and what is asked");
    assert!(entries.len() < 30, "{}", entries.len());
    let all = whole(&mut page, &session, &running).await;
    let states = |entries: &[Entry]| -> Vec<Value> {
        let states = entries.iter().map(|entry| json!(entry)["state"].clone());
        states.filter(|state| !state.is_null()).collect()
    };
    let mut found = states(&all);
    found.sort_by_key(Value::to_string);
    assert_eq!(found, ["running"]);

    // Over: pages make the same list as the log.
    let id = &asked["entry"]["permissionId"];
    let answer = json!({"type": "permission:answer", "permissionId": id, "optionId": "yes"});
    page.ask(answer).await;
    page.until_turns(3).await;
    let history = page.ask(open).await;
    let paged = whole(&mut page, &session, &history).await;
    let expected = told(&scene, &uid).await;
    assert!(expected.conversation().len() > 1400, "{}", expected.conversation().len());
    for entry in &paged {
        let same = expected.get(&entry.entry_id).map(|entry| &entry.body);
        if same.is_some() || !is_standing(entry) {
            assert_eq!(same, Some(&entry.body), "{}", entry.entry_id);
        }
    }
    let names = |entries: &[Entry]| -> Vec<String> {
        let names = entries.iter().filter(|entry| !is_standing(entry));
        names.map(|entry| entry.entry_id.clone()).collect()
    };
    assert_eq!(names(&paged), names(expected.conversation()));
}

fn is_standing(entry: &Entry) -> bool {
    ["modes", "commands", "settings", "usage", "queue"]
        .iter()
        .any(|kind| json!(entry)["type"] == **kind)
}
