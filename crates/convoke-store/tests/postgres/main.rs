//! The store over PostgreSQL: every test of the store that is not about the files of SQLite, on a real server.
//!
//! Not here, because they are about files: `copies`, `crash`, `files`, `guard`, `released` and `schema`. Nor `search_many`,
//! which would take long.

#[cfg(test)]
mod away;
#[cfg(test)]
mod coverage;
#[cfg(test)]
mod database;
#[cfg(test)]
#[path = "../it/erasing.rs"]
mod erasing;
#[cfg(test)]
#[path = "../it/interleaving.rs"]
mod interleaving;
#[cfg(test)]
#[path = "../it/messages.rs"]
mod messages;
#[cfg(test)]
mod moves;
#[cfg(test)]
mod nodes;
#[cfg(test)]
#[path = "../it/pairs.rs"]
mod pairs;
#[cfg(test)]
#[path = "../it/projects.rs"]
mod projects;
#[cfg(test)]
#[path = "../it/requests.rs"]
mod requests;
#[cfg(test)]
#[path = "../it/rules.rs"]
mod rules;
#[cfg(test)]
#[path = "../it/search.rs"]
mod search;
#[cfg(test)]
#[path = "../it/search_later.rs"]
mod search_later;
#[cfg(test)]
#[path = "../it/search_order.rs"]
mod search_order;
#[cfg(test)]
#[path = "../it/sessions.rs"]
mod sessions;
#[cfg(test)]
mod teams;
#[cfg(test)]
#[path = "../it/together.rs"]
mod together;
#[cfg(test)]
mod transfer;
#[cfg(test)]
#[path = "../it/users.rs"]
mod users;
#[cfg(test)]
#[path = "../it/world.rs"]
mod world;
