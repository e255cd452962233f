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
pub use engine::{Engine, Figures, ListedAgent};
pub use error::{Error, Kind, Result};
pub use inbox::{Item, Remember};
pub use keys::{IssuedKey, Keys};
pub use sessions::{
    Import, ImportOutcome, ImportTurn, ImportedInto, ListPiece, ListPieces, Listed, NewPrompt,
    Prompted, Speaker,
};
pub use settings::{
    Around, Door, Limits, PoolSettings, QuestionSettings, SandboxSettings, Settings, Spare,
};
pub use teams::{
    Analytics, AnswerStatus, Caller, Compaction, Permissions, QuestionStanding, ReportedQuestion,
    SessionFile, Stopped, Stretch, Team, TeamAnswer, TeamAsk, TeamLimits, TeamProgress, TeamReport,
    TeamSettings, TeamStatus, Wait, WhichQuestion,
};
pub use view::{
    Activity, AgentStatus, Archiving, Change, Live, Moment, RunningTurn, SessionChange, SessionView,
};
pub use watch::{Published, Watcher};
