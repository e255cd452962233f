//! Everything copied from a file to a server and back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use convoke_core::id::NodeId;
use convoke_core::message::Seq;
use convoke_store::location::Location;
use convoke_store::transfer::{Copied, Owner, Step, transfer};
use convoke_store::{Error, SearchQuery, Store};

use crate::database::Database;
use crate::world::{Talk, add_project, answer, at, bytes, new_session, prompts, says};

fn owner() -> Owner {
    let id = NodeId::from_random(bytes());
    Owner { id, name: "laptop".to_owned(), version: "1.0".to_owned() }
}

/// A file with some conversations, one of them in the middle of an answer.
async fn fill(path: &Path) -> Vec<Talk> {
    let store = Store::open(path, at(0)).await.unwrap();
    let project = add_project(&store, "/srv/app").await;
    let mut talks = Vec::new();
    for number in 0..3 {
        let new = new_session(project);
        let mut talk = Talk::new(new.id, at(0));
        store.create_session(new).await.unwrap();
        let answers = (0..400).map(|at| answer(format!("walnut {number}/{at} \0 and \u{f8ff}")));
        talk.say(&store, answers).await;
        store.record_agent_session(talk.id, format!("a{number}"), "x".into(), at(1)).await.unwrap();
        talks.push(talk);
    }
    talks[0].play(&store, prompts("go on")).await;
    talks[0].play(&store, says("half a ")).await;
    talks[0].play(&store, says("word\0")).await;
    store.close().await;
    talks
}

async fn copy(from: Location, to: Location, owner: Owner) -> convoke_store::Result<Vec<Copied>> {
    tokio::task::spawn_blocking(move || transfer(&from, &to, &owner, at(0), |_| {})).await.unwrap()
}

async fn same(store: &Store, talks: &[Talk]) {
    for talk in talks {
        let mut found = Vec::new();
        while let Some(page) = {
            let last =
                found.last().map_or(Seq::START, |it: &convoke_core::message::Message| it.seq);
            let page = store.messages(talk.id, last, 1000).await.unwrap();
            (!page.messages.is_empty()).then_some(page)
        } {
            found.extend(page.messages);
        }
        assert_eq!(found, talk.messages);
        let session = store.session(talk.id).await.unwrap().unwrap();
        assert_eq!(&session.summary, talk.session.summary());
    }
    let query = SearchQuery { text: "walnut".to_owned(), ..SearchQuery::default() };
    assert_eq!(store.search(query, None, 100).await.unwrap().hits.len(), 100);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n6_everything_goes_to_a_server_and_back() {
    let (database, folder) = (Database::new(), tempfile::tempdir().unwrap());
    let (file, back) = (folder.path().join("convoke.db"), folder.path().join("back.db"));
    let mut talks = fill(&file).await;
    let owner = owner();
    let there = copy((&file).into(), database.server().into(), owner.clone()).await.unwrap();
    assert_eq!(there.iter().find(|it| it.table == "messages").unwrap().rows, 1202);
    let store = Store::open(database.server().with_node(owner.id), at(0)).await.unwrap();
    store.join_nodes("laptop".to_owned(), "1.0".to_owned()).await.unwrap();
    same(&store, &talks).await;
    // What is said next gets numbers after those that were copied.
    talks[1].turn(&store, "on the server", &["yes"]).await;
    let in_use = copy(database.server().into(), (&back).into(), self::owner()).await.unwrap_err();
    assert!(matches!(in_use, Error::NodeRuns { .. }), "{in_use}");
    store.leave_nodes().await.unwrap();
    store.close().await;
    let again = copy(database.server().into(), (&back).into(), owner).await.unwrap();
    assert_eq!(again.iter().find(|it| it.table == "messages").unwrap().rows, 1204);
    same(&Store::open(&back, at(0)).await.unwrap(), &talks).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n6_a_copy_that_was_cut_off_goes_on_and_other_contents_are_refused() {
    let (database, folder) = (Database::new(), tempfile::tempdir().unwrap());
    let (file, other) = (folder.path().join("convoke.db"), folder.path().join("other.db"));
    let talks = fill(&file).await;
    let (from, to, owner) = (Location::from(&file), Location::from(database.server()), owner());
    for cut_off in ["agent_sessions", "messages", "rules"] {
        let (from, to, owner) = (from.clone(), to.clone(), owner.clone());
        let copying = tokio::task::spawn_blocking(move || {
            let progress = |step: Step| {
                assert!(step.table != cut_off || step.done == 0, "cut off");
                assert!(cut_off != "rules" || step.table != "rules", "cut off");
            };
            catch_unwind(AssertUnwindSafe(|| transfer(&from, &to, &owner, at(0), progress)))
        });
        assert!(copying.await.unwrap().is_err(), "{cut_off}");
    }
    copy(from, to.clone(), owner.clone()).await.unwrap();
    let store = Store::open(database.server().with_node(owner.id), at(0)).await.unwrap();
    same(&store, &talks).await;
    store.close().await;
    fill(&other).await;
    let refused = copy((&other).into(), to, owner).await.unwrap_err();
    assert!(matches!(refused, Error::OtherContents { .. }), "{refused}");
}
