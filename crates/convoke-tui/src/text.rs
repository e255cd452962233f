//! Text for the screen: sanitised, wrapped, and styled.

pub(crate) mod ansi;
pub(crate) mod clean;
pub(crate) mod code;
pub(crate) mod diff;
pub(crate) mod evidence;
pub(crate) mod line_buffer;
pub(crate) mod markdown;
pub(crate) mod table;
pub(crate) mod wrap;
