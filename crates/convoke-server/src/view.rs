//! Converts the engine's types into those of the API.

pub(crate) mod changes;
pub(crate) mod comparisons;
mod histories;
pub(crate) mod teams;
pub(crate) mod worktrees;

use convoke_api::bodies::{
    Activity, Agent, AgentLogin, AgentLoginState, InboxItem, InboxKind, MissingLayer, Prompted,
    Repo, Rule, Session, SessionMetadata,
};
use convoke_api::entry::{AskedQuestion, Permission};
use convoke_api::frames::SessionItem;
use convoke_core::id::{CanonicalId, SessionId};
use convoke_core::request::Request;
use convoke_core::title::UNTITLED;
use convoke_engine::{
    Item, ListedAgent, LoginState, Offered, Project, Resume, RuleView, SessionView, StoredSession,
};

pub(crate) use histories::{histories, history_import};

/// A session for REST.
pub(crate) fn session(view: SessionView) -> Session {
    let attention = view.attention();
    let SessionView { stored, activity } = view;
    let summary = stored.summary;
    let (accepts_prompts, unseen) = (summary.accepts_prompts(), summary.is_unseen());
    let work = summary.work;
    Session {
        id: stored.id,
        repo_id: stored.project_id,
        agent: stored.agent,
        agent_session_id: stored.agent_session_id,
        title: summary.title.unwrap_or_else(|| UNTITLED.to_owned()),
        status: summary.status,
        accepts_prompts,
        archived: summary.archived,
        created_at: stored.created_at,
        updated_at: summary.updated_at,
        last_active_at: summary.last_active_at,
        message_count: summary.last_seq.get(),
        metadata: SessionMetadata { reason: summary.reason },
        activity: match activity {
            convoke_engine::Activity::Idle => Activity::Idle,
            convoke_engine::Activity::Running => Activity::Running,
            convoke_engine::Activity::Waiting => Activity::Waiting,
        },
        attention,
        unseen,
        failure: work.failure,
        running_since: work.running_since,
        step: work.step,
        last_line: work.last_line,
        cost: work.cost,
        changes: stored.changes,
        worktree: stored.worktree,
        node: stored.node,
    }
}

/// A session for the WebSocket.
pub(crate) fn session_item(view: SessionView) -> SessionItem {
    session(view).into()
}

/// A prompt that was accepted.
pub(crate) const fn prompted(prompted: &convoke_engine::Prompted) -> Prompted {
    Prompted {
        accepted: true,
        message_id: prompted.message_id,
        seq: prompted.seq,
        queued: prompted.queued > 0,
        rev: prompted.rev,
        waits_for: None,
    }
}

/// Both ids of a session: the canonical one, or its own where there is none, and its own.
pub(crate) fn names(stored: &StoredSession) -> (String, SessionId) {
    let agent_session = stored.agent_session_id.clone();
    let canonical =
        agent_session.map(|it| CanonicalId { agent: stored.agent.clone(), agent_session: it });
    (canonical.map_or_else(|| stored.id.to_string(), |id| id.to_string()), stored.id)
}

/// A project.
pub(crate) fn repo(project: Project) -> Repo {
    Repo {
        id: project.id,
        name: project.name,
        path: project.path.display().to_string(),
        added_at: project.added_at,
        node: project.node,
    }
}

/// A rule.
pub(crate) fn rule(view: RuleView) -> Rule {
    let text = view.text();
    let RuleView { rule, project } = view;
    Rule {
        id: rule.id,
        effect: rule.effect,
        matcher: rule.matcher,
        agent: rule.agent,
        project_id: rule.project_id,
        project,
        user: rule.user,
        text,
        created_at: rule.created_at,
        request_id: rule.request_id,
        session_id: rule.session_id,
        used_count: rule.used_count,
        last_used_at: rule.last_used_at,
    }
}

/// An agent of the catalogue.
pub(crate) fn agent(listed: ListedAgent) -> Agent {
    let ListedAgent { agent, program, version, login, layers, missing, offered } = listed;
    let Offered { modes, mode, models, model } = offered;
    let state = match login {
        LoginState::LoggedIn => AgentLoginState::LoggedIn,
        LoginState::LoggedOut => AgentLoginState::LoggedOut,
        LoginState::Unknown => AgentLoginState::Unknown,
        LoginState::NotNeeded => AgentLoginState::NotNeeded,
    };
    let hint = agent.login.map(|login| login.hint).filter(|hint| !hint.is_empty());
    let missing_layers =
        missing.into_iter().map(|it| MissingLayer { layer: it.layer.to_string(), why: it.why });
    let resume = Resume::WORDS.iter().find(|(_, resume)| *resume == agent.resume);
    Agent {
        name: agent.name,
        title: agent.title,
        badge: agent.badge,
        // The variants are named as in the configuration, but for the capital letter.
        protocol: format!("{:?}", agent.protocol).to_lowercase(),
        installed: program.is_some(),
        path: program.map(|path| path.display().to_string()),
        version,
        login: AgentLogin { state, hint },
        resume: resume.map_or("", |(word, _)| word).to_owned(),
        layers: layers.iter().map(ToString::to_string).collect(),
        missing_layers: missing_layers.collect(),
        modes,
        mode,
        models,
        model,
        install: agent.install,
    }
}

/// Which id of a session is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// Convoke's id.
    Own,
    /// The canonical id.
    Canonical,
}

/// A request that waits for the human.
pub(crate) fn inbox_item(item: Item, naming: Naming) -> InboxItem {
    let session = item.session.map(session_item);
    let (kind, title, permission, questions) = match &item.request {
        Request::Permission(record) => {
            (InboxKind::Permission, record.title.clone(), Some(Permission::from(record)), None)
        }
        Request::Questions(record) => {
            let first = record.questions.first();
            let title = first.map(|it| if it.title.is_empty() { &it.prompt } else { &it.title });
            let questions = record.questions.iter().map(AskedQuestion::from).collect();
            (InboxKind::Questions, title.cloned().unwrap_or_default(), None, Some(questions))
        }
    };
    InboxItem {
        id: item.request.id(),
        kind,
        session_id: session.as_ref().map(|session| match naming {
            Naming::Own => session.uid.to_string(),
            Naming::Canonical => session.id.clone(),
        }),
        uid: session.as_ref().map(|session| session.uid),
        title,
        created_at: item.asked_at,
        agent: session.map(|session| session.cli_type),
        project: item.project.as_ref().map(|project| project.name.clone()),
        project_id: item.project.map(|project| project.id),
        permission,
        questions,
        asked_by: item.asked_by,
        working_directory: item.working_directory,
        status: item.request.status(),
    }
}
