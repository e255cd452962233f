//! The JSON bodies of REST. A contract, pinned by snapshots.
//!
//! A request with an unknown field is refused, so that a mistyped name is noticed. Responses may get new fields.

mod agents;
mod attachments;
mod backups;
mod browsers;
mod changes;
mod comparisons;
mod config;
mod daemon;
mod histories;
mod home;
mod imports;
mod inbox;
mod moves;
mod nodes;
mod problem;
mod repos;
mod review;
mod rules;
mod search;
mod sessions;
mod team_analytics;
mod teams;
mod users;
mod whole;
mod worktrees;

pub use agents::{Agent, AgentLogin, AgentLoginState, Agents, MissingLayer};
pub use attachments::{FileMatches, GivenAttachment, StoredAttachment, prompt};
pub use backups::{Backup, BackupProgress, Backups, EndedBackup, NewBackup};
pub use browsers::{
    BrowserLink, BrowserSession, BrowserSessions, LinkForm, NewBrowserLink, SignIn, SignedIn,
};
pub use changes::{
    BetweenTurns, BlockedFile, ChangedFile, DiffHunk, DiffLine, DiffLineKind, FileDiff, FileMode,
    FileStatus, Fork, LeftOutFile, LeftOutReason, Restore, RestoreScope, Restored, Revert,
    SessionChanges, Undo,
};
pub use comparisons::{
    Comparison, ComparisonEntry, ComparisonState, Comparisons, KeepEntry, KeptEntry, NewComparison,
    NewComparisonEntry, TestResult,
};
pub use config::{Config, ConfigPatch, ConfigSetting, SettingKind};
pub use daemon::{Daemon, Health, HealthProblem, Status};
pub use histories::{
    FailedHistory, FoundAgent, FoundRepo, Histories, HistoryImport, ImportMode, NewHistoryImport,
    SourceImport,
};
pub use home::Home;
pub use imports::{Import, ImportOutcome, ImportTurn, Imported, TurnRole};
pub use inbox::{Answer, Inbox, InboxItem, InboxKind, Rejection};
pub use moves::{MoveFiles, MoveSession, MoveTarget, MoveTargets, MovedSession};
pub use nodes::{Node, Nodes};
pub use problem::{Candidate, Problem, code};
pub use repos::{NewRepo, Repo, Repos};
pub use review::GivenComment;
pub use rules::{NewRule, Rule, Rules};
pub use search::{Fragment, Hit, HitSession, Hits};
pub use sessions::{
    Activity, CancelTurn, ChosenMode, ChosenSetting, CreatedSession, NewSession, Prompt, Prompted,
    QueuePatch, Session, SessionDetail, SessionMetadata, SessionPatch, Sessions, StateOfSession,
};
pub use team_analytics::{TeamActivity, TeamAnalytics, TeamCost, TeamUsage};
pub use teams::{
    Compacted, CompactedHow, ReportStatus, StoppedAgents, Team, TeamAnswer, TeamCancel,
    TeamMessage, TeamQuestion, TeamReport, TeamSession, TeamSessionNow, TeamSessions, TeamStats,
    TeamStatus, Teams,
};
pub use users::{
    Audit, AuditEntry, Device, DeviceKind, Me, NewToken, NewUser, ProjectRole, RoleChange,
    TokenMade, User, UserLink, Users,
};
pub use worktrees::{
    ConflictSide, FinishOutcome, FinishWay, FinishWorktree, FinishedWorktree, ListedWorktree,
    NewWorktree, WorktreeConflict, WorktreeState, Worktrees,
};

/// The pattern of a text that is not blank.
const NOT_BLANK: &str = r"\S";
/// The pattern of a user's name.
const USER_NAME: &str = "^[A-Za-z0-9][A-Za-z0-9@_.-]{0,63}$";
/// The pattern of an agent's name.
const AGENT_NAME: &str = "^[A-Za-z0-9_.-]+$";
/// The pattern of a team's name.
pub const TEAM_NAME: &str = "^[A-Za-z0-9-]+$";
/// The pattern of a thread's name.
pub const THREAD_NAME: &str = "^[A-Za-z0-9_.-]{1,64}$";

#[cfg(test)]
mod tests;
