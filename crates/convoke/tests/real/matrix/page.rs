//! The page with the outcome of the matrix: a row for each agent of the catalogue, and a footnote for each cell that
//! failed.

use std::collections::BTreeMap;
use std::fs;

use super::COLUMNS;
use super::agents::Agent;
use super::cells::Cell;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/agents.md");

const INTRODUCTION: &str = "\
# Agents

<!-- Made by `./test --real-agents`, which installs the agents and runs this matrix; `./test --real-agents matrix_goose` makes one row anew. -->

Each agent was driven through the daemon, with all layers of the sandbox on, and talked to a scripted model on the same machine.

| column | what was done |
|---|---|
| prompt | a session was created, and a prompt answered |
| stream, cancel | the answer came in pieces, and the turn could be cancelled |
| tool | a command ran after its permission was given; \"without asking\" where the agent does not ask |
| deny | a command did not run after its permission was denied |
| restart | the daemon was stopped and restarted, and the model saw the earlier turn again; \"yes\" if the agent resumed its own session, \"by transcript\" if Convoke gave it the transcript |
| kill -9 | the same after the daemon was killed during a turn |
| question | the agent asked its human through Convoke's tool, and got the answer |
| outside | a command could not write outside of the workspace |
| modes, models | how many can be chosen when a session begins |
| image | an image reached the model; \"by path\" if the agent takes no images and was given a path |
| import | a conversation from the agent's own command-line program was imported and prompted, and the model saw the earlier turn; cells as for restart, \"not tested\" if the test cannot run such a program |
| fork | the same while that program may still have the conversation open: the session continued with a copy |

";

/// The lines of one agent: its row, and its footnotes.
#[derive(Default)]
pub(super) struct Lines {
    row: String,
    notes: Vec<String>,
}

/// The lines of an agent that was tried.
pub(super) fn present(agent: &Agent, version: &str, cells: &[Cell]) -> Lines {
    let Agent { name, package, .. } = agent;
    let mut lines = Lines { row: format!("| {name} | `{package}` {version} |"), notes: Vec::new() };
    for (place, (column, _)) in COLUMNS.iter().enumerate() {
        let cell = match cells.get(place) {
            Some(Ok(how)) => how.clone(),
            Some(Err(why)) => {
                let mark = format!("[^{name}-{}]", column.replace([' ', ','], ""));
                let why = why.replace(['\n', '\r'], " ");
                lines.notes.push(format!("{mark}: {name}, {column}: {}", why.trim()));
                format!("**no** {mark}")
            }
            None => "–".to_owned(),
        };
        lines.row.push_str(&format!(" {cell} |"));
    }
    lines
}

/// The lines of an agent that could not be installed.
pub(super) fn absent(agent: &Agent) -> Lines {
    let Agent { name, package, .. } = agent;
    let others = " |".repeat(COLUMNS.len() - 1);
    let row = format!("| {name} | `{package}` | could not be installed |{others}");
    Lines { row, notes: Vec::new() }
}

/// Writes the page with the lines of one agent; those of the others stay as they are.
pub(super) fn write(name: &str, lines: Lines) {
    let mut all = read();
    all.insert(name.to_owned(), lines);
    let columns: Vec<&str> = COLUMNS.iter().map(|(column, _)| *column).collect();
    let mut page = format!("{INTRODUCTION}| agent | package | {} |\n", columns.join(" | "));
    page.push_str(&format!("|---|---|{}\n", "---|".repeat(columns.len())));
    let mut notes = Vec::new();
    for agent in convoke_agents::catalogue::built_in("convoke".as_ref()) {
        match (all.remove(agent.name.as_str()), agent.install) {
            (Some(lines), _) => {
                page.push_str(&format!("{}\n", lines.row));
                notes.extend(lines.notes);
            }
            // What no registry of packages has is not installed by a test.
            (None, Some(install)) => {
                let others = " |".repeat(columns.len() - 1);
                let install = install.replace('|', "\\|");
                let row = format!("| {} | `{install}` | not tried |{others}\n", agent.name);
                page.push_str(&row);
            }
            (None, None) => {}
        }
    }
    for note in notes {
        page.push_str(&format!("\n{note}\n"));
    }
    fs::write(PAGE, page).unwrap();
}

/// What the page says about each agent that was tried.
fn read() -> BTreeMap<String, Lines> {
    let mut all = BTreeMap::<String, Lines>::new();
    // Without a page there is nothing to keep.
    let page = fs::read_to_string(PAGE).unwrap_or_default();
    let table = page.lines().skip_while(|line| !line.starts_with("| agent |")).skip(2);
    for line in table {
        if let Some(name) = line.strip_prefix("| ").and_then(|row| row.split(' ').next()) {
            line.clone_into(&mut all.entry(name.to_owned()).or_default().row);
        } else if let Some((_, name)) = line.split_once("]: ")
            && let Some((name, _)) = name.split_once(", ")
        {
            all.entry(name.to_owned()).or_default().notes.push(line.to_owned());
        }
    }
    all.retain(|_, lines| !lines.row.contains("| not tried |"));
    all
}
