//! Keeps what was said: sessions, messages, projects, team pairs and requests to humans, in one file.
//!
//! The only crate that speaks SQL. One thread writes and many changes share a commit; readers work beside it. A
//! change is acknowledged after its commit, and what people said only when it is on disk. Lists and logs come in
//! pages: no function returns everything.

mod analytics;
mod attachments;
pub mod backup;
mod copy;
mod error;
mod guard;
mod histories;
mod messages;
mod open;
mod pairs;
mod projects;
mod readers;
mod requests;
mod row;
mod rules;
pub mod schema;
mod search;
mod sessions;
mod store;
mod write;
mod writer;

pub use analytics::{PairActivity, PairUsage};
pub use copy::{Contents, Progress};
pub use error::{Cause, Error, Result};
pub use guard::Trouble;
pub use histories::{
    Consent, FoundProject, HistoryKey, HistoryMark, HistoryOutcome, HistoryRecord, HistoryStanding,
    KnownHistory, NewHistorySession, SessionHistory,
};
pub use messages::{MessagePage, Snapshot, UpdatePage};
pub use pairs::{Asker, PairChange, PairCreation, PairFilter, PairId, PairStats, StoredPair};
pub use projects::{NewProject, Project};
pub use requests::StoredRequest;
pub use search::{Fragment, Hit, HitPage, HitPlace, HitSession, SearchQuery};
pub use sessions::{
    AgentSessionRecord, Archived, NewSession, SessionFilter, SessionKind, SessionOrder,
    SessionPage, SessionPiece, StoredSession, Sync, Unseen, UnseenCount,
};
pub use store::{Store, Window};
