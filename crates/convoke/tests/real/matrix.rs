//! Every agent that can be installed, through the daemon and with all layers of the sandbox on; the outcome is
//! `docs/agents.md`.

mod agents;
mod cells;
mod findings;
mod imported;
mod page;

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use convoke_testkit::host::installed;
use convoke_testkit::model::Model;
use tokio::runtime::Runtime;

use agents::{ALL, Agent};
use cells::{Cell, Scene};

/// A cell that is known to fail.
struct Known {
    agent: &'static str,
    column: &'static str,
    /// A part of what the cell fails with; it may not fail in any other way.
    seen: &'static str,
    /// The reason, as it was found in the agent's program.
    why: &'static str,
}

/// What is known not to work, and why; the test fails for everything else.
const KNOWN: [Known; 1] = [Known {
    agent: "droid",
    column: "stream, cancel",
    seen: "its answer came in one piece",
    why: "its program keeps all that the model says until the model has finished; a cancel works",
}];

/// A column: its name, and what is done for it.
type Column = (&'static str, fn(&mut Scene<'_>) -> Cell);

/// The columns, in their order.
const COLUMNS: [Column; 13] = [
    ("prompt", |it| it.prompt()),
    ("stream, cancel", |it| it.stream()),
    ("tool", |it| it.tool()),
    ("deny", |it| it.deny()),
    ("restart", |it| it.resume()),
    ("kill -9", |it| it.survive()),
    ("question", |it| it.question()),
    ("outside", |it| it.outside()),
    ("modes", |it| it.modes()),
    ("models", |it| it.models()),
    ("image", |it| it.image()),
    ("import", |it| it.import()),
    ("fork", |it| it.fork()),
];

/// One agent at a time: some take a gigabyte, and all write the same page.
static TURN: Mutex<()> = Mutex::new(());

/// Runs a step; when the daemon does not answer in time, its cell fails and the others are still tried.
fn tried(step: impl FnOnce() -> Cell) -> Cell {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(step))
        .unwrap_or_else(|_| Err("the daemon did not answer within 60 s".to_owned()))
}

/// The cells of an agent; the first one decides whether there are others.
#[expect(clippy::print_stdout, reason = "it takes minutes, and says how far it is")]
fn cells(agent: &Agent, installed: &Path) -> Vec<Cell> {
    let runtime = Runtime::new().unwrap();
    let model = runtime.block_on(Model::start()).unwrap();
    let mut scene = Scene::new(agent, &model, installed);
    let mut cells = Vec::new();
    for (column, step) in COLUMNS {
        let cell = tried(|| step(&mut scene));
        let cleared = tried(|| scene.clear());
        let cell = cell.and_then(|cell| cleared.map(|_| cell));
        println!("{} {column}: {cell:?}", agent.name);
        cells.push(cell);
        if cells[0].is_err() {
            break;
        }
    }
    cells
}

/// Runs one row of the matrix, and writes it to the page.
fn matrix(name: &str) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let agent = ALL.iter().find(|agent| agent.name == name).unwrap();
    let installed = installed();
    let Some(version) = agent.version(&installed) else {
        page::write(agent.name, page::absent(agent));
        return;
    };
    let mut cells = cells(agent, &installed);
    let mut failures = Vec::new();
    for ((column, _), cell) in COLUMNS.iter().zip(&mut cells) {
        let known = KNOWN.iter().find(|it| it.agent == agent.name && it.column == *column);
        match (cell, known) {
            (Ok(_), None) => {}
            (Ok(_), Some(_)) => failures.push(format!("{column}: it works now; see KNOWN")),
            (Err(why), None) => {
                *why = why.replace(&format!("{}/", installed.display()), "");
                failures.push(format!("{column}: {why}"));
            }
            (Err(why), Some(known)) if why.contains(known.seen) => known.why.clone_into(why),
            (Err(why), Some(_)) => failures.push(format!("{column}: {why}")),
        }
    }
    // The page says what holds and what is known: anything else is to be found out first.
    assert!(failures.is_empty(), "{name}\n{}", failures.join("\n"));
    page::write(agent.name, page::present(agent, &version, &cells));
}

#[test]
fn l1_matrix_claude_code() {
    matrix("claude-code");
}

#[test]
fn l1_matrix_codex() {
    matrix("codex");
}

#[test]
fn l1_matrix_gemini() {
    matrix("gemini");
}

#[test]
fn l1_matrix_opencode() {
    matrix("opencode");
}

#[test]
fn l1_matrix_goose() {
    matrix("goose");
}

#[test]
fn l1_matrix_qwen() {
    matrix("qwen");
}

#[test]
fn l1_matrix_copilot() {
    matrix("copilot");
}

#[test]
fn l1_matrix_cline() {
    matrix("cline");
}

#[test]
fn l1_matrix_kimi() {
    matrix("kimi");
}

#[test]
fn l1_matrix_vibe() {
    matrix("vibe");
}

#[test]
fn l1_matrix_claude_agent_acp() {
    matrix("claude-agent-acp");
}

#[test]
fn l1_matrix_droid() {
    matrix("droid");
}
