//! Statistics of team pairs: activity per interval, tokens and cost.

use convoke_core::team::Pair;
use convoke_core::time::Timestamp;

use crate::db::{Row, SqlResult, params};
use crate::error::Result;
use crate::pairs::PairId;
use crate::row;
use crate::store::Store;

/// Rows of one answer; beyond that the oldest intervals are left out.
const ROWS_MAX: u32 = 10_000;

/// The activity of a pair in one interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairActivity {
    /// Who talked to whom.
    pub pair: Pair,
    /// The start of the interval.
    pub from: Timestamp,
    /// Questions in it.
    pub prompts: u64,
    /// Turns that failed in it.
    pub failures: u64,
    /// How often the agent compacted its context, or a successor session took over.
    pub compactions: u64,
}

/// What a pair has cost.
#[derive(Debug, Clone, PartialEq)]
pub struct PairUsage {
    /// The pair.
    pub id: PairId,
    /// Tokens that models read, as far as agents report them.
    pub input_tokens: u64,
    /// Tokens that models wrote, as far as agents report them.
    pub output_tokens: u64,
    /// Money, by currency.
    pub cost: Vec<(String, f64)>,
}

/// Every session of a pair: the current one, and its predecessors.
///
/// A session names its predecessor in a notice among its first ten messages; later messages are not
/// searched.
const LINEAGE: &str = "WITH RECURSIVE lineage (pair, session, generation) AS (
        SELECT p.id, s.n, 0 FROM team_pairs AS p
        CROSS JOIN agent_sessions AS s ON s.id = p.session_id
      UNION
        SELECT l.pair, s.n, l.generation + 1 FROM lineage AS l
        CROSS JOIN messages AS m ON m.session = l.session AND m.seq <= 10
            AND m.role = 'system' AND json_extract(m.content, '$.event') = 'continues'
        CROSS JOIN agent_sessions AS s ON s.id = json_extract(m.content, '$.session')
        WHERE l.generation < 1000
    )";

impl Store {
    /// The activity of every pair since a time, in intervals of that many milliseconds, newest first.
    pub async fn pair_activity(&self, since: Timestamp, stretch: i64) -> Result<Vec<PairActivity>> {
        let stretch = stretch.max(1);
        self.read_aside(move |db| {
            let mut statement = db.prepare_cached(&format!(
                "{LINEAGE} SELECT p.from_team, p.to_team, p.thread,
                        (m.created_at / ?2) * ?2 AS start,
                        count(*) FILTER (WHERE m.role = 'user'),
                        count(*) FILTER (WHERE m.role = 'system'
                            AND json_extract(m.content, '$.event') = 'turn_ended'
                            AND json_extract(m.content, '$.stopReason') = 'failed'),
                        count(*) FILTER (WHERE m.role = 'system'
                            AND json_extract(m.content, '$.event') IN ('compacted', 'continues'))
                 FROM lineage AS l
                 CROSS JOIN team_pairs AS p ON p.id = l.pair
                 CROSS JOIN messages AS m ON m.session = l.session AND m.role <> 'agent'
                 WHERE m.created_at > ?1
                 GROUP BY p.id, start ORDER BY start DESC, p.id LIMIT ?3"
            ))?;
            let found = statement
                .query_map(params![since.as_millis(), stretch, ROWS_MAX], activity)?
                .collect::<SqlResult<_>>()?;
            Ok(found)
        })
        .await
    }

    /// What every pair has cost so far.
    pub async fn pair_usage(&self) -> Result<Vec<PairUsage>> {
        self.read_aside(|db| {
            // The cost in an agent's usage report is the total of its session so far.
            let mut statement = db.prepare_cached(&format!(
                "{LINEAGE} SELECT l.pair, CAST(sum(s.input_tokens) AS BIGINT),
                        CAST(sum(s.output_tokens) AS BIGINT),
                        json_extract(t.body, '$.cost.currency') AS currency,
                        sum(CAST(coalesce(json_extract(t.body, '$.cost.amount'), '0') AS DOUBLE PRECISION))
                 FROM lineage AS l
                 CROSS JOIN agent_sessions AS s ON s.n = l.session
                 CROSS JOIN session_state AS t ON t.session = l.session AND t.kind = 'usage'
                 GROUP BY l.pair, currency ORDER BY l.pair"
            ))?;
            let rows =
                statement.query_map(params![], usage)?.collect::<SqlResult<Vec<PairUsage>>>()?;
            Ok(merged(rows))
        })
        .await
    }
}

fn activity(row: &Row<'_>) -> SqlResult<PairActivity> {
    Ok(PairActivity {
        pair: Pair {
            from: row::optional_text(row, 0)?,
            to: row::text(row, 1)?,
            thread: row.get(2)?,
        },
        from: row::timestamp(row, 3)?,
        prompts: row.get(4)?,
        failures: row.get(5)?,
        compactions: row.get(6)?,
    })
}

fn usage(row: &Row<'_>) -> SqlResult<PairUsage> {
    let currency: Option<String> = row.get(3)?;
    let amount: f64 = row.get(4)?;
    Ok(PairUsage {
        id: PairId::new(row.get(0)?),
        input_tokens: row.get(1)?,
        output_tokens: row.get(2)?,
        cost: currency.map(|currency| (currency, amount)).into_iter().collect(),
    })
}

/// Merges the rows of the same pair, one for each currency.
fn merged(rows: Vec<PairUsage>) -> Vec<PairUsage> {
    let mut all: Vec<PairUsage> = Vec::new();
    for row in rows {
        match all.last_mut() {
            Some(last) if last.id == row.id => {
                last.input_tokens += row.input_tokens;
                last.output_tokens += row.output_tokens;
                last.cost.extend(row.cost);
            }
            Some(_) | None => all.push(row),
        }
    }
    all
}
