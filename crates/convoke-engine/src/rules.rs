//! Rules: what agents may do without asking, and what they may not. Listed, added and revoked by the human.

use std::sync::Arc;

use convoke_core::id::{AgentName, ProjectId, RequestId, RuleId, SessionId};
use convoke_core::rule::{Effect, Matcher, Rule};
use convoke_core::user::UserName;
use convoke_store::Store;
use tokio::sync::broadcast;

use crate::error::{Error, Result};
use crate::prefix::only;
use crate::settings::HostContext;
use crate::view::Change;

/// All rules.
#[derive(Debug, Clone)]
pub struct Rules {
    pub(crate) store: Store,
    pub(crate) host: Arc<HostContext>,
    pub(crate) changes: broadcast::Sender<Change>,
}

/// A rule, with the name of its project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleView {
    /// The rule.
    pub rule: Rule,
    /// The name of its project; none for a rule that holds everywhere.
    pub project: Option<String>,
}

impl RuleView {
    /// The whole rule in words.
    pub fn text(&self) -> String {
        self.rule.text(self.project.as_deref())
    }
}

/// A rule to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRule {
    /// What it does.
    pub effect: Effect,
    /// What it is about.
    pub matcher: Matcher,
    /// The agent that it holds for; all without one.
    pub agent: Option<AgentName>,
    /// The project that it holds in; everywhere without one.
    pub project_id: Option<ProjectId>,
    /// The user for whose prompts it holds; for everyone's without one.
    pub user: Option<UserName>,
    /// The request whose answer makes it, with its session.
    pub from: Option<(RequestId, SessionId)>,
}

impl Rules {
    /// Lists the rules, the newest first: all of them, or those that hold in a project.
    pub async fn list(&self, project: Option<ProjectId>) -> Result<Vec<RuleView>> {
        let holds = |rule: &Rule| match (project, rule.project_id) {
            (Some(wanted), Some(own)) => wanted == own,
            (None, _) | (_, None) => true,
        };
        let mut views = Vec::new();
        for rule in self.store.rules().await?.into_iter().filter(holds) {
            views.push(self.view(rule).await?);
        }
        Ok(views)
    }

    /// Makes a rule. It decides requests from now on; those that are asked already stay the human's to answer.
    pub async fn add(&self, new: NewRule) -> Result<RuleView> {
        let NewRule { effect, matcher, agent, project_id, user, from } = new;
        matcher.check(effect)?;
        if let Some(id) = project_id {
            let found = self.store.project(id).await?;
            found.ok_or_else(|| Error::UnknownProject { text: id.to_string() })?;
        }
        let rule = Rule {
            id: RuleId::from_random((self.host.random)()),
            effect,
            matcher,
            agent,
            project_id,
            user,
            created_at: self.host.now(),
            request_id: from.map(|(request, _)| request),
            session_id: from.map(|(_, session)| session),
            used_count: 0,
            last_used_at: None,
        };
        let rule = self.store.add_rule(rule).await?;
        self.announce();
        self.view(rule).await
    }

    /// Revokes the rule with this id or unique prefix: the agent asks again.
    pub async fn remove(&self, text: &str) -> Result<RuleId> {
        let unknown = || Error::UnknownRule { text: text.to_owned() };
        let id = match text.parse() {
            Ok(id) => id,
            Err(_) => {
                let prefix = text.to_ascii_lowercase();
                let ids = self.store.rules().await?.into_iter().map(|rule| rule.id);
                let found = ids.filter(|id| id.to_string().starts_with(&prefix)).collect();
                only(&prefix, found, ToString::to_string, unknown())?
            }
        };
        if !self.store.remove_rule(id).await? {
            return Err(unknown());
        }
        self.announce();
        Ok(id)
    }

    async fn view(&self, rule: Rule) -> Result<RuleView> {
        let project = match rule.project_id {
            Some(id) => Some(self.store.project(id).await?),
            None => None,
        };
        let name = |id: ProjectId| id.to_string();
        let project = project.map(|found| match (found, rule.project_id) {
            (Some(project), _) => project.name,
            (None, id) => id.map(name).unwrap_or_default(),
        });
        Ok(RuleView { rule, project })
    }

    fn announce(&self) {
        // Fails when there are no followers.
        self.changes.send(Change::Rules).ok();
    }
}
