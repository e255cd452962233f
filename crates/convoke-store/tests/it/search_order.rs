//! The order of hits, their filters, and how the index is filled again after a migration.

use std::collections::BTreeSet;

use convoke_core::message::Role;
use convoke_core::session::Change;
use convoke_core::time::Timestamp;
use convoke_store::{
    FoundProject, HistoryKey, HistoryMark, HistoryOutcome, HistoryRecord, HitPage, Indexing,
    NewHistorySession, NewSession, SearchOrder, SearchQuery, Store,
};

use crate::world::{Talk, World, add_project, answer, at, bytes, new_session, prompt};

pub(crate) fn words(text: &str) -> SearchQuery {
    SearchQuery { text: text.to_owned(), ..SearchQuery::default() }
}

/// What a search finds once the index is filled.
pub(crate) async fn search(store: &Store, query: &SearchQuery) -> HitPage {
    loop {
        let page = store.search(query.clone(), None, 100).await.unwrap();
        if !page.incomplete {
            return page;
        }
    }
}

/// The texts of all hits, in order.
pub(crate) async fn texts(store: &Store, query: &SearchQuery) -> Vec<String> {
    let text = |hit: &convoke_store::Hit| hit.excerpt.iter().map(|it| it.text.as_str()).collect();
    search(store, query).await.hits.iter().map(text).collect()
}

/// A conversation of another program, said at once.
pub(crate) fn history(
    path: &str,
    said_at: Timestamp,
    changes: impl IntoIterator<Item = Change>,
) -> HistoryRecord {
    let id = new_session(convoke_core::id::ProjectId::from_random(bytes())).id;
    let mut talk = Talk::new(id, said_at);
    let batch = talk.next_at(said_at, changes);
    let key = HistoryKey {
        agent: "codex".parse().unwrap(),
        root: "/home/me/.codex".to_owned(),
        path: path.to_owned(),
        entry: String::new(),
    };
    let mark = HistoryMark {
        key,
        agent_session_id: path.to_owned(),
        parent: None,
        stamp: String::new(),
        cursor: String::new(),
        input_tokens: 0,
        output_tokens: 0,
    };
    let project = FoundProject {
        id: convoke_core::id::ProjectId::from_random(bytes()),
        name: "found".to_owned(),
        path: "/srv/found".into(),
        found_at: at(0),
    };
    let (updates, summary) = (batch.updates.into_iter().collect(), batch.summary);
    let session = NewHistorySession { id, created_at: said_at, project, updates, summary };
    HistoryRecord { mark, session, replaces: None }
}

#[tokio::test]
async fn h7_an_imported_conversation_is_as_old_as_it_is() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    talk.say(&world.store, [prompt("roof of today")]).await;
    let records = [
        history("new", at(1000), [prompt("roof of tomorrow"), answer("roof of tomorrow, too")]),
        history("old", at(-1000), [prompt("roof of yesterday")]),
    ];
    let outcomes = world.store.import_histories(&records, Indexing::Now).await.unwrap();
    assert!(outcomes.iter().all(|outcome| matches!(outcome, HistoryOutcome::Added(_))));
    talk.say(&world.store, [prompt("roof of now")]).await;
    let expected = [
        "roof of tomorrow, too",
        "roof of tomorrow",
        "roof of now",
        "roof of today",
        "roof of yesterday",
    ];
    assert_eq!(texts(&world.store, &words("roof")).await, expected);
}

#[tokio::test]
async fn p7_cursors_lead_through_messages_of_one_millisecond() {
    const MESSAGES: u64 = 2100;
    let world = World::new().await;
    let mut talk = world.talk().await;
    // More than there are keys for one millisecond.
    talk.say(&world.store, (1..=MESSAGES).map(|n| prompt(format!("word {n}")))).await;
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = world.store.search(words("word"), after, 100).await.unwrap();
        seen.extend(page.hits.iter().map(|hit| hit.seq.get()));
        after = page.next;
        if after.is_none() {
            break;
        }
        assert!(after.is_some_and(|place| place.get() < 1 << 53), "{after:?}");
    }
    assert_eq!(seen, (1..=MESSAGES).rev().collect::<Vec<_>>());
}

