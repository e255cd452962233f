//! Search: finds what people and agents said, as they said it.

use convoke_core::content::{Content, Tool, ToolStatus, Usage};
use convoke_core::message::{Draft, Seq};
use convoke_core::notice::{AgentEvent, LifecycleEvent, Notice};
use convoke_core::question::{Answer, Choice, Question};
use convoke_core::request::{Answers, QuestionRecord, State};
use convoke_core::session::{Change, Command, Report};
use convoke_core::state::SessionState;
use convoke_store::{Error, HitPage, SearchOrder, SearchQuery, SessionKind};

use crate::world::{
    Talk, World, add_project, at, notice, prompt, prompts, request_id, says, system,
};

fn everywhere(text: &str) -> SearchQuery {
    SearchQuery { text: text.to_owned(), ..SearchQuery::default() }
}

/// Where nothing is found.
const NOWHERE: [u64; 0] = [];

async fn search(world: &World, text: &str) -> HitPage {
    world.store.search(everywhere(text), None, 100).await.unwrap()
}

/// The places of the hits in one session, newest first.
async fn places(world: &World, text: &str) -> Vec<u64> {
    search(world, text).await.hits.iter().map(|hit| hit.seq.get()).collect()
}

#[tokio::test]
async fn words_that_came_in_pieces_are_found_whole() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    talk.turn(&world.store, "mend the roof", &["The ro", "of is wa", "ter", "tight now"]).await;
    assert_eq!(places(&world, "watertight").await, [2]);
    assert_eq!(places(&world, "roof").await, [2, 1]);
    assert_eq!(places(&world, "roof now").await, [2]);
    assert_eq!(places(&world, "ter").await, NOWHERE, "half a word is none");
    let hit = search(&world, "watertight").await.hits.remove(0);
    assert_eq!((hit.session.id, hit.seq, hit.timestamp), (talk.id, Seq::new(2), at(2)));
    let excerpt: Vec<_> = hit.excerpt.iter().map(|part| (&*part.text, part.matched)).collect();
    assert_eq!(excerpt, [("The roof is ", false), ("watertight", true), (" now", false)]);
}

#[tokio::test]
async fn an_answer_is_one_even_when_others_speak_in_between() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    talk.turn(&world.store, "first", &["earlier"]).await;
    let usage = Report::State(SessionState::Usage(Usage::default()));
    let compacted = Report::Noticed(Notice::new(AgentEvent::Compacted));
    for command in [
        prompts("second"),
        says("elder"),
        says("ber"),
        prompts("meanwhile"),
        Command::Agent(usage),
        Command::Agent(compacted),
        says("ry"),
    ] {
        talk.play(&world.store, command).await;
    }
    assert_eq!(places(&world, "elderberry").await, NOWHERE, "it goes on");
    assert_eq!(places(&world, "meanwhile").await, NOWHERE, "it waits in the queue");
    let end = talk.ends();
    talk.play(&world.store, end).await;
    assert_eq!(places(&world, "elderberry").await, [4]);
    assert_eq!(places(&world, "meanwhile").await, [6]);
    assert_eq!(places(&world, "earlier").await, [2], "the answer before it is another one");
    assert_eq!(places(&world, "earlier elderberry").await, NOWHERE);
}

#[tokio::test]
async fn text_that_is_not_stored_is_not_found() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    let tool = Tool {
        tool_call_id: "1".to_owned(),
        tool: "secret".to_owned(),
        title: Some("secret".to_owned()),
        kind: None,
        args: serde_json::json!({"secret": "secret"}),
        status: ToolStatus::Running,
        result: None,
    };
    let words = |content| Change::Begin(Draft::agent(content));
    let changes = [
        words(Content::Thinking { text: "secret".to_owned(), partial: false }),
        system(Content::Tool(tool)),
        notice(LifecycleEvent::Renamed { title: "secret".to_owned() }),
        words(Content::partial_text("an unfinished secret".to_owned())),
    ];
    talk.say(&world.store, changes).await;
    assert_eq!(places(&world, "secret").await, NOWHERE);
    assert_eq!(places(&world, "partial").await, NOWHERE, "nor the JSON around it");
}

