//! Text on its way to the screen: made harmless, broken into rows, and marked up.

pub(crate) mod ansi;
pub(crate) mod clean;
pub(crate) mod code;
pub(crate) mod diff;
pub(crate) mod evidence;
pub(crate) mod markdown;
pub(crate) mod paper;
pub(crate) mod table;
pub(crate) mod wrap;
