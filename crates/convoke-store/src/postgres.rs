//! A database on a PostgreSQL server, which daemons on several machines share.

mod listener;
mod pool;
pub(crate) mod schema;
mod server;
mod tls;
mod writer;

pub use server::{Passwords, Server, ServerError};

pub use listener::Notice;

pub(crate) use listener::{CHANNEL, listen};
pub(crate) use pool::Pool;
pub(crate) use server::application_name;
pub(crate) use writer::Writers;