/// A message with all that it can be filtered by.
struct Said {
    text: String,
    place: [usize; 4],
}

/// Two projects, two agents, two sessions of each, two sides and two times, and a message for each combination.
async fn everything_said(
    world: &World,
) -> (Vec<Said>, [convoke_core::id::ProjectId; 2], Vec<Talk>) {
    let projects = [world.project, add_project(&world.store, "/srv/other").await];
    let (mut said, mut talks) = (Vec::new(), Vec::new());
    for (p, project) in projects.into_iter().enumerate() {
        for (a, agent) in ["claude-code", "Claude-Code"].into_iter().enumerate() {
            let agent = agent.parse().unwrap();
            let new = NewSession { agent, ..new_session(project) };
            let mut talk = Talk::new(new.id, at(0));
            world.store.create_session(new).await.unwrap();
            for time in 0..2_usize {
                let text = |r: usize| format!("roof {p}{a}{r}{time}");
                let batch = talk.next_at(
                    at(1000 * i64::try_from(time).unwrap()),
                    [prompt(text(0)), answer(text(1))],
                );
                talk.record(&world.store, &batch).await.unwrap();
                said.extend((0..2).map(|r| Said { text: text(r), place: [p, a, r, time] }));
            }
            talks.push(talk);
        }
    }
    (said, projects, talks)
}

#[tokio::test]
async fn p7_each_filter_alone_and_all_of_them_together_find_what_fits() {
    let world = World::new().await;
    let (said, projects, talks) = everything_said(&world).await;
    for combination in 0..3_usize.pow(5) {
        let wanted: Vec<Option<usize>> =
            (0..5).map(|at| (combination / 3_usize.pow(at) % 3).checked_sub(1)).collect();
        let [p, a, r, time, session] = wanted[..] else { unreachable!() };
        let query = SearchQuery {
            project: p.map(|p| projects[p]),
            agent: a.map(|a| ["claude-code", "Claude-Code"][a].parse().unwrap()),
            role: r.map(|r| [Role::User, Role::Agent][r]),
            since: (time == Some(1)).then(|| at(1000)),
            until: (time == Some(0)).then(|| at(1000)),
            session: session.map(|session| talks[session * 3].id),
            ..words("roof")
        };
        // The first session is of project 0 and agent 0, the last of project 1 and agent 1.
        let fits = |said: &&Said| {
            let asked = [p, a, r, time, session, session];
            let [of_p, of_a, of_r, of_time] = said.place;
            let place = [of_p, of_a, of_r, of_time, of_p, of_a];
            asked.iter().zip(place).all(|(asked, at)| asked.is_none_or(|asked| asked == at))
        };
        let expected: BTreeSet<&str> =
            said.iter().filter(fits).map(|said| said.text.as_str()).collect();
        let found = texts(&world.store, &query).await;
        assert_eq!(
            found.iter().map(String::as_str).collect::<BTreeSet<_>>(),
            expected,
            "{query:?}"
        );
        assert_eq!(found.len(), expected.len());
    }
    let nothing = SearchQuery { agent: Some("kimi".parse().unwrap()), ..words("roof") };
    assert_eq!(texts(&world.store, &nothing).await, [""; 0]);
    assert_eq!(texts(&world.store, &words("zzzz*")).await, [""; 0], "filters are no words");
}

