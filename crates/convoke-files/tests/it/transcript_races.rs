//! Several programs at one transcript, and some of them killed.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use convoke_files::transcripts::{Error, Role, Transcripts};
use convoke_testkit::host::example;

use crate::transcript_scene::{Folder, PLENTY, id, turn};

/// A process that adds turns to a transcript and prints which are saved.
struct Adder {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Adder {
    fn start(transcripts: &Transcripts, name: &str, count: u64) -> Self {
        let mut child = Command::new(example("write_transcript"))
            .arg(transcripts.dir())
            .args([name, &count.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    fn says(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    /// Kills it, and returns the last turn that it reported as saved.
    fn killed(mut self, mut last: String) -> Option<u64> {
        self.child.kill().unwrap();
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        self.child.wait().unwrap();
        if let Some(line) = rest.lines().last() {
            line.clone_into(&mut last);
        }
        last.parse().ok()
    }
}

/// The numbers at the beginning of all turns.
fn numbers(folder: &Folder, name: &str) -> Vec<u64> {
    let number = |text: &String| text.split(' ').next().unwrap().parse().unwrap();
    folder.said(name).iter().map(number).collect()
}

#[test]
fn r2_r10_a_writer_killed_fifty_times_loses_no_saved_turn() {
    let folder = Folder::new();
    let mut saved = 0;
    for round in 0..50 {
        let mut adder = Adder::start(&folder.transcripts, "s", 1_000_000);
        // Each round is killed after another number of turns, and at another point of the next one.
        let mut last = adder.says();
        for _ in 0..round % 7 {
            last = adder.says();
        }
        for _ in 0..round * 500 {
            std::hint::spin_loop();
        }
        saved = adder.killed(last).unwrap_or(saved);
        let kept = numbers(&folder, "s");
        assert!(kept.len() as u64 > saved, "round {round}: {saved} was saved, {} kept", kept.len());
        assert_eq!(kept, (0..kept.len() as u64).collect::<Vec<_>>(), "round {round}");
        assert_eq!(folder.listed(), [format!("s demo {} interrupted", kept.len())]);
    }
    // The last one leaves a transcript that can be resumed like any other.
    let opened = folder.transcripts.open(&id("s"), PLENTY).unwrap();
    assert!(opened.recall.turn_count > saved);
}

#[test]
fn r2_a_turn_that_does_not_fit_on_the_disk_is_refused_and_leaves_no_half_line() {
    let folder = Folder::new();
    // As good as a full disk: files of this process may grow to 4 KiB, and the second turn has 5 kB.
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$1\" s 9"])
        .arg(example("write_transcript"))
        .arg(folder.transcripts.dir())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "0\n");
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.contains("StorageFull"), "{complaint}");
    assert_eq!(numbers(&folder, "s"), [0]);
    assert!(folder.text("s.jsonl").ends_with("}\n"));
}

#[test]
fn r9_a_second_writer_fails_with_the_first_ones_pid_and_changes_nothing() {
    let folder = Folder::new();
    let mut adder = Adder::start(&folder.transcripts, "s", 3);
    while adder.says() != "done" {}
    let before = folder.text("s.jsonl");
    let error = folder.transcripts.open(&id("s"), PLENTY).unwrap_err();
    let text = format!("the session s is open in process {}", adder.child.id());
    assert_eq!(error.to_string(), text);
    assert_eq!(folder.listed(), ["s demo 3 active"]);
    assert_eq!(folder.text("s.jsonl"), before);
    let mut second = Adder::start(&folder.transcripts, "s", 3);
    assert!(!second.child.wait().unwrap().success());
    adder.killed(String::new());
    assert_eq!(folder.listed(), ["s demo 3 interrupted"]);
    folder.transcripts.open(&id("s"), PLENTY).unwrap();
}

#[test]
fn r9_a_second_writer_waits_for_one_that_is_leaving() {
    let folder = Folder::new();
    let mut writer = folder.create("s");
    thread::scope(|scope| {
        let second = scope.spawn(|| {
            let mut opened = folder.transcripts.open(&id("s"), PLENTY)?;
            opened.writer.append(&turn(Role::User, "second"))?;
            Ok::<_, Error>(opened.recall.turn_count)
        });
        writer.append(&turn(Role::User, "first")).unwrap();
        drop(writer);
        assert_eq!(second.join().unwrap().unwrap(), 1);
    });
    assert_eq!(folder.said("s"), ["first", "second"]);
}

#[test]
fn r9_readers_are_never_kept_waiting_and_see_everything_that_was_saved() {
    const TURNS: usize = 200;
    let folder = Folder::new();
    let mut writer = folder.create("s");
    let saved = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..TURNS {
                let content = format!("{number} {}", "y".repeat(number % 3 * 9000));
                writer.append(&turn(Role::User, &content)).unwrap();
                saved.store(number + 1, Ordering::SeqCst);
            }
        });
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let before = saved.load(Ordering::SeqCst);
                    let seen = numbers(&folder, "s").len();
                    let listed = folder.transcripts.list().unwrap();
                    let counted = listed.entries[0].turn_count;
                    assert!(
                        seen >= before && counted >= before as u64,
                        "{before} {seen} {counted}"
                    );
                    if before == TURNS {
                        break;
                    }
                }
            });
        }
    });
}

#[test]
fn r9_of_many_writers_at_once_each_adds_whole_lines() {
    let folder = Folder::new();
    folder.talk("s");
    thread::scope(|scope| {
        for name in 0..8 {
            let folder = &folder;
            scope.spawn(move || {
                for _ in 0..5 {
                    // A process that does not get the lock in time tries again, as a person would.
                    let mut opened = loop {
                        match folder.transcripts.open(&id("s"), PLENTY) {
                            Ok(opened) => break opened,
                            Err(Error::Open { .. }) => {}
                            Err(error) => panic!("{error}"),
                        }
                    };
                    opened.writer.append(&turn(Role::User, &format!("{name}"))).unwrap();
                }
            });
        }
    });
    assert_eq!(folder.said("s").len(), 2 + 40);
    assert_eq!(folder.names(), ["s.jsonl"]);
}
