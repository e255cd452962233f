//! A separate environment: a home on a small disk, projects, misbehaving agents, and a daemon that is restarted.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use convoke_testkit::tools::search_path;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::http::Endpoint;
use super::script;

/// The variable by which everything is known that was started here, however it was orphaned.
const MARK: &str = "TORTURE_RUN";
/// How large the small disk is.
const DISK: &str = "size=192m,mode=0700";
/// How long a daemon may take to be ready.
const START_MAX: Duration = Duration::from_secs(60);
/// How often is looked.
const PAUSE: Duration = Duration::from_millis(20);

/// A machine under test.
#[derive(Debug)]
pub(super) struct Machine {
    root: tempfile::TempDir,
    program: PathBuf,
    mark: String,
    pub(super) disk: Disk,
    daemon: Mutex<Option<Child>>,
    /// Whether the end of the daemon is our doing.
    is_expected: AtomicBool,
    /// Counted up when the disk goes bad and when it is good again, so that an odd number means that it is bad.
    disk_turns: AtomicU64,
    /// How often a daemon was started.
    starts: AtomicU64,
}

/// The path of the home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Disk {
    /// On a separate disk, which can be filled and made read-only.
    Small,
    /// On the disk of the machine, since this user may mount nothing.
    Shared,
}

impl Machine {
    /// Prepares everything; nothing runs yet.
    pub(super) fn prepare(program: &Path, agent: &Path, seed: u64) -> Result<Self> {
        Self::prepare_with(program, agent, seed, "")
    }

