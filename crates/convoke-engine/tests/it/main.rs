//! The engine with real agent processes that follow scripts, a real store and a real clock.

#[cfg(test)]
mod asked;
#[cfg(test)]
mod breaking;
#[cfg(test)]
mod cancelling;
#[cfg(test)]
mod confining;
#[cfg(test)]
mod crashing;
#[cfg(test)]
mod idling;
#[cfg(test)]
mod limiting;
#[cfg(test)]
mod log;
#[cfg(test)]
mod offering;
#[cfg(test)]
mod permitting;
#[cfg(test)]
mod pooling;
#[cfg(test)]
mod projects;
#[cfg(test)]
mod prompting;
#[cfg(test)]
mod questions;
#[cfg(test)]
mod queueing;
#[cfg(test)]
mod recovering;
#[cfg(test)]
mod ruling;
#[cfg(test)]
mod teams;
#[cfg(test)]
mod teams_asking;
#[cfg(test)]
mod teams_compaction;
#[cfg(test)]
mod teams_pairs;
#[cfg(test)]
mod teams_start;
#[cfg(test)]
mod teams_upkeep;
#[cfg(test)]
mod watching;
#[cfg(test)]
mod world;
