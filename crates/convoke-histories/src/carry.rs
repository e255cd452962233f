//! An agent's own record of one conversation, which is transferred when its session moves to
//! another machine.
//!
//! Only agents whose record is one file, without a key or a path in its name that would differ on
//! the other machine: Claude Code and Codex. The file is found and written by its name alone, one
//! folder at a time and without following links; no other file of the agent is opened. This is the
//! only part of this crate that writes.

use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::agent::Agent;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::folder::{Folder, facts_of_file};
use crate::importer::{self, file_name};
use crate::pattern;

/// Claude Code shortens the names of folders that are longer than this, with a hash of its own.
const CLAUDE_FOLDER_MAX: usize = 200;
/// The most earlier versions of a record that are kept.
const ASIDE_MAX: u32 = 1_000;

const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::DIRECTORY);
const NEW: OFlags = OFlags::WRONLY
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// An agent's record of a conversation.
#[derive(Debug)]
pub struct Record {
    /// Its path below the agent's folder.
    pub path: String,
    /// The file, opened for reading.
    pub file: File,
    /// Its length.
    pub bytes: u64,
}

/// The record of a conversation by the agent's own id; `None` if there is none, or none that could go along.
pub fn find_record(agent: Agent, environment: &Environment, id: &str) -> Result<Option<Record>> {
    let Some(pattern) = pattern_of(agent).filter(|_| is_plain(id)) else { return Ok(None) };
    for root in (importer::of(agent).roots)(environment) {
        let Some(folder) = Folder::open(&root)? else { continue };
        let mut seen = folder.walk(pattern)?.into_iter();
        if let Some(found) = seen.find(|seen| is_of(agent, &seen.path, id)) {
            let file = folder.open_file(&[pattern], &found.path)?;
            let facts = facts_of_file(&file);
            let facts = facts.map_err(|source| Error::Read { path: root.clone(), source })?;
            return Ok(Some(Record { path: found.path, file, bytes: facts.size }));
        }
    }
    Ok(None)
}

/// Writes the record of a conversation to the path where the agent expects it for the working
/// directory `cwd`; `path` is where it was found. An existing record that is not a prefix of this
/// one is renamed, and stays.
pub fn place_record(
    agent: Agent,
    environment: &Environment,
    id: &str,
    path: &str,
    cwd: &Path,
    from: &mut File,
) -> Result<PathBuf> {
    let roots = (importer::of(agent).roots)(environment);
    let root = roots.iter().find(|root| root.is_dir()).or(roots.first());
    let root = root.cloned().unwrap_or_default();
    let target = target_of(agent, id, path, cwd);
    let Some(target) = target else {
        let why = "it is not the name of a record that the agent would find here";
        return Err(Error::Refused { path: root.join(path), why });
    };
    let whole = root.join(&target);
    let written = write(&root, &target, from);
    written.map_err(|source| Error::Write { path: whole.clone(), source })?;
    Ok(whole)
}

const fn pattern_of(agent: Agent) -> Option<&'static str> {
    match agent {
        Agent::Claude => Some("projects/*/*.jsonl"),
        Agent::Codex => Some("sessions/*/*/*/rollout-*.jsonl"),
        Agent::Gemini
        | Agent::Opencode
        | Agent::Goose
        | Agent::Qwen
        | Agent::Copilot
        | Agent::Cline
        | Agent::Kimi
        | Agent::Vibe
        | Agent::Droid => None,
    }
}

/// Whether an id has the form that agents generate.
fn is_plain(id: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (8..=64).contains(&id.len()) && id.chars().all(fits)
}

fn is_of(agent: Agent, path: &str, id: &str) -> bool {
    let name = file_name(path);
    match agent {
        Agent::Claude => name == format!("{id}.jsonl"),
        Agent::Codex => name.ends_with(&format!("-{id}.jsonl")),
        Agent::Gemini
        | Agent::Opencode
        | Agent::Goose
        | Agent::Qwen
        | Agent::Copilot
        | Agent::Cline
        | Agent::Kimi
        | Agent::Vibe
        | Agent::Droid => false,
    }
}