    /// The same with more in the configuration.
    pub(super) fn prepare_with(
        program: &Path,
        agent: &Path,
        seed: u64,
        more: &str,
    ) -> Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let root = tempfile::Builder::new().prefix("convoke-torture-").tempdir()?;
        let home = root.path().join("home");
        fs::create_dir(&home)?;
        fs::set_permissions(&home, fs::Permissions::from_mode(0o700))?;
        let disk = mount(&home);
        for project in 0..PROJECTS {
            fs::create_dir(root.path().join(format!("project-{project}")))?;
        }
        let script = root.path().join("script.json");
        fs::write(&script, serde_json::to_vec(&script::prompted_script(root.path()))?)?;
        fs::write(home.join("config.toml"), config(agent, &script) + more)?;
        let count = COUNT.fetch_add(1, Ordering::SeqCst);
        let mark = format!("{seed}-{}-{count}", std::process::id());
        Ok(Self {
            root,
            program: program.to_owned(),
            mark,
            disk,
            daemon: Mutex::new(None),
            is_expected: AtomicBool::new(false),
            disk_turns: AtomicU64::new(0),
            starts: AtomicU64::new(0),
        })
    }

    /// Convoke's home.
    pub(super) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// The folders of the projects.
    pub(super) fn projects(&self) -> Vec<PathBuf> {
        (0..PROJECTS).map(|number| self.root.path().join(format!("project-{number}"))).collect()
    }

    /// The program with these arguments.
    pub(super) fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .env_clear()
            .env("HOME", self.root.path())
            .env("CONVOKE_HOME", self.home())
            .env("PATH", format!("/usr/local/bin:{}", search_path()))
            .env(MARK, &self.mark)
            .args(args)
            .current_dir(self.root.path().join("project-0"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// The address of the daemon, if its file has one.
    pub(super) fn endpoint(&self) -> Option<Endpoint> {
        let text = fs::read(self.home().join("run/daemon.json")).ok()?;
        let daemon: Value = serde_json::from_slice(&text).ok()?;
        let address = daemon.get("url")?.as_str()?.strip_prefix("http://")?.trim_end_matches('/');
        let token = daemon.get("token")?.as_str()?.to_owned();
        Some(Endpoint { address: address.parse().ok()?, token })
    }

    /// Starts the daemon, and waits until it serves. Returns its exit status if it ended instead.
    pub(super) fn start_daemon(&self) -> Result<Option<ExitStatus>> {
        let log =
            File::options().append(true).create(true).open(self.root.path().join("daemon"))?;
        self.is_expected.store(false, Ordering::SeqCst);
        self.starts.fetch_add(1, Ordering::SeqCst);
        let child = self.command(&["serve"]).stderr(log).spawn().context("no daemon")?;
        let pid = child.id();
        *self.daemon() = Some(child);
        let deadline = Instant::now() + START_MAX;
        while self.announced() != Some(pid) {
            if let Some(status) = self.ended() {
                return Ok(Some(status));
            }
            if Instant::now() > deadline {
                bail!("the daemon does not serve within {} s", START_MAX.as_secs());
            }
            thread::sleep(PAUSE);
        }
        Ok(None)
    }

    /// The daemons' output on standard error.
    pub(super) fn daemon_words(&self) -> String {
        fs::read_to_string(self.root.path().join("daemon")).unwrap_or_default()
    }

    /// The exit status of the daemon, if it has exited. Returned once for each.
    pub(super) fn ended(&self) -> Option<ExitStatus> {
        let mut daemon = self.daemon();
        let status = daemon.as_mut()?.try_wait().ok()??;
        *daemon = None;
        Some(status)
    }

    /// Notes that the disk goes bad, or is good again.
    pub(super) fn turn_disk(&self) {
        self.disk_turns.fetch_add(1, Ordering::SeqCst);
    }

    /// How often a daemon was started.
    pub(super) fn starts(&self) -> u64 {
        self.starts.load(Ordering::SeqCst)
    }

    /// How often the disk went bad and good again.
    pub(super) fn disk_turns(&self) -> u64 {
        self.disk_turns.load(Ordering::SeqCst)
    }

    /// The process of the daemon, until its end was noticed.
    pub(super) fn pid(&self) -> Option<u32> {
        self.daemon().as_ref().map(Child::id)
    }

    /// Whether there is no daemon, dead or alive.
    pub(super) fn is_deserted(&self) -> bool {
        self.daemon().is_none()
    }

    /// Whether the last exit of the daemon was requested by the test.
    pub(super) fn was_expected(&self) -> bool {
        self.is_expected.load(Ordering::SeqCst)
    }

    /// Sends the daemon a signal that is its end.
    pub(super) fn end_daemon(&self, signal: Signal) {
        if let Some(child) = self.daemon().as_ref() {
            self.is_expected.store(true, Ordering::SeqCst);
            signal_process(child.id(), signal);
        }
    }

    /// Runs `convoke stop`; returns whether it succeeded.
    pub(super) fn stop(&self) -> bool {
        self.is_expected.store(true, Ordering::SeqCst);
        let stopped = self.command(&["stop"]).status().is_ok_and(|status| status.success());
        if let (true, Some(mut child)) = (stopped, self.daemon().take()) {
            // It has ended, or `stop` would not have.
            child.wait().ok();
        }
        stopped
    }

    /// Copies the home and the daemons' output to a permanent folder.
    pub(super) fn keep_evidence(&self, seed: u64) -> Result<PathBuf> {
        let folder = std::env::temp_dir().join(format!("convoke-torture-findings-{seed}"));
        fs::create_dir_all(&folder)?;
        let (home, words) = (self.home(), self.root.path().join("daemon"));
        if !run("cp", &["-a".as_ref(), home.as_os_str(), words.as_os_str(), folder.as_os_str()]) {
            bail!("cannot copy {} to {}", home.display(), folder.display());
        }
        Ok(folder)
    }

    fn announced(&self) -> Option<u32> {
        let text = fs::read(self.home().join("run/daemon.json")).ok()?;
        let daemon: Value = serde_json::from_slice(&text).ok()?;
        u32::try_from(daemon.get("pid")?.as_u64()?).ok()
    }

    fn daemon(&self) -> std::sync::MutexGuard<'_, Option<Child>> {
        self.daemon.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every living process that was started here, directly or not, with its command line.
    pub(super) fn processes(&self) -> Vec<(u32, String)> {
        let mark = format!("{MARK}={}", self.mark);
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        pids.filter_map(|pid| {
            let variables = fs::read(format!("/proc/{pid}/environ")).ok()?;
            variables.split(|byte| *byte == 0).find(|it| *it == mark.as_bytes())?;
            let words = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            // A zombie has none.
            (!words.is_empty()).then_some(())?;
            let words = words.split(|byte| *byte == 0).map(String::from_utf8_lossy);
            Some((pid, words.collect::<Vec<_>>().join(" ")))
        })
        .collect()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.end_daemon(Signal::KILL);
        for (pid, _) in self.processes() {
            signal_process(pid, Signal::KILL);
        }
        if let Some(mut child) = self.daemon().take() {
            // It is dead, or will be.
            child.wait().ok();
        }
        if self.disk == Disk::Small {
            run("umount", &["-R".as_ref(), "-l".as_ref(), self.home().as_os_str()]);
        }
    }
}

const PROJECTS: usize = 3;

/// Sends a signal to a process that was started here; one that has ended needs none.
pub(super) fn signal_process(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        kill_process(pid, signal).ok();
    }
}

/// Whether a system program succeeded.
pub(super) fn run(program: &str, args: &[&OsStr]) -> bool {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Mounts a small disk for the home, if this user may.
fn mount(home: &Path) -> Disk {
    let words = ["-t", "tmpfs", "-o", DISK, "convoke-torture"].map(OsStr::new);
    if run("mount", &[&words[..], &[home.as_os_str()]].concat()) {
        Disk::Small
    } else {
        Disk::Shared
    }
}

fn config(agent: &Path, script: &Path) -> String {
    let wild = |name: &str, protocol: &str| {
        format!(
            "[agents.{name}]\nprotocol = \"{protocol}\"\ncommand = {agent:?}\n\
             args = [\"--protocol\", \"{protocol}\", {script:?}]\nsandbox = \"off\"\n"
        )
    };
    format!(
        "[server]\nlisten = \"127.0.0.1:0\"\n\
         [sessions]\nmax_active = 60\n\
         [pool]\nmax_processes = 8\nidle_timeout_ms = 2000\n\
         [questions]\nmax_sessions = 10000\n{}{}",
        wild("wild", "acp"),
        wild("wilder", "claude"),
    )
}
