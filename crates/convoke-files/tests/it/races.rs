//! Many processes at one session, and some of them killed.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use convoke_core::id::RequestId;
use convoke_testkit::host::example;

use crate::scene::Scene;

/// A process that is ready to settle a session.
struct Settler {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Settler {
    fn start(scene: &Scene, id: RequestId, verb: &str, label: &str) -> Self {
        let mut child = Command::new(example("settle_questions"))
            .arg(scene.questions.dir())
            .args([&id.to_string(), verb, label])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        Self { child, input, output }
    }

    fn release(&mut self) {
        self.input.write_all(b"go\n").unwrap();
    }

    fn result(mut self) -> String {
        let mut text = String::new();
        self.output.read_to_string(&mut text).unwrap();
        self.child.wait().unwrap();
        text.trim().to_owned()
    }
}

/// Starts one process per verdict, and returns the output of each.
fn settle_at_once(scene: &Scene, id: RequestId, verdicts: &[(&str, &str)]) -> Vec<String> {
    let mut settlers: Vec<Settler> =
        verdicts.iter().map(|(verb, label)| Settler::start(scene, id, verb, label)).collect();
    settlers.iter_mut().for_each(Settler::release);
    settlers.into_iter().map(Settler::result).collect()
}

#[test]
fn q7_of_forty_processes_exactly_one_wins_and_the_files_agree() {
    let scene = Scene::new();
    let id = scene.ask();
    let verdicts: Vec<_> =
        [("answer", "A"), ("reject", "no"), ("answer", "B"), ("reject", "never")]
            .into_iter()
            .cycle()
            .take(40)
            .collect();
    let results = settle_at_once(&scene, id, &verdicts);
    let winners: Vec<usize> = (0..40).filter(|index| results[*index] == "won").collect();
    assert_eq!(winners.len(), 1, "{results:?}");
    let (verb, label) = verdicts[winners[0]];
    let reported = match verb {
        "answer" => {
            assert_eq!(scene.json(id, "answers.json")["answers"][0]["selectedOption"], label);
            "completed"
        }
        _ => {
            assert_eq!(scene.json(id, "status.json")["rejectionReason"], label);
            assert!(!scene.path(id, "answers.json").exists());
            "rejected"
        }
    };
    assert_eq!(scene.status(id), reported);
    let losers = results.iter().filter(|result| *result != "won");
    assert!(losers.clone().all(|text| *text == format!("Session {id} is already {reported}")));
    assert_eq!(scene.questions.validate(id).unwrap(), [""; 0]);
    assert!(scene.names(id).iter().all(|name| name.ends_with(".json")));
}

#[test]
fn two_processes_that_answer_at_once_do_not_both_win() {
    let scene = Scene::new();
    for _ in 0..20 {
        let id = scene.ask();
        let results = settle_at_once(&scene, id, &[("answer", "A"), ("answer", "B")]);
        assert_eq!(results.iter().filter(|result| *result == "won").count(), 1, "{results:?}");
    }
}

#[test]
fn a_winner_killed_at_any_time_leaves_consistent_files() {
    let scene = Scene::new();
    for round in 0..40u32 {
        let id = scene.ask();
        let mut victim = Settler::start(&scene, id, "answer", "A");
        victim.release();
        // Spin a little longer in each round, so that the kill falls on ever later steps.
        for _ in 0..round * 2_000 {
            std::hint::spin_loop();
        }
        victim.child.kill().unwrap();
        let said = victim.result();
        let mut second = Settler::start(&scene, id, "reject", "no");
        second.release();
        let rejected = second.result() == "won";
        assert!(!(rejected && said == "won"), "an acknowledged answer was overruled");
        let status = if rejected { "rejected" } else { "completed" };
        assert_eq!(scene.status(id), status);
        assert_eq!(scene.questions.validate(id).unwrap(), [""; 0]);
        assert!(
            scene.names(id).iter().all(|name| name.ends_with(".json")),
            "{:?}",
            scene.names(id)
        );
    }
}
