//! Forwards connections out of a network namespace: to Convoke's own tools, and through the proxy.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::super::enter::say;
use super::super::listeners::Listeners;
use super::super::policy::Policy;
use super::asking::Asking;
use super::proxy::Proxy;

/// Concurrent connections to the tools; further ones wait in the kernel's backlog.
const TOOLS_MAX: usize = 64;
/// Concurrent connections through the proxy.
const PROXY_MAX: usize = 256;
/// The timeout for the daemon to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The delay after a failed accept, for example for lack of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Starts to accept on the listeners; the tasks end with the runtime.
pub(super) fn start(
    listeners: Listeners,
    policy: &Policy,
    connections: Option<&UnixStream>,
) -> io::Result<()> {
    if let (Some(listener), Some(tools)) = (listeners.tools, policy.tools) {
        accept(listener, TOOLS_MAX, move |client| forward(client, tools))?;
    }
    if let Some(listener) = listeners.proxy {
        let asking = connections.map(Asking::start).transpose()?;
        let proxy = Arc::new(Proxy::new(policy.domains.clone(), asking));
        accept(listener, PROXY_MAX, move |client| Arc::clone(&proxy).serve(client))?;
    }
    Ok(())
}

/// Serves every connection in a separate task, up to this many at once.
fn accept<Serving>(
    listener: TcpListener,
    most: usize,
    serve: impl Fn(TcpStream) -> Serving + Send + 'static,
) -> io::Result<()>
where
    Serving: Future<Output = ()> + Send + 'static,
{
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let room = Arc::new(Semaphore::new(most));
    tokio::spawn(async move {
        while let Ok(place) = Arc::clone(&room).acquire_owned().await {
            match listener.accept().await {
                Ok((client, _)) => {
                    let serving = serve(client);
                    tokio::spawn(async move {
                        serving.await;
                        drop(place);
                    });
                }
                Err(error) => {
                    say(&format!("cannot accept a connection: {error}"));
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    });
    Ok(())
}

/// Connects a client with the tools.
async fn forward(mut client: TcpStream, tools: SocketAddr) {
    match timeout(CONNECT_TIMEOUT, TcpStream::connect(tools)).await {
        // Errors of an established connection only concern its two sides.
        Ok(Ok(mut server)) => drop(copy_bidirectional(&mut client, &mut server).await.ok()),
        Ok(Err(error)) => say(&format!("cannot connect to Convoke's tools at {tools}: {error}")),
        Err(_) => say(&format!("Convoke's tools at {tools} do not accept connections")),
    }
}
