//! Makes, counts and deletes rules.

use convoke_core::id::{AgentName, ProjectId, RuleId};
use convoke_core::rule::Rule;
use convoke_core::time::Timestamp;
use convoke_core::user::UserName;

use super::{Change, Durability};
use crate::db::{Db, params};
use crate::error::Fault;
use crate::rules::{COLUMNS, rule};

/// Adds a rule, unless an equal one exists.
#[derive(Debug)]
pub(crate) struct AddRule(pub(crate) Rule);

impl Change for AddRule {
    type Outcome = Rule;

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<Rule, Fault> {
        let new = &self.0;
        let matcher = serde_json::json!(new.matcher).to_string();
        let (agent, project) = (new.agent.as_ref(), new.project_id.map(|id| id.to_string()));
        let user = new.user.as_ref().map(UserName::as_str);
        db.prepare_cached(
            "INSERT INTO rules VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            new.id.to_string(),
            new.effect.as_str(),
            matcher,
            agent.map(AgentName::as_str),
            project,
            new.created_at.as_millis(),
            new.request_id.map(|id| id.to_string()),
            new.session_id.map(|id| id.to_string()),
            new.used_count,
            new.last_used_at.map(Timestamp::as_millis),
            user,
        ])?;
        let sql = format!(
            "SELECT {COLUMNS} FROM rules
             WHERE matcher = ?1 AND effect = ?2 AND agent IS NOT DISTINCT FROM ?3
                 AND project_id IS NOT DISTINCT FROM ?4 AND user_name IS NOT DISTINCT FROM ?5"
        );
        let agent = agent.map(AgentName::as_str);
        let mut statement = db.prepare_cached(&sql)?;
        let effect = new.effect.as_str();
        Ok(statement.query_row(params![matcher, effect, agent, project, user], rule)?)
    }
}

/// Deletes a rule.
#[derive(Debug)]
pub(crate) struct RemoveRule(pub(crate) RuleId);

impl Change for RemoveRule {
    type Outcome = bool;

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<bool, Fault> {
        let mut statement = db.prepare_cached("DELETE FROM rules WHERE id = ?1")?;
        Ok(statement.execute([self.0.to_string()])? > 0)
    }
}

/// Counts that rules decided a request.
#[derive(Debug)]
pub(crate) struct CountUses {
    pub(crate) rules: Vec<RuleId>,
    pub(crate) at: Timestamp,
}

impl Change for CountUses {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Soon
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        let mut statement = db.prepare_cached(
            "UPDATE rules SET used_count = used_count + 1, last_used_at = ?2 WHERE id = ?1",
        )?;
        for id in &self.rules {
            statement.execute(params![id.to_string(), self.at.as_millis()])?;
        }
        Ok(())
    }
}

/// Deletes a rule of an older version that held for every use of a tool.
#[derive(Debug)]
pub(crate) struct DropBlanketRule {
    pub(crate) project: ProjectId,
    pub(crate) agent: AgentName,
    pub(crate) tool: String,
}

impl Change for DropBlanketRule {
    type Outcome = bool;

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<bool, Fault> {
        let mut statement = db.prepare_cached(
            "DELETE FROM permission_rules WHERE project_id = ?1 AND agent = ?2 AND tool = ?3",
        )?;
        let dropped =
            statement.execute(params![self.project.to_string(), self.agent.as_str(), self.tool])?;
        Ok(dropped > 0)
    }
}
