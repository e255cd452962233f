//! Programs that ask the human through files, and humans that answer them, two at a time.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::clients::{World, text_of};

/// Asks, waits for a while, and asks again.
pub(super) fn asker(world: &World<'_>, client: u64) {
    let mut random = world.random(client);
    while !world.is_over() {
        let question = json!({"questions": [{
            "prompt": world.text("Which one?"), "title": "Choice", "multiSelect": false,
            "options": [{"label": "A"}, {"label": "B"}],
        }]});
        // Half of them wait, and may be killed while they do.
        if random.below(2) == 0 {
            let mut command = world.machine.command(&["ask", "-", "--timeout-ms", "2500"]);
            ask(&mut command, &question);
        } else {
            let mut command = world.machine.command(&["ask", "-", "--non-blocking", "--json"]);
            let asked = ask(&mut command, &question).unwrap_or_default();
            let id = text_of(&asked, "sessionId");
            if !id.is_empty() {
                world.ledger.records().asked.push(id);
            }
        }
        thread::sleep(Duration::from_millis(100 + random.below(300)));
    }
}

/// Asks, and returns the output if it succeeded.
fn ask(command: &mut Command, question: &Value) -> Option<Value> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    // One that was killed reads nothing.
    child.stdin.take()?.write_all(question.to_string().as_bytes()).ok();
    let output = child.wait_with_output().ok()?;
    output.status.success().then(|| serde_json::from_slice(&output.stdout).ok())?
}

/// Answers pending questions, sometimes twice at the same time.
pub(super) fn answerer(world: &World<'_>) {
    let mut random = world.random(9_100);
    while !world.is_over() {
        thread::sleep(Duration::from_millis(200));
        let mut list =
            world.machine.command(&["questions", "list", "--status", "pending", "--json"]);
        let Ok(output) = list.stdout(Stdio::piped()).output() else { continue };
        let listed: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let sessions = listed.get("sessions").and_then(Value::as_array);
        let ids: Vec<String> =
            sessions.into_iter().flatten().map(|session| text_of(session, "sessionId")).collect();
        let Some(id) = ids.get(random.below(ids.len().max(1) as u64) as usize) else { continue };
        thread::scope(|scope| {
            let answers: Vec<_> = ["A", "B"]
                .map(|label| scope.spawn(move || answer(world, id, label).then_some(label)))
                .into_iter()
                .filter_map(|answer| answer.join().ok().flatten())
                .collect();
            match answers.as_slice() {
                [] => {}
                [label] => {
                    world.ledger.records().answered.insert(id.clone(), (*label).to_owned());
                }
                [..] => world.ledger.complain(format!("the questions {id} were answered twice")),
            }
        });
    }
}

/// Whether the answer was accepted.
fn answer(world: &World<'_>, id: &str, label: &str) -> bool {
    let answers = json!({"0": {"selectedOption": label}}).to_string();
    let mut command = world.machine.command(&["questions", "answer", id, "--answers", &answers]);
    command.status().is_ok_and(|status| status.success())
}
