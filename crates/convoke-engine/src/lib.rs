//! Runs sessions: one task per session, timeouts, limits, the inbox, and recovery at the start; and what belongs to
//! sessions: projects, rules, teams, changes, work trees, comparisons, imports, backups, users, and other nodes.
//!
//! The core decides, the store persists, the agents work; this crate connects them, without any protocol or SQL of
//! its own. Every update is stored, then published, then acknowledged, in this order.

mod asking;
mod attachments;
pub mod backup;
mod blocking;
mod changes;
mod comparisons;
mod engine;
mod error;
mod full_disk;
mod histories;
mod home;
mod inbox;
mod keys;
mod moving;
mod nodes;
mod prefix;
mod processes;
mod project_files;
mod projects;
mod rules;
mod session;
mod sessions;
mod settings;
mod snapshots;
mod teams;
mod users;
mod view;
mod watch;
mod worktrees;

pub use asking::{Asker, Outcome, PendingRequest};
pub use attachments::{Attachments, Blob};
pub use changes::{
    ChangedFile, Changes, ChangesError, DiffRange, Restoration, RestoreGuard, SessionChanges,
};
pub use comparisons::{
    Comparison, ComparisonEntry, Comparisons, EntryStatus, NewComparison, TestRun,
};
pub use convoke_agents::Error as AgentError;
pub use convoke_agents::catalogue::{Agent, LoginState, Resume};
pub use convoke_agents::sandbox;
pub use convoke_core::session::Activity;
pub use convoke_git::{
    Change as FileChange, Error as GitError, FileDiff, FileMode, Hunk, LeftOut, LeftOutReason,
    Line, LineKind, Status as FileStatus, word_marks,
};
pub use convoke_store::Error as StoreError;
pub use convoke_store::nodes::{Beginning, Node};
pub use convoke_store::{
    Act, Archived, Asker as PairAsker, AuditEntry, AuditFilter, DatabaseFailure, FoundProject,
    Fragment, Hit, HitPage, HitPlace, HitSession, MessagePage, NodeScope, PairActivity, PairFilter,
    PairId, PairStats, PairUsage, Project, SearchOrder, SearchQuery, SessionFilter, SessionHistory,
    SessionKind, SessionOrder, Snapshot, StoredPair, StoredSession, UpdatePage, User, UserToken,
    Window,
};
pub use engine::{Engine, Figures};
pub use error::{Error, Kind, Result};
pub use histories::{
    AgentRun, FailedHistory, FoundAgent, FoundHistories, Histories, HistoryAgent, HistorySettings,
    ImportMode, ImportRequest, ImportRun, Purpose, Recall,
};
pub use home::{Counts, Home};
pub use inbox::{Inbox, Item, Remember};
pub use keys::{IssuedKey, Keys};
pub use moving::{
    Destination, MoveError, MoveFiles, MoveOrder, MoveRunning, MoveSource, MoveTarget, Moved, Moves,
};
pub use nodes::{CallOutcome, Delivery, Incoming, ListSubscription, Nodes, QueuePolicy};
pub use processes::{ListedAgent, Offered};
pub use projects::Projects;
pub use rules::{NewRule, RuleView, Rules};
pub use session::choices::Choices;
pub use sessions::{
    AdoptionError, Created, ForkAt, Import, ImportOutcome, ImportTurn, ImportedInto, ListPiece,
    ListPieces, Listed, NewPrompt, NewSession, Prompted, Sessions, Speaker, Stopped,
};
pub use settings::{
    Checkpointing, HostContext, Limits, McpEndpoint, PoolSettings, QuestionSettings,
    SandboxSettings, Settings, Spare, WorktreeSettings,
};
pub use teams::{
    ActivityInterval, Analytics, Caller, Compaction, Permissions, PlacedQuestion, QuestionPair,
    QuestionStatus, ReportedQuestion, SessionFile, Team, TeamAnswer, TeamAsk, TeamLimits,
    TeamProgress, TeamQuestion, TeamReport, TeamSettings, TeamStatus, Teams, Wait, WhichQuestion,
};
pub use users::{UserError, Users};
pub use view::{
    AgentStatus, Archiving, Change, Live, RunningTurn, SessionChange, SessionView, Version,
};
pub use watch::{Published, Watcher};
pub use worktrees::{
    Conflict, FinishOrder, FinishOutcome, FinishWay, Finished, LeftWorktree, ListedWorktree,
    LostFiles, OnConflict, WantedWorktree, WorktreeError, WorktreeStatus, Worktrees,
};
