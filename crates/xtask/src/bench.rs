//! `cargo xtask bench`: builds the benchmarks as releases are built, runs them one after the other, and tabulates.
//!
//! The benchmarks define what is measured, and against what. A missed goal is reported and is no failure. The results
//! of a whole run are written, with charts, to a page of the documentation.

mod chart;
mod machine;
mod page;

use std::io::{self, BufRead as _, BufReader, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, anyhow, bail};
use convoke_testkit::bench::build::{self, Kind, Program};
use convoke_testkit::bench::{Line, Plot, Row, table};

/// The command-line options.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Only rows with this in their names.
    filter: Option<String>,
    size: Size,
    format: Format,
    profile: Profile,
}

/// The cargo profile of the measured programs.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Profile {
    /// As packages are.
    #[default]
    Dist,
    /// As `cargo build --release` does by default.
    Release,
}

impl Profile {
    fn name(self) -> &'static str {
        match self {
            Self::Dist => "dist",
            Self::Release => "release",
        }
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Size {
    #[default]
    Full,
    Quick,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Format {
    #[default]
    Table,
    Json,
}

impl Options {
    /// Parses the arguments after `bench`; `None` when they are invalid.
    pub fn read(words: &[&str]) -> Option<Self> {
        let mut options = Self::default();
        for word in words {
            match *word {
                "--quick" => options.size = Size::Quick,
                "--json" => options.format = Format::Json,
                "--release" => options.profile = Profile::Release,
                word if !word.starts_with('-') && options.filter.is_none() => {
                    options.filter = Some(word.to_owned());
                }
                _ => return None,
            }
        }
        Some(options)
    }

    /// Whether nothing is left out, so that the result is worth keeping.
    fn is_whole(&self) -> bool {
        self.filter.is_none() && self.size == Size::Full && self.profile == Profile::Dist
    }

    /// The same options, as arguments of a benchmark.
    fn words(&self) -> Vec<&str> {
        let quick = (self.size == Size::Quick).then_some("--quick");
        ["--json"].into_iter().chain(quick).chain(self.filter.as_deref()).collect()
    }
}

/// Printed below a table of small sizes.
const QUICK: &str =
    "Measured with small sizes, whatever the names say: the benchmarks work, no more.";

/// The results of benchmarks.
#[derive(Debug, Default)]
struct Findings {
    rows: Vec<Row>,
    plots: Vec<Plot>,
}

/// Runs the benchmarks of the workspace at `root`. Fails if one of them does, after all have run.
pub fn run(root: &Path, options: &Options) -> Result<()> {
    let mut findings = Findings::default();
    let mut failures = Vec::new();
    for program in programs(root, options.profile)? {
        if let Err(error) = measure(&program, options, &mut findings) {
            failures.push(format!("the benchmark {} failed: {error:#}", program.name));
        }
    }
    if options.format == Format::Table && !findings.rows.is_empty() {
        write!(io::stdout(), "{}", table(&findings.rows))?;
        if options.size == Size::Quick {
            writeln!(io::stdout(), "{QUICK}")?;
        }
    }
    if !failures.is_empty() {
        bail!("{}", failures.join("\n"));
    }
    if findings.rows.is_empty() {
        bail!("no row has {} in its name", options.filter.as_deref().unwrap_or_default());
    }
    if options.is_whole() {
        page::write(root, &findings)?;
        writeln!(io::stderr(), "bench: wrote {}", page::PATH)?;
    }
    Ok(())
}

fn programs(root: &Path, profile: Profile) -> Result<Vec<Program>> {
    let manifest = root.join("Cargo.toml");
    let manifest = manifest.to_str().context("the path of the workspace is not text")?;
    let mut words = vec!["bench", "--profile", profile.name(), "--no-run", "--workspace"];
    words.extend(["--bench", "*", "--manifest-path", manifest]);
    if !io::stderr().is_terminal() {
        words.push("--quiet");
    }
    let mut programs = build::programs(&words).map_err(|error| anyhow!("{error}"))?;
    programs.retain(|program| program.kind == Kind::Benchmark);
    programs.sort_by(|one, other| one.package.cmp(&other.package));
    Ok(programs)
}

/// Runs one benchmark and collects its output as it arrives.
fn measure(program: &Program, options: &Options, findings: &mut Findings) -> Result<()> {
    let mut child = Command::new(&program.path)
        .args(options.words())
        .current_dir(&program.package)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", program.path.display()))?;
    let output = child.stdout.take().context("it has no output")?;
    for line in BufReader::new(output).lines() {
        let line = line?;
        let said = Line::from_json(&line).with_context(|| format!("it printed `{line}`"))?;
        if options.format == Format::Json {
            writeln!(io::stdout(), "{line}")?;
        }
        match said {
            Line::Plot { plot } => findings.plots.push(plot),
            Line::Row(row) => findings.rows.push(row),
        }
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("{status}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_command_line_reach_the_benchmarks() {
        let words = |words: &[&str]| Options::read(words).map(|it| it.words().join(" "));
        assert_eq!(words(&[]).as_deref(), Some("--json"));
        assert_eq!(words(&["--quick", "append"]).as_deref(), Some("--json --quick append"));
        assert_eq!(words(&["append", "--json"]).as_deref(), Some("--json append"));
        assert_eq!(words(&["--release", "append"]).as_deref(), Some("--json append"));
        assert_eq!(words(&["append", "list"]), None);
        assert_eq!(words(&["--fast"]), None);
    }

    #[test]
    fn only_a_run_of_everything_as_packages_are_built_is_published() {
        let is_whole = |words: &[&str]| Options::read(words).map(|it| it.is_whole());
        assert_eq!(is_whole(&[]), Some(true));
        assert_eq!(is_whole(&["--json"]), Some(true));
        for part in ["append", "--quick", "--release"] {
            assert_eq!(is_whole(&[part]), Some(false), "{part}");
        }
    }
}
