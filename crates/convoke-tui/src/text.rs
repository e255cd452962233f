//! Text on its way to the screen: made harmless, broken into rows, and marked up.

pub(crate) mod clean;
pub(crate) mod markdown;
pub(crate) mod wrap;
