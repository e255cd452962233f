//! A pseudo-terminal with a shell that runs one of the examples, and the eyes and fingers of a person.

use std::io::{Read, Write};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::folder::Folder;

/// Longer than anything here takes on the slowest machine; reached only when a test fails.
const TIMEOUT: Duration = Duration::from_secs(20);

const SIZE: PtySize = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };

/// Runs a program and stays, so that what it leaves of the terminal can be looked at. Survives its signals.
const SHELL: &str = r#"trap : TERM INT HUP; echo before; "$0" "$1"; echo "code $?"; read line"#;

pub(crate) struct Person {
    master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    reader: JoinHandle<()>,
    terminal: vt100::Parser,
    /// Everything that was ever written to the terminal.
    written: Vec<u8>,
    modes_before: String,
    shell: Box<dyn Child + Send + Sync>,
}

impl Person {
    /// Starts one of the examples in a shell on a terminal.
    pub(crate) fn starts(example: &str, folder: &Folder) -> Self {
        let pty = native_pty_system().openpty(SIZE).unwrap();
        let modes_before = modes(&*pty.master);
        let mut command = CommandBuilder::new("/bin/sh");
        command.env_clear();
        command.env("TERM", "xterm-256color");
        command.args(["-c", SHELL]);
        command.arg(program(example));
        command.arg(folder.questions.dir());
        let shell = pty.slave.spawn_command(command).unwrap();
        let [rows, columns] = [SIZE.rows, SIZE.cols].map(|count| NonZero::new(count).unwrap());
        let (output, reader) = follow(pty.master.try_clone_reader().unwrap());
        Self {
            keyboard: pty.master.take_writer().unwrap(),
            output,
            reader,
            master: pty.master,
            terminal: vt100::Parser::new(rows, columns, 0),
            written: Vec::new(),
            modes_before,
            shell,
        }
    }

    pub(crate) fn types(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Watches the screen until a text stands on it.
    pub(crate) fn sees(&mut self, text: &str) -> &mut Self {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let screen = self.terminal.screen().contents();
            if screen.contains(text) {
                return self;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(bytes) = self.output.recv_timeout(left) else {
                panic!("there is no “{text}” on the screen:\n{screen}");
            };
            self.terminal.process(&bytes);
            self.written.extend(bytes);
        }
    }

    /// Whether the terminal ever got these bytes.
    pub(crate) fn got(&self, bytes: &str) -> bool {
        self.written.windows(bytes.len()).any(|window| window == bytes.as_bytes())
    }

    pub(crate) fn signals(&self, signal: Signal) {
        let group = self.master.process_group_leader().and_then(Pid::from_raw).unwrap();
        kill_process_group(group, signal).unwrap();
    }

    /// Closes the window while nothing happens, and waits until everything in it has ended.
    pub(crate) fn closes_the_window(mut self) {
        // A keyboard that is put away says a line break and an end of file, which mean nothing.
        drop(self.keyboard);
        // The reader of the screen notices a dropped receiver with the next output.
        drop(self.output);
        self.master.resize(PtySize { rows: 25, ..SIZE }).unwrap();
        self.reader.join().unwrap();
        drop(self.master);
        let (send, ended) = channel();
        let mut killer = self.shell.clone_killer();
        thread::spawn(move || send.send(self.shell.wait()));
        if ended.recv_timeout(TIMEOUT).is_err() {
            killer.kill().unwrap();
            panic!("it goes on without a terminal");
        }
    }

    /// The terminal shows what it showed before, and behaves as it did.
    pub(crate) fn has_the_terminal_back(&mut self) {
        let screen = self.terminal.screen();
        assert!(!screen.alternate_screen(), "the alternate screen was left");
        assert!(screen.contents().starts_with("before\n"), "what was there is there again");
        assert!(!screen.hide_cursor(), "the cursor is shown");
        assert!(!screen.bracketed_paste(), "a paste is not marked");
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
        assert!(self.got("\x1b[<1u"), "the keyboard protocol was taken back");
        assert_eq!(modes(&*self.master), self.modes_before, "raw mode is off");
    }
}

/// How the terminal treats what is typed. The shell is still alive: its end would reset this.
fn modes(master: &(dyn MasterPty + Send)) -> String {
    format!("{:?}", master.get_termios().unwrap())
}

/// Examples are beside the folder of the test programs.
pub(crate) fn program(example: &str) -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.ancestors().nth(2).unwrap().join("examples").join(example)
}

/// Forwards the terminal's output, until it ends.
fn follow(mut reader: Box<dyn Read + Send>) -> (Receiver<Vec<u8>>, JoinHandle<()>) {
    let (send, output) = channel();
    let thread = thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = reader.read(&mut buffer) {
            if send.send(buffer[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    (output, thread)
}
