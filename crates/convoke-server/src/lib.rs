//! The daemon's HTTP side: REST, server-sent events, WebSocket, MCP, and the page in the browser.
//!
//! It decides nothing, and keeps nothing but answers that still hold: it takes requests apart, asks the engine, and words
//! the answer. The listener, the shutdown, the clock and randomness are handed in.

mod app;
mod backups;
mod doors;
mod failure;
mod gate;
mod health;
mod json;
mod listen;
mod markdown;
pub mod mcp;
mod metrics;
mod openapi;
mod page;
mod query;
mod response_cache;
mod rest;
mod server;
mod teams;
#[cfg(test)]
mod tests;
mod view;
mod ws;

pub use backups::BackupSettings;
pub use doors::Token;
pub use health::Problems;
pub use listen::{Listeners, serve};
pub use server::{LinkError, Opening, Reloader, Server, Serving};
pub use teams::{ReadTeams, TeamsFault};
pub use ws::{hang_up, limit_frames};
