//! Restoring a backup: everything is first copied into the home, then switched by renames that a journal makes
//! atomic.
//!
//! A restore that is killed before the journal is written has changed nothing. One that is killed later is completed
//! by `finish_restore`. The previous files are set aside and never deleted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use convoke_core::time::Timestamp;
use convoke_store::Contents;
use serde_json::{Value, json};

use super::{DATABASE, Error, Manifest, Result, files, io_error, lock, stamp};

/// The journal, in the home; it exists while a switch is in progress.
const JOURNAL: &str = "restore.json";
/// The folder in the home into which a backup is copied before the switch.
const STAGED: &str = "restore.partial";
/// The folder in the home for the files from before restores.
const ASIDE: &str = "set-aside";
/// Suffixes of a database's files.
const COMPANIONS: [&str; 5] = ["-wal", "-shm", ".rescued", "-wal.orphaned", ""];

/// A finished restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The backup.
    pub source: PathBuf,
    /// What the database contains now.
    pub database: Contents,
    /// The files and folders of the home that were replaced.
    pub entries: Vec<PathBuf>,
    /// The folder with the previous files; `None` if there were none.
    pub set_aside: Option<PathBuf>,
}

/// The state that a killed restore left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfinished {
    /// Nothing had changed: the home has its previous state.
    NotBegun,
    /// The switch had begun and was completed: the home has the restored state.
    Switched {
        /// The folder with the previous files.
        set_aside: PathBuf,
    },
}

/// A rename.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Move {
    from: PathBuf,
    to: PathBuf,
}

/// Restores a backup, or a single database file, into a home. The caller makes sure that no daemon runs there.
pub fn restore(home: &Path, source: &Path, now: Timestamp) -> Result<Restored> {
    files::create_folder(home)?;
    let _lock = lock(home)?;
    let _writing = convoke_store::backup::exclude_writers(&home.join(DATABASE))?;
    complete(home)?;
    let source = fs::canonicalize(source).map_err(io_error("find", source))?;
    let staged = home.join(STAGED);
    files::create_folder(&staged)?;
    let entries = match stage(&source, &staged) {
        Ok(entries) => entries,
        Err(error) => {
            // It is only a copy; if it cannot be removed, the next restore or start tries again.
            fs::remove_dir_all(&staged).ok();
            return Err(error);
        }
    };
    // Readers may have seen other data under the revisions of the restored database.
    convoke_store::backup::begin_generation(&staged.join(DATABASE))?;
    let database = convoke_store::backup::verify(&staged.join(DATABASE))?;
    let set_aside = free_aside(home, now);
    let journal = Journal { entries: entries.clone(), set_aside: set_aside.clone() };
    journal.write(home)?;
    switch(home, &journal)?;
    let set_aside = set_aside.exists().then_some(set_aside);
    Ok(Restored { source, database, entries, set_aside })
}

/// Copies a verified backup into the staging folder.
fn stage(source: &Path, staged: &Path) -> Result<Vec<PathBuf>> {
    if source.is_file() {
        let contents = convoke_store::backup::make(source, &staged.join(DATABASE), |_| {})?;
        tracing::debug!("staged {contents:?}");
        files::sync_tree(staged)?;
        return Ok(vec![PathBuf::from(DATABASE)]);
    }
    let manifest = Manifest::verify(source)?;
    let mut listed = Vec::new();
    for file in &manifest.files {
        files::copy_entry(source, &file.path, staged, &mut listed)?;
    }
    if listed != manifest.files {
        let what = "it changed while it was copied".to_owned();
        return Err(Error::Damaged { path: source.to_owned(), what });
    }
    files::sync_tree(staged)?;
    Ok(manifest.entries)
}

/// Whether a killed restore left something behind; changes nothing.
pub fn unfinished_restore(home: &Path) -> Option<&'static str> {
    if home.join(JOURNAL).exists() {
        return Some("a restore was interrupted; the next start of the daemon completes it");
    }
    let was_staged = home.join(STAGED).exists();
    was_staged.then_some("a restore was interrupted before it changed anything")
}

/// Completes or cleans up a killed restore, and returns which state the home has.
pub fn finish_restore(home: &Path) -> Result<Option<Unfinished>> {
    if unfinished_restore(home).is_none() {
        return Ok(None);
    }
    let _lock = lock(home)?;
    complete(home)
}

fn complete(home: &Path) -> Result<Option<Unfinished>> {
    if let Some(journal) = Journal::read(home)? {
        let set_aside = journal.set_aside.clone();
        switch(home, &journal)?;
        return Ok(Some(Unfinished::Switched { set_aside }));
    }
    let staged = home.join(STAGED);
    match fs::remove_dir_all(&staged) {
        Ok(()) => Ok(Some(Unfinished::NotBegun)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error("remove", &staged)(error)),
    }
}

/// Makes the remaining renames, then deletes the journal.
fn switch(home: &Path, journal: &Journal) -> Result<()> {
    for step in moves(home, journal) {
        step.make()?;
    }
    if journal.set_aside.exists() {
        files::sync_tree(&journal.set_aside)?;
    }
    files::sync_folder(home)?;
    let path = home.join(JOURNAL);
    fs::remove_file(&path).map_err(io_error("remove", &path))?;
    files::sync_folder(home)?;
    let staged = home.join(STAGED);
    // Only empty folders remain; if they cannot be removed, the next start tries again.
    fs::remove_dir_all(&staged).ok();
    Ok(())
}

