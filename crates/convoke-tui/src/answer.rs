//! The `convoke answer` screen: answers questions in files and, if a daemon runs, requests of its
//! agents.

mod folder_reader;
mod message;
mod model;
mod run;
mod update;
mod view;

#[cfg(test)]
mod tests;

pub(crate) use run::run;
