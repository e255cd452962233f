//! Helpers for tests and benchmarks of several crates. Development only: nothing here ships.

pub mod agent;
pub mod bench;
pub mod host;
pub mod model;
pub mod postgres;
pub mod process;
pub mod tools;
pub mod wait;
