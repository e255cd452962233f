//! The process at the other end of the control socket, as the kernel reports it: its user and its confinement.
//!
//! Confinement is inherited and cannot be removed, so a process that is confined more than the daemon belongs to an
//! agent, or at least must not get more rights than an agent has.

use std::io;

use tokio::net::UnixStream;

/// The namespaces whose change confines a process: it hides files, processes, users or the network.
#[cfg(target_os = "linux")]
const NAMESPACES: [&str; 4] = ["user", "pid", "mnt", "net"];

/// Why a peer is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    /// The peer belongs to another user.
    #[error("the process that connected belongs to user {peer}, and the daemon to user {daemon}")]
    OtherUser {
        /// The peer's user.
        peer: u32,
        /// The daemon's user.
        daemon: u32,
    },
    /// The peer is confined in a way that the daemon is not.
    #[error("process {pid} is confined more than the daemon is: {how}")]
    MoreConfined {
        /// The peer's process id.
        pid: i32,
        /// The kind of confinement.
        how: &'static str,
    },
    /// The kernel does not report the peer.
    #[error("cannot determine how the process that connected is confined: {why}")]
    Unknown {
        /// The error.
        why: String,
    },
}

impl Refusal {
    /// What the user can do about it.
    pub(super) const fn hint(&self) -> &'static str {
        match self {
            Self::OtherUser { .. } => "run the command as the user who started the daemon",
            Self::MoreConfined { .. } | Self::Unknown { .. } => {
                "run the command outside of the sandbox or container that it is in, where the daemon was started"
            }
        }
    }
}

/// How a process is confined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Confinement {
    no_new_privs: u32,
    /// The mode in `/proc`: 0 for none, 1 for strict, 2 for filters.
    seccomp: u32,
    seccomp_filters: u32,
    namespaces: Vec<(&'static str, std::path::PathBuf)>,
}

impl Confinement {
    /// How this process is confined.
    pub(super) fn of_this_process() -> io::Result<Self> {
        Self::of("self")
    }

    #[cfg(target_os = "linux")]
    fn of(process: &str) -> io::Result<Self> {
        let folder = std::path::Path::new("/proc").join(process);
        let status = std::fs::read_to_string(folder.join("status"))?;
        let value = |name: &str| {
            let mut lines = status.lines().filter_map(|line| line.split_once(':'));
            let (_, text) = lines.find(|(key, _)| *key == name)?;
            text.trim().parse::<u32>().ok()
        };
        let namespace = |name: &'static str| {
            std::fs::read_link(folder.join("ns").join(name)).map(|link| (name, link))
        };
        Ok(Self {
            // A kernel that does not report a field does not have the feature.
            no_new_privs: value("NoNewPrivs").unwrap_or(0),
            seccomp: value("Seccomp").unwrap_or(0),
            seccomp_filters: value("Seccomp_filters").unwrap_or(0),
            namespaces: NAMESPACES.into_iter().map(namespace).collect::<io::Result<_>>()?,
        })
    }

    /// Other systems have no `/proc`; there the user and the token decide.
    #[cfg(not(target_os = "linux"))]
    fn of(_process: &str) -> io::Result<Self> {
        Ok(Self { no_new_privs: 0, seccomp: 0, seccomp_filters: 0, namespaces: Vec::new() })
    }

    /// How this process is confined more than `other`.
    fn more_than(&self, other: &Self) -> Option<&'static str> {
        if self.no_new_privs > other.no_new_privs {
            return Some("it can gain no privileges (NoNewPrivs)");
        }
        if self.seccomp > other.seccomp || self.seccomp_filters > other.seccomp_filters {
            return Some("its system calls are filtered (seccomp)");
        }
        let differs = self.namespaces.iter().zip(&other.namespaces).find(|(own, its)| own != its);
        differs.map(|((name, _), _)| match *name {
            "user" => "it is in another user namespace",
            "pid" => "it is in another PID namespace",
            "mnt" => "it is in another mount namespace",
            _ => "it is in another network namespace",
        })
    }
}

/// Refuses a peer of another user, and one that is confined more than the daemon.
pub(super) fn check(stream: &UnixStream, daemon: Option<&Confinement>) -> Result<(), Refusal> {
    let unknown = |error: io::Error| Refusal::Unknown { why: error.to_string() };
    let peer = stream.peer_cred().map_err(unknown)?;
    let user = rustix::process::geteuid().as_raw();
    if peer.uid() != user {
        return Err(Refusal::OtherUser { peer: peer.uid(), daemon: user });
    }
    let Some(daemon) = daemon else {
        let why = "the daemon cannot read its own entries in /proc".to_owned();
        return Err(Refusal::Unknown { why });
    };
    // A process of another PID namespace has no pid here.
    let pid = peer.pid().filter(|pid| *pid > 0).ok_or(Refusal::MoreConfined {
        pid: 0,
        how: "it is in a PID namespace that the daemon cannot see",
    })?;
    let confinement = Confinement::of(&pid.to_string()).map_err(unknown)?;
    match confinement.more_than(daemon) {
        Some(how) => Err(Refusal::MoreConfined { pid, how }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confinement(no_new_privs: u32, seccomp_filters: u32, mount: &str) -> Confinement {
        let seccomp = if seccomp_filters > 0 { 2 } else { 0 };
        let namespaces = vec![("user", "user:[1]".into()), ("mnt", mount.into())];
        Confinement { no_new_privs, seccomp, seccomp_filters, namespaces }
    }

    #[test]
    fn k5_only_what_is_confined_more_than_the_daemon_is_refused() {
        let (free, contained) = (confinement(0, 0, "mnt:[1]"), confinement(1, 1, "mnt:[1]"));
        assert_eq!(free.more_than(&free), None);
        assert_eq!(contained.more_than(&contained), None, "in a container all are confined");
        assert_eq!(free.more_than(&contained), None);
        let how = contained.more_than(&free).unwrap();
        assert!(how.contains("NoNewPrivs"), "{how}");
        let how = confinement(1, 2, "mnt:[1]").more_than(&contained).unwrap();
        assert!(how.contains("seccomp"), "{how}");
        let how = confinement(0, 0, "mnt:[2]").more_than(&free).unwrap();
        assert!(how.contains("mount namespace"), "{how}");
    }
}
