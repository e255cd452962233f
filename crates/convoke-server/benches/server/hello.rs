//! A bare server that answers everything with the same body, in a process of its own.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use axum::Router;
use axum::routing::get;
use convoke_testkit::bench::Result;
use tokio::net::TcpListener;

/// As many threads as the daemon serves with.
const THREADS: usize = 2;

/// Serves until it is killed; the first line that it prints is its address.
pub(crate) fn serve(bytes: usize) -> Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
    runtime.block_on(async {
        let body = "x".repeat(bytes);
        let router = Router::new().route("/", get(async move || body.clone()));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        std::io::Write::write_all(&mut std::io::stdout(), format!("{address}\n").as_bytes())?;
        Ok(axum::serve(listener, router).await?)
    })
}

/// The bare server, ended when this is dropped.
pub(crate) struct Hello {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Hello {
    pub(crate) fn start(bytes: usize) -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["--subtask", &bytes.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut address = String::new();
        BufReader::new(child.stdout.take().ok_or("no pipe")?).read_line(&mut address)?;
        Ok(Self { child, address: address.trim().parse()? })
    }
}

impl Drop for Hello {
    fn drop(&mut self) {
        // One that has ended already need not be ended.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
