//! Echoes over WebSocket with the settings of the daemon: `echo_socket ADDRESS`. Tells where it listens.

use std::io::Write as _;

use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let listener = TcpListener::bind(address).await?;
    writeln!(std::io::stdout(), "{}", listener.local_addr()?)?;
    convoke_server::echo(listener).await;
    Ok(())
}
