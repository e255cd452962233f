//! The daemon's HTTP side: REST, server-sent events, WebSocket, MCP, and the page in the browser.
//!
//! Handlers parse requests, call the engine and encode responses; they decide nothing but who may do what. The state
//! of this crate is small: signed-in browsers and links, caches, counters, and the running backup. The caller passes
//! in the listener, the shutdown signal, the clock and randomness.

mod access;
mod actor;
mod app;
mod auth;
mod backups;
mod config;
mod failure;
mod health;
mod json;
mod listen;
mod markdown;
pub mod mcp;
mod metrics;
mod middleware;
mod nodes;
mod notification;
mod openapi;
mod page;
mod query;
mod response_cache;
mod rest;
mod search;
mod server;
mod teams;
#[cfg(test)]
mod tests;
mod view;
mod ws;

pub use auth::{NotAPublicUrl, PublicUrl, Token};
pub use backups::{BackupSettings, backup_body};
pub use config::{ChangeConfig, ConfigAccess, ConfigError, OpenFile, OpenedFile, ReadConfig};
pub use health::Problems;
pub use listen::{Listeners, serve};
pub use notification::Notification;
pub use server::{LinkError, Reloader, Server, ServerOptions, Serving};
pub use teams::{ReadTeams, TeamLoadError};
pub use ws::{hang_up, limit_frames};
