//! Chains of asks: which ask caused which, so that a loop is refused before it costs money.

use std::collections::{HashMap, HashSet, VecDeque};
use std::slice::from_ref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use convoke_core::id::{ChainId, MessageId, SessionId};
use convoke_core::team::{Pair, TeamName};
use tokio::time::Instant;

use super::TeamLimits;
use crate::error::{Error, Result};

/// Sessions whose chains are kept. Beyond that one is evicted, and its next ask begins a new chain, which the pair's
/// hourly budget still limits.
const SESSIONS_MAX: usize = 10_000;
/// Prompts per session whose chains are kept: the queued ones, the running one, and the last one that ended.
const PROMPTS_MAX: usize = convoke_core::session::QUEUE_MAX + 2;
/// The period of a pair's budget.
const HOUR: Duration = Duration::from_secs(60 * 60);

/// The teams of a chain of asks, the first asker first.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    /// The same for all asks that follow from one, on whichever nodes.
    id: ChainId,
    teams: Vec<Option<TeamName>>,
    /// Asks so far that follow from the first one, unless the database counts them for several nodes.
    asks: Arc<AtomicU64>,
}

impl Chain {
    /// A chain that begins with this asker.
    pub(super) fn from(id: ChainId, asker: Option<TeamName>) -> Self {
        Self { id, teams: vec![asker], asks: Arc::default() }
    }

    /// A chain that continues on this node, if its limits allow it.
    pub(super) fn arrived(
        id: ChainId,
        teams: Vec<Option<TeamName>>,
        limits: TeamLimits,
    ) -> Result<Self> {
        let chain = Self { id, teams, asks: Arc::default() };
        if chain.teams.len() > limits.hops_max + 1 {
            return Err(Error::TooManyHops { chain: chain.to_string(), max: limits.hops_max });
        }
        Ok(chain)
    }

    /// Its id and its teams, for the node that follows it on.
    pub(super) fn parts(&self) -> (ChainId, Vec<Option<TeamName>>) {
        (self.id, self.teams.clone())
    }

    /// Counts one more ask on this node; returns how many there are with it.
    pub(super) fn count(&self) -> u64 {
        self.asks.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Refuses the ask with this number if that is too many.
    pub(super) fn check_asks(&self, asks: u64, limits: TeamLimits) -> Result<()> {
        let max = limits.chain_messages_max;
        if asks > max {
            return Err(Error::ChainBudget { chain: self.to_string(), max });
        }
        Ok(())
    }

    /// The chain with one more team, unless it was there before or is one too many.
    pub(super) fn ask(&self, to: &TeamName, limits: TeamLimits) -> Result<Self> {
        let mut teams = self.teams.clone();
        let is_loop = teams.iter().flatten().any(|team| team == to);
        teams.push(Some(to.clone()));
        let chain = Self { id: self.id, teams, asks: Arc::clone(&self.asks) };
        if is_loop {
            return Err(Error::AskLoop { chain: chain.to_string() });
        }
        if chain.teams.len() > limits.hops_max + 1 {
            return Err(Error::TooManyHops { chain: chain.to_string(), max: limits.hops_max });
        }
        Ok(chain)
    }
}

impl std::fmt::Display for Chain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (place, team) in self.teams.iter().enumerate() {
            if place > 0 {
                f.write_str(" → ")?;
            }
            f.write_str(team.as_ref().map_or("external", TeamName::as_str))?;
        }
        Ok(())
    }
}

/// The chain that a prompt belongs to; `None` for a prompt that no ask caused.
pub(crate) type Origin = Option<Chain>;

/// The chains of prompts, the asks of each pair in the last hour, and the agents that wait for others.
#[derive(Debug, Default)]
pub(crate) struct Chains {
    state: Mutex<ChainState>,
}

/// Registers an agent as waiting for another; dropped when the wait ends.
#[derive(Debug)]
pub(super) struct WaitGuard<'a> {
    chains: &'a Chains,
    waiter: Waiter,
}

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        let mut state = self.chains.state();
        if let Some(place) = state.waiters.iter().position(|other| *other == self.waiter) {
            state.waiters.swap_remove(place);
        }
    }
}

/// An agent that waits for an answer while it holds a process of the pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Waiter {
    /// The pair whose turn the agent is in, unless no other agent can wait for it.
    pub(super) of: Option<Pair>,
    /// The pair in which it asks.
    pub(super) for_pair: Pair,
}

/// An ask of a pair within the last hour.
#[derive(Debug)]
struct CountedAsk {
    at: Instant,
    /// The id under which another node sent it, perhaps more than once.
    question: Option<MessageId>,
}

