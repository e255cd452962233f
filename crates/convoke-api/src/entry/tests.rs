//! The fold: what a turn looks like, and what holds for every log.

mod scene;

use std::collections::BTreeMap;

use convoke_core::content::Content;
use convoke_core::message::{Message, Role};
use convoke_core::session::Unsettled;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use scene::{Scene, WORDS};

/// Every change that a script makes, a line each, under the seq of its message.
fn changes(script: &str) -> String {
    let mut fold = Fold::new();
    let mut lines = Vec::new();
    for message in &Scene::played(script.split_whitespace()).log {
        for change in fold.apply(message) {
            lines.push(format!("{} {}", message.seq, told(&change)));
        }
    }
    lines.join("\n")
}

fn told(change: &Change) -> String {
    match change {
        Change::Upsert(entry) => {
            let mut value = json!(entry);
            let fields = value.as_object_mut().unwrap();
            let id = fields.remove("entryId").unwrap();
            fields.remove("timestamp");
            format!("{}: {value}", id.as_str().unwrap())
        }
        Change::Append { entry_id, content } => format!("{entry_id} += {content:?}"),
        Change::Completed { entry_id, stop } => format!("{entry_id} ended: {}", json!(stop)),
        Change::Cancelling { entry_id } => format!("{entry_id} is being cancelled"),
    }
}

fn folded(log: &[Message]) -> Entries {
    let mut fold = Fold::new();
    let mut list = Entries::new();
    log.iter().flat_map(|message| fold.apply(message)).for_each(|change| list.apply(change));
    list
}