#[tokio::test]
async fn questions_are_found_with_their_answers() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    let option = |label: &str| Choice { label: label.to_owned(), description: None };
    let question = Question {
        prompt: "Which database?".to_owned(),
        title: "Storage".to_owned(),
        options: vec![option("Postgres"), option("SQLite")],
        multi_select: false,
    };
    let answer = Answer {
        question_index: 0,
        selected_option: Some("SQLite".to_owned()),
        selected_options: None,
        custom_text: Some("with backups".to_owned()),
        timestamp: at(5),
    };
    let (request_id, questions) = (request_id(), vec![question]);
    let record = |state| {
        let questions = questions.clone();
        Content::Question(QuestionRecord { by: None, request_id, questions, state })
    };
    talk.say(&world.store, [system(record(State::Pending))]).await;
    assert_eq!(places(&world, "database").await, [1]);
    assert_eq!(places(&world, "sqlite backups").await, NOWHERE);
    for state in [State::TimedOut, State::Answered(Answers { answers: vec![answer] })] {
        let content = record(state);
        talk.say(&world.store, [Change::Replace { seq: Seq::new(1), content }]).await;
    }
    assert_eq!(places(&world, "database").await, [1], "one question is one hit");
    assert_eq!(places(&world, "postgres").await, [1]);
    assert_eq!(places(&world, "sqlite backups").await, [1]);
}

#[tokio::test]
async fn nothing_a_person_types_is_syntax() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    let said = [
        "foo-bar baz",
        "this AND that",
        "NEAR the end",
        "call f(x) -> y",
        "a \"quoted\" word",
        "the Größe of a façade",
        "convoked and convoking",
        "50% of {text: x}",
        "mark\u{2}ed\u{3} up",
    ];
    talk.say(&world.store, said.map(prompt)).await;
    let cases: [(&str, &[u64]); 17] = [
        ("foo-bar", &[1]),
        ("bar", &[1]),
        ("bar-foo", &[]),
        ("AND", &[7, 2]),
        ("this OR that", &[]),
        ("NOT", &[]),
        ("NEAR(the end)", &[3]),
        ("near end", &[3]),
        ("f(x)", &[4]),
        ("->", &[]),
        ("\"", &[]),
        ("\"quoted", &[5]),
        ("größe", &[6]),
        ("convok*", &[7]),
        ("text: x", &[8]),
        ("text:x", &[8]),
        ("marked", &[]),
    ];
    for (text, expected) in cases {
        assert_eq!(places(&world, text).await, expected, "{text}");
    }
    for nothing in ["", "  \n\t ", "***", "()", "\u{0}"] {
        let empty = HitPage::default();
        assert_eq!(search(&world, nothing).await, empty, "{nothing:?}");
    }
}

#[tokio::test]
async fn diacritics_and_case_do_not_matter_and_a_star_finds_beginnings() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    talk.say(&world.store, ["Straßen in Düsseldorf", "une façade", "naïve Résumé"].map(prompt))
        .await;
    for (text, expected) in [
        ("dusseldorf", vec![1]),
        ("DÜSSELDORF", vec![1]),
        ("facade", vec![2]),
        ("naive resume", vec![3]),
        ("résu*", vec![3]),
        ("düs*", vec![1]),
        ("du*", vec![]),
        ("fac* un*", vec![]),
        ("fac* une*", vec![2]),
    ] {
        assert_eq!(places(&world, text).await, expected, "{text}");
    }
}

