//! Teams of other nodes: known from the database, and asked through the node that has their folder.
//!
//! The asker's node follows the chain of asks and reads the answer from the database; the other node has the pair and its
//! session. A team of this node comes before one of the same name elsewhere.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use convoke_core::Invalid;
use convoke_core::id::{AgentName, ChainId, MessageId, NodeId, ProjectId, SessionId};
use convoke_core::message::{Rev, Seq};
use convoke_core::prompt::Prompt;
use convoke_core::session::Activity;
use convoke_core::team::{Pair, TeamName};
use convoke_core::user::UserName;
use convoke_store::{PairFilter, Project, StoredTeam, Window};
use serde::{Deserialize, Serialize};
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use super::ask::{Placed, until};
use super::chain::Chain;
use super::follow::{AnswerSoFar, read_turn};
use super::upkeep::TeamStatus;
use super::{Permissions, Team, TeamAnswer, TeamAsk, Teams};
use crate::error::{Error, Result};
use crate::nodes::remote_view;
use crate::sessions::{NewPrompt, Prompted};
use crate::view::Live;

/// A question on its way to the node that has the team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamQuestion {
    /// Who asks whom.
    #[serde(flatten)]
    pub pair: QuestionPair,
    /// The teams of the chain of asks, the first asker first and the asked team last.
    chain: Vec<Option<TeamName>>,
    /// The id of that chain, by which all nodes count its asks.
    chain_id: ChainId,
    /// What is asked.
    text: String,
    /// The user in whose name it is asked; `None` for the owner of the asking node.
    #[serde(default)]
    by: Option<UserName>,
    /// The id of its message; the same one is accepted once.
    message_id: MessageId,
}

/// Who asks whom, on its way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionPair {
    from: Option<TeamName>,
    to: TeamName,
    thread: Option<String>,
}

impl std::fmt::Display for QuestionPair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Pair::from(self.clone()).fmt(f)
    }
}

impl From<Pair> for QuestionPair {
    fn from(Pair { from, to, thread }: Pair) -> Self {
        Self { from, to, thread }
    }
}

impl From<QuestionPair> for Pair {
    fn from(QuestionPair { from, to, thread }: QuestionPair) -> Self {
        Self { from, to, thread }
    }
}

/// A question in the log of its session, on the node that has the team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedQuestion {
    session_id: SessionId,
    message_id: MessageId,
    seq: Option<Seq>,
    queued: usize,
    /// The session's revision before the question.
    after: Rev,
    /// The session's revision with it.
    rev: Rev,
}

/// A team as its node announces it to the others.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SharedTeam {
    path: PathBuf,
    agent: AgentName,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    color: Option<String>,
    #[serde(default)]
    skip_permissions: bool,
    #[serde(default)]
    init_timeout_ms: Option<u64>,
}

impl SharedTeam {
    fn of(team: &Team) -> Self {
        Self {
            path: team.path.clone(),
            agent: team.agent.clone(),
            description: team.description.clone(),
            color: team.color.clone(),
            skip_permissions: team.permissions == Permissions::Skip,
            init_timeout_ms: team
                .init_timeout
                .and_then(|timeout| u64::try_from(timeout.as_millis()).ok()),
        }
    }

    fn named(self, name: TeamName) -> Team {
        Team {
            name,
            path: self.path,
            agent: self.agent,
            description: self.description,
            permissions: if self.skip_permissions { Permissions::Skip } else { Permissions::Ask },
            init_timeout: self.init_timeout_ms.map(Duration::from_millis),
            color: self.color,
        }
    }
}

impl Teams {
    /// Records the teams of this node for the others.
    pub(super) async fn share(&self, teams: &[Team]) -> Result<()> {
        let shared = teams.iter().map(|team| {
            let body = serde_json::to_string(&SharedTeam::of(team)).unwrap_or_default();
            (team.name.clone(), body)
        });
        Ok(self.store.set_teams(shared.collect()).await?)
    }

