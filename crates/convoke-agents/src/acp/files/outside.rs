//! Reads outside of the workspace for an agent: what its own processes can read, and nothing else.
//!
//! Convoke runs outside of the sandbox, so it must refuse what the agent does not see: secrets and
//! Convoke's home by their paths, and all of the folders that are replaced inside of the sandbox,
//! such as `/proc` and `/run`.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use super::{FileError, Lines, TEXT_BYTES_MAX, file_error, outside, select, unfit};
use crate::driver::Confinement;
use crate::sandbox::{read_without_links, with_aliases};

/// Folders that show Convoke's own process, or devices; never read for an agent.
const OF_KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];
/// Folders that are replaced or empty inside of the sandbox.
const REPLACED: [&str; 2] = ["/run", "/var/run"];
/// Folders that are the agent's own temporary folder inside of the sandbox.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// The files that an agent may read outside of its workspace.
#[derive(Debug, Clone, Default)]
pub(in crate::acp) struct Outside {
    /// Files and folders that are hidden from it.
    hidden: Vec<PathBuf>,
    /// Files and folders inside of the hidden ones that it sees.
    open: Vec<PathBuf>,
    /// The folder that is mounted at `/tmp` for it.
    temp: Option<PathBuf>,
    /// Whether bubblewrap gives it its own file system.
    has_own_view: bool,
}

impl Outside {
    /// From the confinement of the agent.
    pub(in crate::acp) fn new(confinement: &Confinement) -> Self {
        let Confinement::Supervised { policy, .. } = confinement else { return Self::default() };
        let resolved = |paths: &[PathBuf]| -> Vec<PathBuf> {
            paths.iter().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone())).collect()
        };
        let hidden =
            with_aliases(resolved(&[policy.hidden.clone(), policy.secrets.clone()].concat()));
        let has_own_view = policy.layers.bubblewrap.is_some();
        Self {
            hidden,
            open: resolved(
                &[&policy.readable[..], &policy.writable, &policy.writable_direct].concat(),
            ),
            temp: policy.temp.clone(),
            has_own_view,
        }
    }

    /// Reads some lines of a text.
    pub(super) fn read(&self, path: &Path, lines: Lines) -> Result<String, FileError> {
        if !path.is_absolute() {
            return Err(outside(path));
        }
        let real = self.seen(path).canonicalize().map_err(|source| file_error(path, source))?;
        if !self.is_visible(&real) {
            return Err(outside(path));
        }
        let bytes = match read_without_links(&real, TEXT_BYTES_MAX) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Err(unfit(path, "is larger than 10 MiB, or no regular file")),
            Err(source) => return Err(file_error(path, source)),
        };
        let text = select(Cursor::new(bytes), lines).map_err(|source| file_error(path, source))?;
        let text = text.ok_or_else(|| unfit(path, "is larger than 10 MiB"))?;
        String::from_utf8(text).map_err(|_| unfit(path, "is not UTF-8 text"))
    }

    /// The path outside of the sandbox for a path inside.
    fn seen(&self, path: &Path) -> PathBuf {
        let (Some(temp), true) = (&self.temp, self.has_own_view) else { return path.to_owned() };
        if path.starts_with(temp) {
            return path.to_owned();
        }
        let inside = TEMPORARY.iter().find_map(|place| path.strip_prefix(place).ok());
        inside.map_or_else(|| path.to_owned(), |rest| temp.join(rest))
    }

    fn is_visible(&self, real: &Path) -> bool {
        let is_in = |places: &[PathBuf]| places.iter().any(|place| real.starts_with(place));
        let is_at = |places: &[&str]| places.iter().any(|place| real.starts_with(place));
        if is_at(&OF_KERNEL) {
            return false;
        }
        if self.temp.as_ref().is_some_and(|temp| real.starts_with(temp)) {
            return true;
        }
        if self.has_own_view && (is_at(&REPLACED) || is_at(&TEMPORARY)) && !is_in(&self.open) {
            return false;
        }
        !is_in(&self.hidden) || self.is_open(real)
    }

    /// Whether an open folder is inside of the innermost hidden folder around a path.
    fn is_open(&self, real: &Path) -> bool {
        let depth = |places: &[PathBuf]| {
            let around = places.iter().filter(|place| real.starts_with(place));
            around.map(|place| place.components().count()).max()
        };
        depth(&self.open) > depth(&self.hidden)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::sandbox::{Layers, Policy};

    #[test]
    fn l1_an_agent_reads_through_us_what_it_reads_itself() {
        let folder = crate::scratch::folder();
        let root = folder.path().canonicalize().unwrap();
        for name in ["me/notes.txt", "me/.ssh/id", "me/.claude/x", "me/.convoke/token", "temp/own"]
        {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), name).unwrap();
        }
        symlink(root.join("me/.ssh/id"), root.join("me/link")).unwrap();
        let policy = Policy {
            layers: Layers { bubblewrap: Some("/usr/bin/bwrap".into()), ..Layers::NONE },
            hidden: vec![root.join("me/.convoke")],
            secrets: vec![root.join("me/.ssh")],
            writable: vec![root.join("me/.claude")],
            temp: Some(root.join("temp")),
            ..Policy::unconfined()
        };
        let helper = "/usr/bin/convoke".into();
        let outside = Outside::new(&Confinement::Supervised { helper, policy: Box::new(policy) });
        let read = |path: &Path| outside.read(path, Lines::ALL).ok();
        assert_eq!(read(&root.join("me/notes.txt")).as_deref(), Some("me/notes.txt"));
        assert_eq!(read(&root.join("me/.claude/x")).as_deref(), Some("me/.claude/x"));
        assert_eq!(read(Path::new("/tmp/own")).as_deref(), Some("temp/own"), "its own /tmp");
        for hidden in ["me/.ssh/id", "me/link", "me/.convoke/token"] {
            assert_eq!(read(&root.join(hidden)), None, "{hidden}");
        }
        assert_eq!(read(Path::new("/proc/self/environ")), None);
        assert_eq!(read(Path::new("/dev/null")), None);
        assert_eq!(read(Path::new("relative")), None);
    }
}