#[tokio::test]
async fn h7_the_best_hits_come_first_when_they_are_wanted() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    let filler = "and so on ".repeat(30);
    for text in ["roof roof roof", "the roof", &*format!("roof {filler}")] {
        talk.say(&world.store, [prompt(text)]).await;
    }
    talk.say(&world.store, [answer("nothing of it")]).await;
    let best = |role| SearchQuery { order: SearchOrder::Best, role, ..words("roof") };
    for query in [best(None), best(Some(Role::User))] {
        let page = world.store.search(query.clone(), None, 2).await.unwrap();
        let mut places: Vec<u64> = page.hits.iter().map(|hit| hit.seq.get()).collect();
        let rest = world.store.search(query, page.next, 2).await.unwrap();
        places.extend(rest.hits.iter().map(|hit| hit.seq.get()));
        assert_eq!((places, rest.next), (vec![1, 2, 3], None));
    }
    assert_eq!(search(&world.store, &best(Some(Role::Agent))).await.hits, []);
    let newest: Vec<u64> =
        search(&world.store, &words("roof")).await.hits.iter().map(|hit| hit.seq.get()).collect();
    assert_eq!(newest, [3, 2, 1]);
}

/// All pages of a search: the messages by their places in the session, in order.
pub(crate) async fn all_pages(store: &Store, query: &SearchQuery, limit: u32) -> Vec<u64> {
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = store.search(query.clone(), after, limit).await.unwrap();
        seen.extend(page.hits.iter().map(|hit| hit.seq.get()));
        after = page.next;
        if after.is_none() {
            return seen;
        }
        assert!(after.is_some_and(|place| place.get() < 1 << 53), "{after:?}");
    }
}

#[tokio::test]
async fn h7_messages_about_the_words_come_before_those_that_mention_them() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    let filler: String = (0..100).map(|n| format!("filler{n} ")).collect();
    // In the order in which they are said; the numbers say which comes first.
    let said = [
        "2: roof tiles",
        "0: Roof tiles are roof TILES.",
        "5: tiles for any roof",
        &format!("6: tiles {filler} for the roof"),
        &format!("3: roof tiles {filler}"),
        &format!("4: {filler} {filler} {filler} roof tiles"),
        "1: said later, and shorter than what follows: new roof-tiles",
        "the roof alone is no hit",
    ];
    for text in said {
        talk.say(&world.store, [prompt(text)]).await;
    }
    let best = SearchQuery { order: SearchOrder::Best, ..words("roof tiles") };
    assert_eq!(all_pages(&world.store, &best, 2).await, [2, 7, 1, 5, 6, 3, 4]);
    let beginning = SearchQuery { text: "roof til*".to_owned(), ..best.clone() };
    assert_eq!(all_pages(&world.store, &beginning, 3).await, [7, 2, 1, 5, 6, 3, 4]);
    let one = SearchQuery { text: "tiles".to_owned(), ..best.clone() };
    assert_eq!(all_pages(&world.store, &one, 3).await, [2, 7, 3, 1, 5, 4, 6]);
    let nothing = SearchQuery { text: "roof tiles nowhere".to_owned(), ..best };
    assert_eq!(all_pages(&world.store, &nothing, 3).await, [0; 0]);
}

#[tokio::test]
async fn h7_each_of_the_best_hits_is_on_one_page_while_more_is_said() {
    const MESSAGES: u64 = 200;
    let world = World::new().await;
    let mut talk = world.talk().await;
    let filler: String = (0..40).map(|n| format!("filler{n} ")).collect();
    let text = |n: u64| match n % 6 {
        0 => "roof tiles".to_owned(),
        1 => "roof roof tiles tiles".to_owned(),
        2 => "tiles on the roof".to_owned(),
        3 => format!("roof {filler} tiles"),
        4 => format!("tiles {filler} {filler} of a roof"),
        _ => format!("{filler} roof tiles"),
    };
    talk.say(&world.store, (1..=MESSAGES).map(|n| prompt(text(n)))).await;
    for query in ["roof", "roof tiles", "til* roof", "tiles roof roof"] {
        for role in [None, Some(Role::User)] {
            let query = SearchQuery { order: SearchOrder::Best, role, ..words(query) };
            let (mut seen, mut after) = (Vec::new(), None);
            loop {
                let page = world.store.search(query.clone(), after, 7).await.unwrap();
                seen.extend(page.hits.iter().map(|hit| hit.seq.get()));
                after = page.next;
                if after.is_none() {
                    break;
                }
                talk.say(&world.store, [prompt(text(seen.len() as u64))]).await;
            }
            seen.sort_unstable();
            let unique: BTreeSet<u64> = seen.iter().copied().collect();
            assert_eq!(unique.len(), seen.len(), "none twice: {query:?}");
            assert!((1..=MESSAGES).all(|seq| unique.contains(&seq)), "none left out: {query:?}");
        }
    }
}

