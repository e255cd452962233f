//! What a frame is about.

use super::ClientFrame;

/// What a frame is about, by the id in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameSubject<'a> {
    /// A session.
    Session(&'a str),
    /// A permission or a set of questions.
    Request(&'a str),
    /// A project.
    Project(&'a str),
    /// None of these.
    Other,
}

impl ClientFrame {
    /// What it is about.
    pub const fn subject(&self) -> FrameSubject<'_> {
        match self {
            Self::SessionOpen { session_id, .. }
            | Self::SessionPage { session_id, .. }
            | Self::SessionClose { session_id }
            | Self::SessionSend { session_id, .. }
            | Self::QueueEdit { session_id, .. }
            | Self::QueueRemove { session_id, .. }
            | Self::QueueSend { session_id, .. }
            | Self::QueueMove { session_id, .. }
            | Self::SessionCancel { session_id, .. }
            | Self::SessionSeen { session_id }
            | Self::SessionErase { session_id }
            | Self::SessionArchive { session_id }
            | Self::SessionUnarchive { session_id }
            | Self::SessionRename { session_id, .. }
            | Self::SessionResume { session_id }
            | Self::SessionEnd { session_id, .. }
            | Self::SessionMode { session_id, .. }
            | Self::SessionSetting { session_id, .. } => FrameSubject::Session(session_id.as_str()),
            Self::PermissionAnswer { permission_id: id, .. }
            | Self::QuestionAnswer { question_id: id, .. }
            | Self::QuestionReject { question_id: id, .. } => FrameSubject::Request(id.as_str()),
            Self::ProjectRemove { project_id }
            | Self::FileComplete { project_id, .. }
            | Self::SessionList { project_id, .. }
            | Self::SessionCreate { project_id, .. }
            | Self::RuleAdd { project_id: Some(project_id), .. } => {
                FrameSubject::Project(project_id.as_str())
            }
            Self::RuleAdd { project_id: None, .. }
            | Self::ProjectList {}
            | Self::ProjectAdd { .. }
            | Self::FolderComplete { .. }
            | Self::FileOpen { .. }
            | Self::AgentList {}
            | Self::RuleList {}
            | Self::RuleRemove { .. }
            | Self::InboxList {}
            | Self::HomeList {}
            | Self::Search { .. }
            | Self::ConfigGet {}
            | Self::ConfigSet { .. }
            | Self::Ping {} => FrameSubject::Other,
        }
    }

    /// The session that it is about.
    pub const fn session_id(&self) -> Option<&str> {
        match self.subject() {
            FrameSubject::Session(id) => Some(id),
            FrameSubject::Request(_) | FrameSubject::Project(_) | FrameSubject::Other => None,
        }
    }
}
