//! Checkpoints that go from the repository of one machine to that of another, as one pack.

use std::fs::File;
use std::io::Write;
use std::ops::ControlFlow;

use super::{Checkpoint, CheckpointKind, Checkpoints, Name};
use crate::git::Command;
use crate::{Error, Limits, ObjectId, Result};

/// A checkpoint by its commit, in a form that is sent between machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// What it was made for.
    pub kind: CheckpointKind,
    /// The commit that holds it.
    pub commit: ObjectId,
}

impl Checkpoints {
    /// Writes checkpoints with all their objects into a file; returns whether that took no more
    /// than `bytes_max`.
    pub fn pack(
        &self,
        carried: &[Carried],
        to: &File,
        bytes_max: u64,
        limits: &Limits,
    ) -> Result<bool> {
        let revisions: String = carried.iter().map(|it| format!("{}\n", it.commit)).collect();
        write_pack(self.bare("pack-objects"), &revisions, to, bytes_max, limits)
    }

    /// Reads checkpoints from such a file, and stores them under the names of a session. Existing
    /// checkpoints with these names are replaced; an incomplete pack is refused.
    pub fn unpack(
        &self,
        session: &str,
        carried: &[Carried],
        from: &File,
        limits: &Limits,
    ) -> Result<()> {
        let command = self.bare("index-pack").args(["--stdin", "--strict", "--threads=1"]);
        command.input_file(from).run(limits)?;
        for it in carried {
            // Fails if an object is missing.
            let command = self.bare("rev-list").args(["--objects", "--quiet"]);
            command.arg(it.commit.as_str()).run(limits)?;
            self.point(&Name::new(session, it.kind)?.to_ref(), &it.commit, limits)?;
        }
        Ok(())
    }

    /// The commits of a session's checkpoints, in the order of their names.
    pub fn carried(&self, session: &str, limits: &Limits) -> Result<Vec<Carried>> {
        let mut all = Vec::new();
        for name in self.list(session)? {
            if let Some(Checkpoint { name, commit, .. }) = self.find(&name, limits)? {
                all.push(Carried { kind: name.kind(), commit });
            }
        }
        Ok(all)
    }
}

/// Writes the objects of revisions into a file with `pack-objects`; returns whether that took no more than `bytes_max`.
pub(crate) fn write_pack(
    command: Command<'_>,
    revisions: &str,
    mut to: &File,
    bytes_max: u64,
    limits: &Limits,
) -> Result<bool> {
    let command = command.args(["--revs", "--stdout", "-q", "--threads=1"]);
    let (mut written, mut failed) = (0, None);
    let ended = command.input(revisions.as_bytes()).stream(limits, &mut |bytes| {
        written += bytes.len() as u64;
        if written > bytes_max {
            return ControlFlow::Break(());
        }
        match to.write_all(bytes) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    })?;
    match failed {
        Some(source) => Err(Error::io("write", "a pack".as_ref(), source)),
        None => Ok(ended),
    }
}

impl Carried {
    /// The text form.
    pub fn to_word(&self) -> Result<String> {
        let reference = Name::new("x", self.kind)?.to_ref();
        let last = reference.rsplit('/').next().unwrap_or_default().to_owned();
        Ok(format!("{last}={}", self.commit))
    }

    /// Parses the text form.
    pub fn parse(word: &str) -> Option<Self> {
        let (last, commit) = word.split_once('=')?;
        let name = Name::from_ref(&format!("refs/convoke/x/{last}"))?;
        Some(Self { kind: name.kind(), commit: ObjectId::parse(commit).ok()? })
    }
}