/// The path where the agent expects the record, below its folder.
fn target_of(agent: Agent, id: &str, path: &str, cwd: &Path) -> Option<String> {
    let pattern = pattern_of(agent)?;
    if !is_plain(id) || !is_of(agent, path, id) || !pattern::matches(pattern, path) {
        return None;
    }
    if agent != Agent::Claude {
        return Some(path.to_owned());
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let folder: String = cwd.to_str()?.chars().map(plain).collect();
    (folder.len() <= CLAUDE_FOLDER_MAX).then(|| format!("projects/{folder}/{id}.jsonl"))
}

fn write(root: &Path, target: &str, from: &mut File) -> io::Result<()> {
    std::fs::create_dir_all(root)?;
    // The root itself may be a link: people move their dot folders.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECTORY;
    let mut folder = rustix::fs::open(root, flags, Mode::empty())?;
    let (folders, name) = target.rsplit_once('/').unwrap_or(("", target));
    for part in folders.split('/') {
        folder = step(&folder, part)?;
    }
    let staged = format!(".{name}.convoke");
    match rustix::fs::unlinkat(&folder, &staged, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    let new = rustix::fs::openat(&folder, &staged, NEW, Mode::RUSR | Mode::WUSR)?;
    let mut new = File::from(new);
    io::copy(from, &mut new)?;
    new.sync_all()?;
    set_aside(&folder, name, from)?;
    Ok(rustix::fs::renameat(&folder, &staged, &folder, name)?)
}

/// Opens a folder, making it where it is missing.
fn step(within: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    match rustix::fs::mkdirat(within, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(rustix::fs::openat(within, name, FOLDER, Mode::empty())?)
}

/// Renames an existing record, unless it is a prefix of the new one.
fn set_aside(folder: &OwnedFd, name: &str, new: &mut File) -> io::Result<()> {
    let facts = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(facts) => facts,
        Err(Errno::NOENT) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    if FileType::from_raw_mode(facts.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("something else than a file is there"));
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let old = File::from(rustix::fs::openat(folder, name, flags, Mode::empty())?);
    new.rewind()?;
    if is_beginning(old, new)? {
        return Ok(());
    }
    for number in 1..ASIDE_MAX {
        let aside = format!("{name}.before-move-{number}");
        let taken = rustix::fs::statat(folder.as_fd(), &aside, AtFlags::SYMLINK_NOFOLLOW);
        if matches!(taken, Err(Errno::NOENT)) {
            return Ok(rustix::fs::renameat(folder, name, folder, &aside)?);
        }
    }
    Err(io::Error::other("there are too many earlier records"))
}

/// Whether one file is how the other one begins.
fn is_beginning(mut old: File, new: &mut File) -> io::Result<bool> {
    let (mut a, mut b) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    loop {
        let count = old.read(&mut a)?;
        if count == 0 {
            return Ok(true);
        }
        let (Some(a), Some(b)) = (a.get(..count), b.get_mut(..count)) else { return Ok(false) };
        match new.read_exact(b) {
            Ok(()) if a == b => {}
            Ok(()) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::os::unix::fs::symlink;

    use super::*;

    const ID: &str = "0b1f0c5e-8a11-4c53-9a55-3a9a3f2a1c77";

    fn file(text: &str) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.rewind().unwrap();
        file
    }

    fn read(record: Option<Record>) -> Option<String> {
        let mut text = String::new();
        record?.file.read_to_string(&mut text).unwrap();
        Some(text)
    }

    #[test]
    fn n8_a_record_of_claude_code_goes_to_the_folder_of_its_new_project() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (source, target) = (Environment::new(here.path()), Environment::new(there.path()));
        assert!(find_record(Agent::Claude, &source, ID).unwrap().is_none());
        let folder = here.path().join(".claude/projects/-home-ada-web");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{ID}.jsonl")), "one\n").unwrap();
        let record = find_record(Agent::Claude, &source, ID).unwrap().unwrap();
        let (path, cwd) = (record.path.clone(), Path::new("/srv/work.d/web"));
        let mut from = record.file;
        let placed = place_record(Agent::Claude, &target, ID, &path, cwd, &mut from).unwrap();
        let expected = format!(".claude/projects/-srv-work-d-web/{ID}.jsonl");
        assert_eq!(placed, there.path().join(expected));
        assert_eq!(fs::read_to_string(&placed).unwrap(), "one\n");
        let found = read(find_record(Agent::Claude, &target, ID).unwrap());
        assert_eq!(found.as_deref(), Some("one\n"));
        // A longer one replaces it, another one sets it aside.
        place_record(Agent::Claude, &target, ID, &path, cwd, &mut file("one\ntwo\n")).unwrap();
        assert_eq!(fs::read_dir(placed.parent().unwrap()).unwrap().count(), 1);
        place_record(Agent::Claude, &target, ID, &path, cwd, &mut file("uno\n")).unwrap();
        assert_eq!(fs::read_to_string(&placed).unwrap(), "uno\n");
        let aside = placed.with_file_name(format!("{ID}.jsonl.before-move-1"));
        assert_eq!(fs::read_to_string(aside).unwrap(), "one\ntwo\n");
    }

    #[test]
    fn n8_a_record_of_codex_keeps_its_name() {
        let home = tempfile::tempdir().unwrap();
        let environment = Environment::new(home.path());
        let path = format!("sessions/2026/11/16/rollout-2026-11-16T07-17-19-{ID}.jsonl");
        let cwd = Path::new("/srv/web");
        let placed =
            place_record(Agent::Codex, &environment, ID, &path, cwd, &mut file("{}\n")).unwrap();
        assert_eq!(placed, home.path().join(".codex").join(&path));
        assert!(find_record(Agent::Codex, &environment, ID).unwrap().is_some());
        assert!(find_record(Agent::Gemini, &environment, ID).unwrap().is_none());
    }

    #[test]
    fn n8_no_link_is_followed_and_no_other_name_is_written() {
        let (home, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let environment = Environment::new(home.path());
        let cwd = Path::new("/srv/web");
        let place = |path: &str, id: &str| {
            place_record(Agent::Codex, &environment, id, path, cwd, &mut file("{}"))
        };
        let name = format!("rollout-x-{ID}.jsonl");
        for path in [
            format!("sessions/../../{name}"),
            format!("sessions/2026/../16/{name}"),
            name.clone(),
            "auth.json".to_owned(),
            "sessions/2026/11/16/rollout-x-other.jsonl".to_owned(),
        ] {
            assert!(matches!(place(&path, ID), Err(Error::Refused { .. })), "{path}");
        }
        let path = format!("sessions/2026/11/16/{name}");
        assert!(place(&path, "../etc").is_err());
        fs::create_dir_all(home.path().join(".codex")).unwrap();
        symlink(other.path(), home.path().join(".codex/sessions")).unwrap();
        assert!(matches!(place(&path, ID), Err(Error::Write { .. })));
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
        // Nor is a record read through one.
        fs::create_dir_all(other.path().join("2026/11/16")).unwrap();
        fs::write(other.path().join("2026/11/16").join(&name), "{}").unwrap();
        assert!(find_record(Agent::Codex, &environment, ID).unwrap().is_none());
    }
}
