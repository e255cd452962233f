//! Checkpoints, diffs, restores and work trees with real git in real folders.

#[cfg(test)]
mod bad_cases;
#[cfg(test)]
mod carrying;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod diffs;
#[cfg(test)]
mod facts;
#[cfg(test)]
mod finishing;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod keeping;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod property;
#[cfg(test)]
mod redirected;
#[cfg(test)]
mod restores;
#[cfg(test)]
mod reverts;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod snapshots;
#[cfg(test)]
mod swapped;
#[cfg(test)]
mod unreadable;
#[cfg(test)]
mod with_changes;
#[cfg(test)]
mod worktrees;
