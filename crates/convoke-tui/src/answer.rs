//! The screen that answers requests as they come: questions in files, and, where a daemon runs, what its agents ask.

mod message;
mod model;
mod run;
mod scout;
mod update;
mod view;

#[cfg(test)]
mod tests;

pub(crate) use run::run;
