//! The list of sessions: by project, last active first, some of them hidden with their project.

use std::collections::HashSet;

use convoke_api::bodies::Repo;
use convoke_api::frames::SessionItem;
use convoke_core::id::{ProjectId, SessionId};

use crate::list_keys::Move;

/// All projects and sessions, and where in them the human is.
#[derive(Debug, Default)]
pub(crate) struct List {
    pub(crate) projects: Vec<Repo>,
    /// Last active first.
    sessions: Vec<SessionItem>,
    /// Those that are known and in no list, as those of teams.
    aside: HashSet<SessionId>,
    collapsed: HashSet<ProjectId>,
    pub(crate) filter: ListFilter,
    pub(crate) cursor: Option<Row>,
}

/// Which sessions are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ListFilter {
    #[default]
    Current,
    Archived,
}

/// A row of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Row {
    Project(ProjectId),
    Session(SessionId),
}

impl List {
    pub(crate) fn session(&self, id: SessionId) -> Option<&SessionItem> {
        self.sessions.iter().find(|session| session.uid == id)
    }

    pub(crate) fn project(&self, id: ProjectId) -> Option<&Repo> {
        self.projects.iter().find(|project| project.id == id)
    }

    pub(crate) fn is_collapsed(&self, id: ProjectId) -> bool {
        self.collapsed.contains(&id)
    }

    /// The sessions that are in lists, last active first.
    pub(crate) fn listed(&self) -> impl Iterator<Item = &SessionItem> {
        self.sessions.iter().filter(|session| !self.aside.contains(&session.uid))
    }

    /// Those of them that are not archived.
    pub(crate) fn current(&self) -> impl Iterator<Item = &SessionItem> {
        self.listed().filter(|session| !session.archived)
    }

    /// Forgets a session.
    pub(crate) fn remove(&mut self, id: SessionId) {
        self.sessions.retain(|session| session.uid != id);
    }

    /// Lists a session.
    pub(crate) fn put(&mut self, session: SessionItem) {
        self.aside.remove(&session.uid);
        self.replace(session);
    }

    /// Lists sessions of folders that are no projects; those of projects are listed project by project.
    pub(crate) fn put_others(&mut self, sessions: impl Iterator<Item = SessionItem>) {
        for session in sessions {
            if self.project(session.project_id).is_none() {
                self.put(session);
            }
        }
    }

    /// Updates a session, which stays unlisted if it is.
    pub(crate) fn learn(&mut self, session: SessionItem) {
        if self.session(session.uid).is_none() {
            self.aside.insert(session.uid);
        }
        self.replace(session);
    }

    fn replace(&mut self, session: SessionItem) {
        self.sessions.retain(|known| known.uid != session.uid);
        let at =
            self.sessions.partition_point(|known| known.last_active_at > session.last_active_at);
        self.sessions.insert(at, session);
    }

    /// Replaces all sessions of a project that one filter shows.
    pub(crate) fn take(&mut self, project: ProjectId, sessions: Vec<SessionItem>) {
        let Some(archived) = sessions.first().map(|session| session.archived) else { return };
        self.sessions.retain(|known| known.project_id != project || known.archived != archived);
        let news: HashSet<SessionId> = sessions.iter().map(|session| session.uid).collect();
        self.sessions.retain(|known| !news.contains(&known.uid));
        self.aside.retain(|id| !news.contains(id));
        self.sessions.extend(sessions);
        self.sessions.sort_by_key(|session| std::cmp::Reverse(session.last_active_at));
    }

    /// Drops the sessions; they are requested again.
    pub(crate) fn clear(&mut self) {
        self.sessions.clear();
    }

    /// Changes a session.
    pub(crate) fn change(&mut self, id: SessionId, change: impl FnOnce(&mut SessionItem)) {
        if let Some(session) = self.sessions.iter_mut().find(|session| session.uid == id) {
            change(session);
        }
    }

    pub(crate) fn put_project(&mut self, project: Repo) {
        self.projects.retain(|known| known.id != project.id);
        self.projects.push(project);
    }

    pub(crate) fn remove_project(&mut self, id: ProjectId) {
        self.projects.retain(|project| project.id != id);
        self.sessions.retain(|session| session.project_id != id);
    }

    /// The rows that are listed.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let archived = self.filter == ListFilter::Archived;
        let mut rows = Vec::new();
        for project in &self.projects {
            let mut sessions = self.sessions.iter().filter(|session| {
                session.project_id == project.id
                    && session.archived == archived
                    && !self.aside.contains(&session.uid)
            });
            let first = sessions.next();
            if first.is_none() && archived {
                continue;
            }
            rows.push(Row::Project(project.id));
            if !self.is_collapsed(project.id) {
                rows.extend(first.into_iter().chain(sessions).map(|it| Row::Session(it.uid)));
            }
        }
        rows
    }

    /// How many sessions a project has under this filter.
    pub(crate) fn count(&self, project: ProjectId) -> usize {
        let archived = self.filter == ListFilter::Archived;
        let here = |it: &&SessionItem| {
            it.project_id == project && it.archived == archived && !self.aside.contains(&it.uid)
        };
        self.sessions.iter().filter(here).count()
    }

    /// The index of the cursor among the rows; that of the first session without a cursor.
    pub(crate) fn position(&self, rows: &[Row]) -> usize {
        let at = self.cursor.and_then(|row| rows.iter().position(|known| *known == row));
        let first = || rows.iter().position(|row| matches!(row, Row::Session(_)));
        at.or_else(first).unwrap_or_default()
    }

    /// The row at the cursor.
    pub(crate) fn at_cursor(&self) -> Option<Row> {
        let rows = self.rows();
        rows.get(self.position(&rows)).copied()
    }

    /// The session at the cursor.
    pub(crate) fn session_at_cursor(&self) -> Option<&SessionItem> {
        match self.at_cursor()? {
            Row::Session(id) => self.session(id),
            Row::Project(_) => None,
        }
    }

    /// The project at the cursor.
    pub(crate) fn project_at_cursor(&self) -> Option<ProjectId> {
        match self.at_cursor()? {
            Row::Session(id) => self.session(id).map(|session| session.project_id),
            Row::Project(id) => Some(id),
        }
    }

    /// Moves the cursor.
    pub(crate) fn step(&mut self, to: Move) {
        let rows = self.rows();
        let Some(last) = rows.len().checked_sub(1) else { return };
        self.cursor = rows.get(to.apply(self.position(&rows), last)).copied();
    }

    /// Expands or collapses the project at the cursor.
    pub(crate) fn toggle_project(&mut self) {
        let Some(project) = self.project_at_cursor() else { return };
        if !self.collapsed.remove(&project) {
            self.collapsed.insert(project);
            self.cursor = Some(Row::Project(project));
        }
    }
}
