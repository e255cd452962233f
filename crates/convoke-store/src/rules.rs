//! What agents may do without asking.

use convoke_core::id::{AgentName, ProjectId};
use convoke_core::time::Timestamp;
use rusqlite::{Row, params};

use crate::error::Result;
use crate::row;
use crate::store::Store;
use crate::write::rules::{AddRule, RemoveRule};

/// A tool that an agent may use in a project without asking, because a human said so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The project.
    pub project_id: ProjectId,
    /// The agent.
    pub agent: AgentName,
    /// The tool, as the agent calls it.
    pub tool: String,
    /// When the human said so.
    pub made_at: Timestamp,
}

impl Store {
    /// Makes a rule; one that is there already stays as it is.
    pub async fn add_rule(&self, rule: Rule) -> Result<()> {
        self.make(AddRule(rule)).await
    }

    /// Forgets a rule, if it is there.
    pub async fn remove_rule(&self, rule: Rule) -> Result<()> {
        self.make(RemoveRule(rule)).await
    }

    /// Whether there is a rule for this tool.
    pub async fn has_rule(
        &self,
        project: ProjectId,
        agent: &AgentName,
        tool: &str,
    ) -> Result<bool> {
        self.read(|db| {
            let mut statement = db.prepare_cached(
                "SELECT 1 FROM permission_rules WHERE project_id = ?1 AND agent = ?2 AND tool = ?3",
            )?;
            Ok(statement.exists(params![project.to_string(), agent.as_str(), tool])?)
        })
        .await
    }

    /// Lists the rules of a project; people make them one by one, so they are few.
    pub async fn rules(&self, project: ProjectId) -> Result<Vec<Rule>> {
        self.read(|db| {
            let mut statement = db.prepare_cached(
                "SELECT project_id, agent, tool, made_at FROM permission_rules
                 WHERE project_id = ?1 ORDER BY agent, tool LIMIT 10000",
            )?;
            let rules = statement.query_map([project.to_string()], rule)?;
            Ok(rules.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }
}

fn rule(row: &Row<'_>) -> rusqlite::Result<Rule> {
    Ok(Rule {
        project_id: row::text(row, 0)?,
        agent: row::text(row, 1)?,
        tool: row.get(2)?,
        made_at: row::timestamp(row, 3)?,
    })
}
