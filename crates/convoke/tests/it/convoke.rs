//! Runs the built program in an empty environment with a home of its own, and tells what happened in one text.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use convoke_testkit::tools;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use tempfile::TempDir;

/// How long a terminal may take to show what a test waits for.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A machine with nothing on it but the program.
pub(crate) struct Convoke {
    folder: TempDir,
    variables: Vec<(String, String)>,
    /// A program with its arguments that runs every command, such as `setpriv --no-new-privs`.
    wrapper: Vec<String>,
}

impl Convoke {
    /// A fresh machine; the user's folder is `[tmp]` in outputs.
    pub(crate) fn new() -> Self {
        Self::of(tempfile::tempdir().unwrap())
    }

    /// A fresh machine in this folder.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self::of(tempfile::tempdir_in(folder).unwrap())
    }

    fn of(folder: TempDir) -> Self {
        // Without a search path the program finds what the system has, and nothing that was unpacked.
        let path = tools::unpacked().map(|_| ("PATH".to_owned(), tools::search_path()));
        Self { folder, variables: path.into_iter().collect(), wrapper: Vec::new() }
    }

    /// The same machine with a variable set.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same machine with names of hosts that no other has; needs bubblewrap.
    pub(crate) fn hosts(self, hosts: &str) -> Self {
        let path = self.path().join("hosts");
        fs::write(&path, hosts).unwrap();
        let mut words = vec!["bwrap", "--dev-bind", "/", "/", "--die-with-parent", "--ro-bind"];
        words.extend([path.to_str().unwrap(), "/etc/hosts"]);
        let (system, copy) = ("/usr/bin/bwrap", self.path().join("bwrap"));
        if !rustix::process::geteuid().is_root() && Path::new(system).exists() {
            // For others than root bubblewrap makes a namespace of users in which root is unknown, and a program of an
            // unknown user's is not trusted to confine agents; one of their own is.
            fs::copy(system, &copy).unwrap();
            words.extend(["--ro-bind", copy.to_str().unwrap(), system]);
        }
        words.push("--");
        self.under(&words)
    }

    /// The same machine, where another program runs every command.
    pub(crate) fn under(mut self, wrapper: &[&str]) -> Self {
        self.wrapper = wrapper.iter().map(ToString::to_string).collect();
        self
    }

    /// The same machine with a file in Convoke's home.
    pub(crate) fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.home().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        set_mode(&path, 0o600);
        self.private()
    }

    /// The same machine with a folder in Convoke's home.
    pub(crate) fn folder(self, name: &str) -> Self {
        fs::create_dir_all(self.home().join(name)).unwrap();
        self.private()
    }

    fn private(self) -> Self {
        set_mode(&self.home(), 0o700);
        self
    }

    /// Where everything is.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where Convoke's home is by default.
    pub(crate) fn home(&self) -> PathBuf {
        self.path().join(".convoke")
    }

    /// A command that is ready to run.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let wrapper: Vec<&str> = self.wrapper.iter().map(String::as_str).collect();
        self.command_under(&wrapper, args)
    }

    /// A command that another program is to run.
    pub(crate) fn command_under<S: AsRef<OsStr>>(&self, wrapper: &[&str], args: &[S]) -> Command {
        let program = env!("CARGO_BIN_EXE_convoke");
        let mut command = match wrapper {
            [] => Command::new(program),
            [wrapper, words @ ..] => {
                let mut command = Command::new(wrapper);
                command.args(words).arg(program);
                command
            }
        };
        command
            .env_clear()
            .env("HOME", self.path())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .args(args)
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs a command line, split at blanks, and tells what happened.
    pub(crate) fn run(&self, line: &str) -> String {
        self.run_args(&line.split_whitespace().collect::<Vec<_>>())
    }

    /// Runs the program with these arguments, and tells what happened.
    pub(crate) fn run_args<S: AsRef<OsStr>>(&self, args: &[S]) -> String {
        let output = self.command(args).output().unwrap();
        let mut told = format!("exit {}\n", output.status.code().unwrap());
        for (name, bytes) in [("stdout", output.stdout), ("stderr", output.stderr)] {
            if !bytes.is_empty() {
                let text = self.normalise(&String::from_utf8(bytes).unwrap());
                told += &format!("--- {name}\n{text}");
            }
        }
        told
    }

    /// Runs a command line on a terminal, types `keys`, and gives what is on the screen and the exit code.
    pub(crate) fn run_on_terminal(&self, line: &str, keys: &str) -> (String, u32) {
        let mut terminal = self.on_terminal(line);
        terminal.types(keys);
        let (screen, code) = terminal.ends();
        (self.normalise(&screen), code)
    }

    /// Starts a command line on a terminal.
    pub(crate) fn on_terminal(&self, line: &str) -> Terminal {
        self.on_terminal_of(80, 24, line)
    }

    /// Starts a command line on a terminal of so many columns and rows.
    pub(crate) fn on_terminal_of(&self, cols: u16, rows: u16, line: &str) -> Terminal {
        let size = PtySize { rows, cols, ..PtySize::default() };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_convoke"));
        command.args(line.split_whitespace());
        command.env_clear();
        command.env("HOME", self.path());
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        command.cwd(self.path());
        let child = pair.slave.spawn_command(command).unwrap();
        let keyboard = pair.master.take_writer().unwrap();
        let output = read_in_background(pair.master.try_clone_reader().unwrap());
        Terminal { child, keyboard, output, size, screen: Vec::new(), _master: pair.master }
    }

    /// What the program prints on stdout; it must succeed.
    pub(crate) fn json(&self, line: &str) -> serde_json::Value {
        let args: Vec<&str> = line.split_whitespace().collect();
        let output = self.command(&args).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn normalise(&self, text: &str) -> String {
        let folder = self.path().to_str().unwrap();
        let text =
            text.replace(folder, "[tmp]").replace(env!("CARGO_BIN_EXE_convoke"), "[convoke]");
        mask_times(&text)
    }
}

/// A program on a terminal, and the person in front of it.
pub(crate) struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    keyboard: Box<dyn Write + Send>,
    output: mpsc::Receiver<Vec<u8>>,
    size: PtySize,
    /// Everything that was ever written to it.
    screen: Vec<u8>,
    /// The terminal is there as long as this.
    _master: Box<dyn MasterPty + Send>,
}

