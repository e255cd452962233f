//! Chores of the source tree, as a library so that the checks also run as tests.
//!
//! Nothing here ships: the crate knows the tree's layout and rules, and no other crate depends on it.

pub mod bench;
pub mod busy;
pub mod dist;
pub mod finding;
pub mod manifest;
pub mod rust;
pub mod tidy;
pub mod torture;
pub mod tree;