#[test]
fn w7_a_turn_becomes_its_entries() {
    insta::assert_snapshot!(changes("prompt think think say tool done say spend end"), @r#"
    1 m1: {"content":"prompt 1","seq":1,"state":"running","type":"user"}
    2 m2: {"content":"t2 ","partial":true,"seq":2,"type":"thinking"}
    3 m2 += "t3 "
    4 m2: {"content":"t2 t3 ","partial":false,"seq":2,"type":"thinking"}
    5 m5: {"content":"s4 ","partial":true,"seq":5,"type":"assistant"}
    6 m5: {"content":"s4 ","partial":false,"seq":5,"type":"assistant"}
    7 t1-t1: {"args":{"path":"a.txt"},"name":"Read","seq":7,"status":"running","toolCallId":"t1","type":"tool-call"}
    8 t1-t1: {"args":{"path":"a.txt"},"name":"Read","result":"out","seq":7,"status":"complete","toolCallId":"t1","type":"tool-call"}
    9 m9: {"content":"s9 ","partial":true,"seq":9,"type":"assistant"}
    10 usage: {"inputTokens":9,"seq":10,"type":"usage"}
    11 m9: {"content":"s9 ","partial":false,"seq":9,"type":"assistant"}
    12 m1: {"content":"prompt 1","seq":1,"state":"done","type":"user"}
    12 m1 ended: {"stopReason":"end_turn"}
    "#);
}

#[test]
fn a_waiting_prompt_runs_when_the_turn_before_it_ends() {
    insta::assert_snapshot!(changes("prompt prompt wait wait stop end plan plan"), @r#"
    1 m1: {"content":"prompt 1","seq":1,"state":"running","type":"user"}
    2 m2: {"content":"prompt 2","seq":2,"state":"queued","type":"user"}
    3 w1: {"event":"waiting","place":2,"seq":3,"text":"All agent processes are busy; this turn is number 2 in line.","type":"notice"}
    4 w1: {"event":"waiting","place":3,"seq":3,"text":"All agent processes are busy; this turn is number 3 in line.","type":"notice"}
    5 m1 is being cancelled
    6 m1: {"content":"prompt 1","seq":1,"state":"done","type":"user"}
    6 m1 ended: {"stopReason":"end_turn"}
    6 m2: {"content":"prompt 2","seq":6,"state":"running","type":"user"}
    7 p2: {"seq":7,"steps":[{"content":"step 7","status":"pending"}],"type":"plan"}
    8 p2: {"seq":7,"steps":[{"content":"step 8","status":"pending"}],"type":"plan"}
    "#);
}

#[test]
fn a_prompt_that_waited_stands_below_what_was_said_meanwhile() {
    let ids = |script: &str| {
        let scene = Scene::played(script.split_whitespace());
        let list = folded(&scene.log);
        let places: Vec<String> = list
            .conversation()
            .iter()
            .map(|entry| format!("{}@{}", entry.entry_id, entry.seq.get()))
            .collect();
        places.join(" ")
    };
    insta::assert_snapshot!(ids("prompt prompt prompt say end say"), @"m1@1 m3@3 m4@4 m2@6 m7@7");
}

#[test]
fn a_permission_names_the_tool_that_needs_it_even_when_its_call_is_over() {
    insta::assert_snapshot!(changes("prompt tool ask done allow exit"), @r#"
    1 m1: {"content":"prompt 1","seq":1,"state":"running","type":"user"}
    2 t1-t1: {"args":{"path":"a.txt"},"name":"Read","seq":2,"status":"running","toolCallId":"t1","type":"tool-call"}
    3 r00000000-0000-4000-8000-000000000001: {"options":[{"kind":"allow_once","name":"Allow","optionId":"yes"}],"permissionId":"00000000-0000-4000-8000-000000000001","seq":3,"status":"pending","title":"Read a.txt","tool":"Read","toolCallId":"t1","type":"permission"}
    4 t1-t1: {"args":{"path":"a.txt"},"name":"Read","result":"out","seq":2,"status":"complete","toolCallId":"t1","type":"tool-call"}
    5 r00000000-0000-4000-8000-000000000001: {"optionId":"yes","options":[{"kind":"allow_once","name":"Allow","optionId":"yes"}],"permissionId":"00000000-0000-4000-8000-000000000001","seq":3,"status":"answered","title":"Read a.txt","tool":"Read","toolCallId":"t1","type":"permission"}
    6 m6: {"event":"process_exited","seq":6,"text":"The agent's process ended: for an unknown reason.","type":"notice"}
    7 m1: {"content":"prompt 1","seq":1,"state":"done","type":"user"}
    7 m7: {"detail":"the agent's process ended: for an unknown reason","event":"turn_ended","seq":7,"stopReason":"failed","text":"The turn failed: the agent's process ended: for an unknown reason","turn":1,"type":"notice","why":"process_exited"}
    7 m1 ended: {"detail":"the agent's process ended: for an unknown reason","stopReason":"failed","why":"process_exited"}
    "#);
}

#[test]
fn a_late_answer_stands_where_the_question_was_asked() {
    let scene = Scene::played("prompt question timeout end prompt end late".split_whitespace());
    let whole = folded(&scene.log);
    let ids: Vec<&str> = whole.conversation().iter().map(|entry| &*entry.entry_id).collect();
    insta::assert_snapshot!(ids.join(" "), @"m1 r00000000-0000-4000-8000-000000000001 m5 m8");
    let EntryBody::Question(set) = &whole.conversation()[1].body else { panic!("no question") };
    assert_eq!((set.status, whole.conversation()[1].seq), (Status::Answered, Seq::new(2)));
}

#[test]
fn how_things_stand_is_told_once_and_by_the_newest() {
    let scene = Scene::played("spend modes prompt spend mode end".split_whitespace());
    let list = folded(&scene.log);
    let standing: Vec<String> = list
        .standing()
        .entries()
        .map(|entry| told(&Change::Upsert(Box::new(entry.clone()))))
        .collect();
    insta::assert_snapshot!(standing.join("\n"), @r#"
    modes: {"available":[{"id":"code","name":"CODE"},{"id":"plan","name":"PLAN"}],"current":"plan","seq":5,"type":"modes"}
    usage: {"inputTokens":3,"seq":4,"type":"usage"}
    "#);
    // A page begins with what is known already.
    let mut fold = Fold::with_standing(folded(&scene.log[..2]).standing().clone());
    let mut page = Entries::new();
    scene.log[2..].iter().flat_map(|it| fold.apply(it)).for_each(|change| page.apply(change));
    assert_eq!(page, list);
}

#[test]
fn a_call_after_its_turn_takes_nothing_from_the_one_before() {
    insta::assert_snapshot!(changes("prompt tool done end tool prompt done"), @r#"
    1 m1: {"content":"prompt 1","seq":1,"state":"running","type":"user"}
    2 t1-t1: {"args":{"path":"a.txt"},"name":"Read","seq":2,"status":"running","toolCallId":"t1","type":"tool-call"}
    3 t1-t1: {"args":{"path":"a.txt"},"name":"Read","result":"out","seq":2,"status":"complete","toolCallId":"t1","type":"tool-call"}
    4 m1: {"content":"prompt 1","seq":1,"state":"done","type":"user"}
    4 m1 ended: {"stopReason":"end_turn"}
    5 t5-t1: {"args":{"path":"a.txt"},"name":"Read","seq":5,"status":"running","toolCallId":"t1","type":"tool-call"}
    6 t5-t1: {"args":{"path":"a.txt"},"error":"the turn ended before the tool did","name":"Read","seq":5,"status":"error","toolCallId":"t1","type":"tool-call"}
    6 m6: {"content":"prompt 6","seq":6,"state":"running","type":"user"}
    7 t6-t1: {"args":{"path":"a.txt"},"name":"Read","result":"out","seq":7,"status":"complete","toolCallId":"t1","type":"tool-call"}
    "#);
}

#[test]
fn a_log_is_cut_where_no_words_are_open() {
    let scene = Scene::played("prompt say say prompt think tool say done end".split_whitespace());
    let first =
        |from: usize| cut(&scene.log[from..]).map_or(0, |at| scene.log[from + at].seq.get());
    // Words stand at 2, 3, 6 and 9, and end at 5, 7 and 10; the tool is at 8 and 11.
    let firsts: Vec<u64> = (0..=scene.log.len()).map(first).collect();
    assert_eq!(firsts, [1, 6, 6, 6, 6, 8, 8, 9, 11, 11, 12, 0, 0]);
}

fn scripts() -> impl Strategy<Value = Vec<&'static str>> {
    proptest::collection::vec(proptest::sample::select(&WORDS[..]), 0..120)
}

/// The entries of a part of a log, by what was unsettled where it begins.
fn folded_from(log: &[Message], at: usize) -> Entries {
    let (older, newer) = log.split_at(at);
    let mut unsettled = Unsettled::default();
    let _ = older.iter().rev().try_for_each(|message| unsettled.take(message.clone()));
    folded(&[unsettled.into_messages().as_slice(), newer].concat())
}

/// An entry without what a fold does not know that begins amid a tool call.
fn but_for_its_tool(entry: &Entry) -> EntryBody {
    let mut body = entry.body.clone();
    if let EntryBody::Permission(permission) = &mut body {
        permission.tool = None;
    }
    body
}

proptest! {
    #[test]
    fn a_fold_from_a_cut_gives_the_entries_of_the_whole(script in scripts(), place in 0.0..1.0f64) {
        let scene = Scene::played(script);
        let from = (scene.log.len() as f64 * place) as usize;
        let Some(at) = cut(&scene.log[from..]).map(|at| from + at) else { return Ok(()) };
        let (whole, before, page) =
            (folded(&scene.log), folded(&scene.log[..at]), folded_from(&scene.log, at));
        // Between turns calls, plans and waits are named by where they began, which may be before the cut.
        let is_between = |entry: &&Entry| {
            let name = entry.entry_id.strip_prefix(['t', 'p', 'w']);
            let turn = name.and_then(|name| name.split('-').next()).map(|turn| format!("m{turn}"));
            turn.is_some_and(|prompt| whole.get(&prompt).is_none())
        };
        for entry in page.conversation().iter().filter(|entry| !is_between(entry)) {
            let same = whole.get(&entry.entry_id).map(but_for_its_tool);
            prop_assert_eq!(same, Some(but_for_its_tool(entry)), "{}", entry.entry_id);
        }
        let first = scene.log[at].seq;
        let names = |list: &Entries| -> Vec<String> {
            let own = list.conversation().iter().filter(|entry| entry.seq >= first);
            own.filter(|entry| before.get(&entry.entry_id).is_none())
                .filter(|entry| !is_between(entry))
                .map(|entry| entry.entry_id.clone())
                .collect()
        };
        prop_assert_eq!(names(&page), names(&whole));
    }

    #[test]
    fn whoever_joins_late_ends_with_the_same_list(script in scripts(), cut in 0.0..1.0f64) {
        let scene = Scene::played(script);
        let joined = (scene.log.len() as f64 * cut) as usize;
        let mut fold = Fold::new();
        let mut list = Entries::new();
        for message in &scene.log[..joined] {
            fold.apply(message).into_iter().for_each(|change| list.apply(change));
        }
        // The history goes over the wire; what comes then is applied to what arrived.
        let (conversation, standing) = list.into_parts();
        let history: Vec<&Entry> = conversation.iter().chain(standing.entries()).collect();
        let wire = serde_json::to_string(&history).unwrap();
        let mut list: Entries =
            serde_json::from_str::<Vec<Entry>>(&wire).unwrap().into_iter().collect();
        for message in &scene.log[joined..] {
            fold.apply(message).into_iter().for_each(|change| list.apply(change));
        }
        prop_assert_eq!(list, folded(&scene.log));
    }

    #[test]
    fn words_are_whole_and_nothing_stays_open(script in scripts()) {
        let scene = Scene::played(script);
        let list = folded(&scene.log);
        let mut said = String::new();
        let mut shown = String::new();
        for message in &scene.log {
            if let (Role::Agent, Content::Text { text, .. }) = (message.role, &message.content) {
                said.push_str(text);
            }
        }
        for entry in list.conversation() {
            if let EntryBody::Assistant(words) = &entry.body {
                shown.push_str(&words.content);
            }
            if scene.session.summary().is_settled() {
                let open = match &entry.body {
                    EntryBody::Assistant(words) | EntryBody::Thinking(words) => words.partial,
                    EntryBody::ToolCall(call) => call.status == ToolStatus::Running,
                    EntryBody::User(prompt) => prompt.state != PromptState::Done,
                    EntryBody::Plan { .. }
                    | EntryBody::Permission(_)
                    | EntryBody::Question(_)
                    | EntryBody::Notice(_)
                    | EntryBody::Commands { .. }
                    | EntryBody::Modes { .. }
                    | EntryBody::Settings { .. }
                    | EntryBody::Usage(_) => false,
                };
                prop_assert!(!open, "{entry:?} is open");
            }
        }
        prop_assert_eq!(shown, said);
    }

    #[test]
    fn prompts_are_in_the_state_of_their_turns(script in scripts()) {
        let scene = Scene::played(script);
        let mut expected = BTreeMap::new();
        expected.extend(scene.session.queue().map(|seq| (seq, PromptState::Queued)));
        expected.extend(scene.session.running().map(|seq| (seq, PromptState::Running)));
        for entry in folded(&scene.log).conversation() {
            if let EntryBody::User(prompt) = &entry.body {
                let said = Seq::new(entry.entry_id[1..].parse().unwrap());
                let state = expected.get(&said).copied().unwrap_or(PromptState::Done);
                prop_assert_eq!(prompt.state, state);
            }
        }
    }
}
