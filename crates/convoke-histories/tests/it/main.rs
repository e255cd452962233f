//! Stores of all agents, hand-written after their formats and written by the agents themselves.

#[cfg(test)]
mod render;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod scene;
