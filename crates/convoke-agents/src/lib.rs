//! The border to agent programs: which ones there are, where they are installed, and how they can be confined.
//!
//! Nothing here reads the environment; the search path and the user's folders are handed in.

pub mod catalogue;
pub mod sandbox;
