//! Comparisons: those that there are, and the one that is about to begin.

use convoke_api::bodies::{Comparison, ComparisonEntry};
use convoke_core::id::AgentName;
use convoke_core::state::OfferedChoice;

use super::changes::Loaded;
use super::model::Model;
use crate::text::clean;

/// All comparisons, and where in them the human is.
#[derive(Debug)]
pub(crate) struct Comparisons {
    /// Newest first.
    pub(crate) all: Loaded<Vec<Comparison>>,
    pub(crate) cursor: Option<Candidate>,
    pub(crate) reading: Reading,
}

/// The state of the request for the comparisons; one at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    Idle,
    Asked,
    /// Requested, but outdated by a change since.
    Outdated,
}

/// An entry of a comparison: the comparison, and its index there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) comparison: String,
    pub(crate) entry: usize,
}

impl Default for Comparisons {
    fn default() -> Self {
        Self { all: Loaded::Asked, cursor: None, reading: Reading::Idle }
    }
}

impl Comparisons {
    pub(crate) fn all(&self) -> &[Comparison] {
        self.all.here().map(Vec::as_slice).unwrap_or_default()
    }

    /// All candidates, comparison by comparison.
    pub(crate) fn candidates(&self) -> Vec<Candidate> {
        let of = |comparison: &Comparison| {
            let id = comparison.id.clone();
            let entries = 0..comparison.entries.len();
            entries.map(move |entry| Candidate { comparison: id.clone(), entry })
        };
        self.all().iter().flat_map(of).collect()
    }

    /// The index of the cursor among the candidates.
    pub(crate) fn position(&self, candidates: &[Candidate]) -> usize {
        let here = candidates.iter().position(|it| Some(it) == self.cursor.as_ref());
        here.unwrap_or_default()
    }

    /// The candidate at the cursor.
    pub(crate) fn here(&self) -> Option<(&Comparison, &ComparisonEntry)> {
        let candidates = self.candidates();
        let Candidate { comparison, entry } = candidates.get(self.position(&candidates))?;
        let comparison = self.all().iter().find(|it| it.id == *comparison)?;
        Some((comparison, comparison.entries.get(*entry)?))
    }

    /// Replaces a comparison, or adds it as the newest.
    pub(crate) fn put(&mut self, comparison: Comparison) {
        let Loaded::Here(all) = &mut self.all else {
            self.all = Loaded::Here(vec![comparison]);
            return;
        };
        match all.iter_mut().find(|known| known.id == comparison.id) {
            Some(known) => *known = comparison,
            None => all.insert(0, comparison),
        }
    }
}

/// A comparison that is about to begin.
#[derive(Debug, Default)]
pub(crate) struct ComparisonDraft {
    /// In the order in which they were chosen.
    pub(crate) candidates: Vec<CandidateDraft>,
    /// The line of shell that tests their work.
    pub(crate) test: Option<String>,
}

/// An agent that is to be compared, with a model of its own choice or of the human's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CandidateDraft {
    pub(crate) agent: AgentName,
    pub(crate) model: Option<OfferedChoice>,
}

impl ComparisonDraft {
    pub(crate) fn is_chosen(&self, candidate: &CandidateDraft) -> bool {
        self.candidates.contains(candidate)
    }

    /// Chooses a candidate, or no longer.
    pub(crate) fn toggle(&mut self, candidate: CandidateDraft) {
        if self.is_chosen(&candidate) {
            self.candidates.retain(|known| *known != candidate);
        } else {
            self.candidates.push(candidate);
        }
    }
}

impl Model {
    /// The installed agents, and the models of the one that is unfolded.
    pub(crate) fn candidates_offered(&self, unfolded: Option<&AgentName>) -> Vec<CandidateDraft> {
        let mut candidates = Vec::new();
        for agent in self.agents_offered().into_iter().filter(|agent| agent.installed) {
            let name = &agent.cli_type;
            candidates.push(CandidateDraft { agent: name.clone(), model: None });
            if unfolded == Some(name) {
                let with = |model: &OfferedChoice| CandidateDraft {
                    agent: name.clone(),
                    model: Some(model.clone()),
                };
                candidates.extend(agent.models.iter().map(with));
            }
        }
        candidates
    }

    /// The agent's title, and the model's name.
    pub(crate) fn candidate_name(&self, candidate: &CandidateDraft) -> String {
        let known = self.agents.iter().find(|agent| agent.cli_type == candidate.agent);
        let title = known.map_or_else(|| candidate.agent.to_string(), |agent| agent.title.clone());
        let model = candidate.model.as_ref().map(|model| format!(" {}", model.name));
        clean::line(&format!("{title}{}", model.unwrap_or_default()))
    }
}
