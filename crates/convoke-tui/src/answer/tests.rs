//! Scripts of keys on the real model, shown as they appear on the screen.

mod any_keys;
mod arrival;
mod choosing;
mod list;
mod mouse;
mod permitting;
mod rejecting;
mod reviewing;
mod sizes;
mod stage;
mod writing;
