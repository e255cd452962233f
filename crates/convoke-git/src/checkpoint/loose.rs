//! Reads and writes objects and refs as files, in the formats of gitrepository-layout(5): a
//! checkpoint needs three processes fewer, and a diff five. Packed objects are left to git.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use sha1::{Digest, Sha1};

use super::name::folder_of;
use super::{Checkpoint, Checkpoints, LeftOut, Name, id_of, packs};
use crate::{Error, Limits, ObjectId, Result};

/// A longer commit, whose message lists files that were left out, is left to git.
const COMMIT_BYTES_MAX: usize = 1 << 20;

/// As fast as it gets: a commit is a few hundred bytes, and a tree consists of hashes.
const COMPRESSION: u8 = 1;

/// How many objects this process has written, for the names of its temporary files.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

impl Checkpoints {
    /// Stores a commit without parents, so that checkpoints can be forgotten one by one.
    pub(super) fn commit(
        &self,
        tree: &ObjectId,
        message: &str,
        limits: &Limits,
    ) -> Result<ObjectId> {
        // A tree that is lost is for git to report.
        if !self.is_stored(tree) {
            let command = self.bare("commit-tree").arg(tree.as_str()).input(message.as_bytes());
            return id_of(command, limits);
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let by = format!("Convoke <convoke@localhost> {now} +0000");
        let text = format!("tree {tree}\nauthor {by}\ncommitter {by}\n\n{message}");
        self.store("commit", text.as_bytes())
    }

    /// Stores a loose object, unless it exists.
    pub(super) fn store(&self, kind: &str, content: &[u8]) -> Result<ObjectId> {
        let mut object = format!("{kind} {}\0", content.len()).into_bytes();
        object.extend_from_slice(content);
        let digest = Sha1::digest(&object);
        let id: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let id = ObjectId::parse(&id)?;
        let path = self.object(&id);
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(&object, COMPRESSION);
        write_once(&path, &packed).map_err(|source| Error::io("write", &path, source))?;
        Ok(id)
    }

    /// Points a ref to a stored commit.
    pub(super) fn point(&self, to: &str, commit: &ObjectId, limits: &Limits) -> Result<()> {
        // Git reports a commit that is lost, and waits for another process that has the ref locked.
        if self.is_stored(commit) && self.write_ref(to, commit).is_ok() {
            return Ok(());
        }
        let command = self.bare("update-ref").args(["--no-deref", to, commit.as_str()]);
        command.run(limits).map(drop)
    }

    fn write_ref(&self, to: &str, commit: &ObjectId) -> io::Result<()> {
        let path = self.repository.join(to);
        path.parent().map(fs::create_dir_all).transpose()?;
        let mut lock = path.clone().into_os_string();
        lock.push(".lock");
        let mut file = create(&PathBuf::from(&lock), 0o666)?;
        let written = writeln!(file, "{commit}").and_then(|()| fs::rename(&lock, &path));
        written.inspect_err(|_| drop(fs::remove_file(&lock)))
    }

    /// Reads a checkpoint; `None` when its ref or its commit has no file of its own.
    pub(super) fn read_loose(&self, name: &Name) -> Option<Checkpoint> {
        let commit = fs::read_to_string(self.repository.join(name.to_ref())).ok()?;
        let commit = ObjectId::parse(commit.trim_end()).ok()?;
        let packed = fs::read(self.object(&commit)).ok()?;
        let object =
            miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(&packed, COMMIT_BYTES_MAX);
        let object = String::from_utf8(object.ok()?).ok()?;
        let (header, text) = object.split_once('\0')?;
        if header != format!("commit {}", text.len()) {
            return None;
        }
        let tree = ObjectId::parse(text.lines().next()?.strip_prefix("tree ")?).ok()?;
        let left_out = text.lines().filter_map(LeftOut::from_line).collect();
        Some(Checkpoint { name: name.clone(), commit, tree, left_out })
    }

    /// The names of a session's checkpoints.
    pub(super) fn read_names(&self, session: &str) -> Result<BTreeSet<Name>> {
        let below = folder_of(session)?;
        let folder = self.repository.join(&below);
        let fail = |path: &Path, error: io::Error| {
            let is_missing = error.kind() == io::ErrorKind::NotFound;
            if is_missing { Ok(BTreeSet::new()) } else { Err(Error::io("read", path, error)) }
        };
        // Before those that are packed: git removes a file after it has packed the ref.
        let mut names = match fs::read_dir(&folder) {
            Ok(entries) => entries
                .flatten()
                .filter_map(|entry| entry.file_name().into_string().ok())
                .filter_map(|last| Name::from_ref(&format!("{below}{last}")))
                .collect(),
            Err(error) => fail(&folder, error)?,
        };
        let packed = self.repository.join("packed-refs");
        match fs::read_to_string(&packed) {
            Ok(text) => {
                let refs = text.lines().filter_map(|line| line.split_once(' '));
                let ours = refs.filter(|(_, name)| name.starts_with(&below));
                names.extend(ours.filter_map(|(_, name)| Name::from_ref(name)));
            }
            Err(error) => names.extend(fail(&packed, error)?),
        }
        Ok(names)
    }

    /// Whether an object is stored, in a file of its own or in a pack.
    pub(super) fn is_stored(&self, id: &ObjectId) -> bool {
        let packed = || id.to_bytes().is_some_and(|id| packs::have(&self.repository, &id));
        self.object(id).is_file() || packed()
    }

    fn object(&self, id: &ObjectId) -> PathBuf {
        let (folder, file) = id.as_str().split_at(2);
        self.repository.join("objects").join(folder).join(file)
    }
}

/// Writes an object atomically, unless it exists.
fn write_once(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.is_file() {
        return Ok(());
    }
    path.parent().map(fs::create_dir_all).transpose()?;
    // Git's collection removes files of this name that a killed process left.
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_file_name(format!("tmp_obj_{}_{number}", std::process::id()));
    let written = create(&temporary, 0o444).and_then(|mut file| file.write_all(bytes));
    written
        .and_then(|()| fs::rename(&temporary, path))
        .inspect_err(|_| drop(fs::remove_file(&temporary)))
}

fn create(path: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
}
