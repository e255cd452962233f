//! Scripts of keys and frames on the real model, shown as they appear on the screen.

mod asking;
mod changing;
mod chatting;
mod comparing;
mod enclosing;
mod finishing;
mod homing;
mod listing;
mod losing;
mod making;
mod paging;
mod people;
mod queueing;
mod replaying;
mod ruling;
mod searching;
mod stage;
mod teams;