#[derive(Debug, Default)]
struct ChainState {
    /// The newest prompts of sessions. An ask after the end of a turn still belongs to that turn's chain.
    prompts: HashMap<SessionId, VecDeque<(Option<MessageId>, Origin)>>,
    /// Prompts that are being sent to a session, and have no message yet.
    coming: HashMap<SessionId, Vec<Origin>>,
    asked: HashMap<Pair, VecDeque<CountedAsk>>,
    waiters: Vec<Waiter>,
}

impl ChainState {
    /// Records the chain of a prompt.
    fn remember(&mut self, session: SessionId, prompt: Option<MessageId>, origin: Origin) {
        if self.prompts.len() >= SESSIONS_MAX && !self.prompts.contains_key(&session) {
            let forgotten = self.prompts.keys().next().copied();
            forgotten.map(|session| self.prompts.remove(&session));
        }
        let prompts = self.prompts.entry(session).or_default();
        match prompts.iter_mut().find(|(known, _)| *known == prompt) {
            // The agent asked before the prompt was recorded, and has begun a chain with it.
            Some(_) if origin.is_none() => {}
            Some((_, known)) => *known = origin,
            None => prompts.push_back((prompt, origin)),
        }
        while prompts.len() > PROMPTS_MAX {
            prompts.pop_front();
        }
    }

    /// The pairs on the path from one to another along which each waits for the next.
    fn wait_path(&self, from: &Pair, to: &Pair) -> Option<Vec<Pair>> {
        let mut ways = VecDeque::from([vec![from.clone()]]);
        let mut seen = HashSet::from([from.clone()]);
        while let Some(way) = ways.pop_front() {
            let last = way.last()?;
            if last == to {
                return Some(way);
            }
            for waiter in self.waiters.iter().filter(|waiter| waiter.of.as_ref() == Some(last)) {
                if seen.insert(waiter.for_pair.clone()) {
                    ways.push_back([way.as_slice(), from_ref(&waiter.for_pair)].concat());
                }
            }
        }
        None
    }
}

