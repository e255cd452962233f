//! Sessions that move from one daemon to another.

use convoke_core::id::{NodeId, SessionId};
use convoke_store::nodes::Beginning;
use convoke_store::{Error, HandOver, MovePart, Owner, SearchQuery};

use crate::database::Database;
use crate::nodes::{Daemon, talk_project};
use crate::world::{Talk, add_project, prompts};

async fn order(from: Owner, talk: &Talk, to: &Daemon) -> HandOver {
    let project = add_project(&to.store, "/srv/there").await;
    HandOver { session: talk.id, from, target: to.id, project, cargo: "cargo".to_owned() }
}

async fn hand_over(from: &Daemon, owner: Owner, session: SessionId, to: &Daemon) -> HandOver {
    let project = match to.store.project_at("/srv/there".as_ref()).await.unwrap() {
        Some(project) => project.id,
        None => add_project(&to.store, "/srv/there").await,
    };
    let order =
        HandOver { session, from: owner, target: to.id, project, cargo: "cargo".to_owned() };
    from.store.hand_over(order.clone()).await.unwrap();
    order
}

/// Takes a session that has moved here.
async fn arrive(at: &Daemon, talk: &mut Talk) {
    assert_eq!(at.store.arriving().await.unwrap(), [talk.id]);
    let batch = talk.decide(prompts("hello from the new machine"));
    let (updates, summary) = (batch.updates.as_slice(), talk.session.summary().clone());
    at.store.record_arrival(talk.id, updates, summary).await.unwrap();
    assert_eq!(at.store.arriving().await.unwrap(), []);
}

#[tokio::test]
async fn n8_the_former_owner_of_a_session_writes_nothing() {
    let database = Database::new();
    let (one, two) = (Daemon::start(&database, "one").await, Daemon::start(&database, "two").await);
    let mut talk = one.talk("/srv/here").await;
    talk.turn(&one.store, "walnut", &["hi"]).await;
    let stale = talk.decide(prompts("too late"));
    hand_over(&one, Owner::Own, talk.id, &two).await;
    let refused = talk.record(&one.store, &stale).await.unwrap_err();
    assert!(matches!(refused, Error::OtherNode { .. }), "{refused}");
    for refused in [
        one.store.mark_seen(talk.id, talk.session.summary().rev).await,
        one.store.set_worktree(talk.id, None).await,
        one.store
            .record_agent_session(talk.id, "x".to_owned(), "x".to_owned(), crate::world::at(1))
            .await,
        one.store.erase_session(talk.id).await,
    ] {
        assert!(matches!(refused, Err(Error::OtherNode { .. })), "{refused:?}");
    }
    talk.record(&two.store, &stale).await.unwrap();
    let there = two.store.session(talk.id).await.unwrap().unwrap();
    assert_eq!(there.node, Some(two.id));
    // What was said is found in the new project, and no longer in the old one.
    let found = async |project| {
        let query = SearchQuery { text: "walnut".to_owned(), project, ..SearchQuery::default() };
        two.store.search(query, None, 10).await.unwrap().hits.len()
    };
    assert_eq!(found(Some(there.project_id)).await, 1);
    assert_eq!(found(Some(talk_project(&one).await)).await, 0);
    assert_eq!(found(None).await, 1);
}

#[tokio::test]
async fn n8_commands_about_a_session_go_along_and_are_begun_by_its_owner_only() {
    let database = Database::new();
    let (one, two) = (Daemon::start(&database, "one").await, Daemon::start(&database, "two").await);
    let talk = one.talk("/srv/here").await;
    let about = Some(talk.id);
    let early = two.store.post_command(one.id, about, "early".to_owned()).await.unwrap();
    let other = two.store.post_command(one.id, None, "other".to_owned()).await.unwrap();
    let begun = two.store.post_command(one.id, about, "begun".to_owned()).await.unwrap();
    assert_eq!(one.store.begin_command(begun).await.unwrap(), Beginning::Ours);
    hand_over(&one, Owner::Own, talk.id, &two).await;
    // The former owner had read them before.
    assert_eq!(one.store.begin_command(early).await.unwrap(), Beginning::NotOurs);
    assert_eq!(one.store.begin_command(other).await.unwrap(), Beginning::Ours);
    let waiting = two.store.waiting_commands(10).await.unwrap();
    assert_eq!(waiting.iter().map(|it| it.request.as_str()).collect::<Vec<_>>(), ["early"]);
    assert_eq!(two.store.begin_command(early).await.unwrap(), Beginning::Ours);
    // What it has begun it passes on, if nothing of it was done.
    one.store.pass_on_command(begun).await.unwrap();
    let waiting = two.store.waiting_commands(10).await.unwrap();
    let begun: Vec<_> = waiting.iter().filter(|it| it.request == "begun").collect();
    assert!(matches!(begun.as_slice(), [command] if !command.was_begun), "{waiting:?}");
    // A sender that uses the former owner gets an error, and must look up the new one.
    let late = two.store.post_command(one.id, about, "late".to_owned()).await;
    assert!(matches!(late, Err(Error::OtherNode { .. })), "{late:?}");
}

