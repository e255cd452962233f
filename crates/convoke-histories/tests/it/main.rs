//! Stores of all agents, hand-written after their formats and written by the agents themselves.

#[cfg(test)]
mod access;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod growth;
#[cfg(test)]
mod liveness;
#[cfg(test)]
mod places;
#[cfg(test)]
mod render;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod stories;
#[cfg(test)]
mod unified;
