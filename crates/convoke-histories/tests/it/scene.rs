//! Where fixtures and samples are.

use std::path::PathBuf;

/// The folder of hand-written stores, one an agent.
pub fn fixtures() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures"))
}

/// The folder of stores that the agents themselves wrote, if there is one on this machine.
pub fn samples() -> Option<PathBuf> {
    let named = std::env::vars_os().find(|(name, _)| name == "CONVOKE_HISTORY_SAMPLES");
    if let Some((_, folder)) = named {
        return Some(PathBuf::from(folder));
    }
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/histories"));
    beside.is_dir().then_some(beside)
}