impl Terminal {
    /// Types keys.
    pub(crate) fn types(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until a text stands on the screen.
    pub(crate) fn sees(&mut self, text: &str) {
        self.sees_times(1, text);
    }

    /// Waits until a text stands on the screen so many times at least, and gives the screen.
    pub(crate) fn sees_times(&mut self, times: usize, text: &str) -> String {
        let deadline = Instant::now() + TIMEOUT;
        let PtySize { rows, cols, .. } = self.size;
        let [rows, columns] = [rows, cols].map(|count| NonZero::new(count).unwrap());
        loop {
            let mut screen = vt100::Parser::new(rows, columns, 0);
            screen.process(&self.screen);
            let contents = screen.screen().contents();
            if contents.matches(text).count() >= times {
                return contents;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.screen.extend(bytes),
                Err(error) => panic!("there is no “{text}” on the screen ({error}):\n{contents}"),
            }
        }
    }

    /// All that was written so far.
    pub(crate) fn screen(&self) -> String {
        String::from_utf8_lossy(&self.screen).replace("\r\n", "\n")
    }

    /// Waits for the program to end; tells all that was written, and the exit code.
    pub(crate) fn ends(mut self) -> (String, u32) {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            match self.output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.screen.extend(bytes),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    panic!("the program does not end:\n{}", self.screen());
                }
            }
        }
        let code = self.child.wait().unwrap().exit_code();
        (String::from_utf8(self.screen).unwrap().replace("\r\n", "\n"), code)
    }
}

/// Reads a terminal's output on a thread of its own, so that a test can limit how long it waits; the channel closes with
/// the terminal.
fn read_in_background(mut output: Box<dyn Read + Send>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        // Linux reports the end of a terminal as an error, after everything has been read.
        while let Ok(count @ 1..) = output.read(&mut bytes) {
            if sender.send(bytes[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Replaces timestamps by `[time]`.
fn mask_times(text: &str) -> String {
    const SHAPE: &str = "0000-00-00T00:00:00.000Z";
    let fits = |part: &str| {
        part.len() == SHAPE.len()
            && part.chars().zip(SHAPE.chars()).all(|(c, shape)| match shape {
                '0' => c.is_ascii_digit(),
                _ => c == shape,
            })
    };
    let mut masked = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let moment = rest.get(..SHAPE.len()).filter(|part| fits(part));
        masked.push_str(if moment.is_some() { "[time]" } else { &rest[..next.len_utf8()] });
        rest = &rest[moment.map_or(next.len_utf8(), str::len)..];
    }
    masked
}

/// Sets the permissions of a file or folder.
pub(crate) fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}
