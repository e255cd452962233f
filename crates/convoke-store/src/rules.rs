//! What agents may do without asking, and what they may not.

use convoke_core::id::{AgentName, ProjectId, RuleId};
use convoke_core::rule::{Effect, Rule};
use convoke_core::time::Timestamp;

use crate::db::{Row, SqlResult, params};
use crate::error::Result;
use crate::row;
use crate::store::Store;
use crate::write::rules::{AddRule, CountUses, DropBlanketRule, RemoveRule};

/// The columns that `rule` reads.
pub(crate) const COLUMNS: &str = "id, effect, matcher, agent, project_id, created_at, request_id, session_id, used_count, \
                                  last_used_at, user_name";

impl Store {
    /// Adds a rule. If an equal one exists, that is returned unchanged.
    pub async fn add_rule(&self, rule: Rule) -> Result<Rule> {
        self.make(AddRule(rule)).await
    }

    /// Deletes a rule; returns whether it existed.
    pub async fn remove_rule(&self, id: RuleId) -> Result<bool> {
        self.make(RemoveRule(id)).await
    }

    /// Counts that rules decided a request. Deleted rules are skipped.
    pub async fn count_uses(&self, rules: Vec<RuleId>, at: Timestamp) -> Result<()> {
        self.make(CountUses { rules, at }).await
    }

    /// Lists all rules, the newest first. People make them one by one, so they are few.
    pub async fn rules(&self) -> Result<Vec<Rule>> {
        self.read(move |db| {
            let sql =
                format!("SELECT {COLUMNS} FROM rules ORDER BY created_at DESC, id LIMIT 10000");
            let mut statement = db.prepare_cached(&sql)?;
            let rules = statement.query_map(params![], rule)?;
            Ok(rules.collect::<SqlResult<_>>()?)
        })
        .await
    }

    /// Deletes a rule of an older version that held for every use of a tool; returns whether there
    /// was one.
    pub async fn drop_blanket_rule(
        &self,
        project: ProjectId,
        agent: &AgentName,
        tool: &str,
    ) -> Result<bool> {
        let (agent, tool) = (agent.clone(), tool.to_owned());
        let key = [project.to_string(), agent.to_string(), tool.clone()];
        let known = self.read(move |db| {
            let mut statement = db.prepare_cached(
                "SELECT 1 FROM permission_rules WHERE project_id = ?1 AND agent = ?2 AND tool = ?3",
            )?;
            Ok(statement.exists(key)?)
        });
        if !known.await? {
            return Ok(false);
        }
        self.make(DropBlanketRule { project, agent, tool }).await
    }
}

pub(crate) fn rule(row: &Row<'_>) -> SqlResult<Rule> {
    let matcher = row.str(2)?;
    Ok(Rule {
        id: row::text(row, 0)?,
        effect: row::word(row, 1, &[Effect::Allow, Effect::Deny], Effect::as_str)?,
        matcher: serde_json::from_str(matcher).map_err(|error| row::unreadable(2, error))?,
        agent: row::optional_text(row, 3)?,
        project_id: row::optional_text(row, 4)?,
        created_at: row::timestamp(row, 5)?,
        request_id: row::optional_text(row, 6)?,
        session_id: row::optional_text(row, 7)?,
        used_count: row.get(8)?,
        last_used_at: row.get::<Option<i64>>(9)?.map(Timestamp::from_millis),
        user: row::optional_text(row, 10)?,
    })
}