#[tokio::test]
async fn n8_files_go_along_in_pieces_until_the_session_has_arrived() {
    let database = Database::new();
    let (one, two) = (Daemon::start(&database, "one").await, Daemon::start(&database, "two").await);
    let mut talk = one.talk("/srv/here").await;
    // A first try that came to nothing leaves nothing.
    for bytes in [vec![9], vec![1, 2]] {
        one.store.begin_move(talk.id, two.id).await.unwrap();
        one.store.add_move_part(talk.id, MovePart::Checkpoint, 0, bytes).await.unwrap();
    }
    one.store.add_move_part(talk.id, MovePart::Checkpoint, 1, vec![3]).await.unwrap();
    one.store.add_move_part(talk.id, MovePart::Agent, 0, vec![4]).await.unwrap();
    assert_eq!(two.store.arrival(talk.id).await.unwrap(), None, "it has not set out");
    hand_over(&one, Owner::Own, talk.id, &two).await;
    // Only moves that did not happen are given up.
    one.store.abandon_moves(None).await.unwrap();
    let moving = two.store.arrival(talk.id).await.unwrap().unwrap();
    assert_eq!((moving.source, moving.cargo.as_str()), (one.id, "cargo"));
    let mut read = Vec::new();
    while let Some(bytes) =
        two.store.move_part(talk.id, MovePart::Checkpoint, read.len() as u64).await.unwrap()
    {
        read.push(bytes);
    }
    assert_eq!(read, [vec![1, 2], vec![3]]);
    arrive(&two, &mut talk).await;
    assert_eq!(two.store.move_part(talk.id, MovePart::Agent, 0).await.unwrap(), None);
}

#[tokio::test]
async fn n8_a_session_is_taken_from_a_daemon_that_is_away_and_from_no_other() {
    let database = Database::new();
    let (one, two) = (Daemon::start(&database, "one").await, Daemon::start(&database, "two").await);
    let three = Daemon::start(&database, "three").await;
    let mut talk = one.talk("/srv/here").await;
    talk.turn(&one.store, "hello", &["hi"]).await;
    let stale = talk.decide(prompts("I was asleep"));
    let project = add_project(&two.store, "/srv/there").await;
    let order = HandOver {
        session: talk.id,
        from: Owner::Away(one.id),
        target: two.id,
        project,
        cargo: String::new(),
    };
    let refused = three.store.hand_over(order.clone()).await.unwrap_err();
    assert!(matches!(refused, Error::NodeRuns { .. }), "{refused}");
    // It dies while it stores files for a move, and wakes up afterwards.
    one.store.begin_move(talk.id, three.id).await.unwrap();
    one.store.add_move_part(talk.id, MovePart::Agent, 0, vec![1]).await.unwrap();
    let over =
        "UPDATE nodes SET lease_until = clock_timestamp() - interval '1 minute' WHERE name = 'one'";
    assert_eq!(database.execute(over).unwrap(), 1);
    let stranger = HandOver { from: Owner::Away(NodeId::from_random([7; 16])), ..order.clone() };
    assert!(matches!(three.store.hand_over(stranger).await, Err(Error::OtherNode { .. })));
    three.store.hand_over(order).await.unwrap();
    assert_eq!(two.store.move_part(talk.id, MovePart::Agent, 0).await.unwrap(), None);
    assert_eq!(two.store.arrival(talk.id).await.unwrap().unwrap().source, one.id);
    let refused = talk.record(&one.store, &stale).await.unwrap_err();
    assert!(matches!(refused, Error::OtherNode { .. }), "{refused}");
    let late = one.store.add_move_part(talk.id, MovePart::Agent, 1, vec![2]).await;
    assert!(matches!(late, Err(Error::OtherNode { .. })), "{late:?}");
    talk.record(&two.store, &stale).await.unwrap();
}

