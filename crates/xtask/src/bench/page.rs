//! The page of a whole run: the machine, the table, the charts.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use convoke_testkit::bench::{Plot, Row};

use super::{Findings, chart, machine};

/// Where the page is.
pub(super) const PATH: &str = "docs/BENCHMARKS.md";

/// The folder of the charts, relative to the page.
const IMAGES: &str = "images";

/// Writes the page and its charts.
pub(super) fn write(root: &Path, findings: &Findings) -> Result<()> {
    let page = root.join(PATH);
    let folder = page.parent().context("the page lies in no folder")?.join(IMAGES);
    fs::create_dir_all(&folder)?;
    for plot in &findings.plots {
        let path = folder.join(file_name(plot));
        fs::write(&path, chart::draw(plot)).with_context(|| format!("{}", path.display()))?;
    }
    fs::write(&page, compose(findings, &machine::facts()?))
        .with_context(|| format!("cannot write {PATH}"))
}

fn compose(findings: &Findings, machine: &str) -> String {
    let rows: String = findings.rows.iter().map(line).collect();
    let plots: String = findings.plots.iter().map(figure).collect();
    let judged: Vec<bool> = findings.rows.iter().filter_map(Row::is_met).collect();
    let met = judged.iter().filter(|met| **met).count();
    format!(
        "# Benchmarks\n\n\
         Written by `cargo xtask bench`, which builds as for a release, measures everything below in one run and\n\
         draws the charts; a run on your machine replaces this page.\n\
         Wherever something can be compared, its reference is measured in turn with it: then a busy machine troubles\n\
         both, and the ratio says more than either figure.\n\n\
         {machine}\n\
         {met} of {} goals are met in this run.\n\n\
         | what | figure | reference | ratio | goal | |\n\
         |---|---:|---|---:|---|---|\n\
         {rows}\n\
         {plots}",
        judged.len()
    )
}

fn line(row: &Row) -> String {
    let reference = row.reference.as_ref();
    let reference = reference.map(|it| format!("{} {}", row.unit.show(it.figure), it.name));
    let ratio = row.ratio().map(|ratio| format!("{ratio:.2}"));
    let goal = row.goal.map(|goal| goal.show(row.unit));
    let verdict = row.is_met().map_or("", |met| if met { "met" } else { "**missed**" });
    format!(
        "| {} | {} | {} | {} | {} | {verdict} |\n",
        row.name,
        row.unit.show(row.figure),
        reference.unwrap_or_default(),
        ratio.unwrap_or_default(),
        goal.unwrap_or_default(),
    )
}

fn figure(plot: &Plot) -> String {
    let mut text = format!("## {}\n\n", plot.name);
    let curves: Vec<&str> = plot.curves.iter().map(|curve| curve.name.as_str()).collect();
    // Writing into a text cannot fail.
    writeln!(
        text,
        "![{} by {}: {}]({IMAGES}/{})\n",
        plot.name,
        plot.across.name,
        curves.join(", "),
        file_name(plot)
    )
    .ok();
    text
}

/// The name of the chart, in letters that fit into any link.
fn file_name(plot: &Plot) -> String {
    let words: Vec<String> = plot
        .name
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    format!("bench-{}.svg", words.join("-"))
}

#[cfg(test)]
mod tests {
    use convoke_testkit::bench::{Goal, Scale, Unit};

    use super::*;

    #[test]
    fn a_page_has_the_machine_the_table_and_the_charts() {
        let findings = Findings {
            rows: vec![
                Row::new("append: one prompt", Unit::PerSecond, 4321.0)
                    .against("three statements", 5000.0)
                    .goal(Goal::RatioAtLeast(0.7)),
                Row::new("list", Unit::Seconds, 0.0031).goal(Goal::AtMost(0.002)),
            ],
            plots: vec![
                Plot::new("Memory, for all reads", "messages", Scale::Linear, Unit::Bytes)
                    .curve("convoke", vec![(1.0, 2.0)]),
            ],
        };
        let page = compose(&findings, "- a machine\n");
        let tail: Vec<&str> = page.lines().skip(7).collect();
        assert_eq!(
            tail,
            [
                "- a machine",
                "",
                "1 of 2 goals are met in this run.",
                "",
                "| what | figure | reference | ratio | goal | |",
                "|---|---:|---|---:|---|---|",
                "| append: one prompt | 4,321/s | 5,000/s three statements | 0.86 | ≥ 0.7 × | met |",
                "| list | 3.1 ms |  |  | ≤ 2 ms | **missed** |",
                "",
                "## Memory, for all reads",
                "",
                "![Memory, for all reads by messages: convoke](images/bench-memory-for-all-reads.svg)",
                "",
            ]
        );
    }
}
