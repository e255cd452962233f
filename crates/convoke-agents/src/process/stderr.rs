//! An agent's stderr: read to the end, logged, and its last lines kept.

use std::collections::VecDeque;

use rustix::process::Pid;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::watch;

/// Lines of stderr that are kept.
const TAIL_LINES_MAX: usize = 20;
/// Bytes of stderr that are kept; the oldest lines are dropped first.
const TAIL_BYTES_MAX: usize = 4 << 10;
/// Bytes of one line that are kept; the rest is skipped.
const LINE_BYTES_MAX: usize = 1 << 10;
/// How much is read at once.
const READ_BYTES: usize = 8 << 10;

/// The last lines of an agent's error output.
#[derive(Debug, Default)]
pub(super) struct Tail {
    lines: VecDeque<String>,
    bytes: usize,
}

impl Tail {
    /// The lines as one text, or `None` if there are none.
    pub(super) fn text(&self) -> Option<String> {
        let lines: Vec<&str> = self.lines.iter().map(String::as_str).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    fn push(&mut self, line: String) {
        self.bytes += line.len() + 1;
        self.lines.push_back(line);
        while self.lines.len() > TAIL_LINES_MAX || self.bytes > TAIL_BYTES_MAX {
            let Some(oldest) = self.lines.pop_front() else { return };
            self.bytes -= oldest.len() + 1;
        }
    }
}

/// Reads until the end, or until the receiver of the tail is dropped. The channel closes at the
/// end.
pub(super) fn drain(mut stream: pipe::Receiver, pid: Pid) -> watch::Receiver<Tail> {
    let (tail, reader) = watch::channel(Tail::default());
    tokio::spawn(async move {
        let mut chunk = [0; READ_BYTES];
        let mut line = Vec::new();
        loop {
            let read = tokio::select! {
                read = stream.read(&mut chunk) => read,
                () = tail.closed() => return,
            };
            let Some(bytes) = read.ok().filter(|read| *read > 0).and_then(|read| chunk.get(..read))
            else {
                break;
            };
            for part in bytes.split_inclusive(|byte| *byte == b'\n') {
                let room = LINE_BYTES_MAX - line.len();
                line.extend(part.iter().take(room));
                if part.ends_with(b"\n") {
                    remember(&line, pid, &tail);
                    line.clear();
                }
            }
        }
        remember(&line, pid, &tail);
    });
    reader
}

fn remember(line: &[u8], pid: Pid, tail: &watch::Sender<Tail>) {
    let text = String::from_utf8_lossy(line);
    // Terminals and pages would interpret control characters.
    let text: String = text.chars().filter(|c| *c == '\t' || !c.is_control()).collect();
    let text = text.trim_end();
    if text.is_empty() {
        return;
    }
    tracing::debug!(target: "agent", pid = pid.as_raw_pid(), "{text}");
    tail.send_modify(|tail| tail.push(text.to_owned()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail_of(lines: impl IntoIterator<Item = String>) -> Tail {
        let mut tail = Tail::default();
        lines.into_iter().for_each(|line| tail.push(line));
        tail
    }

    #[test]
    fn the_last_twenty_lines_are_remembered() {
        assert_eq!(tail_of([]).text(), None);
        let tail = tail_of((0..100).map(|number| number.to_string()));
        let expected: Vec<String> = (80..100).map(|number| number.to_string()).collect();
        assert_eq!(tail.text(), Some(expected.join("\n")));
    }

    #[test]
    fn long_lines_leave_room_for_fewer() {
        let tail = tail_of((0..20).map(|_| "x".repeat(LINE_BYTES_MAX)));
        let text = tail.text().unwrap();
        assert_eq!(text.lines().count(), 3);
        assert!(text.len() <= TAIL_BYTES_MAX);
        assert_eq!(tail.bytes, text.len() + 1);
    }
}
