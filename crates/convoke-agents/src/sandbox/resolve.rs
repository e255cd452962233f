//! Opens paths without following links, so that a path that was checked cannot be swapped for a link before it is used.

use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{
    CWD, FileType, Mode, OFlags, ResolveFlags, fstat, open as open_path, openat, openat2,
};
use rustix::io::Errno;

/// Opens a path as `O_PATH`; fails with `ELOOP` or `ENOTDIR` if any part of it is a link.
pub(crate) fn open_without_links(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::PATH | OFlags::CLOEXEC;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Linux before 5.6, and programs that emulate it.
        Err(Errno::NOSYS) => Ok(walk(path, flags)?),
        opened => Ok(opened?),
    }
}

/// Reads a file of at most this size without following links; `None` if it is larger or not a
/// regular file.
pub fn read_without_links(path: &Path, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    let opened = open_without_links(path, OFlags::empty())?;
    let found = fstat(opened.as_fd())?;
    let is_plain = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
    if !is_plain || u64::try_from(found.st_size).unwrap_or(u64::MAX) > bytes_max {
        return Ok(None);
    }
    // Read through the descriptor, which leads to the checked file.
    let mut bytes = Vec::new();
    let file = std::fs::File::open(format!("/proc/self/fd/{}", opened.as_raw_fd()))?;
    file.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Does what `openat2` does, part by part.
fn walk(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let folder = OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY;
    let mut at = open_path(if path.is_absolute() { "/" } else { "." }, folder, Mode::empty())?;
    let mut parts = path.components().filter(|part| *part != Component::RootDir).peekable();
    while let Some(part) = parts.next() {
        let flags = if parts.peek().is_some() { folder } else { flags };
        let name = part.as_os_str();
        at = openat(&at, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
        // `O_PATH` with `O_NOFOLLOW` opens the link itself, unless a folder is asked for.
        if FileType::from_raw_mode(fstat(at.as_fd())?.st_mode) == FileType::Symlink {
            return Err(Errno::LOOP);
        }
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn k1_a_path_with_a_link_in_it_is_not_opened_with_and_without_openat2() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("real/inner")).unwrap();
        fs::write(root.join("real/file"), "").unwrap();
        symlink("real", root.join("link")).unwrap();
        symlink("file", root.join("real/last")).unwrap();
        let cases = [
            ("real", OFlags::DIRECTORY, true),
            ("real/inner", OFlags::DIRECTORY, true),
            ("real/inner/../file", OFlags::empty(), true),
            ("real/file", OFlags::empty(), true),
            ("real/file", OFlags::DIRECTORY, false),
            ("link", OFlags::DIRECTORY, false),
            ("link", OFlags::empty(), false),
            ("link/inner", OFlags::DIRECTORY, false),
            ("real/last", OFlags::empty(), false),
            ("missing", OFlags::empty(), false),
        ];
        for (path, flags, opens) in cases {
            let path = root.join(path);
            assert_eq!(open_without_links(&path, flags).is_ok(), opens, "{}", path.display());
            let flags = flags | OFlags::PATH | OFlags::CLOEXEC;
            assert_eq!(walk(&path, flags).is_ok(), opens, "walking {}", path.display());
        }
    }
}
