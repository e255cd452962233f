//! The drivers against processes that follow a script.

mod crashes;
mod running;
mod scripted;
mod turns;
