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

/// How the names of the charts begin.
const CHART_PREFIX: &str = "bench-";

/// Writes the page and its charts, and removes charts of earlier runs.
pub(super) fn write(root: &Path, findings: &Findings) -> Result<()> {
    let page = root.join(PATH);
    let folder = page.parent().context("the page lies in no folder")?.join(IMAGES);
    fs::create_dir_all(&folder)?;
    remove_charts(&folder)?;
    for plot in &findings.plots {
        let path = folder.join(file_name(plot));
        fs::write(&path, chart::draw(plot)).with_context(|| format!("{}", path.display()))?;
    }
    fs::write(&page, compose(findings, &machine::facts()?))
        .with_context(|| format!("cannot write {PATH}"))
}

/// Removes all charts, so that none remains under a name that is no longer used.
fn remove_charts(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with(CHART_PREFIX) && name.ends_with(".svg") {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(())
}

fn compose(findings: &Findings, machine: &str) -> String {
    let rows: String = findings.rows.iter().map(line).collect();
    let plots: String = findings.plots.iter().map(figure).collect();
    let judged: Vec<bool> = findings.rows.iter().filter_map(Row::is_met).collect();
    let met = judged.iter().filter(|met| **met).count();
    format!(
        "# Benchmarks\n\n\
         `cargo xtask bench` wrote this page: the table and the charts are from one run of a release build.\n\
         A complete run on your machine overwrites it.\n\
         References were measured in the same run, in most rows alternating with the figure, so that load on the\n\
         machine affects both. The ratio is therefore more reliable than the absolute figures.\n\n\
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
    format!("{CHART_PREFIX}{}.svg", words.join("-"))
}

#[cfg(test)]
mod tests {
    use convoke_testkit::bench::{Goal, Scale, Unit};

    use super::*;

    #[test]
    fn charts_of_earlier_runs_are_removed_and_other_images_stay() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["bench-old-name.svg", "bench.svg", "page.png"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        remove_charts(folder.path()).unwrap();
        let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!(names, ["bench.svg", "page.png"]);
    }

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