#[tokio::test]
async fn a_search_stays_within_its_session_and_its_project() {
    let world = World::new().await;
    let other = add_project(&world.store, "/srv/other").await;
    let mut talks: Vec<Talk> = Vec::new();
    for (project, said_at) in [(world.project, at(1)), (world.project, at(2)), (other, at(3))] {
        let mut talk = world.talk_in(project, SessionKind::Session, at(0)).await;
        let batch = talk.next_at(said_at, [prompt("common word s1 p1")]);
        talk.record(&world.store, &batch).await.unwrap();
        talks.push(talk);
    }
    let find = async |project, session| {
        let query = SearchQuery { project, session, ..everywhere("word") };
        let hits = world.store.search(query, None, 10).await.unwrap().hits;
        hits.iter().map(|hit| hit.session.id).collect::<Vec<_>>()
    };
    let [one, two, three] = [talks[0].id, talks[1].id, talks[2].id];
    assert_eq!(find(None, None).await, [three, two, one]);
    assert_eq!(find(Some(world.project), None).await, [two, one]);
    assert_eq!(find(Some(other), None).await, [three]);
    assert_eq!(find(None, Some(two)).await, [two]);
    assert_eq!(find(Some(other), Some(two)).await, []);
    assert_eq!(places(&world, "s2").await, NOWHERE, "how a scope is written is nobody's word");
    let unknown = convoke_core::id::SessionId::from_random([9; 16]);
    let query = SearchQuery { session: Some(unknown), ..everywhere("word") };
    let refused = world.store.search(query, None, 10).await;
    assert!(matches!(refused, Err(Error::UnknownSession { .. })));
}

#[tokio::test]
async fn hits_come_newest_first_page_by_page_also_while_more_is_said() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    talk.say(&world.store, (1..=10).map(|n| prompt(format!("word {n}")))).await;
    let (mut seen, mut before) = (Vec::new(), None);
    loop {
        let page = world.store.search(everywhere("word"), before, 3).await.unwrap();
        seen.extend(page.hits.iter().map(|hit| hit.seq.get()));
        before = page.next;
        talk.say(&world.store, [prompt("one more word")]).await;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(seen, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
}

#[tokio::test]
async fn a_very_long_prompt_is_found_by_its_beginning_and_a_very_long_answer_by_all_of_it() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    let filler = "filler ".repeat(20_000);
    talk.play(&world.store, prompts("tell me everything")).await;
    talk.play(&world.store, says("beginning ")).await;
    for _ in 0..8 {
        talk.play(&world.store, says(&filler)).await;
    }
    talk.play(&world.store, says(" end")).await;
    let end = talk.ends();
    talk.play(&world.store, end).await;
    // Such an answer goes on in the next message, and the next.
    let last = talk.messages.len() as u64;
    assert!((4..10).contains(&last), "{last} messages");
    assert_eq!(places(&world, "beginning").await, [2]);
    assert_eq!(places(&world, "end").await, [last]);
    let long = format!("first {}ö last", filler.repeat(8));
    talk.say(&world.store, [prompt(long)]).await;
    assert_eq!(places(&world, "first").await, [last + 1]);
    assert_eq!(places(&world, "last").await, NOWHERE);
}

#[tokio::test]
async fn h7_a_message_cannot_pretend_to_be_of_another_project() {
    let world = World::new().await;
    let other = add_project(&world.store, "/srv/other").await;
    let mut talk = world.talk().await;
    // `Ⓐ` is a letter for Rust and a gap for SQLite, so that a part of this word is a word there.
    let word = format!("xⒶzzzzp{}", other.to_string().replace('-', ""));
    talk.say(&world.store, [prompt(format!("roof {word} {word}"))]).await;
    for order in [SearchOrder::Newest, SearchOrder::Best] {
        let query = SearchQuery { project: Some(other), order, ..everywhere("roof") };
        assert_eq!(world.store.search(query, None, 10).await.unwrap().hits, []);
        let query = SearchQuery { project: Some(world.project), order, ..everywhere("roof") };
        assert_eq!(world.store.search(query, None, 10).await.unwrap().hits.len(), 1);
    }
}
