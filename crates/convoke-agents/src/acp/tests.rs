//! The driver against scripted agents: what real ones were seen to do, over pipes in memory or as real processes.

mod agents;
mod junk;
mod process;
#[cfg(target_os = "linux")]
mod protected;
mod record;
pub(super) mod scene;
mod slow;
