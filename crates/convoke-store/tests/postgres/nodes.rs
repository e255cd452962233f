//! Several daemons on one database.

use std::time::Duration;

use convoke_core::id::NodeId;
use convoke_core::message::Rev;
use convoke_store::nodes::Notice;
use convoke_store::{Error, SearchQuery, SessionFilter, SessionOrder, Store, Window};
use tokio::sync::mpsc::Receiver;

use crate::database::Database;
use crate::world::{Talk, add_project, at, bytes, new_session, prompts, says};

/// One of several daemons.
pub(crate) struct Daemon {
    pub(crate) id: NodeId,
    pub(crate) store: Store,
}

impl Daemon {
    pub(crate) async fn start(database: &Database, name: &str) -> Self {
        Self::start_as(database, NodeId::from_random(bytes()), name).await.unwrap()
    }

    async fn start_as(database: &Database, id: NodeId, name: &str) -> convoke_store::Result<Self> {
        let store = Store::open(database.server().with_node(id), at(0)).await?;
        store.join_nodes(name.to_owned(), "1.0".to_owned()).await?;
        Ok(Self { id, store })
    }

    pub(crate) async fn talk(&self, path: &str) -> Talk {
        let project = add_project(&self.store, path).await;
        let new = new_session(project);
        let id = new.id;
        self.store.create_session(new).await.unwrap();
        Talk::new(id, at(0))
    }
}

