//! What people do with the page.

use convoke_testkit::agent::{Script, Step};
use serde_json::{Value, json};

use super::scene::Scene;
use super::socket::Page;

/// Begins a session, and tells its names.
pub(super) async fn begin(page: &mut Page, scene: &Scene) -> (String, String) {
    let project = scene.project().await;
    let begun = page.ask(json!({"type": "session:create", "projectId": project})).await;
    let name = |field: &str| begun[field].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned();
    (name("sessionId"), name("uid"))
}

fn is(kind: &'static str) -> impl Fn(&Value) -> bool {
    move |frame| frame["type"] == kind
}

#[tokio::test]
async fn w5_what_makes_no_sense_is_answered_and_the_socket_stays_open() {
    let (scene, address) = Scene::listening(&Script::new()).await;
    let mut page = Page::open(&scene, address).await;
    let mut told = Vec::new();
    for text in [
        "nonsense",
        "[]",
        r#"{"type":"nope","requestId":"a"}"#,
        r#"{"type":"session:open","requestId":"b"}"#,
        r#"{"type":"session:open","sessionId":"nobody:x","requestId":"c"}"#,
        r#"{"type":"session:send","sessionId":"nobody:x","content":"x","requestId":"d"}"#,
        r#"{"type":"project:add","path":"relative","requestId":"e"}"#,
        r#"{"type":"ping","requestId":1}"#,
        r#"{"type":"ping","requestId":"f"}"#,
    ] {
        page.send(text).await;
        told.push(page.next().await.unwrap().to_string());
    }
    insta::assert_snapshot!(told.join("\n"), @r#"
    {"message":"not JSON: expected ident at line 1 column 2","type":"error"}
    {"message":"a message is a JSON object with a `type`","type":"error"}
    {"message":"unknown message type: nope","requestId":"a","type":"error"}
    {"message":"session:open: missing field `sessionId`","requestId":"b","type":"error"}
    {"hint":"there is no session nobody:x","message":"Could not load session","requestId":"c","type":"error"}
    {"message":"there is no session nobody:x","requestId":"d","type":"error"}
    {"hint":"give an absolute path","message":"the path relative is not absolute","requestId":"e","type":"error"}
    {"message":"`requestId` must be a string","type":"error"}
    {"requestId":"f","type":"pong"}
    "#);
}

#[tokio::test]
async fn w2_w5_a_session_is_created_talked_to_and_seen_by_others() {
    let script = Script::new().turn([
        Step::Think("hm".to_owned()),
        Step::Stream(vec!["Hello **".to_owned(), "you**\n\n".to_owned(), "- a".to_owned()]),
    ]);
    let (scene, address) = Scene::listening(&script).await;
    let (mut page, mut other) =
        (Page::open(&scene, address).await, Page::open(&scene, address).await);
    let (session, uid) = begin(&mut page, &scene).await;
    assert_eq!(other.until(is("session:created")).await["uid"], uid.as_str());
    let opened =
        page.ask(json!({"type": "session:open", "sessionId": session, "render": true})).await;
    assert_eq!(
        (&opened["type"], &opened["entries"], &opened["more"]),
        (&json!("session:history"), &json!([]), &json!(false))
    );
    let opened = page.until(is("session:opened")).await;
    assert_eq!(opened["requestId"], "r2", "both answers carry the id");
    let sent = page
        .ask(json!({"type": "session:send", "sessionId": session, "content": "hi there"}))
        .await;
    assert_eq!((&sent["type"], &sent["queued"]), (&json!("session:sent"), &json!(false)));
    assert_eq!(other.until(is("session:title-updated")).await["title"], "hi there");
    page.until_turns(1).await;
    insta::assert_snapshot!(page.shown().join("\n"), @"
    m1 user: hi there
    m2 thinking: hm
    m3 assistant: Hello **you**

    - a
    ");
    let mut late = Page::open(&scene, address).await;
    late.ask(json!({"type": "session:open", "sessionId": uid, "render": true})).await;
    assert_eq!((late.shown(), &late.html, late.rev), (page.shown(), &page.html, page.rev));
    insta::assert_snapshot!(page.html_at(3).join("\n"), @r"
    <p>Hello <strong>you</strong></p>
    <ul><li>a</li></ul>
    ");
}

#[tokio::test]
async fn w5_a_client_that_reconnects_gets_exactly_what_it_missed() {
    let script = Script::new().turn([Step::Count(400)]).turn([Step::Count(30)]);
    let (scene, address) = Scene::listening(&script).await;
    let mut page = Page::open(&scene, address).await;
    let (session, uid) = begin(&mut page, &scene).await;
    for text in ["one", "two"] {
        scene.turn(&uid, text).await;
    }
    page.ask(json!({"type": "session:open", "sessionId": session})).await;
    let (all, last) = (page.entries.clone(), page.rev);
    for after in [0, 1, 2, 3, last / 2, last - 20, last - 1, last] {
        let mut back = Page::open(&scene, address).await;
        // What the client has from before: everything that has not changed since that revision.
        let known = all.conversation().iter().chain(all.state());
        back.entries = known.filter(|entry| entry.rev.get() <= after).cloned().collect();
        let opened =
            back.ask(json!({"type": "session:open", "sessionId": session, "after": after})).await;
        assert_eq!((&opened["type"], &opened["rev"]), (&json!("session:opened"), &json!(last)));
        assert_eq!(back.entries.conversation(), all.conversation(), "after {after}");
    }
    let mut lost = Page::open(&scene, address).await;
    let ask = json!({"type": "session:open", "sessionId": session, "after": last + 1});
    assert_eq!(lost.ask(ask).await["type"], "session:history", "from the future");
    let ask = json!({"type": "session:open", "sessionId": session, "after": 1, "generation": "0"});
    assert_eq!(lost.ask(ask).await["type"], "session:history", "of another generation");
}

#[tokio::test]
async fn a_long_session_opens_with_its_newest_turns_and_is_paged_backwards() {
    let (scene, address) = Scene::listening(&Script::new()).await;
    let mut page = Page::open(&scene, address).await;
    let (session, uid) = begin(&mut page, &scene).await;
    for number in 1..=12 {
        scene.turn(&uid, &format!("prompt {number}")).await;
    }
    page.ask(json!({"type": "session:open", "sessionId": session})).await;
    let all = page.shown();
    let mut paged = Page::open(&scene, address).await;
    let opened = paged.ask(json!({"type": "session:open", "sessionId": session, "limit": 3})).await;
    assert_eq!(opened["more"], true);
    let mut entries = opened["entries"].as_array().unwrap().clone();
    assert!((3..10).contains(&entries.len()), "{}", entries.len());
    loop {
        let before = entries[0]["seq"].clone();
        let ask =
            json!({"type": "session:page", "sessionId": session, "before": before, "limit": 5});
        let older = paged.ask(ask).await;
        let mut longer = older["entries"].as_array().unwrap().clone();
        longer.append(&mut entries);
        entries = longer;
        if older["more"] == false {
            break;
        }
    }
    let mut whole = Page::open(&scene, address).await;
    whole.entries =
        entries.into_iter().map(|entry| serde_json::from_value(entry).unwrap()).collect();
    assert_eq!(whole.shown(), all);
}

#[tokio::test]
async fn w2_archiving_and_renaming_is_broadcast_to_all_sockets() {
    let (scene, address) = Scene::listening(&Script::new()).await;
    let (mut page, mut other) =
        (Page::open(&scene, address).await, Page::open(&scene, address).await);
    let (session, uid) = begin(&mut page, &scene).await;
    let rename = json!({"type": "session:rename", "sessionId": session, "title": "Better"});
    assert_eq!(page.ask(rename).await["type"], "session:title-updated");
    assert_eq!(other.until(is("session:title-updated")).await["title"], "Better");
    let archived = page.ask(json!({"type": "session:archive", "sessionId": session})).await;
    assert_eq!(
        (&archived["type"], &archived["sessionId"]),
        (&json!("session:archived"), &json!(session))
    );
    assert_eq!(other.until(is("session:archived")).await["uid"], uid.as_str());
    let project = scene.get("/api/repos").await.json()["repos"][0]["id"].clone();
    let list = json!({"type": "session:list", "projectId": project});
    assert_eq!(page.ask(list.clone()).await["sessions"], json!([]));
    page.ask(json!({"type": "session:unarchive", "sessionId": session})).await;
    assert_eq!(other.until(is("session:unarchived")).await["session"]["uid"], uid.as_str());
    assert_eq!(page.ask(list).await["sessions"][0]["title"], "Better");
}

#[tokio::test]
async fn s10_a_prompt_resumes_a_session_that_was_completed_because_it_was_idle() {
    let listener_settings = |settings: &mut convoke_engine::Settings| {
        settings.idle_timeout = std::time::Duration::from_millis(60);
    };
    let (scene, address) = Scene::listening_with(&Script::new(), listener_settings).await;
    let mut page = Page::open(&scene, address).await;
    let (session, _) = begin(&mut page, &scene).await;
    let ended = page.until(|frame| frame["session"]["status"] == "completed").await;
    assert_eq!(ended["session"]["reason"], "idle_timeout");
    assert_eq!(ended["session"]["acceptsPrompts"], true);
    let sent =
        page.ask(json!({"type": "session:send", "sessionId": session, "content": "again"})).await;
    assert_eq!(sent["type"], "session:sent", "{sent}");
    page.ask(json!({"type": "session:open", "sessionId": session})).await;
    while !page.shown().iter().any(|line| line.contains("assistant: ")) {
        page.next().await;
    }
}

#[tokio::test]
async fn s10_what_is_said_to_a_session_that_a_human_completed_is_refused_as_over_rest() {
    let (scene, address) = Scene::listening(&Script::new()).await;
    let mut page = Page::open(&scene, address).await;
    let (session, uid) = begin(&mut page, &scene).await;
    let end = json!({"type": "session:end", "sessionId": session, "how": "complete"});
    let ended = page.ask(end).await;
    assert_eq!(ended["session"]["acceptsPrompts"], false, "{ended}");
    let send = json!({"type": "session:send", "sessionId": session, "content": "again"});
    let refused = page.ask(send).await;
    let problem =
        scene.post(&format!("/api/sessions/{uid}/prompt"), json!({"text": "again"})).await;
    assert_eq!((problem.status, &refused["type"]), (409, &json!("error")));
    let problem = problem.json();
    assert_eq!(problem["code"], "session_ended");
    assert_eq!(refused["message"], problem["detail"]);
}

#[tokio::test]
async fn prompts_of_one_socket_keep_their_order() {
    let (scene, address) = Scene::listening(&Script::new()).await;
    let mut page = Page::open(&scene, address).await;
    let (session, uid) = begin(&mut page, &scene).await;
    page.ask(json!({"type": "session:open", "sessionId": session})).await;
    for number in 1..=20 {
        let said = json!({"type": "session:send", "sessionId": session, "content": format!("{number}"), "requestId": "s"});
        page.send(said.to_string()).await;
    }
    let mut answered = 0;
    while answered < 20 {
        let frame = page.until(|frame| frame["requestId"] == "s").await;
        assert_eq!(frame["type"], "session:sent", "{frame}");
        answered += 1;
    }
    page.until_turns(20).await;
    let messages = scene.get(&format!("/api/sessions/{uid}/messages")).await.json();
    let prompts: Vec<u32> = messages
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "user")
        .map(|message| message["content"]["text"].as_str().unwrap().parse().unwrap())
        .collect();
    assert_eq!(prompts, (1..=20).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_socket_is_closed_when_the_daemon_stops() {
    let (scene, address) = Scene::listening(&Script::new()).await;
    let mut page = Page::open(&scene, address).await;
    page.ask(json!({"type": "ping"})).await;
    scene.app.stop.cancel();
    assert_eq!(page.next().await, None);
}

/// Numbers that look random, and are the same each time.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

#[tokio::test]
async fn w5_ten_watchers_that_come_and_go_end_with_the_same_picture() {
    let steps = [
        Step::Think("let me see".to_owned()),
        Step::Count(300),
        Step::Plan(vec!["one".to_owned(), "two".to_owned()]),
        Step::Count(300),
    ];
    let (scene, address) = Scene::listening(&Script::new().turn(steps)).await;
    let mut page = Page::open(&scene, address).await;
    let (session, uid) = begin(&mut page, &scene).await;
    let prompt = json!({"text": "go"});
    assert_eq!(scene.post(&format!("/api/sessions/{uid}/prompt"), prompt).await.status, 202);
    let watch = |number: u64| {
        let (scene, session) = (&scene, &session);
        async move {
            let mut dice = Dice(number);
            let mut page = Page::open(scene, address).await;
            let open = json!({"type": "session:open", "sessionId": session, "render": number.is_multiple_of(2)});
            page.ask(open.clone()).await;
            while page.turns() == 0 && !page.entries.conversation().first().is_some_and(is_done) {
                page.next().await.unwrap();
                if dice.throw(20) == 0 {
                    page.reconnect(scene, address).await;
                    let mut again = open.clone();
                    again["after"] = json!(page.rev);
                    page.ask(again).await;
                }
            }
            (page.entries, page.rev)
        }
    };
    let pictures = futures_util::future::join_all((0..10).map(watch)).await;
    page.ask(json!({"type": "session:open", "sessionId": session})).await;
    for (number, picture) in pictures.into_iter().enumerate() {
        assert_eq!(picture, (page.entries.clone(), page.rev), "watcher {number}");
    }
}

fn is_done(entry: &convoke_api::entry::Entry) -> bool {
    serde_json::to_value(entry).unwrap()["state"] == "done"
}

#[tokio::test]
async fn a_socket_that_does_not_read_slows_no_other_down() {
    let script = Script::new().turn([Step::Flood(8 * 1024 * 1024)]);
    let (scene, address) = Scene::listening(&script).await;
    let mut deaf = Page::open(&scene, address).await;
    let (session, uid) = begin(&mut deaf, &scene).await;
    deaf.ask(json!({"type": "session:open", "sessionId": session})).await;
    scene.turn(&uid, "go").await;
    let mut page = Page::open(&scene, address).await;
    page.ask(json!({"type": "session:open", "sessionId": session})).await;
    // It has missed nothing: cut off or not, it is given the rest from the log.
    while deaf.turns() == 0 {
        if deaf.next().await.is_none() {
            deaf.reconnect(&scene, address).await;
            let open = json!({"type": "session:open", "sessionId": session, "after": deaf.rev});
            deaf.ask(open).await;
        }
    }
    let newest = page.entries.conversation();
    assert!(newest.len() > 1, "the history of 8 MiB holds its newest part");
    assert_eq!((deaf.entries.conversation().ends_with(newest), deaf.rev), (true, page.rev));
}
