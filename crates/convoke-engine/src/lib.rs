//! Keeps sessions alive: one task a session, clocks, limits, the inbox, and recovery at the start.
//!
//! The core decides, the store keeps, agents work; this crate brings them together and speaks no foreign language. What a
//! session says is stored, then published, then answered, in this order.

mod asking;
pub mod backup;
mod engine;
mod error;
mod full_disk;
mod inbox;
mod keys;
mod prefix;
mod processes;
mod projects;
mod session;
mod sessions;
mod settings;
mod teams;
mod view;
mod watch;

pub use asking::{Asked, Asker, Outcome};
pub use convoke_agents::catalogue::Agent;
pub use convoke_agents::sandbox;
pub use convoke_store::Error as StoreError;
pub use convoke_store::{
    Archived, Asker as PairAsker, Fragment, Hit, HitPage, HitPlace, MessagePage, PairActivity,
    PairFilter, PairId, PairStats, PairUsage, Project, Rule, SearchQuery, SessionFilter,
    SessionKind, SessionOrder, Snapshot, StoredPair, StoredSession, Trouble, UpdatePage, Window,
};
pub use engine::{Engine, Figures};
pub use error::{Error, Kind, Result};
pub use inbox::{Inbox, Item, Remember};
pub use keys::{IssuedKey, Keys};
pub use processes::ListedAgent;
pub use projects::Projects;
pub use sessions::{
    Import, ImportOutcome, ImportTurn, ImportedInto, ListPiece, ListPieces, Listed, NewPrompt,
    Prompted, Sessions, Speaker, Stopped,
};
pub use settings::{
    Around, Door, Limits, PoolSettings, QuestionSettings, SandboxSettings, Settings, Spare,
};
pub use teams::{
    Analytics, AnswerStatus, Caller, Compaction, Permissions, QuestionStanding, ReportedQuestion,
    SessionFile, Stretch, Team, TeamAnswer, TeamAsk, TeamLimits, TeamProgress, TeamReport,
    TeamSettings, TeamStatus, Teams, Wait, WhichQuestion,
};
pub use view::{
    Activity, AgentStatus, Archiving, Change, Live, RunningTurn, SessionChange, SessionView,
    Version,
};
pub use watch::{Published, Watcher};