impl Chains {
    fn state(&self) -> MutexGuard<'_, ChainState> {
        // Each change is one call, so the maps are consistent after a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers that an agent waits for another. Refused if the other one waits for it, directly or through others,
    /// since a session has one turn at a time; and if all processes would belong to waiting agents, with none left to
    /// answer.
    pub(super) fn begin_wait(&self, waiter: Waiter, processes_max: usize) -> Result<WaitGuard<'_>> {
        let mut state = self.state();
        let way = waiter.of.as_ref().and_then(|of| state.wait_path(&waiter.for_pair, of));
        if let (Some(of), Some(way)) = (&waiter.of, way) {
            let names: Vec<String> = [of].into_iter().chain(&way).map(Pair::to_string).collect();
            return Err(Error::AskLoop { chain: names.join(" → ") });
        }
        if state.waiters.len() + 1 >= processes_max {
            return Err(Error::Deadlock { max: processes_max });
        }
        state.waiters.push(waiter.clone());
        Ok(WaitGuard { chains: self, waiter })
    }

    /// The chain of an ask by a session's agent: that of the running turn, else of the last one. A turn that no ask
    /// caused begins the chain `new`, with the agent as its first asker, which all asks of that turn share.
    pub(super) fn of(&self, session: SessionId, running: Option<MessageId>, new: Chain) -> Chain {
        let mut state = self.state();
        let prompts = state.prompts.get(&session);
        let exact = prompts.and_then(|it| it.iter().find(|(id, _)| id.is_some() && *id == running));
        let exact = exact.map(|(prompt, origin)| (*prompt, origin));
        // The agent asks before its own prompt was recorded. Of several prompts being sent, the longest chain allows
        // the least.
        let length = |origin: &&Origin| origin.as_ref().map_or(0, |chain| chain.teams.len());
        let coming = state.coming.get(&session).and_then(|it| it.iter().max_by_key(length));
        let coming = coming.filter(|_| running.is_some()).map(|origin| (running, origin));
        let last = prompts.and_then(VecDeque::back);
        let found = exact.or(coming).or_else(|| last.map(|(prompt, origin)| (*prompt, origin)));
        let prompt = found.map_or(running, |(prompt, _)| prompt);
        if let Some(chain) = found.and_then(|(_, origin)| origin.clone()) {
            return chain;
        }
        state.remember(session, prompt, Some(new.clone()));
        new
    }

    /// Records that a prompt is being sent to a session, before its agent can receive it.
    pub(crate) fn expect(&self, session: SessionId, origin: Origin) {
        self.state().coming.entry(session).or_default().push(origin);
    }

    /// Records the chain of a prompt, or that the expected prompt was refused.
    pub(crate) fn arrived(&self, session: SessionId, prompt: Option<MessageId>, origin: Origin) {
        let mut state = self.state();
        let teams = |origin: &Origin| origin.as_ref().map(|chain| chain.teams.clone());
        if let Some(coming) = state.coming.get_mut(&session) {
            let place = coming.iter().position(|other| teams(other) == teams(&origin));
            if let Some(place) = place {
                coming.swap_remove(place);
            }
            if coming.is_empty() {
                state.coming.remove(&session);
            }
        }
        if let Some(prompt) = prompt {
            state.remember(session, Some(prompt), origin);
        }
    }

    /// Counts an ask of a pair, unless its hourly budget is used up. A question of another node is counted once, however
    /// often it is delivered.
    pub(super) fn count(
        &self,
        pair: &Pair,
        question: Option<MessageId>,
        limits: TeamLimits,
    ) -> Result<()> {
        let now = Instant::now();
        let mut state = self.state();
        state.asked.retain(|_, asks| asks.back().is_some_and(|last| now - last.at < HOUR));
        let asks = state.asked.entry(pair.clone()).or_default();
        while asks.front().is_some_and(|first| now - first.at >= HOUR) {
            asks.pop_front();
        }
        if question.is_some() && asks.iter().any(|ask| ask.question == question) {
            return Ok(());
        }
        let max = limits.pair_messages_per_hour;
        if asks.len() >= max {
            return Err(Error::PairBudget { pair: pair.to_string(), max });
        }
        asks.push_back(CountedAsk { at: now, question });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: TeamLimits =
        TeamLimits { hops_max: 3, chain_messages_max: 4, pair_messages_per_hour: 2 };

    fn team(name: &str) -> TeamName {
        name.parse().unwrap()
    }

    fn pair(from: &str, to: &str) -> Pair {
        Pair { from: Some(team(from)), to: team(to), thread: None }
    }

    fn prompt(number: u64) -> MessageId {
        MessageId::from_random(u128::from(number).to_be_bytes())
    }

    fn id() -> ChainId {
        ChainId::from_random([7; 16])
    }

    /// One more ask of a chain, counted on this node.
    fn counted(chain: &Chain, to: &str) -> Result<()> {
        let chain = chain.ask(&team(to), LIMITS)?;
        chain.check_asks(chain.count(), LIMITS)
    }

    #[test]
    fn a_loop_is_refused_with_its_chain() {
        let chain = Chain::from(id(), Some(team("a"))).ask(&team("b"), LIMITS).unwrap();
        let chain = chain.ask(&team("c"), LIMITS).unwrap();
        let error = chain.ask(&team("a"), LIMITS).unwrap_err();
        assert_eq!(error.to_string(), "this ask would make a circle: a → b → c → a");
        let own = Chain::from(id(), Some(team("a"))).ask(&team("a"), LIMITS).unwrap_err();
        assert_eq!(own.to_string(), "this ask would make a circle: a → a");
    }

    #[test]
    fn a_chain_goes_so_far_and_no_farther() {
        let mut chain = Chain::from(id(), None);
        for name in ["a", "b", "c"] {
            chain = chain.ask(&team(name), LIMITS).unwrap();
        }
        let error = chain.ask(&team("d"), LIMITS).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a chain of asks may have at most 3 teams: external → a → b → c → d"
        );
    }

    #[test]
    fn all_that_follows_from_one_ask_has_one_budget() {
        let begun = Chain::from(id(), None);
        counted(&begun, "a").unwrap();
        let first = begun.ask(&team("a"), LIMITS).unwrap();
        for _ in 0..3 {
            counted(&first, "b").unwrap();
        }
        let error = counted(&first, "c").unwrap_err();
        assert_eq!(error.to_string(), "one ask has caused more than 4 asks: external → a → c");
    }

    #[test]
    fn an_agent_that_is_faster_than_its_asker_is_in_the_chain_all_the_same() {
        let chains = Chains::default();
        let session = SessionId::from_random([1; 16]);
        let chain = Chain::from(id(), Some(team("a"))).ask(&team("b"), LIMITS).unwrap();
        let new = || Chain::from(id(), Some(team("b")));
        let told = |turn| chains.of(session, turn, new()).to_string();
        chains.expect(session, Some(chain.clone()));
        assert_eq!(told(Some(prompt(1))), "a → b");
        chains.arrived(session, Some(prompt(1)), Some(chain));
        assert_eq!(told(Some(prompt(1))), "a → b");
        assert!(chains.state().coming.is_empty());
    }

    #[test]
    fn k7_an_ask_after_the_end_of_a_turn_goes_on_with_its_chain_until_the_session_is_prompted_anew()
    {
        let chains = Chains::default();
        let session = SessionId::from_random([1; 16]);
        let new = || Chain::from(id(), Some(team("b")));
        let told = |turn| chains.of(session, turn, new()).to_string();
        let chain = Chain::from(id(), Some(team("a"))).ask(&team("b"), LIMITS).unwrap();
        chains.expect(session, Some(chain.clone()));
        chains.arrived(session, Some(prompt(1)), Some(chain.clone()));
        assert_eq!(told(None), "a → b", "after its turn");
        assert_eq!(told(Some(prompt(5))), "a → b", "in a turn that Convoke itself began");
        chains.expect(session, None);
        chains.arrived(session, Some(prompt(9)), None);
        assert_eq!(told(Some(prompt(9))), "b", "a human prompted it");
        assert_eq!(told(None), "b", "and it asks after that turn");
        // A human's prompt in the queue does not free the turn before it.
        chains.arrived(session, Some(prompt(12)), Some(chain));
        chains.arrived(session, Some(prompt(14)), None);
        assert_eq!(told(Some(prompt(12))), "a → b");
    }

    #[test]
    fn k7_all_asks_because_of_one_prompt_have_one_budget_however_many_chains_they_look_like() {
        let chains = Chains::default();
        let session = SessionId::from_random([1; 16]);
        let new = || Chain::from(id(), None);
        chains.arrived(session, Some(prompt(1)), None);
        for running in [Some(prompt(1)), None, None, None] {
            counted(&chains.of(session, running, new()), "b").unwrap();
        }
        let error = counted(&chains.of(session, None, new()), "b").unwrap_err();
        assert_eq!(error.to_string(), "one ask has caused more than 4 asks: external → b");
        chains.arrived(session, Some(prompt(7)), None);
        counted(&chains.of(session, None, new()), "b").unwrap();
    }

    #[test]
    fn k7_what_is_remembered_of_chains_is_bounded() {
        let chains = Chains::default();
        let session = SessionId::from_random([1; 16]);
        (0..1000).for_each(|place| chains.arrived(session, Some(prompt(place)), None));
        assert_eq!(chains.state().prompts.get(&session).unwrap().len(), PROMPTS_MAX);
        for number in 0..=SESSIONS_MAX as u128 {
            let session = SessionId::from_random(number.to_be_bytes());
            chains.arrived(session, Some(prompt(1)), None);
        }
        assert!(chains.state().prompts.len() <= SESSIONS_MAX);
    }

    #[test]
    fn t10_not_all_agents_wait_for_each_other() {
        let chains = Chains::default();
        let waiter = || Waiter { of: None, for_pair: pair("a", "b") };
        let first = chains.begin_wait(waiter(), 3).unwrap();
        let _second = chains.begin_wait(waiter(), 3).unwrap();
        let error = chains.begin_wait(waiter(), 3).unwrap_err();
        assert_eq!(error.to_string(), "all 3 agent processes would wait for each other");
        drop(first);
        chains.begin_wait(waiter(), 3).unwrap();
    }

    #[test]
    fn t10_chains_that_meet_do_not_wait_for_each_other_in_a_circle() {
        let chains = Chains::default();
        let wait = |of, for_pair| chains.begin_wait(Waiter { of: Some(of), for_pair }, 20);
        let _first = wait(pair("a", "b"), pair("b", "c")).unwrap();
        let second = wait(pair("b", "c"), pair("c", "a")).unwrap();
        let error = wait(pair("c", "a"), pair("a", "b")).unwrap_err();
        assert_eq!(error.to_string(), "this ask would make a circle: c->a → a->b → b->c → c->a");
        drop(second);
        let _third = wait(pair("c", "a"), pair("a", "b")).unwrap();
    }

    #[test]
    fn a_pair_asks_only_so_often() {
        let chains = Chains::default();
        let pair = Pair { from: None, to: team("a"), thread: None };
        chains.count(&pair, None, LIMITS).unwrap();
        // Delivered twice.
        chains.count(&pair, Some(prompt(1)), LIMITS).unwrap();
        chains.count(&pair, Some(prompt(1)), LIMITS).unwrap();
        let error = chains.count(&pair, None, LIMITS).unwrap_err();
        assert_eq!(
            error.to_string(),
            "external->a has asked 2 times within an hour, which is the limit"
        );
        let other = Pair { from: None, to: team("b"), thread: None };
        chains.count(&other, None, LIMITS).unwrap();
    }
}
