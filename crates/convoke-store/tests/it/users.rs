//! Users, their tokens, and what everyone did.

use convoke_core::user::{Role, UserName};
use convoke_store::{Act, AuditFilter, UserToken};

use crate::world::{World, add_project, at};

fn name(text: &str) -> UserName {
    text.parse().unwrap()
}

#[tokio::test]
async fn n7_users_have_roles_in_general_and_in_projects() {
    let mut world = World::new().await;
    let elsewhere = add_project(&world.store, "/srv/other").await;
    assert!(world.store.add_user(name("grace"), Role::Viewer, at(2)).await.unwrap());
    assert!(world.store.add_user(name("ada"), Role::Member, at(1)).await.unwrap());
    assert!(!world.store.add_user(name("ada"), Role::Owner, at(3)).await.unwrap(), "it is taken");
    let set = async |who: &str, project, role| {
        world.store.set_role(name(who), project, role).await.unwrap()
    };
    assert!(set("ada", Some(world.project), Some(Role::Viewer)).await);
    assert!(set("ada", Some(world.project), Some(Role::Owner)).await, "the last one holds");
    assert!(set("ada", Some(elsewhere), Some(Role::Viewer)).await);
    assert!(set("ada", Some(elsewhere), None).await);
    assert!(set("grace", None, Some(Role::Member)).await);
    assert!(!set("eve", None, Some(Role::Owner)).await);
    world.reopen().await;
    let users = world.store.users().await.unwrap();
    let names: Vec<&str> = users.iter().map(|user| user.name.as_str()).collect();
    assert_eq!(names, ["ada", "grace"]);
    assert_eq!((users[0].role, users[1].role), (Role::Member, Role::Member));
    assert_eq!(users[0].projects, [(world.project, Role::Owner)]);
}

#[tokio::test]
async fn n7_tokens_are_found_by_their_digest_until_their_user_is_signed_out() {
    let world = World::new().await;
    let store = &world.store;
    let token = |id: &str| UserToken {
        id: id.to_owned(),
        user: name("ada"),
        label: "script".to_owned(),
        created_at: at(1),
        last_used_at: None,
    };
    assert!(store.add_user_token(token("0"), "d0".to_owned()).await.is_err(), "no such user");
    store.add_user(name("ada"), Role::Member, at(1)).await.unwrap();
    for id in ["1", "2", "3"] {
        store.add_user_token(token(id), format!("d{id}")).await.unwrap();
    }
    assert!(store.add_user_token(token("4"), "d1".to_owned()).await.is_err(), "it is taken");
    store.touch_user_token("1".to_owned(), at(5)).await.unwrap();
    let (user, found) = store.user_of_token("d1".to_owned()).await.unwrap().unwrap();
    assert_eq!((user.name.as_str(), found.last_used_at), ("ada", Some(at(5))));
    assert_eq!(store.user_of_token("d9".to_owned()).await.unwrap(), None);
    assert!(store.remove_user_token(name("ada"), "2".to_owned()).await.unwrap());
    assert!(!store.remove_user_token(name("eve"), "3".to_owned()).await.unwrap());
    assert_eq!(store.user_tokens().await.unwrap().len(), 2);
    let epoch = user.epoch;
    assert!(store.sign_out_user(name("ada"), at(0)).await.unwrap());
    let user = store.user(name("ada")).await.unwrap().unwrap();
    assert!(user.epoch > epoch, "whatever the clock says");
    assert_eq!(store.user_tokens().await.unwrap(), []);
    store.add_user_token(token("1"), "d1".to_owned()).await.unwrap();
    assert!(store.remove_user(name("ada")).await.unwrap());
    assert!(!store.remove_user(name("ada")).await.unwrap());
    assert_eq!(store.user_of_token("d1".to_owned()).await.unwrap(), None);
    store.add_user(name("ada"), Role::Member, at(9)).await.unwrap();
    assert!(store.user(name("ada")).await.unwrap().unwrap().epoch > epoch, "another one");
}

#[tokio::test]
async fn n7_the_audit_trail_is_read_newest_first_and_by_user_session_and_time() {
    let world = World::new().await;
    let talk = world.talk().await;
    let act = |number: i64, user: Option<&str>| Act {
        at: at(number),
        user: user.map(name),
        origin: "browser 1a at 127.0.0.1".to_owned(),
        action: format!("act {number}"),
        session_id: (number % 2 == 0).then_some(talk.id),
        project_id: Some(world.project),
        request_id: None,
        subject: "rm -rf / \0".to_owned(),
    };
    let acts: Vec<Act> =
        (0..6).map(|it| act(it, [None, Some("ada"), Some("bob")][it as usize % 3])).collect();
    for act in acts.clone() {
        world.store.record_act(act).await.unwrap();
    }
    let read = async |filter: AuditFilter, limit: u32| {
        let found = world.store.audit(filter, limit).await.unwrap();
        found.into_iter().map(|entry| (entry.n, entry.act)).collect::<Vec<_>>()
    };
    let all = AuditFilter::default();
    let newest = read(all.clone(), 4).await;
    let shown: Vec<Act> = newest.iter().map(|(_, act)| act.clone()).collect();
    assert_eq!(shown, acts.iter().rev().take(4).cloned().collect::<Vec<_>>());
    let before = Some(newest[3].0);
    assert_eq!(read(AuditFilter { before, ..all.clone() }, 9).await.len(), 2);
    assert_eq!(read(AuditFilter { user: Some(name("ada")), ..all.clone() }, 9).await.len(), 2);
    assert_eq!(read(AuditFilter { session: Some(talk.id), ..all.clone() }, 9).await.len(), 3);
    assert_eq!(read(AuditFilter { since: Some(at(4)), ..all }, 9).await.len(), 2);
}
