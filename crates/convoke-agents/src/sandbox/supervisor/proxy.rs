//! The HTTP proxy for one agent: tunnels (`CONNECT`), and plain requests with an absolute URL.
//!
//! A name is resolved only after the list or the human has allowed it, and only once: the
//! connection uses an address that was checked. The contents of a tunnel are not inspected.

mod head;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use super::super::domains::{Domain, DomainStatus, Host, Target};
use super::super::enter::say;
use super::super::policy::Ruling;
use super::asking::{Asking, deny};
use head::{Head, Kind};

/// Bytes of the head of a request.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// The timeout for a client to send it.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// How long resolving a name, and connecting to one address, may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// Addresses of one name that are tried.
const ADDRESSES_MAX: usize = 8;
/// How much of a refused request is read, so that the client can read the response, and the timeout
/// for that.
const DRAIN_BYTES_MAX: u64 = 1 << 20;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// A proxy with its list.
pub(super) struct Proxy {
    domains: Vec<Domain>,
    asking: Option<Arc<Asking>>,
}

/// A response of the proxy itself.
struct Refusal {
    status: &'static str,
    text: String,
}

impl Refusal {
    const fn new(status: &'static str, text: String) -> Self {
        Self { status, text }
    }

    fn forbidden(target: &Target, why: &str) -> Self {
        Self::new("403 Forbidden", format!("no connection to {target}: {why}"))
    }

    fn unreachable(target: &Target, why: &str) -> Self {
        Self::new("502 Bad Gateway", format!("cannot connect to {target}: {why}"))
    }
}

impl Proxy {
    pub(super) const fn new(domains: Vec<Domain>, asking: Option<Arc<Asking>>) -> Self {
        Self { domains, asking }
    }

    /// Serves one connection to its end.
    pub(super) async fn serve(self: Arc<Self>, mut client: TcpStream) {
        if let Err(refusal) = self.connect_through(&mut client).await {
            refuse(client, &refusal).await;
        }
    }

    async fn connect_through(&self, client: &mut TcpStream) -> Result<(), Refusal> {
        let (head, rest) = read_head(client).await?;
        let head = Head::read(&head).ok_or_else(|| {
            let text = "this proxy takes CONNECT host:port and requests with an http:// URL";
            Refusal::new("400 Bad Request", text.to_owned())
        })?;
        let mut server = self.connect(&head.target).await?;
        // Later errors of the connection only concern its two sides.
        let begun = match head.kind {
            Kind::Tunnel => client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await,
            Kind::Request { forwarded } => server.write_all(&forwarded).await,
        };
        if begun.is_ok() && server.write_all(&rest).await.is_ok() {
            copy_bidirectional(client, &mut server).await.ok();
        }
        Ok(())
    }

    /// Connects to a target that is listed or allowed.
    async fn connect(&self, target: &Target) -> Result<TcpStream, Refusal> {
        let ruling = match target.status(&self.domains) {
            DomainStatus::Listed => Ruling::Allow,
            DomainStatus::Unlisted => self.ask(target).await,
            DomainStatus::Private => deny(
                "addresses of this machine and of private networks must be listed in sandbox.domains",
            ),
        };
        if let Ruling::Deny { why } = ruling {
            return Err(Refusal::forbidden(target, &why));
        }
        let mut failure = "the name has no address".to_owned();
        for address in self.resolve(target).await?.into_iter().take(ADDRESSES_MAX) {
            let address = SocketAddr::new(address, target.port);
            match timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
                Ok(Ok(server)) => return Ok(server),
                Ok(Err(error)) => failure = error.to_string(),
                Err(_) => failure = "the host does not respond".to_owned(),
            }
        }
        Err(Refusal::unreachable(target, &failure))
    }

    async fn ask(&self, target: &Target) -> Ruling {
        if let Some(asking) = &self.asking {
            return asking.ask(target).await;
        }
        say(&format!("denied a connection to {target}, which is not on the list"));
        deny("it is not on the list")
    }

    /// The addresses of a target that a connection may use.
    async fn resolve(&self, target: &Target) -> Result<Vec<IpAddr>, Refusal> {
        let found: Vec<IpAddr> = match &target.host {
            Host::Address(address) => vec![*address],
            Host::Name(name) => {
                let resolving = lookup_host((name.as_str(), target.port));
                let resolved = timeout(CONNECT_TIMEOUT, resolving).await;
                let late = |_| Refusal::unreachable(target, "the name was not resolved in time");
                let unknown = |error: std::io::Error| {
                    Refusal::unreachable(target, &format!("cannot resolve the name: {error}"))
                };
                resolved.map_err(late)?.map_err(unknown)?.map(|address| address.ip()).collect()
            }
        };
        let is_fit = |address: &&IpAddr| target.may_lead_to(**address, &self.domains);
        let fit: Vec<IpAddr> = found.iter().filter(is_fit).copied().collect();
        match found.first() {
            Some(address) if fit.is_empty() => {
                let why = format!(
                    "the name resolves to {address}, which is on this machine or in a private network; add that address to sandbox.domains to allow it"
                );
                Err(Refusal::forbidden(target, &why))
            }
            Some(_) | None => Ok(fit),
        }
    }
}

/// Reads the head of a request, and the bytes after it.
async fn read_head(client: &mut TcpStream) -> Result<(Vec<u8>, Vec<u8>), Refusal> {
    const END: &[u8] = b"\r\n\r\n";
    let mut bytes = Vec::with_capacity(4 << 10);
    let reading = async {
        loop {
            let seen = bytes.len().saturating_sub(END.len() - 1);
            let read = client.read_buf(&mut bytes).await.unwrap_or(0);
            let unread = bytes.get(seen..).unwrap_or_default();
            if let Some(place) = unread.windows(END.len()).position(|window| window == END) {
                return Ok(seen + place + END.len());
            }
            if read == 0 {
                return Err(Refusal::new(
                    "400 Bad Request",
                    "the request is incomplete".to_owned(),
                ));
            }
            if bytes.len() > HEAD_BYTES_MAX {
                let text = format!("the head of the request is longer than {HEAD_BYTES_MAX} bytes");
                return Err(Refusal::new("431 Request Header Fields Too Large", text));
            }
        }
    };
    let late = |_| Refusal::new("408 Request Timeout", "no request arrived in time".to_owned());
    let end = timeout(HEAD_TIMEOUT, reading).await.map_err(late)??;
    let rest = bytes.split_off(end);
    Ok((bytes, rest))
}

/// Sends a refusal. The rest of the request is read, because unread bytes would reset the
/// connection before the response is read.
async fn refuse(mut client: TcpStream, refusal: &Refusal) {
    let Refusal { status, text } = refusal;
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\n\
         connection: close\r\nx-convoke-denied: 1\r\n\r\nconvoke: {text}\n",
        "convoke: \n".len() + text.len()
    );
    // A client that has disconnected needs no response.
    if client.write_all(answer.as_bytes()).await.is_ok() && client.shutdown().await.is_ok() {
        let mut rest = client.take(DRAIN_BYTES_MAX);
        let mut nowhere = tokio::io::sink();
        timeout(DRAIN_TIMEOUT, tokio::io::copy(&mut rest, &mut nowhere)).await.ok();
    }
}
