//! JSON on the wire: the bodies of REST, the frames of the WebSocket and the entries in them, their schemas, the texts
//! of MCP, and a client for them; and the lexers and terminal colours that every reader uses.
//!
//! Bodies, frames and entries are contracts: fields and variants may be added, none may change its meaning or its JSON.
//! Nothing here decides or stores. REST sends the core's messages as they are; the WebSocket sends entries made of them.

pub mod ansi;
pub mod bodies;
mod client;
pub mod entry;
mod error;
pub mod frames;
pub mod highlight;
pub mod mcp;
pub mod schema;

pub use client::{
    AuditQuery, Client, Cursor, DeltaEvent, Events, EventsSince, InvalidCursor, Messages, Reply,
    SearchQuery, SessionEvent, SessionQuery, Socket, StateEvent, TeamReportQuery, TeamSessionQuery,
    Text, Transcript,
};
pub use error::{Error, Result};
