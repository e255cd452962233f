//! Every agent that can be installed, through the daemon and with all layers of the sandbox on; the outcome is
//! `docs/agents.md`.

mod agents;
mod cells;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use convoke_testkit::model::Model;
use tokio::runtime::Runtime;

use agents::{ALL, Agent};
use cells::{Cell, Scene};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/agents.md");

const INTRODUCTION: &str = "\
# Agents

<!-- Made by `./test --real-agents`, which installs the agents and runs this matrix. -->

Each agent was driven through the daemon, with all layers of the sandbox on, and talked to a scripted model on the same machine.

| column | what was done |
|---|---|
| prompt | a session was created, and a prompt answered |
| stream, cancel | the answer came in pieces, and the turn could be cancelled |
| tool | a command ran after its permission was given; \"without asking\" where the agent does not ask |
| deny | a command did not run after its permission was denied |
| restart | the daemon was stopped and started: the model was shown the earlier turn again, by the agent's own memory, or by what the cell says |
| kill -9 | the same after the daemon was killed in the middle of a turn |
| question | the agent asked its human through Convoke's tool, and got the answer |
| outside | a command could not write outside of the workspace |
| modes, models | how many can be chosen when a session begins |
| image | a picture reached the model, or its path where the agent takes none |

";

/// What is known not to work, and why; the test fails for everything else.
const KNOWN: &[(&str, &str, &str)] = &[
    ("cline", "question", "it takes no servers of tools over ACP"),
    ("droid", "prompt", "it wants an account"),
];

/// The columns, in their order.
const COLUMNS: [&str; 11] = [
    "prompt",
    "stream, cancel",
    "tool",
    "deny",
    "restart",
    "kill -9",
    "question",
    "outside",
    "modes",
    "models",
    "image",
];

/// Where the agents are installed, and which ones are wanted.
#[expect(clippy::disallowed_methods, reason = "how `./test --real-agents` tells")]
fn settings() -> (PathBuf, Option<String>) {
    let folder = std::env::var_os("CONVOKE_REAL_AGENTS");
    let folder = folder.expect("run `./test --real-agents`, which installs the agents");
    (PathBuf::from(folder), std::env::var("CONVOKE_MATRIX").ok())
}

/// One row: the agent's version, and its cells.
struct Row {
    agent: &'static Agent,
    version: Option<String>,
    cells: Vec<Cell>,
}

/// A cell; one in which the daemon does not answer in time fails like any other.
fn tried(cell: impl FnOnce() -> Cell) -> Cell {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(cell))
        .unwrap_or_else(|_| Err("the daemon did not answer within 30 s".to_owned()))
}

#[expect(clippy::print_stdout, reason = "it takes minutes, and says how far it is")]
fn row(agent: &'static Agent, installed: &std::path::Path, model: &Model) -> Row {
    let version = agent.version(installed);
    let mut cells = Vec::new();
    if version.is_some() {
        let mut scene = Scene::new(agent, model, installed);
        let steps: [fn(&mut Scene<'_>) -> Cell; 11] = [
            |it| it.prompt(),
            |it| it.stream(),
            |it| it.tool(),
            |it| it.deny(),
            |it| it.resume(),
            |it| it.survive(),
            |it| it.question(),
            |it| it.outside(),
            |it| it.modes(),
            |it| it.models(),
            |it| it.image(),
        ];
        for (column, step) in COLUMNS.iter().zip(steps) {
            let cell = tried(|| step(&mut scene));
            println!("{} {column}: {cell:?}", agent.name);
            cells.push(cell);
        }
    }
    Row { agent, version, cells }
}

fn page(rows: &[Row]) -> String {
    let mut page = INTRODUCTION.to_owned();
    writeln!(page, "| agent | package | {} |", COLUMNS.join(" | ")).unwrap();
    writeln!(page, "|---|---|{}", "---|".repeat(COLUMNS.len())).unwrap();
    let mut notes = String::new();
    for Row { agent, version, cells } in rows {
        let Some(version) = version else {
            writeln!(
                page,
                "| {} | `{}` | not installed here |{}",
                agent.name,
                agent.package,
                " |".repeat(COLUMNS.len() - 1)
            )
            .unwrap();
            continue;
        };
        write!(page, "| {} | `{}` {version} |", agent.name, agent.package).unwrap();
        for (column, cell) in COLUMNS.iter().zip(cells) {
            match cell {
                Ok(how) => write!(page, " {how} |").unwrap(),
                Err(why) => {
                    write!(page, " **no** |").unwrap();
                    let why = why.replace(['\n', '|'], " ");
                    writeln!(notes, "- {}, {column}: {why}", agent.name).unwrap();
                }
            }
        }
        page.push('\n');
    }
    if !notes.is_empty() {
        write!(page, "\n## What does not work\n\n{notes}").unwrap();
    }
    page
}

#[test]
fn l1_the_matrix_of_real_agents() {
    let (installed, only) = settings();
    let runtime = Runtime::new().unwrap();
    let model = runtime.block_on(Model::start()).unwrap();
    let wanted = |agent: &&Agent| {
        only.as_ref().is_none_or(|only| only.split(',').any(|it| it == agent.name))
    };
    let mut rows = Vec::new();
    let mut failures = Vec::new();
    for agent in ALL.iter().filter(wanted) {
        let row = row(agent, &installed, &model);
        for (column, cell) in COLUMNS.iter().zip(&row.cells) {
            let is_known = KNOWN
                .iter()
                .any(|(name, at, _)| *name == agent.name && (at == column || *at == "prompt"));
            if let (Err(why), false) = (cell, is_known) {
                failures.push(format!("{}, {column}: {why}", agent.name));
            }
        }
        rows.push(row);
    }
    // A run with some agents must not forget the others.
    if only.is_none() {
        fs::write(PAGE, page(&rows)).unwrap();
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
