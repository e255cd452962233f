//! The start screen: what needs the human, what is in progress, what has ended unseen, and the next
//! session.

use convoke_api::bodies::NewWorktree;
use convoke_api::frames::{AgentItem, SessionItem};
use convoke_core::id::{AgentName, ProjectId, RequestId, SessionId};
use convoke_core::session::Attention;
use convoke_core::state::OfferedChoice;

use super::comparisons::ComparisonDraft;
use super::model::Model;
use super::offers::{Offer, group};
use super::request::Request;
use crate::editor::Editor;

/// Sessions that are listed besides those that need the human.
const RECENT_MAX: usize = 20;

/// Where the human is on the start screen, and the session that they are about to begin.
#[derive(Debug, Default)]
pub(crate) struct Home {
    pub(crate) cursor: Option<Row>,
    pub(crate) composer: Composer,
}

/// A session that is about to begin.
#[derive(Debug, Default)]
pub(crate) struct Composer {
    /// The first prompt.
    pub(crate) text: Editor,
    /// The project that was chosen; without one, the likeliest.
    pub(crate) project: Option<ProjectId>,
    /// The agent that was chosen; without one, the likeliest.
    pub(crate) agent: Option<AgentName>,
    /// The mode and the model that were chosen, with the agent that offers them.
    pub(crate) mode: Option<(AgentName, OfferedChoice)>,
    pub(crate) model: Option<(AgentName, OfferedChoice)>,
    /// The work tree that the session is to have for itself; without one, it works in the project's folder.
    pub(crate) worktree: Option<NewWorktree>,
    /// Several agents get the prompt, each in a work tree of its own.
    pub(crate) comparison: Option<ComparisonDraft>,
}

/// A row of the start screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Row {
    Request(RequestId),
    Session(SessionId),
}

/// The groups of the start screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    NeedsYou,
    Working,
    Failed,
    Finished,
    Recent,
    /// Questions that can still be answered, although their asker has gone.
    Left,
}

impl Group {
    pub(crate) const fn heading(self) -> &'static str {
        match self {
            Self::NeedsYou => "Needs you",
            Self::Working => "Working",
            Self::Failed => "Failed",
            Self::Finished => "Finished, not seen yet",
            Self::Recent => "Recent",
            Self::Left => "No longer waited for",
        }
    }

    fn of(session: &SessionItem) -> Self {
        match (session.attention, session.unseen) {
            (Attention::Working, _) => Self::Working,
            (Attention::Failed, true) => Self::Failed,
            (Attention::Idle | Attention::Ended, true) => Self::Finished,
            (Attention::NeedsYou, _) => Self::NeedsYou,
            (Attention::Failed | Attention::Idle | Attention::Ended, false) => Self::Recent,
        }
    }
}

impl Model {
    /// All rows of the start screen, group by group.
    pub(crate) fn home_rows(&self) -> Vec<(Group, Row)> {
        let (pending, left): (Vec<_>, Vec<_>) =
            self.inbox.iter().partition(|request| request.is_pending());
        let row = |group, request: &Request| (group, Row::Request(request.item.id));
        let mut rows: Vec<(Group, Row)> =
            pending.into_iter().map(|request| row(Group::NeedsYou, request)).collect();
        for group in [Group::Working, Group::Failed, Group::Finished, Group::Recent] {
            let max = if group == Group::Recent { RECENT_MAX } else { usize::MAX };
            let sessions = self.list.current().filter(|session| Group::of(session) == group);
            rows.extend(sessions.take(max).map(|session| (group, Row::Session(session.uid))));
        }
        rows.extend(left.into_iter().map(|request| row(Group::Left, request)));
        rows
    }

    /// The index of the cursor among the rows of the start screen.
    pub(crate) fn home_position(&self, rows: &[(Group, Row)]) -> usize {
        let here = self.home.cursor;
        rows.iter().position(|(_, row)| Some(*row) == here).unwrap_or_default()
    }

    /// The row of the start screen at the cursor.
    pub(crate) fn home_row(&self) -> Option<Row> {
        let rows = self.home_rows();
        rows.get(self.home_position(&rows)).map(|(_, row)| *row)
    }

    /// The project in which a session would begin: the chosen one, that of the folder, or that of the newest session.
    pub(crate) fn composer_project(&self) -> Option<ProjectId> {
        let projects = &self.list.projects;
        let is_here = |id: &ProjectId| projects.iter().any(|project| project.id == *id);
        let of_folder = || {
            let inside = projects.iter().filter(|project| {
                let rest = self.folder.strip_prefix(&project.path);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            });
            inside.max_by_key(|project| project.path.len()).map(|project| project.id)
        };
        let of_newest = || self.list.current().map(|session| session.project_id).find(&is_here);
        self.home
            .composer
            .project
            .filter(&is_here)
            .or_else(of_folder)
            .or_else(of_newest)
            .or_else(|| projects.first().map(|project| project.id))
    }

    /// The mode with which a session would begin, if one was chosen of this agent's.
    pub(crate) fn composer_mode(&self) -> Option<&OfferedChoice> {
        self.of_composer_agent(self.home.composer.mode.as_ref())
    }

    /// The model with which a session would begin, if one was chosen of this agent's.
    pub(crate) fn composer_model(&self) -> Option<&OfferedChoice> {
        self.of_composer_agent(self.home.composer.model.as_ref())
    }

    fn of_composer_agent<'a>(
        &self,
        chosen: Option<&'a (AgentName, OfferedChoice)>,
    ) -> Option<&'a OfferedChoice> {
        let agent = &self.composer_agent()?.cli_type;
        chosen.filter(|(of, _)| of == agent).map(|(_, choice)| choice)
    }

    /// The choices for the agent of the next session: what it offered when it was last started.
    pub(crate) fn composer_offers(&self) -> Vec<Offer<'_>> {
        let Some(agent) = self.composer_agent() else { return Vec::new() };
        let current = |chosen: Option<&OfferedChoice>, own: &Option<String>| {
            chosen.map(|choice| choice.id.clone()).or_else(|| own.clone()).unwrap_or_default()
        };
        let mode = current(self.composer_mode(), &agent.mode);
        let model = current(self.composer_model(), &agent.model);
        let mut offers = group("Mode", None, &mode, &agent.modes).collect::<Vec<_>>();
        offers.extend(group("Model", Some("model"), &model, &agent.models));
        offers
    }

    /// The agent with which a session would begin: the chosen one, that of the newest session, or one that is installed.
    pub(crate) fn composer_agent(&self) -> Option<&AgentItem> {
        let find = |name: &AgentName| self.agents.iter().find(|agent| agent.cli_type == *name);
        let project = self.composer_project();
        let newest = || self.list.current().find(|session| Some(session.project_id) == project);
        let chosen = self.home.composer.agent.as_ref().and_then(find);
        chosen
            .or_else(|| find(&newest()?.cli_type).filter(|agent| agent.installed))
            .or_else(|| self.agents.iter().find(|agent| agent.installed))
    }
}
