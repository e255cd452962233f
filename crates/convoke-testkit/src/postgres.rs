//! A real PostgreSQL server for tests, with a database for each.
//!
//! A run of all tests starts one server and names it in `CONVOKE_TEST_POSTGRES`. Without that, a process that needs one
//! starts its own, which ends with the process, however that ends.

mod proxy;

use std::fs;
use std::io::{self, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use postgres::{Client, NoTls, SimpleQueryMessage};

pub use proxy::{Notifications, Proxy};

/// Names a server that runs: the URL of its database `postgres`.
pub const VARIABLE: &str = "CONVOKE_TEST_POSTGRES";

/// How long a server may take to start, even on a busy machine.
const START_MAX: Duration = Duration::from_secs(60);
/// The interval between two attempts to start it.
const START_EVERY: Duration = Duration::from_secs(2);

/// A server that runs until it is dropped, or its process exits.
#[derive(Debug)]
pub struct Server {
    url: String,
    folder: PathBuf,
    /// Holds a pipe; when it is closed, it stops the server and removes its folder.
    keeper: Option<Child>,
}

/// A database of its own, removed when it is dropped.
#[derive(Debug)]
pub struct Database {
    server: String,
    name: String,
    /// Its URL.
    pub url: String,
}

/// A new, empty database on the server of this run.
pub fn database() -> Database {
    static OWN: OnceLock<Server> = OnceLock::new();
    match of_the_run() {
        Some(url) => Database::create(&url),
        None => {
            let server = OWN.get_or_init(|| {
                Server::start(&[]).expect("PostgreSQL is installed: ./test installs it")
            });
            server.database()
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "how `./test` passes it")]
fn of_the_run() -> Option<String> {
    std::env::var(VARIABLE).ok()
}

#[expect(clippy::disallowed_methods, reason = "how `./test` passes it")]
fn programs_of_the_run() -> Option<PathBuf> {
    std::env::var_os("CONVOKE_TEST_POSTGRES_BIN").map(PathBuf::from)
}

impl Server {
    /// Starts one, with further settings as `name=value`.
    pub fn start(settings: &[&str]) -> io::Result<Self> {
        Self::start_with(settings, None)
    }

    /// Starts one with a disk of this size, which only the server sees, for a tablespace. Needs
    /// bubblewrap.
    pub fn start_with_small_disk(bytes: u64) -> io::Result<Self> {
        Self::start_with(&[], Some(bytes))
    }

    /// Where the small disk is.
    pub fn small_disk(&self) -> PathBuf {
        self.folder.join("small")
    }

    fn start_with(settings: &[&str], small_disk: Option<u64>) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("convoke-pg-").tempdir()?.keep();
        let owner = owner()?;
        if let Some((user, group)) = owner {
            chown(&folder, Some(user), Some(group))?;
        }
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755))?;
        let data = folder.join("data");
        let mut initdb = as_owner(&program("initdb")?, owner);
        initdb.arg("-D").arg(&data).args(["-U", "convoke", "-A", "trust", "-E", "UTF8"]);
        initdb.args(["--locale=C", "--no-sync"]).current_dir(&folder);
        let output = initdb.output()?;
        if !output.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let url = format!("postgres://convoke@127.0.0.1:{port}/postgres?sslmode=disable");
        let mut server = Self { url, folder, keeper: None };
        server.run(port, settings, small_disk)?;
        Ok(server)
    }

    fn run(&mut self, port: u16, settings: &[&str], small_disk: Option<u64>) -> io::Result<()> {
        let mut keeper = as_owner(Path::new("/bin/sh"), owner()?);
        // Starts the server for every line, in a shell that waits for it, so that the pid of a
        // killed one is reaped. Kills it when the pipe is closed, which happens when the process
        // that holds it exits.
        let script = r#"folder=$1; shift; while read -r _; do ("$@" >>"$folder/log" 2>&1; :) & done; read -r pid <"$folder/data/postmaster.pid" && kill -INT "$pid" 2>/dev/null; wait; cd /; rm -rf "$folder""#;
        keeper.args(["-c", script, "sh"]).arg(&self.folder);
        if let Some(bytes) = small_disk {
            fs::create_dir(self.small_disk())?;
            keeper.args(["bwrap", "--dev-bind", "/", "/", "--size", &bytes.to_string()]);
            keeper.args(["--perms", "0700", "--tmpfs"]).arg(self.small_disk()).arg("--");
        }
        keeper.arg(program("postgres")?);
        keeper.arg("-D").arg(self.folder.join("data")).arg("-k").arg(&self.folder);
        keeper.args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1"]);
        let usual = ["max_connections=300", "fsync=off", "full_page_writes=off"];
        for setting in usual.iter().chain(settings) {
            keeper.args(["-c", setting]);
        }
        keeper.current_dir(&self.folder).stdin(Stdio::piped()).process_group(0);
        keeper.stdout(Stdio::null()).stderr(Stdio::null());
        self.keeper = Some(keeper.spawn()?);
        self.start_again()
    }

    /// Starts it again after it was killed.
    pub fn start_again(&mut self) -> io::Result<()> {
        let started = Instant::now();
        let mut tries = 0;
        loop {
            // It refuses to start as long as a process of the killed one lives; one that runs already refuses a second.
            if started.elapsed() >= START_EVERY * tries {
                tries += 1;
                if let Some(pipe) = self.keeper.as_mut().and_then(|keeper| keeper.stdin.as_mut()) {
                    pipe.write_all(b"start\n")?;
                }
            }
            let Err(error) = answers(&self.url) else { return Ok(()) };
            if started.elapsed() > START_MAX {
                let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                return Err(io::Error::other(format!("{error}: {log}")));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A new, empty database.
    pub fn database(&self) -> Database {
        Database::create(&self.url)
    }

    /// The URL of its database `postgres`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Puts a file into the server's folder that only the server can read; returns its path.
    pub fn give(&self, name: &str, content: &[u8]) -> io::Result<PathBuf> {
        let path = self.folder.join(name);
        fs::write(&path, content)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        if let Some((user, group)) = owner()? {
            chown(&path, Some(user), Some(group))?;
        }
        Ok(path)
    }

    /// Changes settings, written as `name = value`, and waits until they hold for new connections.
    pub fn set(&self, settings: &[&str]) -> io::Result<()> {
        for setting in settings {
            run(&self.url, &format!("ALTER SYSTEM SET {setting}"));
        }
        self.reload()
    }

    /// Sets who may connect, and how, as in `pg_hba.conf`; a last line admits the user `convoke`.
    pub fn admit(&self, lines: &str) -> io::Result<()> {
        let path = self.folder.join("data/pg_hba.conf");
        fs::write(path, format!("{lines}\nhost all convoke 127.0.0.1/32 trust\n"))?;
        self.reload()
    }

    /// The server reads its settings when it gets to it, and puts the time into a view when it has.
    fn reload(&self) -> io::Result<()> {
        let loaded = || first(&self.url, "SELECT pg_conf_load_time()").ok().flatten();
        let before = loaded();
        run(&self.url, "SELECT pg_reload_conf()");
        let started = Instant::now();
        while loaded() == before {
            if started.elapsed() > START_MAX {
                return Err(io::Error::other("the server does not read its settings"));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// The number of the server's main process.
    pub fn pid(&self) -> Option<u32> {
        let text = fs::read_to_string(self.folder.join("data/postmaster.pid")).ok()?;
        text.lines().next()?.parse().ok()
    }

    /// Kills it with all its processes, as a power cut would, and leaves its files.
    pub fn kill(&mut self) -> io::Result<()> {
        let pid = self.pid().ok_or_else(|| io::Error::other("the server does not run"))?;
        let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
        let pid = pid.ok_or_else(|| io::Error::other("the server has no number"))?;
        // The others notice, and end at once.
        rustix::process::kill_process(pid, rustix::process::Signal::KILL)?;
        while rustix::process::test_kill_process(pid).is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            keeper.wait().ok();
        }
        fs::remove_dir_all(&self.folder).ok();
    }
}

impl Database {
    fn create(server: &str) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("t{}_{number}", std::process::id());
        run(server, &format!("CREATE DATABASE {name}"));
        let url = server.replacen("/postgres?", &format!("/{name}?"), 1);
        Self { server: server.to_owned(), name, url }
    }

    /// Runs statements bypassing the program; returns how many rows the last of them changed.
    pub fn execute(&self, sql: &str) -> Result<u64, String> {
        let (url, sql) = (self.url.clone(), sql.to_owned());
        aside(move || {
            let mut client = connect(&url).map_err(|error| error.to_string())?;
            client.batch_execute("SET search_path = convoke").map_err(|it| it.to_string())?;
            let said = client.simple_query(&sql).map_err(|error| {
                error.as_db_error().map_or_else(|| error.to_string(), ToString::to_string)
            })?;
            let last = said.iter().rev().find_map(|message| {
                let SimpleQueryMessage::CommandComplete(rows) = message else { return None };
                Some(*rows)
            });
            Ok(last.unwrap_or(0))
        })
    }

    /// Runs statements in a connection that stays open, and in a transaction if they begin one.
    pub fn keep_open(&self, sql: &str) -> Result<OpenConnection, String> {
        let (url, sql) = (self.url.clone(), sql.to_owned());
        aside(move || {
            let mut client = connect(&url).map_err(|error| error.to_string())?;
            let sql = format!("SET search_path = convoke; {sql}");
            client.batch_execute(&sql).map_err(|error| error.to_string())?;
            Ok(OpenConnection(Some(client)))
        })
    }

    /// The first column of the first row, as text.
    pub fn value(&self, sql: &str) -> Option<String> {
        first(&self.url, sql).expect("the statement is right and the server runs")
    }

    /// The URL for another user, who needs a password.
    pub fn url_of(&self, user: &str, host: &str, parameters: &str) -> String {
        let (address, _) = self.url.split_once('?').unwrap_or((&self.url, ""));
        let address = address.replacen("convoke@127.0.0.1", &format!("{user}@{host}"), 1);
        format!("{address}?{parameters}")
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (url, name) = (self.server.clone(), self.name.clone());
        aside(move || {
            // The server may have exited already.
            if let Ok(mut client) = connect(&url) {
                client.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).ok();
            }
        });
    }
}

fn connect(url: &str) -> Result<Client, postgres::Error> {
    Client::connect(url, NoTls)
}

fn answers(url: &str) -> Result<(), postgres::Error> {
    let url = url.to_owned();
    aside(move || connect(&url).map(drop))
}

fn first(url: &str, sql: &str) -> Result<Option<String>, postgres::Error> {
    let (url, sql) = (url.to_owned(), sql.to_owned());
    aside(move || {
        let mut client = connect(&url)?;
        client.batch_execute("SET search_path = convoke")?;
        let said = client.simple_query(&sql)?;
        let mut rows = said.iter().filter_map(|message| {
            let SimpleQueryMessage::Row(row) = message else { return None };
            row.get(0).map(str::to_owned)
        });
        Ok(rows.next())
    })
}

fn run(url: &str, sql: &str) {
    let (url, sql) = (url.to_owned(), sql.to_owned());
    aside(move || connect(&url)?.batch_execute(&sql))
        .expect("the statement is right and the server runs");
}

/// A connection that is closed when this is dropped.
pub struct OpenConnection(Option<Client>);

impl std::fmt::Debug for OpenConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OpenConnection")
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let client = self.0.take();
        // The client blocks, which a thread of a runtime must not.
        aside(move || drop(client));
    }
}

