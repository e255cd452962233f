//! The cached state of the last snapshot of a work tree, so that an unchanged one costs no new
//! objects.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::{Error, ObjectId, Result};

/// Identifies a version of a file that is replaced by renaming.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity(String);

impl Identity {
    /// Of a file; `None` when there is none that is regular.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let found = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
        let times = (found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec());
        Some(Self(format!("{}/{}/{times:?}", found.ino(), found.len()).replace(' ', "")))
    }
}

/// The last snapshot of a work tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct State {
    /// The index that `tree` was written from; another one may hold other files.
    pub(super) index: Option<Identity>,
    pub(super) tree: Option<ObjectId>,
    /// The commit of the last checkpoint.
    pub(super) commit: Option<ObjectId>,
    /// A digest of that commit's contents, including its message.
    pub(super) holds: Option<String>,
    /// The version of the project's own index whose tracked files were read.
    pub(super) tracked: Option<Identity>,
}

impl State {
    /// Reads it; one that is missing or damaged is empty, which costs time and nothing else.
    pub(super) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_default();
        let field = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(' '));
            lines.find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
        };
        let id = |name| field(name).and_then(|text| ObjectId::parse(&text).ok());
        Self {
            index: field("index").map(Identity),
            tree: id("tree"),
            commit: id("commit"),
            holds: field("holds"),
            tracked: field("tracked").map(Identity),
        }
    }

    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let fields = [
            ("index", self.index.as_ref().map(|identity| identity.0.as_str())),
            ("tree", self.tree.as_ref().map(ObjectId::as_str)),
            ("commit", self.commit.as_ref().map(ObjectId::as_str)),
            ("holds", self.holds.as_deref()),
            ("tracked", self.tracked.as_ref().map(|identity| identity.0.as_str())),
        ];
        let lines =
            fields.iter().filter_map(|(name, value)| value.map(|it| format!("{name} {it}\n")));
        replace(path, lines.collect::<String>().as_bytes())
    }
}

/// Replaces a file atomically; not durable, since it can be created again.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let fail = |source| Error::io("write", path, source);
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
    let written = File::create(&temporary).and_then(|mut file| file.write_all(bytes));
    written.and_then(|()| fs::rename(&temporary, path)).map_err(|source| {
        fs::remove_file(&temporary).ok();
        fail(source)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_as_it_was_written_and_a_damaged_one_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        assert_eq!(State::read(&path), State::default());
        fs::write(&path, b"tree nonsense\n\xff\xfe").unwrap();
        assert_eq!(State::read(&path), State::default());
        let state = State {
            index: Identity::read(&path),
            tree: Some(ObjectId::empty_tree()),
            commit: None,
            holds: Some("0a".to_owned()),
            tracked: None,
        };
        state.write(&path).unwrap();
        assert_eq!(State::read(&path), state);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
