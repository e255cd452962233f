//! Agents that flood, hang, crash, lie and fork when a prompt says so, and echo all other prompts.

use std::path::Path;

use convoke_testkit::agent::{Ask, Script, Step, Tool};
use serde_json::json;

/// The text in a prompt that makes an agent misbehave.
pub(super) const TRICKS: [&str; 7] = ["flood", "hang", "crash", "exit", "lie", "fork", "permit"];

/// How often one process does each; after that it echoes.
const TIMES: usize = 40;

/// An agent that does what a prompt says.
pub(super) fn prompted_script(folder: &Path) -> Script {
    let mut script = Script::new();
    for _ in 0..TIMES {
        for trick in TRICKS {
            script = script.when(trick, steps(trick, folder));
        }
    }
    script
}

fn steps(trick: &str, folder: &Path) -> Vec<Step> {
    match trick {
        "flood" => vec![Step::Complain(20_000), Step::Flood(200_000)],
        "hang" => vec![Step::say("I am thinking about it"), Step::Hang],
        "crash" => vec![Step::say("I am about to"), Step::Die(9)],
        "exit" => vec![Step::say("Good-bye"), Step::Exit(3)],
        "lie" => vec![
            Step::Print("this is no JSON".to_owned()),
            Step::Send(json!({"jsonrpc": "2.0", "id": 99_999, "result": {}})),
            Step::Call(Tool::bare("never-ended")),
            Step::Answer(json!({"stopReason": "end_turn"})),
            Step::say("and another thing"),
        ],
        "fork" => {
            let file = folder.join("sleeper").display().to_string();
            vec![Step::Spawn(file), Step::say("I have a child")]
        }
        _ => {
            let ask = Ask::new(
                Tool::named("t", "Bash", json!({"command": "ls"})),
                &[("allow", "allow_once"), ("deny", "reject_once")],
            );
            vec![Step::Ask(ask), Step::say("thank you")]
        }
    }
}
