//! Other paths of a folder: file systems that are mounted a second time, and sockets bound to
//! paths.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Other paths of the same file or folder, because its file system is mounted twice.
pub(super) fn aliases(path: &Path) -> Vec<PathBuf> {
    // Without /proc this is unknown, and bubblewrap does not run either.
    let table = fs::read("/proc/self/mountinfo").unwrap_or_default();
    // A mount point that is not UTF-8 must not hide the others.
    aliases_in(&String::from_utf8_lossy(&table), path)
}

fn aliases_in(table: &str, path: &Path) -> Vec<PathBuf> {
    let mounts: Vec<Mount> = table.lines().filter_map(Mount::read).collect();
    let around = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    // Of two mounts at one path, the later one is visible.
    let Some(own) = around.max_by_key(|mount| mount.point.components().count()) else {
        return Vec::new();
    };
    let Ok(below) = path.strip_prefix(&own.point) else { return Vec::new() };
    let in_file_system = own.root.join(below);
    let alias = |mount: &Mount| {
        let below = in_file_system.strip_prefix(&mount.root).ok()?;
        Some(if below.as_os_str().is_empty() {
            mount.point.clone()
        } else {
            mount.point.join(below)
        })
    };
    let others = mounts.iter().filter(|mount| mount.device == own.device);
    others.filter_map(alias).filter(|alias| alias != path).collect()
}

/// A line of `/proc/self/mountinfo`.
struct Mount {
    device: String,
    /// The folder of the file system that is mounted.
    root: PathBuf,
    /// Where it is mounted.
    point: PathBuf,
}

impl Mount {
    fn read(line: &str) -> Option<Self> {
        let mut fields = line.split(' ').skip(2);
        let device = fields.next()?.to_owned();
        let [root, point] = [fields.next()?, fields.next()?].map(|field| unescape(field).into());
        Some(Self { device, root, point })
    }
}

/// Decodes spaces, tabs, line breaks and backslashes, which are written as octal numbers.
fn unescape(field: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(field.to_owned(), |text, (escaped, plain)| text.replace(escaped, plain))
}

/// Paths of the sockets that programs of this network namespace listen on.
pub(super) fn sockets() -> BTreeSet<PathBuf> {
    // Names are arbitrary bytes, and one that is not UTF-8 must not hide the others.
    let table = fs::read("/proc/net/unix").unwrap_or_default();
    let is_socket =
        |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket());
    table.split(|byte| *byte == b'\n').filter_map(socket_path).filter(is_socket).collect()
}

/// The path in a line of `/proc/net/unix`: everything after its seven other fields, including
/// spaces.
fn socket_path(line: &[u8]) -> Option<PathBuf> {
    let at = line.iter().position(|byte| *byte == b'/')?;
    let (fields, path) = line.split_at(at);
    let count = fields.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).count();
    (count == 7).then(|| PathBuf::from(OsStr::from_bytes(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k1_a_second_mount_of_a_hidden_folder_is_found() {
        let table = "\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 254:0 /home /mnt/homes rw - ext4 /dev/vda rw
31 22 254:0 /home/me/.convoke /srv/back\\040up rw - ext4 /dev/vda rw
32 22 0:20 / /tmp rw - tmpfs tmpfs rw
33 22 254:0 /var /mnt/var rw - ext4 /dev/vda rw";
        let aliases = aliases_in(table, Path::new("/home/me/.convoke"));
        assert_eq!(aliases, ["/mnt/homes/me/.convoke", "/srv/back up"].map(PathBuf::from));
        assert_eq!(aliases_in(table, Path::new("/tmp/x")), Vec::<PathBuf>::new());
    }
}
