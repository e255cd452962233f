//! Scripts of keys and frames on the real model, shown as they appear on the screen.

mod asking;
mod chatting;
mod listing;
mod losing;
mod making;
mod paging;
mod replaying;
mod stage;
mod teams;
