//! Persists what the daemon knows (sessions, messages, requests to humans, projects, rules, team
//! pairs, imports, users and nodes) in an SQLite file or on a PostgreSQL server.
//!
//! No other crate that ships contains SQL, except that `convoke-histories` reads the databases of
//! other programs. Both databases run the same statements, except where their dialects differ.
//! Writer threads batch changes into shared commits; readers run concurrently. A change is
//! acknowledged after its commit, and a human's decision only after it is synced to disk. Lists and
//! logs are paged: no function returns everything.

mod analytics;
mod attachments;
mod blobs;
mod db;
mod error;
mod histories;
mod job;
pub mod location;
mod messages;
mod moves;
pub mod nodes;
mod pairs;
mod postgres;
mod projects;
mod prompts;
mod reading;
mod refilling;
mod requests;
mod row;
mod rules;
pub mod schema;
mod search;
mod sessions;
mod sqlite;
mod store;
mod teams;
pub mod transfer;
mod users;
mod write;

pub use analytics::{PairActivity, PairUsage};
pub use error::{Cause, Error, Result};
pub use histories::{
    Consent, FoundProject, HistoryKey, HistoryMark, HistoryOutcome, HistoryRecord, HistoryStatus,
    Indexing, KnownHistory, NewHistorySession, SessionHistory,
};
pub use messages::{MessagePage, Snapshot, UpdatePage};
pub use moves::{HandOver, MovePart, Moving, Owner};
pub use pairs::{Asker, PairChange, PairCreation, PairFilter, PairId, PairStats, StoredPair};
pub use projects::{NewProject, Project};
pub use requests::StoredRequest;
pub use search::{Fragment, Hit, HitPage, HitPlace, HitSession, SearchOrder, SearchQuery};
pub use sessions::{
    AgentSessionRecord, Archived, NewSession, NodeScope, SessionFilter, SessionKind, SessionOrder,
    SessionPage, SessionPiece, StoredSession, Sync, Unseen, UnseenCount,
};
pub use sqlite::backup;
pub use sqlite::copy::{Contents, Progress};
pub use sqlite::guard::DatabaseFailure;
pub use store::{Store, Window};
pub use teams::{BegunWait, StoredTeam};
pub use users::{Act, AuditEntry, AuditFilter, User, UserToken};
