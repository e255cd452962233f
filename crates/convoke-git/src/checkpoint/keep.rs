//! The checkpoints that exist, and how they are forgotten.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::known::Stamp;
use super::name::{REFS, folder_of};
use super::{Checkpoint, Checkpoints, LeftOut, Name, id_of, lock};
use crate::{Error, Limits, ObjectId, Result};

/// The folder of the refs that protect the objects of the indexes; no session has this name.
const INDEX_REFS: &str = "refs/convoke-index";

impl Checkpoints {
    /// Finds a checkpoint by its name.
    pub fn find(&self, name: &Name, limits: &Limits) -> Result<Option<Checkpoint>> {
        if let Some(found) = self.read_loose(name) {
            return Ok(Some(found));
        }
        let found = self.read_refs(&name.to_ref(), limits)?;
        let found = found.into_iter().find(|(found, ..)| found == name);
        found.map(|(name, commit, tree)| self.read(name, commit, tree, limits)).transpose()
    }

    /// The names of all checkpoints of a session, in order of their names.
    pub fn list(&self, session: &str) -> Result<Vec<Name>> {
        Ok(self.read_names(session)?.into_iter().collect())
    }

    /// All checkpoints of a session and their trees, in order of their names, without those whose commit is lost.
    pub fn trees(&self, session: &str, limits: &Limits) -> Result<BTreeMap<Name, ObjectId>> {
        let packed = Stamp::of(&self.repository.join("packed-refs"));
        let known = self.git.known_trees();
        let mut trees = BTreeMap::new();
        let mut missing = Vec::new();
        for name in self.list(session)? {
            let path = self.repository.join(name.to_ref());
            let own = Stamp::of(&path);
            // A ref without a file of its own is packed; it has no stamp if git packs the first refs right now.
            let stamp = own.or(packed);
            let tree = stamp.and_then(|stamp| known.find(&path, stamp)).or_else(|| {
                let tree = own.and_then(|_| self.read_loose(&name))?.tree;
                known.insert(path.clone(), own?, tree.clone());
                Some(tree)
            });
            match tree {
                Some(tree) => drop(trees.insert(name, tree)),
                None => missing.push((name, path, stamp)),
            }
        }
        if missing.is_empty() {
            return Ok(trees);
        }
        let found = match self.read_refs(&folder_of(session)?, limits) {
            Ok(found) => found,
            // One lost commit fails the whole list.
            Err(error @ Error::Failed { .. }) => {
                let mut found = Vec::new();
                for (name, ..) in &missing {
                    match self.read_refs(&name.to_ref(), limits) {
                        Ok(one) => found.extend(one),
                        Err(Error::Failed { .. }) => {}
                        Err(error) => return Err(error),
                    }
                }
                if found.is_empty() && trees.is_empty() {
                    // Not a commit is lost, but the list.
                    return Err(error);
                }
                found
            }
            Err(error) => return Err(error),
        };
        let mut found: BTreeMap<Name, ObjectId> =
            found.into_iter().map(|(name, _, tree)| (name, tree)).collect();
        for (name, path, stamp) in missing {
            let Some(tree) = found.remove(&name) else { continue };
            if let Some(stamp) = stamp {
                known.insert(path, stamp, tree.clone());
            }
            trees.insert(name, tree);
        }
        Ok(trees)
    }

    /// Gives a checkpoint a second name.
    pub fn copy(&self, from: &Name, to: &Name, limits: &Limits) -> Result<()> {
        let missing = || Error::NotFound { what: "the checkpoint".to_owned() };
        let found = self.find(from, limits)?.ok_or_else(missing)?;
        self.point(&to.to_ref(), &found.commit, limits)
    }

