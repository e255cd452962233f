//! bubblewrap: its detection, a test run, and its arguments.
//!
//! It gives the program separate namespaces for processes and shared memory, and a file system in which everything is
//! read-only except for what the policy lets it write, and in which Convoke's home, secrets and other programs' sockets
//! do not exist.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::layout::Layout;
use super::mounts;
use super::policy::{Network, Policy, Seccomp};
use crate::catalogue;

/// Folders that are replaced as a whole: they contain sockets and files of other programs.
const REPLACED: [&str; 6] = ["/tmp", "/var/tmp", "/run", "/var/run", "/dev", "/proc"];
/// Resolver files in `/run`. There are sockets among them, which bypass a network namespace.
const RESOLVERS_OF_RUN: [&str; 4] = [
    "/run/systemd/resolve",
    "/run/NetworkManager/resolv.conf",
    "/run/resolvconf",
    "/run/connman/resolv.conf",
];
/// Folders in `/run` in which some systems keep their programs.
const PROGRAMS_OF_RUN: [&str; 3] =
    ["/run/current-system", "/run/opengl-driver", "/run/.containerenv"];
/// Capabilities that root keeps: to own and read files of any owner in the workspace. None allows
/// to leave the mounts.
const ROOTS_RIGHTS: [&str; 4] = ["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID"];
/// The capability that root also needs to map itself into the user namespace of a nested sandbox.
const NESTING_RIGHT: &str = "CAP_SETFCAP";
/// Bytes of shared memory that a program may use; more is refused by the kernel.
const SHARED_MEMORY_BYTES: &str = "2147483648";

/// Finds bubblewrap on a search path. A program that others than root and the user can modify is
/// not trusted.
pub(super) fn find(path: Option<&OsStr>) -> Result<PathBuf, String> {
    let found = catalogue::find("bwrap", path)
        .or_else(|| catalogue::find("/usr/bin/bwrap", None))
        .ok_or("there is no bwrap on the search path (Debian and Fedora: package bubblewrap)")?;
    let real = found.canonicalize().map_err(|error| format!("{}: {error}", found.display()))?;
    let about = fs::metadata(&real).map_err(|error| format!("{}: {error}", real.display()))?;
    let user = rustix::process::geteuid().as_raw();
    let is_safe = [0, user].contains(&about.uid()) && about.mode() & 0o022 == 0;
    if is_safe { Ok(real) } else { Err(format!("other users can change {}", real.display())) }
}

/// Runs it once as for an agent; the error states why it does not work here.
pub(super) fn try_out(bwrap: &Path) -> Result<(), String> {
    let base = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"];
    let output = Command::new(bwrap)
        .args(SEPARATE)
        .args(base)
        .arg("--")
        .arg(bwrap)
        .arg("--version")
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{} does not start: {error}", bwrap.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{} does not work here: {}", bwrap.display(), said.trim()))
}

/// Separate namespaces, and its end with its parent.
const SEPARATE: [&str; 5] = [
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--new-session",
];

