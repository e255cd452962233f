//! The store through its public surface, with real files.

#[cfg(test)]
mod copies;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod database;
#[cfg(test)]
mod erasing;
#[cfg(test)]
mod files;
#[cfg(test)]
mod guard;
#[cfg(test)]
mod histories;
#[cfg(test)]
mod interleaving;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod pairs;
#[cfg(test)]
mod projects;
#[cfg(test)]
mod released;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod search;
#[cfg(test)]
mod search_later;
#[cfg(test)]
mod search_many;
#[cfg(test)]
mod search_order;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod together;
#[cfg(test)]
mod users;
#[cfg(test)]
mod world;
