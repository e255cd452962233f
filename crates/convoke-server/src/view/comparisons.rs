//! Comparisons: from the engine's types into those of the API.

use std::time::Duration;

use convoke_api::bodies::{Comparison, ComparisonEntry, ComparisonState, TestResult};
use convoke_engine as engine;

/// A comparison as it is now.
pub(crate) fn comparison(found: engine::Comparison) -> Comparison {
    let engine::Comparison { id, project, prompt, test, created_at, kept, entries } = found;
    let entries: Vec<ComparisonEntry> = entries.into_iter().map(entry).collect();
    let is_done = |entry: &ComparisonEntry| match entry.state {
        ComparisonState::Working | ComparisonState::Waiting | ComparisonState::Testing => false,
        ComparisonState::Ended => test.is_none() || kept.is_some() || entry.test.is_some(),
        ComparisonState::Failed => true,
    };
    let done = entries.iter().all(is_done);
    Comparison { id, repo_id: project, prompt, test, created_at, kept, done, entries }
}

fn entry(entry: engine::ComparisonEntry) -> ComparisonEntry {
    let engine::ComparisonEntry { agent, model, session, error, status, took, test } = entry;
    ComparisonEntry {
        agent,
        model,
        state: match status {
            engine::EntryStatus::Working => ComparisonState::Working,
            engine::EntryStatus::Waiting => ComparisonState::Waiting,
            engine::EntryStatus::Testing => ComparisonState::Testing,
            engine::EntryStatus::Ended => ComparisonState::Ended,
            engine::EntryStatus::Failed => ComparisonState::Failed,
        },
        session: session.map(super::session),
        error,
        duration_ms: took.map(millis),
        test: test.map(|engine::TestRun { code, output, took }| TestResult {
            exit_code: code,
            output,
            duration_ms: millis(took),
        }),
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
