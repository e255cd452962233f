//! A daemon in a home of its own, as its users start it.

use std::fs::{self, Permissions};
use std::io::Read as _;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use convoke_testkit::bench::{Result, process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http::Connection;

/// How long it may take to be ready.
const START_MAX: Duration = Duration::from_secs(60);
/// How long it is left alone before its memory is looked at.
const UNTIL_IDLE: Duration = Duration::from_secs(3);

/// A daemon, ended when this is dropped.
pub(crate) struct Daemon {
    child: Child,
    pub(crate) address: SocketAddr,
    token: String,
    pub(crate) home: TempDir,
    /// What is not the daemon's own, such as the project: a home is refused as a project.
    pub(crate) beside: TempDir,
}

/// A home in which nothing was said yet, and whose only agent is this program.
pub(crate) fn new_home() -> Result<TempDir> {
    home_in(Path::new(env!("CARGO_TARGET_TMPDIR")))
}

/// The same in a given folder.
pub(crate) fn home_in(folder: &Path) -> Result<TempDir> {
    let home = tempfile::tempdir_in(folder)?;
    fs::set_permissions(home.path(), Permissions::from_mode(0o700))?;
    let agent = std::env::current_exe()?;
    let config = format!(
        "[server]\nlisten = \"127.0.0.1:0\"\n[sessions]\nmax_active = 100\nworkspace_root = \"/\"\n\
         [pool]\nmax_processes = 20\n\
         [agents.bench]\nprotocol = \"acp\"\ncommand = {agent:?}\nargs = [\"--subtask\", \"agent\"]\nsandbox = \"off\"\n"
    );
    fs::write(home.path().join("config.toml"), config)?;
    Ok(home)
}

impl Daemon {
    pub(crate) async fn start(program: &Path, home: TempDir) -> Result<Self> {
        Self::start_as(Command::new(program), home).await
    }

    /// Starts it as the end of a command that runs it.
    pub(crate) async fn start_as(mut command: Command, home: TempDir) -> Result<Self> {
        let child = command
            .args(["serve", "--home"])
            .arg(home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let told = home.path().join("run/daemon.json");
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let beside = tempfile::tempdir_in(home.path().parent().ok_or("a home in no folder")?)?;
        let mut daemon = Self { child, address: nowhere, token: String::new(), home, beside };
        let deadline = Instant::now() + START_MAX;
        while !told.exists() {
            if Instant::now() > deadline {
                return Err("the daemon does not get ready".into());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let told: Value = serde_json::from_slice(&fs::read(told)?)?;
        let word = |name: &str| told.get(name).and_then(Value::as_str).unwrap_or_default();
        daemon.address = word("url").trim_start_matches("http://").trim_end_matches('/').parse()?;
        daemon.token = word("token").to_owned();
        Ok(daemon)
    }

    /// The bytes of a request.
    pub(crate) fn request(&self, method: &str, path: &str, body: &str) -> Vec<u8> {
        let Self { address, token, .. } = self;
        format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    }

    pub(crate) async fn connect(&self) -> Result<Connection> {
        Connection::open(self.address).await
    }

    /// Makes a call whose answer is JSON.
    pub(crate) async fn call(&self, method: &str, path: &str, body: &Value) -> Result<Value> {
        let mut connection = self.connect().await?;
        connection.send(&self.request(method, path, &body.to_string())).await?;
        let answer: Value = serde_json::from_slice(&connection.receive().await?)?;
        if answer.get("detail").is_some() {
            return Err(format!("{method} {path}: {answer}").into());
        }
        Ok(answer)
    }

    /// Stops it as its users do, and returns what it said to standard error.
    pub(crate) fn stop(&mut self) -> Result<String> {
        let pid = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &pid]).status()?;
        let mut said = String::new();
        self.child.stderr.take().ok_or("no pipe")?.read_to_string(&mut said)?;
        self.child.wait()?;
        Ok(said)
    }

    /// The project that sessions of this benchmark are in.
    pub(crate) async fn project(&self) -> Result<String> {
        let path = self.beside.path().canonicalize()?.join("work");
        fs::create_dir_all(&path)?;
        text(&self.call("POST", "/api/repos", &json!({"path": path})).await?, "id")
    }

    /// Begins a session and returns its id.
    pub(crate) async fn begin(&self, project: &str) -> Result<String> {
        let body = json!({"repoId": project, "agent": "bench"});
        text(&self.call("POST", "/api/sessions", &body).await?, "id")
    }

    /// Its resident memory while it is idle.
    pub(crate) async fn idle_bytes(&self) -> Result<f64> {
        tokio::time::sleep(UNTIL_IDLE).await;
        Ok(process::resident_bytes(self.child.id())? as f64)
    }

    /// The most that it ever had in memory.
    pub(crate) fn peak_bytes(&self) -> Result<f64> {
        Ok(process::peak_bytes(self.child.id())? as f64)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // One that has ended already need not be ended.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn text(answer: &Value, name: &str) -> Result<String> {
    let text = answer.get(name).and_then(Value::as_str);
    Ok(text.ok_or_else(|| format!("no {name} in {answer}"))?.to_owned())
}
