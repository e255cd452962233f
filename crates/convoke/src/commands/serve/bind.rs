//! Where the daemon listens: TCP on both loopback addresses, and the control socket in the home.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpSocket, UnixListener};

use super::ServeError;
use crate::environment::Environment;
use crate::home::Home;

/// The longest path of a Unix socket that the kernel accepts.
const SOCKET_PATH_MAX: usize = 107;
/// The backlog of connections to be accepted. Beyond that the kernel drops a client's first packet,
/// and the client retries only after a second; a longer backlog would make the last one wait as
/// long.
const BACKLOG: u32 = 1024;
/// How often another free port is picked, because it is not free on all loopback addresses.
const PORT_TRIES: usize = 16;
/// How many ports after the default one are tried.
const NEXT_PORTS: u16 = 9;
/// Descriptors that are of use to the daemon. Agents inherit the limit, and some programs close every descriptor below
/// it one by one, so it is not raised to the millions that some systems allow.
const DESCRIPTORS_MAX: u64 = 65_536;

/// Binds an address, and its other loopback: `localhost` means both, so a program on the other one would share the
/// page's origin.
pub(super) fn tcp(address: SocketAddr) -> Result<Vec<TcpListener>, ServeError> {
    let bind = |address| listen(address).map_err(|source| ServeError::Bind { address, source });
    let mut tries = 0;
    loop {
        tries += 1;
        let first = bind(address)?;
        let bound = first.local_addr().map_err(|source| ServeError::Bind { address, source })?;
        let Some(other) = other_loopback(bound) else { return Ok(vec![first]) };
        match bind(other) {
            Ok(second) => return Ok(vec![first, second]),
            Err(ServeError::Bind { source, .. }) if is_no_such_address(&source) => {
                tracing::info!("listening on {bound} alone: this machine has no {}", other.ip());
                return Ok(vec![first]);
            }
            Err(ServeError::Bind { source, .. })
                if source.kind() == io::ErrorKind::AddrInUse
                    && address.port() == 0
                    && tries < PORT_TRIES => {}
            Err(error) => return Err(error),
        }
    }
}

/// Binds the default address, or the next free port: another user of this machine may run Convoke,
/// too.
pub(super) fn tcp_from(default: SocketAddr) -> Result<Vec<TcpListener>, ServeError> {
    let mut address = default;
    loop {
        match tcp(address) {
            Err(ServeError::Bind { source, .. })
                if source.kind() == io::ErrorKind::AddrInUse
                    && address.port() < default.port().saturating_add(NEXT_PORTS) =>
            {
                let taken = address.port();
                address.set_port(taken + 1);
                tracing::warn!("port {taken} is in use; trying {}", taken + 1);
            }
            bound => return bound,
        }
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // A port on which a daemon just ended can be listened on again at once.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// The address that shares the name `localhost` with this one.
fn other_loopback(address: SocketAddr) -> Option<SocketAddr> {
    let other: IpAddr = match address.ip() {
        IpAddr::V4(Ipv4Addr::LOCALHOST | Ipv4Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::LOCALHOST) => Ipv4Addr::LOCALHOST.into(),
        // Where all addresses of IPv6 are listened on, those of IPv4 are too.
        IpAddr::V4(_) | IpAddr::V6(_) => return None,
    };
    Some(SocketAddr::new(other, address.port()))
}

/// Whether a machine lacks the address or the whole protocol.
fn is_no_such_address(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    [Errno::ADDRNOTAVAIL, Errno::AFNOSUPPORT].iter().any(|it| Some(it.raw_os_error()) == code)
}

/// The control socket; its file is removed when this is dropped.
#[derive(Debug)]
pub(super) struct ControlSocket {
    path: PathBuf,
}

impl ControlSocket {
    /// Binds the socket, for this user alone. The socket of a killed daemon is replaced; the home's
    /// lock ensures that no other daemon runs. `None` if no path is short enough.
    pub(super) fn bind(
        home: &Home,
        environment: &Environment,
    ) -> anyhow::Result<Option<(Self, UnixListener)>> {
        let Some(path) = socket_path(home, environment) else {
            tracing::warn!(
                "no control socket, commands use TCP instead: the path {} has more than \
                 {SOCKET_PATH_MAX} bytes, and XDG_RUNTIME_DIR is not set",
                home.control_socket().display()
            );
            return Ok(None);
        };
        let failed = || format!("cannot create the control socket {}", path.display());
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).with_context(failed);
            }
            Ok(()) | Err(_) => {}
        }
        let listener = UnixListener::bind(&path).with_context(failed)?;
        let socket = Self { path: path.clone() };
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).with_context(failed)?;
        Ok(Some((socket, listener)))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!("cannot remove {}: {error}", self.path.display());
        }
    }
}

/// The path in the home; if that is too long, in the system's runtime folder of this user.
fn socket_path(home: &Home, environment: &Environment) -> Option<PathBuf> {
    let fits = |path: &Path| path.as_os_str().len() <= SOCKET_PATH_MAX;
    let path = home.control_socket();
    if fits(&path) {
        return Some(path);
    }
    let folder = Path::new(environment.get("XDG_RUNTIME_DIR")?);
    let name = format!("convoke-{:016x}.sock", fingerprint(home.path().as_os_str().as_bytes()));
    Some(folder.join(name)).filter(|path| path.is_absolute() && fits(path))
}

/// FNV-1a: distinguishes the homes of one user, and is stable across versions.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Raises the limit of descriptors as far as allowed, and returns it.
pub(super) fn raise_descriptors() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.unwrap_or(DESCRIPTORS_MAX).min(DESCRIPTORS_MAX);
    let held = current.unwrap_or(DESCRIPTORS_MAX);
    if held >= wanted {
        return usize::try_from(held).unwrap_or(usize::MAX);
    }
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
    let limit = match raised {
        Ok(()) => wanted,
        Err(error) => {
            tracing::warn!("cannot have more than {held} descriptors: {error}");
            held
        }
    };
    usize::try_from(limit).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(home: &str, runtime: Option<&str>) -> Option<String> {
        let environment: Environment =
            runtime.map(|folder| ("XDG_RUNTIME_DIR", folder)).into_iter().collect();
        let home = Home::locate(Some(Path::new(home)), &environment).unwrap();
        Some(socket_path(&home, &environment)?.display().to_string())
    }

    #[test]
    fn k5_a_control_socket_with_too_long_a_path_lies_in_the_runtime_folder() {
        let long = format!("/{}", "x".repeat(100));
        assert_eq!(path("/h", None).unwrap(), "/h/run/control.sock");
        assert_eq!(path(&long, None), None);
        assert_eq!(path(&long, Some("relative")), None);
        let elsewhere = path(&long, Some("/run/user/7")).unwrap();
        assert!(elsewhere.starts_with("/run/user/7/convoke-"), "{elsewhere}");
        assert_ne!(path(&format!("{long}y"), Some("/run/user/7")).unwrap(), elsewhere);
    }

    #[test]
    fn k6_localhost_is_bound_in_both_protocols() {
        let other = |address: &str| other_loopback(address.parse().unwrap());
        let found = |address: &str| other(address).map(|it| it.to_string());
        assert_eq!(found("127.0.0.1:7717").as_deref(), Some("[::1]:7717"));
        assert_eq!(found("0.0.0.0:7717").as_deref(), Some("[::1]:7717"));
        assert_eq!(found("[::1]:7717").as_deref(), Some("127.0.0.1:7717"));
        assert_eq!((found("[::]:7717"), found("192.0.2.1:7717")), (None, None));
    }
}
