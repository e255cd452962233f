//! JSON on the wire: the bodies of REST, the frames of the WebSocket, the texts of MCP, and a client for them.
//!
//! Bodies and frames are contracts: fields and variants may be added, none may change its meaning or its JSON.
//! Nothing here decides or stores; the core's messages are sent as they are.

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
    AuditQuery, Client, Cursor, DeltaEvent, Events, EventsSince, InvalidCursor, MessageQuery,
    Messages, Reply, SearchQuery, SessionEvent, SessionQuery, Socket, StateEvent, TeamReportQuery,
    TeamSessionQuery, Text, Transcript,
};
pub use error::{Error, Result};
