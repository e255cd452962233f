//! The node that a session, a project or a request belongs to.

use convoke_core::id::{NodeId, SessionId};
use convoke_engine::Error;

use crate::actor::found;
use crate::app::App;

/// The node that executes a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owner {
    pub(super) node: NodeId,
    /// The session that it is about: the command follows it if it moves.
    pub(super) session: Option<SessionId>,
}

impl Owner {
    /// A node for a request that is not about a session.
    pub(super) const fn node(node: NodeId) -> Self {
        Self { node, session: None }
    }
}

pub(super) async fn of_session(app: &App, text: &str) -> Result<Option<Owner>, Error> {
    let text = percent_encoding::percent_decode_str(text).decode_utf8_lossy();
    match found(app.engine.sessions().find(&text).await)? {
        Some(id) => owner_of(app, id).await,
        None => Ok(None),
    }
}

/// The other node that a session belongs to, if it does.
pub(super) async fn owner_of(app: &App, session: SessionId) -> Result<Option<Owner>, Error> {
    let node = app.engine.nodes().of_session(session).await?;
    Ok(node.map(|node| Owner { node, session: Some(session) }))
}

pub(super) async fn of_project(app: &App, text: &str) -> Result<Option<Owner>, Error> {
    let node = match found(app.engine.projects().find(text).await)? {
        Some(id) => app.engine.nodes().of_project(id).await?,
        None => None,
    };
    Ok(node.map(Owner::node))
}

pub(super) async fn of_request(app: &App, text: &str) -> Result<Option<Owner>, Error> {
    match app.engine.inbox().request(text).await? {
        Some((_, Some(session))) => owner_of(app, session).await,
        Some((_, None)) | None => Ok(None),
    }
}