/// The remaining renames: for each entry that is still staged, the existing one is set aside, then the staged one is
/// moved into its place. An entry that is no longer staged is already in place.
fn moves(home: &Path, journal: &Journal) -> Vec<Move> {
    let mut moves = Vec::new();
    for entry in &journal.entries {
        let new = home.join(STAGED).join(entry);
        if fs::symlink_metadata(&new).is_err() {
            continue;
        }
        let suffixes = if entry == Path::new(DATABASE) { &COMPANIONS[..] } else { &[""] };
        for suffix in suffixes {
            let mut name = entry.clone().into_os_string();
            name.push(suffix);
            let (from, to) = (home.join(&name), journal.set_aside.join(&name));
            if fs::symlink_metadata(&from).is_ok() {
                moves.push(Move { from, to: free(to) });
            }
        }
        moves.push(Move { from: new, to: home.join(entry) });
    }
    moves
}

impl Move {
    fn make(&self) -> Result<()> {
        if let Some(folder) = self.to.parent() {
            files::create_folder(folder)?;
        }
        fs::rename(&self.from, &self.to).map_err(io_error("rename", &self.from))?;
        let folder = self.to.parent().unwrap_or(&self.to);
        files::sync_folder(folder)
    }
}

/// A path that does not exist yet.
fn free(path: PathBuf) -> PathBuf {
    let numbered = |number: u32| {
        let mut name = path.clone().into_os_string();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    };
    let mut names = std::iter::once(path.clone()).chain((2..1000).map(numbered));
    names.find(|name| fs::symlink_metadata(name).is_err()).unwrap_or(path)
}

fn free_aside(home: &Path, now: Timestamp) -> PathBuf {
    free(home.join(ASIDE).join(stamp(now)))
}

/// What another process needs to complete a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Journal {
    entries: Vec<PathBuf>,
    set_aside: PathBuf,
}

impl Journal {
    fn write(&self, home: &Path) -> Result<()> {
        let entries: Vec<_> = self.entries.iter().map(|entry| entry.to_string_lossy()).collect();
        let text = json!({"entries": entries, "setAside": self.set_aside.to_string_lossy()});
        convoke_files::atomic::write(&home.join(JOURNAL), text.to_string().as_bytes())
            .map_err(Error::Lock)?;
        files::sync_folder(home)
    }

    fn read(home: &Path) -> Result<Option<Self>> {
        let path = home.join(JOURNAL);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io_error("read", &path)(error)),
        };
        let understood = serde_json::from_slice::<Value>(&text).ok().and_then(|value| {
            let entries = value.get("entries")?.as_array()?;
            let entries = entries.iter().map(|entry| entry.as_str().map(PathBuf::from));
            let set_aside = PathBuf::from(value.get("setAside")?.as_str()?);
            Some(Self { entries: entries.collect::<Option<_>>()?, set_aside })
        });
        let unreadable = || Error::Io {
            verb: "understand",
            path: path.clone(),
            source: io::ErrorKind::InvalidData.into(),
        };
        understood.map(Some).ok_or_else(unreadable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A home in the middle of a restore: everything is staged, and the journal is written.
    fn staged() -> (tempfile::TempDir, Journal) {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path();
        for name in ["convoke.db", "convoke.db-wal", "config.toml", "questions/a/request.json"] {
            write(&home.join(name), "old");
        }
        for name in ["convoke.db", "config.toml", "questions/b/request.json", "spawn/sessions/c"] {
            write(&home.join(STAGED).join(name), "new");
        }
        let entries = ["convoke.db", "config.toml", "questions", "spawn/sessions"];
        let entries = entries.map(PathBuf::from).to_vec();
        let journal = Journal { entries, set_aside: home.join("set-aside/then") };
        journal.write(home).unwrap();
        (folder, journal)
    }

    fn contents(folder: &Path) -> Vec<(PathBuf, String)> {
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files.extend(contents(&path));
            } else if path.extension().is_none_or(|extension| extension != "lock") {
                files.push((path.clone(), fs::read_to_string(&path).unwrap()));
            }
        }
        files.sort();
        files
    }

    #[test]
    fn k8_a_restore_that_is_killed_after_any_step_of_its_switch_is_completed() {
        let expected = |home: &Path| {
            let files = [
                ("config.toml", "new"),
                ("convoke.db", "new"),
                ("questions/b/request.json", "new"),
                ("set-aside/then/config.toml", "old"),
                ("set-aside/then/convoke.db", "old"),
                ("set-aside/then/convoke.db-wal", "old"),
                ("set-aside/then/questions/a/request.json", "old"),
                ("spawn/sessions/c", "new"),
            ];
            files.map(|(name, text)| (home.join(name), text.to_owned())).to_vec()
        };
        let (folder, journal) = staged();
        let count = moves(folder.path(), &journal).len();
        assert_eq!(count, 8);
        for made in 0..=count {
            let (folder, journal) = staged();
            let home = folder.path();
            for step in moves(home, &journal).iter().take(made) {
                step.make().unwrap();
            }
            let finished = finish_restore(home).unwrap();
            let set_aside = journal.set_aside.clone();
            assert_eq!(finished, Some(Unfinished::Switched { set_aside }), "after {made}");
            assert_eq!(contents(home), expected(home), "after {made}");
            assert_eq!(finish_restore(home).unwrap(), None, "after {made}");
        }
    }

    #[test]
    fn k8_a_restore_that_is_killed_before_its_switch_has_changed_nothing() {
        let (folder, _) = staged();
        let home = folder.path();
        fs::remove_file(home.join(JOURNAL)).unwrap();
        assert_eq!(finish_restore(home).unwrap(), Some(Unfinished::NotBegun));
        assert!(contents(home).iter().all(|(_, text)| text == "old"));
        assert_eq!(contents(home).len(), 4);
    }
}
