//! Sessions and turns that are longer than anybody reads at once.

use std::collections::HashSet;

use convoke_api::entry::{Entries, Entry, Fold};
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
        let before = entries[0].seq;
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
        more = older["more"] == true;
    }
    entries
}

/// The conversation by a fold of the whole log, without how things stand.
async fn folded(scene: &Scene, uid: &str) -> Entries {
    let (mut fold, mut entries) = (Fold::new(), Entries::new());
    let mut after = 0;
    loop {
        let path = format!("/api/sessions/{uid}/messages?after={after}&limit=1000");
        let messages = scene.get(&path).await.json();
        let Some(last) = messages.as_array().unwrap().last() else { return entries };
        after = last["seq"].as_u64().unwrap();
        for message in messages.as_array().unwrap() {
            let message = serde_json::from_value(message.clone()).unwrap();
            fold.apply(&message).into_iter().for_each(|change| entries.apply(change));
        }
    }
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
    let waiting = |entry: &&Value| entry["state"] == "queued" || entry["status"] == "pending";
    assert_eq!(running["queue"].as_array().unwrap().len(), 2);
    assert_eq!(entries.iter().filter(waiting).count(), 3, "two prompts and what is asked");
    assert!(entries.len() < 30, "{}", entries.len());
    assert!(entries.iter().all(|entry| entry["seq"].as_u64() >= entries[0]["seq"].as_u64()));
    let all = whole(&mut page, &session, &running).await;
    let states = |entries: &[Entry]| -> Vec<Value> {
        let states = entries.iter().map(|entry| json!(entry)["state"].clone());
        states.filter(|state| !state.is_null()).collect()
    };
    let mut found = states(&all);
    found.sort_by_key(Value::to_string);
    assert_eq!(found, ["queued", "queued", "running"]);

    // Over: pages make the same list as the log.
    let id = &asked["entry"]["permissionId"];
    let answer = json!({"type": "permission:answer", "permissionId": id, "optionId": "yes"});
    page.ask(answer).await;
    page.until_turns(3).await;
    let history = page.ask(open).await;
    let paged = whole(&mut page, &session, &history).await;
    let expected = folded(&scene, &uid).await;
    assert!(expected.conversation().len() > 1400, "{}", expected.conversation().len());
    for entry in &paged {
        let same = expected.get(&entry.entry_id).map(|entry| &entry.body);
        if same.is_some() || !is_standing(entry) {
            assert_eq!(same, Some(&entry.body), "{}", entry.entry_id);
        }
    }
    // But for the call that went on all the time, which stands where it was last heard of.
    let names = |entries: &[Entry]| -> Vec<String> {
        let names = entries.iter().filter(|entry| !is_standing(entry));
        names.map(|entry| entry.entry_id.clone()).filter(|name| !name.ends_with("-slow")).collect()
    };
    assert_eq!(names(&paged), names(expected.conversation()));
}

fn is_standing(entry: &Entry) -> bool {
    ["modes", "commands", "settings", "usage"].iter().any(|kind| json!(entry)["type"] == **kind)
}