/// The next notice that is wanted, however many others come before it.
async fn wait_for(notices: &mut Receiver<Notice>, is_it: impl Fn(&Notice) -> bool) -> Notice {
    let found = async {
        loop {
            let notice = notices.recv().await.expect("the listener runs");
            if is_it(&notice) {
                return notice;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), found).await.expect("it is announced")
}

#[tokio::test]
async fn n2_only_the_owner_of_a_session_writes_to_it() {
    let database = Database::new();
    let (one, two) = (Daemon::start(&database, "one").await, Daemon::start(&database, "two").await);
    let mut talk = one.talk("/srv/app").await;
    talk.turn(&one.store, "hello", &["hi"]).await;
    let batch = talk.decide(prompts("by the other one"));
    let refused = talk.record(&two.store, &batch).await.unwrap_err();
    assert!(matches!(refused, Error::OtherNode { id } if id == talk.id), "{refused}");
    talk.record(&one.store, &batch).await.unwrap();
    let stored = two.store.session(talk.id).await.unwrap().unwrap();
    assert_eq!(&stored.summary, talk.session.summary(), "everyone reads it");
}

#[tokio::test]
async fn n2_an_older_process_with_the_same_id_writes_nothing() {
    let database = Database::new();
    let older = Daemon::start(&database, "one").await;
    let mut talk = older.talk("/srv/app").await;
    talk.turn(&older.store, "hello", &["hi"]).await;
    let newer = Daemon::start_as(&database, older.id, "one").await.unwrap();
    let batch = talk.decide(prompts("from the grave"));
    let refused = talk.record(&older.store, &batch).await.unwrap_err();
    assert!(matches!(refused, Error::Fenced), "{refused}");
    assert!(matches!(older.store.renew_lease().await, Err(Error::Fenced)));
    assert!(matches!(
        older.store.remove_project(talk_project(&older).await, at(1)).await,
        Err(Error::Fenced)
    ));
    talk.record(&newer.store, &batch).await.unwrap();
}

pub(crate) async fn talk_project(daemon: &Daemon) -> convoke_core::id::ProjectId {
    daemon.store.projects(Window::first(1)).await.unwrap().remove(0).id
}

#[tokio::test]
async fn n2_a_daemon_whose_lease_is_over_renews_it_before_it_writes() {
    let database = Database::new();
    let (one, two) = (Daemon::start(&database, "one").await, Daemon::start(&database, "two").await);
    let mut talk = one.talk("/srv/app").await;
    let over =
        "UPDATE nodes SET lease_until = clock_timestamp() - interval '1 minute' WHERE name = 'one'";
    assert_eq!(database.execute(over).unwrap(), 1);
    let away = |nodes: Vec<convoke_store::nodes::Node>| -> Vec<bool> {
        nodes.into_iter().map(|node| node.is_away).collect()
    };
    assert_eq!(away(two.store.nodes(None).await.unwrap()), [true, false]);
    talk.turn(&one.store, "I was asleep", &["so?"]).await;
    assert_eq!(away(two.store.nodes(None).await.unwrap()), [false, false]);
    // A daemon that ends says so.
    one.store.leave_nodes().await.unwrap();
    one.store.close().await;
    let names: Vec<String> =
        two.store.nodes(None).await.unwrap().into_iter().map(|node| node.name).collect();
    assert_eq!(names, ["one", "two"]);
}

#[tokio::test]
async fn n2_a_name_belongs_to_one_home() {
    let database = Database::new();
    let first = Daemon::start(&database, "laptop").await;
    let id = NodeId::from_random(bytes());
    let taken = Daemon::start_as(&database, id, "laptop").await.err().unwrap();
    assert_eq!(taken.to_string(), "another node is called laptop");
    Daemon::start_as(&database, first.id, "notebook").await.unwrap();
    Daemon::start_as(&database, id, "laptop").await.unwrap();
}

#[tokio::test]
async fn n4_lists_and_search_span_nodes_and_folders_belong_to_one() {
    let database = Database::new();
    let (one, two) = (Daemon::start(&database, "one").await, Daemon::start(&database, "two").await);
    // The same path on two machines is two folders.
    let (mut here, mut there) = (one.talk("/srv/app").await, two.talk("/srv/app").await);
    here.turn(&one.store, "walnut", &["first"]).await;
    there.turn(&two.store, "walnut", &["second"]).await;
    for daemon in [&one, &two] {
        let page =
            daemon.store.sessions(SessionFilter::all(), SessionOrder::Created, Window::first(9));
        assert_eq!(page.await.unwrap().total, 2);
        let query = SearchQuery { text: "walnut".to_owned(), ..SearchQuery::default() };
        assert_eq!(daemon.store.search(query, None, 10).await.unwrap().hits.len(), 2);
    }
    let at_one = one.store.project_at("/srv/app".as_ref()).await.unwrap().unwrap();
    let at_two = two.store.project_at("/srv/app".as_ref()).await.unwrap().unwrap();
    assert_ne!(at_one.id, at_two.id);
    // What was cut off is recovered by its owner.
    here.play(&one.store, prompts("cut off")).await;
    let unsettled = |store: Store| async move {
        let found = store.unsettled_sessions(None, 10).await.unwrap();
        found.into_iter().map(|session| session.id).collect::<Vec<_>>()
    };
    assert_eq!(unsettled(one.store.clone()).await, [here.id]);
    assert_eq!(unsettled(two.store.clone()).await, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n4_what_one_node_says_is_announced_to_the_others() {
    let database = Database::new();
    let (one, two) = (Daemon::start(&database, "one").await, Daemon::start(&database, "two").await);
    let mut notices = two.store.listen().unwrap();
    wait_for(&mut notices, |notice| *notice == Notice::Connected).await;
    let mut talk = one.talk("/srv/app").await;
    talk.play(&one.store, prompts("hello")).await;
    let mut read = Rev::START;
    for piece in ["one ", "two ", "three"] {
        talk.play(&one.store, says(piece)).await;
        while read < talk.session.summary().rev {
            let of_talk = |notice: &Notice| {
                matches!(notice, Notice::Sessions { node, sessions }
                    if *node == one.id && sessions.contains(&talk.id))
            };
            wait_for(&mut notices, of_talk).await;
            read = two.store.updates_after(talk.id, read, 100).await.unwrap().rev;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n3_commands_wait_in_order_and_are_answered_once() {
    let database = Database::new();
    let (one, two) = (Daemon::start(&database, "one").await, Daemon::start(&database, "two").await);
    let (mut to_two, mut to_one) = (two.store.listen().unwrap(), one.store.listen().unwrap());
    wait_for(&mut to_two, |notice| *notice == Notice::Connected).await;
    wait_for(&mut to_one, |notice| *notice == Notice::Connected).await;
    let mut asked = Vec::new();
    for number in 0..20 {
        asked.push(one.store.post_command(two.id, None, format!("{number}")).await.unwrap());
    }
    assert!(asked.is_sorted());
    wait_for(&mut to_two, |notice| *notice == Notice::Command(two.id)).await;
    assert_eq!(one.store.waiting_commands(100).await.unwrap(), []);
    let waiting = two.store.waiting_commands(100).await.unwrap();
    let requests: Vec<u32> = waiting.iter().map(|it| it.request.parse().unwrap()).collect();
    assert_eq!(requests, (0..20).collect::<Vec<_>>());
    assert!(waiting.iter().all(|command| command.asker == one.id && !command.was_begun));
    let first = asked[0];
    assert_eq!(one.store.command_response(first).await.unwrap(), None);
    two.store.begin_command(first).await.unwrap();
    // A daemon that was killed now finds out that it had begun.
    let again = Daemon::start_as(&database, two.id, "two").await.unwrap();
    assert!(again.store.waiting_commands(1).await.unwrap()[0].was_begun);
    again.store.finish_command(first, "done".to_owned()).await.unwrap();
    wait_for(&mut to_one, |notice| *notice == Notice::Response(first)).await;
    again.store.finish_command(first, "twice".to_owned()).await.unwrap();
    assert_eq!(one.store.command_response(first).await.unwrap().as_deref(), Some("done"));
    assert_eq!(again.store.waiting_commands(100).await.unwrap().len(), 19);
    let unknown = one.store.post_command(NodeId::from_random(bytes()), None, String::new()).await;
    assert!(matches!(unknown, Err(Error::UnknownNode { .. })));
}
