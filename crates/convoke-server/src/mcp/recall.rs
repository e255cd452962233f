//! What agents recall of earlier sessions, within the scope that the user allows.

use convoke_api::mcp::recall::{
    HITS_MAX, MESSAGES_MAX, Quotation, ReadHistory, RecallOrder, SearchHistory, quoted,
};
use convoke_core::content::Content;
use convoke_core::count::counted;
use convoke_core::id::ProjectId;
use convoke_core::message::{Message, Role, Seq};
use convoke_core::review;
use convoke_engine::{Asker, Engine, Error, Recall, SearchOrder, SearchQuery};

use super::backend::CallError;

/// The default number of hits and messages.
const HITS: u32 = 10;
const MESSAGES: u32 = 20;

/// Searches earlier sessions.
pub(super) async fn search(
    engine: &Engine,
    asker: &Asker,
    search: SearchHistory,
) -> Result<String, CallError> {
    let project = scope(engine, asker).await?;
    let agent = search.agent.map(|agent| agent.parse()).transpose();
    let agent = agent.map_err(|error| CallError::from(Error::from(error)))?;
    let order = match search.order {
        RecallOrder::Newest => SearchOrder::Newest,
        RecallOrder::Best => SearchOrder::Best,
    };
    let query = SearchQuery { text: search.query, project, agent, order, ..SearchQuery::default() };
    let limit = search.limit.unwrap_or(HITS).clamp(1, HITS_MAX);
    let page = engine.sessions().search(query, None, limit).await?;
    let quotation = |hit: convoke_engine::Hit| Quotation {
        session_id: hit.session.id.to_string(),
        seq: hit.seq.get(),
        speaker: speaker(hit.role),
        at: hit.timestamp.to_string(),
        title: hit.session.title,
        text: hit.excerpt.into_iter().map(|fragment| fragment.text).collect(),
    };
    let note = if page.incomplete {
        "The search index is still being filled, so that messages may be missing."
    } else {
        ""
    };
    // Checked by the session once more, since this is what keeps projects apart.
    let hits = page.hits.into_iter();
    let hits = hits.filter(|hit| project.is_none_or(|project| project == hit.session.project_id));
    Ok(quoted(hits.map(quotation).collect(), note))
}

/// Reads a part of an earlier session.
pub(super) async fn read(
    engine: &Engine,
    asker: &Asker,
    read: ReadHistory,
) -> Result<String, CallError> {
    let project = scope(engine, asker).await?;
    let session = engine.sessions().named(&read.session_id).await?.stored;
    if project.is_some_and(|project| project != session.project_id) {
        // The same error as for a missing session, since a title or a path would already reveal
        // something.
        return Err(Error::UnknownSession { text: read.session_id }.into());
    }
    let limit = read.limit.unwrap_or(MESSAGES).clamp(1, MESSAGES_MAX);
    let page = match read.from {
        Some(from) => {
            let after = Seq::new(from.saturating_sub(1));
            engine.sessions().messages(session.id, after, limit).await?
        }
        None => {
            let end = session.summary.last_seq.next();
            engine.sessions().messages_before(session.id, end, limit).await?
        }
    };
    let note = format!("The session has {}.", counted(session.summary.last_seq, "message"));
    let quotations = page.messages.iter().filter_map(quotation).collect();
    Ok(quoted(quotations, &note))
}

/// The project within which the caller may recall; `None` for everywhere.
async fn scope(engine: &Engine, asker: &Asker) -> Result<Option<ProjectId>, CallError> {
    let Asker::Session(id) = asker else { return Ok(None) };
    match engine.settings().history.recall {
        Recall::Off => Err(CallError::UnknownTool),
        Recall::Project => Ok(Some(engine.sessions().get(*id).await?.stored.project_id)),
        Recall::All => Ok(None),
    }
}

fn quotation(message: &Message) -> Option<Quotation> {
    let (speaker, text) = match &message.content {
        Content::Text { text, review, .. } => {
            (speaker(message.role), review::words(text, review).into_owned())
        }
        Content::Tool(tool) => {
            let title = tool.title.as_deref().unwrap_or(&tool.tool);
            ("tool", format!("{title} {}", tool.args))
        }
        Content::Thinking { .. }
        | Content::Plan { .. }
        | Content::Permission(_)
        | Content::Question(_)
        | Content::Notice(_) => return None,
    };
    Some(Quotation {
        session_id: message.session_id.to_string(),
        seq: message.seq.get(),
        speaker,
        at: message.timestamp.to_string(),
        title: None,
        text,
    })
}

const fn speaker(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Agent | Role::System => "agent",
    }
}