/// The arguments for a layout; the program follows them.
pub(super) fn arguments(layout: &Layout, policy: &Policy, helper: &Path) -> Vec<OsString> {
    let temp = policy.temp.as_deref();
    let mut line: Vec<OsString> = SEPARATE.iter().map(OsString::from).collect();
    let resolvers: &[&str] = match policy.network {
        Network::Open => &RESOLVERS_OF_RUN,
        Network::Proxy | Network::Off => {
            line.push("--unshare-net".into());
            &[]
        }
    };
    if rustix::process::geteuid().is_root() {
        line.extend(["--cap-drop", "ALL"].map(OsString::from));
        let nested = Some(&NESTING_RIGHT).filter(|_| policy.layers.seccomp == Seccomp::Nested);
        let rights = ROOTS_RIGHTS.iter().chain(nested);
        line.extend(rights.flat_map(|right| ["--cap-add".into(), right.into()]));
    }
    line.extend(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"].map(OsString::from));
    if rustix::process::geteuid().is_root() {
        // Root may write there without any capability, and bubblewrap leaves it writable. Other
        // users may not, and a nested sandbox needs it uncovered.
        line.extend(["--ro-bind", "/proc/sys", "/proc/sys"].map(OsString::from));
    }
    line.extend(["--size", SHARED_MEMORY_BYTES, "--tmpfs", "/dev/shm"].map(OsString::from));
    let mut mounts = Mounts::default();
    mounts.replace_folders(temp, resolvers);
    mounts.show(&policy.shown);
    mounts.show(&[helper.to_owned()]);
    mounts.hide(layout);
    mounts.open(layout, temp);
    mounts.protect(layout);
    mounts.cover_sockets(layout);
    line.extend(mounts.into_arguments());
    line
}

/// Mounts by depth, so that none covers one inside of it.
#[derive(Default)]
struct Mounts {
    list: Vec<(PathBuf, Vec<OsString>)>,
    /// Empty folders in place of hidden ones; writes there must fail, not get lost.
    read_only: Vec<PathBuf>,
}

impl Mounts {
    fn add(&mut self, path: &Path, words: &[&OsStr]) {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        self.list.push((path.to_owned(), words));
    }

    fn bind(&mut self, how: &str, from: &Path, to: &Path) {
        self.add(to, &[how.as_ref(), from.as_os_str(), to.as_os_str()]);
    }

    fn replace_folders(&mut self, temp: Option<&Path>, resolvers: &[&str]) {
        for place in ["/tmp", "/var/tmp"].map(Path::new) {
            match temp {
                Some(temp) => self.bind("--bind", temp, place),
                None => self.add(place, &["--tmpfs".as_ref(), place.as_os_str()]),
            }
        }
        self.add(Path::new("/run"), &["--tmpfs".as_ref(), "/run".as_ref()]);
        let kept = resolvers.iter().chain(&PROGRAMS_OF_RUN);
        for kept in kept.map(Path::new).filter(|kept| kept.exists()) {
            self.bind("--ro-bind", kept, kept);
        }
    }

    /// Shows files of the user's command line whose folder is replaced.
    fn show(&mut self, shown: &[PathBuf]) {
        let is_plain = |path: &&PathBuf| is_replaced(path) && path.is_file();
        let is_of_kernel = |path: &PathBuf| path.starts_with("/proc") || path.starts_with("/dev");
        for path in shown.iter().filter(is_plain).filter(|path| !is_of_kernel(path)) {
            self.bind("--ro-bind", path, path);
        }
    }

    fn hide(&mut self, layout: &Layout) {
        let is_bound = |path: &Path| layout.writable.iter().any(|it| path.starts_with(&it.path));
        for path in layout.hidden.iter().filter(|path| !is_replaced(path) || is_bound(path)) {
            // A path that was removed meanwhile needs no hiding.
            let Ok(found) = fs::symlink_metadata(path) else { continue };
            if found.is_dir() {
                let words = ["--perms", "0555", "--tmpfs"].map(OsStr::new);
                self.add(path, &[words[0], words[1], words[2], path.as_os_str()]);
                self.read_only.push(path.clone());
            } else {
                self.bind("--ro-bind", Path::new("/dev/null"), path);
            }
        }
    }

    fn open(&mut self, layout: &Layout, temp: Option<&Path>) {
        for path in layout.readable.iter().filter(|path| path.exists()) {
            self.bind("--ro-bind", path, path);
        }
        for folder in &layout.writable {
            self.bind("--bind", &folder.path, &folder.path);
        }
        // Also at its own path, which programs get as TMPDIR.
        if let Some(temp) = temp {
            self.bind("--bind", temp, temp);
        }
        for socket in layout.sockets.iter().filter(|socket| socket.exists()) {
            self.bind("--bind", socket, socket);
        }
    }

    /// Mounts protected paths read-only, and the folders around them onto themselves: a mount point
    /// can be neither renamed nor replaced.
    fn protect(&mut self, layout: &Layout) {
        for path in &layout.protected {
            self.bind("--ro-bind", path, path);
        }
        let is_mounted =
            |path: &PathBuf, mounts: &Self| mounts.list.iter().any(|(at, _)| at == path);
        for folder in &layout.held {
            if !is_mounted(folder, self) {
                self.bind("--bind", folder, folder);
            }
        }
    }

    /// Covers sockets of other programs that would still be visible. A read-only mount does not
    /// prevent connecting.
    fn cover_sockets(&mut self, layout: &Layout) {
        let is_gone = |path: &Path| {
            let is_allowed = layout.sockets.iter().any(|allowed| allowed == path);
            let is_hidden = layout.hidden.iter().any(|hidden| path.starts_with(hidden));
            let is_own = layout.writable.iter().any(|folder| path.starts_with(&folder.path));
            is_allowed || is_hidden || is_own || is_replaced(path)
        };
        for socket in mounts::sockets().iter().filter(|path| !is_gone(path)) {
            self.bind("--ro-bind", Path::new("/dev/null"), socket);
        }
    }

    fn into_arguments(mut self) -> Vec<OsString> {
        // A stable sort: at the same depth, opened paths come after hidden ones.
        self.list.sort_by_key(|(path, _)| path.components().count());
        let mounts = self.list.into_iter().flat_map(|(_, words)| words);
        let sealed =
            self.read_only.into_iter().flat_map(|path| ["--remount-ro".into(), path.into()]);
        mounts.chain(sealed).collect()
    }
}

/// Whether a path is in a folder that the program sees replaced.
fn is_replaced(path: &Path) -> bool {
    REPLACED.iter().any(|replaced| path.starts_with(replaced))
}