    /// The node that has a team; `None` for a team of this node. Fails if two other nodes have one of this name.
    pub async fn node_of(&self, name: &TeamName) -> Result<Option<NodeId>> {
        if self.settings().team(name).is_some() {
            return Ok(None);
        }
        let mut found = self.store.teams_elsewhere().await?;
        found.retain(|team| team.name == *name);
        match found.as_slice() {
            [] => Err(Error::Invalid(Invalid::UnknownTeam { name: name.to_string() })),
            [team] => Ok(Some(team.node)),
            [_, _, ..] => {
                let nodes = self.store.nodes(None).await?;
                let has = |node: NodeId| found.iter().any(|team| team.node == node);
                let nodes = nodes.into_iter().filter(|node| has(node.id)).map(|node| node.name);
                Err(Error::SeveralTeams { name: name.to_string(), nodes: nodes.collect() })
            }
        }
    }

    /// Fails if no node has a team of this name.
    pub async fn known(&self, name: &TeamName) -> Result<()> {
        match self.node_of(name).await {
            // A name of several teams is known, too.
            Ok(_) | Err(Error::SeveralTeams { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The project of a team, on whichever node; `None` if there is no such team, or its folder is no project yet.
    pub async fn project_of(&self, name: &TeamName) -> Result<Option<ProjectId>> {
        let place = match self.node_of(name).await {
            Ok(None) => Some((self.team(name)?.path, self.store.node())),
            Ok(Some(node)) => {
                let team = self.statuses_elsewhere(Some(name)).await?.pop();
                team.map(|status| (status.team.path, Some(node)))
            }
            Err(Error::Invalid(_) | Error::SeveralTeams { .. }) => None,
            Err(error) => return Err(error),
        };
        let Some((path, node)) = place else { return Ok(None) };
        let projects = self.projects.list().await?;
        let is_it = |project: &&Project| project.path == path && project.node == node;
        Ok(projects.iter().find(is_it).map(|project| project.id))
    }

    /// The names of all teams, on all nodes.
    pub async fn names(&self) -> Result<Vec<TeamName>> {
        let elsewhere = self.store.teams_elsewhere().await?;
        let mut names: Vec<TeamName> = self.list().into_iter().map(|team| team.name).collect();
        names.extend(elsewhere.into_iter().map(|team| team.name));
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// The status of the teams of other nodes, or of one, as far as the database tells.
    pub(super) async fn statuses_elsewhere(
        &self,
        only: Option<&TeamName>,
    ) -> Result<Vec<TeamStatus>> {
        let mut statuses = Vec::new();
        for StoredTeam { node, name, body } in self.store.teams_elsewhere().await? {
            let Ok(shared) = serde_json::from_str::<SharedTeam>(&body) else { continue };
            if only.is_some_and(|only| *only != name) {
                continue;
            }
            let filter = PairFilter { to: Some(name.clone()), ..PairFilter::all() };
            let pairs = self.store.pairs(filter, Window::first(Window::LIMIT_MAX)).await?;
            let pairs: Vec<_> = pairs.into_iter().filter(|it| it.node == Some(node)).collect();
            let ids = pairs.iter().map(|pair| pair.session_id).collect();
            let sessions = self.store.sessions_by_id(ids).await?;
            let activity = |id: SessionId| {
                let found = sessions.iter().find(|session| session.id == id).cloned();
                found.map_or(Activity::Idle, |found| remote_view(found).activity)
            };
            let live = |id| Live { activity: activity(id), ..Live::default() };
            let pairs = pairs.into_iter().map(|pair| {
                let live = live(pair.session_id);
                (pair, live)
            });
            let (team, pairs) = (shared.named(name), pairs.collect());
            statuses.push(TeamStatus { team, pairs, node: Some(node) });
        }
        Ok(statuses)
    }

    /// Asks a team of another node, and waits for the answer as long as `ask.wait` says. `place`
    /// delivers the question to that node.
    pub async fn ask_elsewhere<E, F>(
        self: &Arc<Self>,
        ask: TeamAsk,
        node: NodeId,
        place: impl FnOnce(TeamQuestion) -> F,
    ) -> std::result::Result<TeamAnswer, E>
    where
        E: From<Error> + Send + 'static,
        F: Future<Output = std::result::Result<PlacedQuestion, E>> + Send + 'static,
    {
        let begun = Instant::now();
        let (pair, chain) = self.admit(&ask).await?;
        let waiting = self.begin_wait(&ask, &pair, Some(node)).await?;
        let (placed_by, answered_by) = ask.wait.deadlines(begun);
        let (chain_id, teams) = chain.parts();
        let question = TeamQuestion {
            pair: pair.clone().into(),
            chain: teams,
            chain_id,
            by: self.user_behind(&ask).await?,
            text: ask.question,
            message_id: self.new_question(&ask.caller, &pair),
        };
        let mut answer = self.unanswered(pair, ask.wait);
        // In a task of its own, so that the question is asked even if the caller disconnects.
        let placing = tokio::spawn(place(question));
        if let Some(placed) = until(placed_by, placing).await {
            let placed = placed.unwrap_or_else(|_| Err(Error::Stopping.into()))?;
            let placed = self.follow_elsewhere(answer.pair.clone(), placed).await?;
            self.wait_for(placed, answered_by, &mut answer).await?;
        }
        if let Some(waiting) = waiting {
            waiting.end().await;
        }
        answer.duration = begun.elapsed();
        answer.at = self.host.now();
        Ok(answer)
    }

    /// Reads the answer to a question of another node as it is stored.
    async fn follow_elsewhere(&self, pair: Pair, placed: PlacedQuestion) -> Result<Placed> {
        let PlacedQuestion { session_id, message_id, seq, queued, after, rev } = placed;
        let stored = self.store.pair_in(session_id).await?;
        let pair = stored.ok_or_else(|| Error::UnknownPair { text: pair.to_string() })?;
        let watcher = self.sessions.watch(session_id, after).await?;
        let (answer_so_far_to, answer_so_far) = watch::channel(AnswerSoFar::default());
        let (ended_to, ended) = oneshot::channel();
        tokio::spawn(async move {
            tokio::select! {
                end = read_turn(message_id, watcher, &answer_so_far_to) => {
                    // The caller may have stopped waiting.
                    ended_to.send(end).ok();
                }
                // The other node counts the question, so reading stops when the caller has
                // disconnected.
                () = answer_so_far_to.closed() => {}
            }
        });
        let prompted = Prompted { message_id, seq, queued, rev };
        Ok(Placed { pair, prompted, after, answer_so_far, ended })
    }

    /// Logs a question of another node in the session of its pair.
    pub async fn place_for_node(
        self: &Arc<Self>,
        question: TeamQuestion,
    ) -> Result<PlacedQuestion> {
        let TeamQuestion { pair, chain, chain_id, text, by, message_id } = question;
        let pair = Pair::from(pair);
        self.team(&pair.to)?;
        let limits = self.settings().limits;
        let chain = Chain::arrived(chain_id, chain, limits)?;
        let all_threads = Pair { thread: None, ..pair.clone() };
        self.sessions.chains.count(&all_threads, Some(message_id), limits)?;
        let prompt = NewPrompt { prompt: Prompt { by, ..text.into() }, id: Some(message_id) };
        let placed = self.place(pair, chain, prompt).await.unwrap_or(Err(Error::Stopping))?;
        let Prompted { message_id, seq, queued, rev } = placed.prompted;
        let (session_id, after) = (placed.pair.session_id, placed.after);
        Ok(PlacedQuestion { session_id, message_id, seq, queued, after, rev })
    }
}
