//! A tree with changes that were made between other trees: the files of a session as they would be without it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::list::fill;
use super::parse::ListParser;
use super::{Change, ChangeList, FileVersion};
use crate::checkpoint::{Checkpoints, id_of, lock};
use crate::{Error, Limits, ObjectId, Result};

/// The memory for changes between the pairs, which is enough for 150,000 files; the files of the tree take as much again.
const CHANGES_BYTES_MAX: usize = 64 << 20;

/// With more paths than this, all files of a tree are listed.
const PATHS_MAX: usize = 200;

impl Checkpoints {
    /// Applies to `base` what differs between each of the pairs, in their order.
    ///
    /// If the file in `base` is not the old one of its first pair, something outside of the pairs changed it, too; it
    /// stays as it is. So does one that is `left_out` of some trees: whether it changed is not known.
    ///
    /// Returns the tree, and the files that were applied. Fails with `TooMuchOutput` if the changes take more than 64 MiB,
    /// and with `Unexpected` if one of the files would have to replace a folder that stays, or the other way round.
    pub fn with_changes(
        &self,
        base: &ObjectId,
        pairs: &[(ObjectId, ObjectId)],
        left_out: &HashSet<PathBuf>,
        limits: &Limits,
    ) -> Result<(ObjectId, Vec<PathBuf>)> {
        let mut changes = self.changes_of_pairs(pairs, CHANGES_BYTES_MAX, limits)?;
        changes.retain(|it| !it.path.ancestors().any(|path| left_out.contains(path)));
        if changes.is_empty() {
            return Ok((base.clone(), Vec::new()));
        }
        let original = self.files_of(base, &changes, limits)?;
        let mut versions: BTreeMap<PathBuf, Option<FileVersion>> = BTreeMap::new();
        for Change { path, old, new, .. } in changes {
            let version = versions.entry(path);
            let version = version.or_insert_with_key(|path| original.get(path).cloned());
            if *version == old {
                *version = new;
            }
        }
        versions.retain(|path, version| original.get(path) != version.as_ref());
        let tree = self.with_versions(base, &versions, limits)?;
        // Git removes a folder to make room for a file, and the other way round, also if it is to stay.
        let made = [(base.clone(), tree.clone())];
        let made = self.changes_of_pairs(&made, CHANGES_BYTES_MAX, limits)?;
        let made: BTreeMap<_, _> = made.into_iter().map(|it| (it.path, it.new)).collect();
        if made != versions {
            let command = "git update-index".to_owned();
            let what = "a file in the place of a folder that stays".to_owned();
            return Err(Error::Unexpected { command, what });
        }
        Ok((tree, versions.into_keys().collect()))
    }

    /// The files of a tree that are among the changed ones.
    fn files_of(
        &self,
        tree: &ObjectId,
        changed: &[Change],
        limits: &Limits,
    ) -> Result<HashMap<PathBuf, FileVersion>> {
        let paths: HashSet<&Path> = changed.iter().map(|change| change.path.as_path()).collect();
        let command = self.bare("diff-tree").args(["-r", "-z", "--raw", "--no-renames"]);
        let command = command.args([ObjectId::empty_tree().as_str(), tree.as_str(), "--"]);
        let command = match paths.len() {
            0..=PATHS_MAX => command.args(paths.iter().copied()),
            _ => command,
        };
        let mut parser = ListParser::within(CHANGES_BYTES_MAX).only(&paths);
        let is_complete = fill(&mut parser, command, limits)?;
        let found = ChangeList { changes: parser.finish(is_complete)?, is_complete };
        let found = found.into_all(CHANGES_BYTES_MAX)?.into_iter();
        Ok(found.filter_map(|file| Some((file.path, file.new?))).collect())
    }

    /// Stores a tree that has these versions in place of its own.
    fn with_versions(
        &self,
        tree: &ObjectId,
        versions: &BTreeMap<PathBuf, Option<FileVersion>>,
        limits: &Limits,
    ) -> Result<ObjectId> {
        if versions.is_empty() {
            return Ok(tree.clone());
        }
        // Removals first: a file may have become a folder.
        let (gone, here): (Vec<_>, Vec<_>) = versions.iter().partition(|(_, it)| it.is_none());
        let mut input = Vec::new();
        for (path, version) in gone.into_iter().chain(here) {
            let (mode, id) = match version {
                Some(version) => (version.mode.as_str(), version.id.as_str()),
                None => ("0", NULL),
            };
            input.extend_from_slice(format!("{mode} {id}\t").as_bytes());
            input.extend_from_slice(path.as_os_str().as_bytes());
            input.push(0);
        }
        let held = lock::take(&self.file("base-lock"), limits)?;
        let index = self.file("base");
        for leftover in [index.clone(), self.file("base.lock")] {
            lock::remove(&leftover)?;
        }
        let command = |name| self.bare(name).env("GIT_INDEX_FILE", &index).holding(&held);
        command("read-tree").arg(tree.as_str()).run(limits)?;
        let update = command("update-index").args(["-z", "--add", "--replace", "--index-info"]);
        update.input(&input).run(limits)?;
        let made = id_of(command("write-tree"), limits);
        fs::remove_file(&index).map_err(|source| Error::io("remove", &index, source))?;
        made
    }
}

/// What git takes as the id of a file that is not there.
const NULL: &str = "0000000000000000000000000000000000000000";