/// On another thread: the client waits, which it must not do where a runtime works.
fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match std::thread::spawn(work).join() {
        Ok(done) => done,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// The server refuses to run as root: then, the user that Debian's package creates, or `nobody`.
fn owner() -> io::Result<Option<(u32, u32)>> {
    if fs::metadata("/proc/self")?.uid() != 0 {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd")?;
    let find = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    let found = find("postgres").or_else(|| find("nobody"));
    found.map(Some).ok_or_else(|| io::Error::other("there is no user to run PostgreSQL as"))
}

fn as_owner(program: &Path, owner: Option<(u32, u32)>) -> Command {
    let mut command = Command::new(program);
    if let Some((user, group)) = owner {
        command.uid(user).gid(group);
    }
    command
}

/// A program of the newest PostgreSQL that is installed; Debian keeps them off the search path.
fn program(name: &str) -> io::Result<PathBuf> {
    if let Some(folder) = programs_of_the_run() {
        return Ok(folder.join(name));
    }
    let mut versions: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin").join(name))
        .filter(|path| path.is_file())
        .collect();
    versions.sort();
    let elsewhere = ["/usr/local/bin", "/usr/bin"].map(|folder| Path::new(folder).join(name));
    let found = versions.pop().or_else(|| elsewhere.into_iter().find(|path| path.is_file()));
    found.ok_or_else(|| io::Error::other(format!("{name} of PostgreSQL is not installed")))
}