#[tokio::test]
async fn s11_h7_a_database_of_the_schema_before_is_searched_by_time_and_can_go_back() {
    let mut world = World::new().await;
    let mut talk = world.talk().await;
    talk.turn(&world.store, "mend the roof", &["The ro", "of is tight"]).await;
    let old = history("old", at(-1000), [prompt("an old roof")]);
    world.store.import_histories(&[old], Indexing::Now).await.unwrap();
    let expected = texts(&world.store, &words("roof")).await;
    assert_eq!(expected, ["The roof is tight", "mend the roof", "an old roof"]);
    world.store.close().await;
    for _ in 0..2 {
        world.database.roll_back_search();
        assert_eq!(world.database.hits("roof"), 3, "the old index is filled");
        let newest = "SELECT max(rowid) - (SELECT max(n) FROM messages) FROM message_search";
        assert_eq!(world.database.number(newest), 0, "and names messages by their numbers");
        world.reopen().await;
        assert_eq!(texts(&world.store, &words("roof")).await, expected);
        let query = SearchQuery { role: Some(Role::Agent), ..words("roof") };
        assert_eq!(texts(&world.store, &query).await, ["The roof is tight"]);
        world.store.close().await;
        assert_eq!(world.database.number("SELECT count(*) FROM search_refill"), 0);
    }
}

#[tokio::test]
async fn h7_a_refill_that_was_cut_off_goes_on_and_adds_nothing_twice() {
    const MESSAGES: usize = 500;
    let mut world = World::new().await;
    let mut talk = world.talk().await;
    for chunk in 0..MESSAGES / 100 {
        talk.say(&world.store, (0..100).map(|n| prompt(format!("word{chunk}x{n} word")))).await;
    }
    world.store.close().await;
    world.database.roll_back_search();
    // Each start is cut off by a close; what it has put into the index stays there.
    let mut starts = 0;
    loop {
        world.store = world.database.open().await;
        starts += 1;
        talk.say(&world.store, [prompt("another word")]).await;
        let is_complete = !world.store.search(words("word"), None, 1).await.unwrap().incomplete;
        world.store.close().await;
        if is_complete {
            break;
        }
    }
    assert_eq!(world.database.hits("word"), u64::try_from(MESSAGES + starts).unwrap());
    world.reopen().await;
    for text in ["word0x0", "word1x99", "word2x0", "word4x99"] {
        assert_eq!(search(&world.store, &words(text)).await.hits.len(), 1, "{text}");
    }
}

#[tokio::test]
async fn h7_a_session_that_is_erased_during_a_refill_stays_erased() {
    let mut world = World::new().await;
    let mut talks = [world.talk().await, world.talk().await];
    for talk in &mut talks {
        talk.say(&world.store, (0..250).map(|n| prompt(format!("word {n}")))).await;
    }
    world.store.close().await;
    world.database.roll_back_search();
    world.reopen().await;
    world.store.erase_session(talks[0].id).await.unwrap();
    let found = search(&world.store, &words("word")).await;
    assert!(found.hits.iter().all(|hit| hit.session.id == talks[1].id));
    assert_eq!(world.database.hits("word"), 250);
    assert_eq!(world.database.number("SELECT count(*) FROM searched_messages"), 250);
}
