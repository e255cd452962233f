//! `docs/agents.md`, which a run with the real agents writes, keeps in step with the catalogue and with what is
//! installed for that run.

use std::path::Path;

const PAGE: &str = include_str!("../../../../docs/agents.md");
/// The script that installs the agents.
const SCRIPT: &str = include_str!("../../../../test");

/// The cells of each row of the matrix.
fn rows() -> Vec<Vec<&'static str>> {
    let table = PAGE.lines().skip_while(|line| !line.starts_with("| agent |")).skip(2);
    let rows = table.take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

#[test]
fn l1_the_page_has_a_row_for_every_agent_that_is_installed() {
    let agents = convoke_agents::catalogue::built_in(Path::new("convoke"));
    let installed = agents.into_iter().filter(|agent| agent.install.is_some());
    let expected: Vec<String> = installed.map(|agent| agent.name.to_string()).collect();
    let named: Vec<String> = rows().iter().map(|row| row[0].to_owned()).collect();
    assert_eq!(named, expected, "run `./test --real-agents`, which writes docs/agents.md");
}

#[test]
fn l1_the_page_tells_of_the_versions_that_are_installed() {
    for row in rows() {
        let Some((package, version)) = row[1].trim_start_matches('`').split_once("` ") else {
            continue;
        };
        let is_pinned = ["@", "=="].iter().any(|by| {
            let pinned = format!(" {package}{by}{version}");
            SCRIPT.lines().any(|line| line.trim_end_matches(" &&").ends_with(&pinned))
        });
        assert!(
            is_pinned,
            "{package} {version}: run `./test --real-agents`, which writes docs/agents.md"
        );
    }
}

#[test]
fn l1_every_cell_that_failed_says_why() {
    for row in rows() {
        for cell in row.iter().filter(|cell| cell.contains("**no**")) {
            let mark = cell.split_once("**no** ").map(|(_, mark)| mark);
            let told = mark.is_some_and(|mark| PAGE.contains(&format!("\n{mark}: ")));
            assert!(told, "{}: {cell}", row[0]);
        }
    }
}
