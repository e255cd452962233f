//! What tests and benchmarks of several crates have in common. Development only: nothing here ships.

pub mod agent;
pub mod bench;
pub mod model;
pub mod postgres;
pub mod tools;
