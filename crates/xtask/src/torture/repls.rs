//! Conversations in the REPL, through a pipe, which are killed and resumed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use super::clients::World;
use super::ledger::Ack;

/// The timeout of an answer, on a busy machine.
const ANSWER_MAX: Duration = Duration::from_secs(8);

/// Talks, is killed, and resumes its conversation.
pub(super) fn repl_client(world: &World<'_>, client: u64) {
    let mut random = world.random(client);
    let id = format!("talk-{client}");
    let mut begun = false;
    while !world.is_over() {
        let args = if begun {
            vec!["spawn", "--resume", &id]
        } else {
            vec!["spawn", "--interactive", "--agent", "wild", "--session", &id]
        };
        let mut command = world.machine.command(&args);
        let Ok(child) = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else {
            continue;
        };
        let mut repl = Repl::of(child);
        for _ in 0..=random.below(6) {
            if world.is_over() {
                break;
            }
            let text = world.text("said");
            let ack = repl.say(&text);
            begun |= world.machine.home().join(format!("spawn/sessions/{id}.jsonl")).exists();
            world.ledger.records().said.insert(text, (id.clone(), ack));
            if ack != Ack::Done {
                break;
            }
        }
        repl.leave();
        thread::sleep(Duration::from_millis(random.below(200)));
    }
}

/// A REPL, and the lines that it prints.
struct Repl {
    child: Child,
    lines: Receiver<String>,
}

impl Repl {
    fn of(mut child: Child) -> Self {
        let (line_to, lines) = mpsc::sync_channel(1024);
        if let Some(output) = child.stdout.take() {
            thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    // The receiver was dropped.
                    if line_to.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        Self { child, lines }
    }

    /// Sends a prompt, and waits until the agent has echoed it: then it was saved.
    fn say(&mut self, text: &str) -> Ack {
        let Some(input) = self.child.stdin.as_mut() else { return Ack::Refused };
        if writeln!(input, "{text}").and_then(|()| input.flush()).is_err() {
            return Ack::Unknown;
        }
        let deadline = Instant::now() + ANSWER_MAX;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) if line.contains(text) => return Ack::Done,
                Ok(_) => {}
                Err(_) => return Ack::Unknown,
            }
        }
    }

    /// Ends the input, and waits until the program has ended.
    fn leave(mut self) {
        drop(self.child.stdin.take());
        let deadline = Instant::now() + ANSWER_MAX;
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
