//! Finding sessions and messages.

use convoke_api::bodies::{Fragment, Hit, HitSession};
use convoke_api::entry::Entry;
use convoke_api::frames::{ClientFrame, ServerFrame};
use convoke_core::id::MessageId;
use convoke_core::message::{Role, Seq};
use convoke_core::time::Timestamp;

use super::stage::{Stage, session, session_id, shop, words};

fn hit(number: u8, seq: u64) -> Hit {
    let part = |text: &str, matched| Fragment { text: text.to_owned(), matched };
    Hit {
        session_id: session_id(number),
        session: HitSession {
            id: format!("claude-code:{number}"),
            uid: session_id(number),
            title: "Write the release notes".to_owned(),
            agent: "claude-code".parse().unwrap(),
            project_id: shop().id,
            project: "shop".to_owned(),
            archived: false,
        },
        message_id: MessageId::from_random([number; 16]),
        seq: Seq::new(seq),
        role: Role::Agent,
        timestamp: Timestamp::from_millis(1_794_739_000_000),
        excerpt: vec![part("the ", false), part("roof", true), part(" leaks", false)],
    }
}

#[test]
fn p7_a_search_finds_titles_and_messages_and_jumps_to_the_message() {
    let mut stage = Stage::at_home(80, 16);
    stage.keys("/").types("roof agent:codex");
    let said = stage.said();
    let query = "roof agent:codex".to_owned();
    let last = ClientFrame::Search { query: query.clone(), limit: Some(50), before: None };
    assert_eq!(said.last(), Some(&last));
    let late = ServerFrame::SearchHits {
        query: "roof".to_owned(),
        hits: vec![hit(1, 3)],
        next: None,
        incomplete: false,
    };
    stage.receive(late);
    assert!(stage.screen().contains("Searching…"), "{}", stage.screen());
    stage.receive(ServerFrame::SearchHits {
        query,
        hits: vec![hit(2, 40), hit(2, 7)],
        next: None,
        incomplete: false,
    });
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter");
    let said = stage.said();
    let opened = ClientFrame::SessionOpen {
        session_id: session_id(2).to_string(),
        after: None,
        generation: None,
        render: None,
        limit: Some(100),
        at: Some(Seq::new(40)),
    };
    assert_eq!(said, [opened]);
    let entries: Vec<Entry> = (20..50).map(|seq| words(seq, &format!("Message {seq}"))).collect();
    let mut found = session(2, 90, "Write the release notes", convoke_api::bodies::Activity::Idle);
    found.message_count = 400;
    stage.receive(ServerFrame::SessionHistory {
        session_id: "claude-code:2".to_owned(),
        uid: session_id(2),
        rev: convoke_core::message::Rev::new(400),
        generation: "1".to_owned(),
        entries,
        more: true,
        newer: true,
        session: found,
    });
    let screen = stage.screen();
    assert!(screen.contains("▌ Message 40"), "{screen}");
    assert!(screen.contains("↓ more below"), "{screen}");
    stage.said();
    stage.keys("G");
    let said = stage.said();
    assert!(
        matches!(said.as_slice(), [ClientFrame::SessionOpen { at: None, after: None, .. }]),
        "{said:?}"
    );
}

#[test]
fn p7_titles_are_found_at_once_and_a_refused_query_says_why() {
    let mut stage = Stage::with_sessions(80, 14);
    stage.keys("/").types("BLOG");
    assert!(stage.screen().contains("A blog about 日本"), "{}", stage.screen());
    stage.refuse("until: is not a date");
    assert!(stage.screen().contains("until: is not a date"), "{}", stage.screen());
    stage.keys("enter");
    assert_eq!(stage.model.chat.as_ref().map(|chat| chat.id), Some(session_id(4)));
}

#[test]
fn p7_a_word_that_is_not_complete_matches_longer_ones() {
    let mut stage = Stage::at_home(80, 16);
    stage.keys("/").types("the roo");
    let query = "the roo*".to_owned();
    let asked = ClientFrame::Search { query: query.clone(), limit: Some(50), before: None };
    assert_eq!(stage.said().last(), Some(&asked));
    let (hits, next, incomplete) = (vec![hit(2, 7)], None, true);
    stage.receive(ServerFrame::SearchHits { query, hits, next, incomplete });
    let screen = stage.screen();
    assert!(screen.contains("1 message; others may be missing"), "{screen}");
    stage.types(" ");
    let query = "the roo".to_owned();
    let asked = ClientFrame::Search { query, limit: Some(50), before: None };
    assert_eq!(stage.said().last(), Some(&asked), "a blank ends the word");
}

#[test]
fn p7_titles_have_all_words_in_any_order_and_fit_the_filters() {
    let has_title = |query: &str| {
        let mut stage = Stage::at_home(80, 16);
        stage.keys("/").types(query);
        stage.screen().contains("Fix the parser of prices")
    };
    for query in ["parser fix", "fix agent:claude", "project:sho prices", "order:best fix"] {
        assert!(has_title(query), "{query}");
    }
    for query in ["parser roof", "fix agent:codex", "project:site fix", "fix role:user"] {
        assert!(!has_title(query), "{query}");
    }
}
