//! Lists the conversations in the stores of agents without opening them.

use std::collections::HashMap;

use convoke_histories::{Environment, History, Store};
use convoke_store::{HistoryKey, HistoryStatus, KnownHistory};

use super::{FailedHistory, FoundAgent, HistoryAgent, name_of};
use crate::session::start::explain;

/// The agents with at least one conversation. A store that cannot be read counts as empty.
pub(super) fn count(environment: &Environment) -> Vec<FoundAgent> {
    let found = HistoryAgent::ALL.into_iter().map(|agent| {
        let histories = scan(agent, environment);
        FoundAgent {
            agent,
            found: histories.len() as u64,
            imported: 0,
            newest: histories.iter().filter_map(|history| history.stamp.changed_at()).max(),
            is_followed: false,
        }
    });
    found.filter(|found| found.found > 0).collect()
}

/// All conversations of an agent. A store that cannot be read is logged and has none.
pub(super) fn scan(agent: HistoryAgent, environment: &Environment) -> Vec<History> {
    scan_with_failures(agent, environment).0
}

/// All conversations of an agent, and the stores that cannot be read.
pub(super) fn scan_with_failures(
    agent: HistoryAgent,
    environment: &Environment,
) -> (Vec<History>, Vec<FailedHistory>) {
    let (mut found, mut failed) = (Vec::new(), Vec::new());
    let mut fail = |error: &convoke_histories::Error| {
        let text = explain(error);
        tracing::warn!(%agent, "cannot list the histories: {text}");
        failed.push(FailedHistory { file: error.path().to_owned(), line: None, error: text });
    };
    let stores = Store::open(agent, environment).unwrap_or_else(|error| {
        fail(&error);
        Vec::new()
    });
    for mut store in stores {
        match store.scan() {
            Ok(histories) => found.extend(histories),
            Err(error) => fail(&error),
        }
    }
    (found, failed)
}

/// Where a conversation is kept; `None` if its path is no text.
pub(super) fn key_of(history: &History) -> Option<HistoryKey> {
    Some(HistoryKey {
        agent: name_of(history.agent),
        root: history.root.to_str()?.to_owned(),
        path: history.path.clone(),
        entry: history.session.clone().unwrap_or_default(),
    })
}

/// A stamp as it is stored.
pub(super) fn stamp_text(history: &History) -> String {
    serde_json::to_string(&history.stamp).unwrap_or_default()
}

/// A conversation that is new, or has changed since it was read.
#[derive(Debug)]
pub(super) struct Changed {
    pub(super) history: History,
    pub(super) key: HistoryKey,
    pub(super) stamp: String,
    pub(super) known: Option<KnownHistory>,
}

/// What has to be read.
pub(super) fn changed(
    histories: Vec<History>,
    known: Vec<KnownHistory>,
    passed_over: &HashMap<HistoryKey, String>,
) -> Vec<Changed> {
    let mut known: HashMap<HistoryKey, KnownHistory> =
        known.into_iter().map(|known| (known.key.clone(), known)).collect();
    let changed = histories.into_iter().filter_map(|history| {
        let (key, stamp) = (key_of(&history)?, stamp_text(&history));
        let known = known.remove(&key);
        let is_same = known
            .as_ref()
            .is_some_and(|known| known.stamp == stamp || known.status == HistoryStatus::Erased);
        let is_passed_over = passed_over.get(&key) == Some(&stamp);
        (!is_same && !is_passed_over).then_some(Changed { history, key, stamp, known })
    });
    changed.collect()
}