    /// The files that were left out of some checkpoints.
    pub fn left_out<'a>(
        &self,
        names: impl IntoIterator<Item = &'a Name>,
        limits: &Limits,
    ) -> Result<HashSet<PathBuf>> {
        let mut found = HashSet::new();
        let mut packed = String::new();
        for name in names {
            match self.read_loose(name) {
                Some(checkpoint) => found.extend(checkpoint.left_out.into_iter().map(|it| it.path)),
                None => packed.extend([name.to_ref().as_str(), "\n"]),
            }
        }
        if !packed.is_empty() {
            let command = self.bare("cat-file").arg("--batch").input(packed.as_bytes());
            let commits = command.run(limits)?.stdout;
            let commits = String::from_utf8_lossy(&commits);
            found.extend(commits.lines().filter_map(LeftOut::from_line).map(|it| it.path));
        }
        Ok(found)
    }

    /// The names of all checkpoints of a commit, in order.
    pub fn names_of(&self, commit: &ObjectId, limits: &Limits) -> Result<Vec<Name>> {
        let found = self.read_refs(&format!("{REFS}/"), limits)?;
        let found = found.into_iter().filter(|(_, kept, _)| kept == commit);
        let mut names: Vec<Name> = found.map(|(name, ..)| name).collect();
        names.sort();
        Ok(names)
    }

    /// Forgets all checkpoints of a session; their content goes with the next `collect`.
    pub fn forget_session(&self, session: &str, limits: &Limits) -> Result<usize> {
        let names = self.list(session)?;
        let input: String =
            names.iter().map(|name| format!("delete {}\0\0", name.to_ref())).collect();
        if !names.is_empty() {
            let command = self.bare("update-ref").args(["--stdin", "-z", "--no-deref"]);
            command.input(input.as_bytes()).run(limits)?;
        }
        Ok(names.len())
    }

    /// Removes the index of this work tree, which was deleted; its checkpoints stay.
    pub fn forget_work_tree(self, limits: &Limits) -> Result<()> {
        let _lock = self.lock(limits)?;
        let kept = format!("{INDEX_REFS}/{}", self.key());
        self.bare("update-ref").args(["-d", &kept]).run(limits)?;
        for extension in [
            "index",
            "state",
            "copy",
            "restore",
            "removing",
            "finish",
            "finish-lock",
            "base",
            "base-lock",
            "lock",
        ] {
            lock::remove(&self.file(extension))?;
        }
        Ok(())
    }

    /// Packs the repository, and deletes objects that no checkpoint needs and that are older than
    /// `unused`.
    ///
    /// Checkpoints can be made concurrently; a snapshot without a name must be younger than
    /// `unused` to be safe.
    pub fn collect(&self, unused: Duration, limits: &Limits) -> Result<()> {
        let folder = self.repository.join("convoke");
        let entries = fs::read_dir(&folder).map_err(|source| Error::io("read", &folder, source))?;
        for entry in entries.flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "index") {
                self.keep_index(&path, limits)?;
            }
        }
        let prune = format!("--prune={}.seconds.ago", unused.as_secs());
        self.bare("gc").args(["--quiet", &prune]).run(limits).map(drop)
    }

    /// Protects the objects of an index: git knows only the index at its usual path, and would
    /// delete the objects of others.
    fn keep_index(&self, index: &Path, limits: &Limits) -> Result<()> {
        let held = lock::take(&index.with_extension("lock"), limits)?;
        lock::remove_stale(index)?;
        // From a copy: git would write the index anew, and a file that changed within the second in which it was
        // captured is known to have changed only by an index that is no younger.
        let copy = index.with_extension("copy");
        fs::copy(index, &copy).map_err(|source| Error::io("copy", index, source))?;
        lock::remove(&copy.with_extension("copy.lock"))?;
        let write = self.bare("write-tree").env("GIT_INDEX_FILE", &copy).holding(&held);
        let written = id_of(write, limits);
        lock::remove(&copy)?;
        let tree = match written {
            Ok(tree) => tree,
            // Damaged: the next snapshot creates a new one from the files, and needs nothing of
            // this one.
            Err(Error::Failed { .. }) => return Ok(()),
            Err(error) => return Err(error),
        };
        let commit = self.commit(&tree, "index\n", limits)?;
        let key = index.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        self.point(&format!("{INDEX_REFS}/{key}"), &commit, limits)
    }

    fn read_refs(&self, below: &str, limits: &Limits) -> Result<Vec<(Name, ObjectId, ObjectId)>> {
        let format = "--format=%(refname) %(objectname) %(tree)";
        let output = self.bare("for-each-ref").args([format, below]).run(limits)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut found = Vec::new();
        for line in text.lines() {
            let mut fields = line.split(' ');
            let name = fields.next().and_then(Name::from_ref);
            if let (Some(name), Some(commit), Some(tree)) = (name, fields.next(), fields.next()) {
                found.push((name, ObjectId::parse(commit)?, ObjectId::parse(tree)?));
            }
        }
        Ok(found)
    }

    fn read(
        &self,
        name: Name,
        commit: ObjectId,
        tree: ObjectId,
        limits: &Limits,
    ) -> Result<Checkpoint> {
        let output = self.bare("cat-file").args(["commit", commit.as_str()]).run(limits)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let left_out = text.lines().filter_map(LeftOut::from_line).collect();
        Ok(Checkpoint { name, commit, tree, left_out })
    }
}
