//! The screen that answers questions from files as they come, without a daemon.

mod message;
mod model;
mod run;
mod scout;
mod update;
mod view;

#[cfg(test)]
mod tests;

pub(crate) use run::run;