#[tokio::test]
async fn n8_a_session_that_never_arrived_takes_its_files_to_the_next_daemon() {
    let database = Database::new();
    let (one, two) = (Daemon::start(&database, "one").await, Daemon::start(&database, "two").await);
    let three = Daemon::start(&database, "three").await;
    let mut talk = one.talk("/srv/here").await;
    one.store.begin_move(talk.id, two.id).await.unwrap();
    one.store.add_move_part(talk.id, MovePart::Agent, 0, vec![1]).await.unwrap();
    hand_over(&one, Owner::Own, talk.id, &two).await;
    let over =
        "UPDATE nodes SET lease_until = clock_timestamp() - interval '1 minute' WHERE name = 'two'";
    assert_eq!(database.execute(over).unwrap(), 1);
    let away =
        HandOver { cargo: "nothing".to_owned(), ..order(Owner::Away(two.id), &talk, &three).await };
    three.store.hand_over(away).await.unwrap();
    let moving = three.store.arrival(talk.id).await.unwrap().unwrap();
    assert_eq!((moving.source, moving.cargo.as_str()), (one.id, "cargo"));
    let part = three.store.move_part(talk.id, MovePart::Agent, 0).await.unwrap();
    assert_eq!(part, Some(vec![1]));
    assert_eq!(two.store.arrival(talk.id).await.unwrap(), None);
    arrive(&three, &mut talk).await;
}

#[tokio::test]
async fn n8_a_session_that_is_handed_back_says_why_and_has_its_files() {
    let database = Database::new();
    let (one, two) = (Daemon::start(&database, "one").await, Daemon::start(&database, "two").await);
    let mut talk = one.talk("/srv/here").await;
    let project = talk_project(&one).await;
    one.store.begin_move(talk.id, two.id).await.unwrap();
    one.store.add_move_part(talk.id, MovePart::Commits, 0, vec![1]).await.unwrap();
    hand_over(&one, Owner::Own, talk.id, &two).await;
    let (session, from, cargo) = (talk.id, Owner::Own, "no room".to_owned());
    let back = HandOver { session, from, target: one.id, project, cargo };
    two.store.hand_over(back).await.unwrap();
    let moving = one.store.arrival(talk.id).await.unwrap().unwrap();
    assert_eq!((moving.source, moving.cargo.as_str()), (one.id, "no room"));
    let part = one.store.move_part(talk.id, MovePart::Commits, 0).await.unwrap();
    assert_eq!(part, Some(vec![1]));
    assert!(one.store.is_moving(talk.id).await.unwrap());
    arrive(&one, &mut talk).await;
}

#[tokio::test]
async fn n8_a_transaction_of_a_daemon_that_is_away_does_not_keep_its_session() {
    let database = Database::new();
    let (one, two) = (Daemon::start(&database, "one").await, Daemon::start(&database, "two").await);
    let talk = one.talk("/srv/here").await;
    // It was stopped in the middle of storing something.
    let _open = database.keep_open(&format!(
        "SET application_name = 'convoke {}'; BEGIN; SELECT 1 FROM agent_sessions FOR UPDATE",
        one.id
    ));
    let over =
        "UPDATE nodes SET lease_until = clock_timestamp() - interval '1 minute' WHERE name = 'one'";
    assert_eq!(database.execute(over).unwrap(), 1);
    let order = order(Owner::Away(one.id), &talk, &two).await;
    two.store.hand_over(order.clone()).await.unwrap();
    // A transaction of any other program is waited for, and no longer than some seconds.
    let _open = database.keep_open("BEGIN; SELECT 1 FROM agent_sessions FOR UPDATE");
    let over = over.replace("'one'", "'two'");
    assert_eq!(database.execute(&over).unwrap(), 1);
    let back = HandOver {
        from: Owner::Away(two.id),
        target: one.id,
        project: talk_project(&one).await,
        ..order
    };
    let refused = one.store.hand_over(back).await.unwrap_err();
    assert!(matches!(refused, Error::Unreachable { .. }), "{refused}");
}

#[tokio::test]
async fn n8_remotes_of_projects_are_known_to_all_daemons() {
    let database = Database::new();
    let (one, two) = (Daemon::start(&database, "one").await, Daemon::start(&database, "two").await);
    let project = add_project(&one.store, "/srv/app").await;
    for remote in [Some("example.org/app".to_owned()), Some("example.org/web".to_owned())] {
        one.store.set_remotes(vec![(project, remote.clone())]).await.unwrap();
        assert_eq!(two.store.remotes().await.unwrap().get(&project), remote.as_ref());
    }
    one.store.set_remotes(vec![(project, None)]).await.unwrap();
    assert!(two.store.remotes().await.unwrap().is_empty());
}
