//! The listeners inside of a network namespace: the last stage binds them there and sends them to
//! the supervisor, which accepts connections from outside.
//!
//! The tools have the same address inside and outside, so that their URL is valid on both sides.

use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::channel;
use super::policy::Network;

/// The timeout for the last stage to bind them.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The variables for the address of the proxy.
const PROXY_VARIABLES: [&str; 6] =
    ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
/// The variables for hosts that bypass the proxy: those of the namespace itself.
const DIRECT_VARIABLES: [&str; 2] = ["NO_PROXY", "no_proxy"];
const DIRECT: &str = "127.0.0.1,localhost,::1";
/// Makes Node use the variables above.
const NODE_VARIABLE: &str = "NODE_USE_ENV_PROXY";

/// The listeners that the last stage opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ListenerSpec {
    pub(super) network: Network,
    /// The tools' address outside.
    pub(super) tools: Option<SocketAddr>,
}

/// The listeners in the order in which they are sent.
#[derive(Debug, Serialize, Deserialize)]
enum Purpose {
    Tools,
    Proxy,
}

/// The received listeners.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    pub(super) tools: Option<TcpListener>,
    pub(super) proxy: Option<TcpListener>,
}

impl ListenerSpec {
    /// Binds the listeners in the namespace of the calling process, sends them, and sets the
    /// program's proxy variables.
    pub(super) fn provide(
        self,
        supervisor: &mut UnixStream,
        environment: &mut Vec<(OsString, OsString)>,
    ) -> io::Result<()> {
        let mut bound = Vec::new();
        match self.network {
            Network::Open => return Ok(()),
            Network::Off => {}
            Network::Proxy => {
                let proxy = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
                name_proxy(environment, proxy.local_addr()?);
                bound.push((Purpose::Proxy, OwnedFd::from(proxy)));
            }
        }
        if let Some(address) = self.tools {
            let tools = TcpListener::bind(address).map_err(|error| {
                let text = format!("cannot forward Convoke's tools at {address}: {error}");
                io::Error::new(error.kind(), text)
            })?;
            bound.push((Purpose::Tools, OwnedFd::from(tools)));
        }
        let (purposes, sockets): (Vec<Purpose>, Vec<OwnedFd>) = bound.into_iter().unzip();
        let sockets: Vec<_> = sockets.iter().map(AsFd::as_fd).collect();
        channel::send(supervisor, &purposes, &sockets)
    }

    /// Receives the listeners from the last stage. If that exited instead, its exit status has the
    /// reason, so an empty message is no error.
    pub(super) fn receive(self, stage: &mut UnixStream) -> io::Result<Listeners> {
        let mut listeners = Listeners::default();
        match self.network {
            Network::Open => return Ok(listeners),
            Network::Proxy | Network::Off => {}
        }
        stage.set_read_timeout(Some(TIMEOUT))?;
        let received = channel::receive::<Vec<Purpose>>(stage);
        stage.set_read_timeout(None)?;
        let (purposes, sockets) = match received {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(listeners),
            received => received?,
        };
        for (purpose, socket) in purposes.into_iter().zip(sockets) {
            let listener = TcpListener::from(socket);
            listener.set_nonblocking(true)?;
            match purpose {
                Purpose::Tools => listeners.tools = Some(listener),
                Purpose::Proxy => listeners.proxy = Some(listener),
            }
        }
        Ok(listeners)
    }
}

fn name_proxy(environment: &mut Vec<(OsString, OsString)>, proxy: SocketAddr) {
    let url = format!("http://{proxy}");
    let proxies = PROXY_VARIABLES.map(|name| (name, url.as_str()));
    let direct = DIRECT_VARIABLES.map(|name| (name, DIRECT));
    let ours: Vec<(&str, &str)> =
        proxies.into_iter().chain(direct).chain([(NODE_VARIABLE, "1")]).collect();
    environment.retain(|(name, _)| !ours.iter().any(|(our_name, _)| name == our_name));
    environment.extend(ours.into_iter().map(|(name, value)| (name.into(), value.into())));
}
