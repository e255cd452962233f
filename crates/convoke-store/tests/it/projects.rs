//! Projects: added once for each directory, removed without losing their sessions.

use convoke_core::id::ProjectId;
use convoke_core::message::Seq;
use convoke_store::{Archived, Error, NewProject, Project, SessionFilter, SessionOrder, Window};

use crate::world::{World, at, bytes, prompt};

fn new(path: &str, added: i64) -> NewProject {
    let id = ProjectId::from_random(bytes());
    NewProject { id, name: "größe".to_owned(), path: path.into(), added_at: at(added) }
}

#[tokio::test]
async fn a_directory_is_a_project_once() {
    let world = World::new().await;
    let stored = world.store.add_project(new("/srv/b", 1)).await.unwrap();
    let second = world.store.add_project(new("/srv/b", 2)).await.unwrap_err();
    assert_eq!(second.to_string(), format!("/srv/b is already project {}", stored.id));
    assert!(matches!(second, Error::ProjectExists { id, .. } if id == stored.id));
    assert_eq!(world.store.project(stored.id).await.unwrap(), Some(stored.clone()));
    assert_eq!(world.store.project_at("/srv/b".as_ref()).await.unwrap(), Some(stored));
    assert_eq!(world.store.project_at("/srv".as_ref()).await.unwrap(), None);
}

#[tokio::test]
async fn a_removed_project_leaves_its_sessions_readable_and_comes_back_with_them() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    talk.say(&world.store, [prompt("remember me")]).await;
    world.store.remove_project(world.project, at(7)).await.unwrap();
    let again = world.store.remove_project(world.project, at(8)).await;
    assert!(matches!(again, Err(Error::UnknownProject { id }) if id == world.project));

    let removed = world.store.project(world.project).await.unwrap().unwrap();
    assert_eq!(removed.removed_at, Some(at(7)));
    for (sessions, found) in [
        (Archived::Hidden, vec![removed.clone()]),
        (Archived::Shown, vec![removed]),
        (Archived::Only, vec![]),
    ] {
        assert_eq!(world.store.removed_projects(sessions, 10).await.unwrap(), found);
    }
    let filter = SessionFilter { project: Some(world.project), ..SessionFilter::all() };
    let page =
        world.store.sessions(filter, SessionOrder::Created, Window::first(10)).await.unwrap();
    assert_eq!((page.sessions[0].id, page.total), (talk.id, 1));
    let log = world.store.messages(talk.id, Seq::START, 10).await.unwrap();
    assert_eq!(log.messages, talk.messages);

    let back = world.store.add_project(new("/srv/app", 9)).await.unwrap();
    assert_eq!((back.id, back.added_at), (world.project, at(9)));
    let present = world.store.projects(Window::first(10)).await.unwrap();
    assert_eq!(present, [back]);
}

#[tokio::test]
async fn projects_are_listed_in_the_order_they_were_added() {
    let world = World::new().await;
    let mut expected: Vec<Project> = world.store.projects(Window::first(10)).await.unwrap();
    for (path, added) in [("/z", 1), ("/a", 2), ("/m", 3)] {
        expected.push(world.store.add_project(new(path, added)).await.unwrap());
    }
    assert_eq!(world.store.projects(Window::first(10)).await.unwrap(), expected);
    let window = Window { limit: 2, offset: 1 };
    assert_eq!(world.store.projects(window).await.unwrap(), expected[1..3]);
}
