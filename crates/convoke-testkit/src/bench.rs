//! The framework of benchmarks: figures beside references measured in the same run, as a table or
//! as JSON.
//!
//! A benchmark is a program without a harness: it makes a `Bench` of its arguments, adds rows and ends with
//! `finish`. Alone it prints a table; under `cargo xtask bench` one JSON row a line.

pub mod build;
pub mod direct;
pub mod histories;
pub mod instructions;
pub mod measure;
mod plot;
pub mod process;
pub mod questions;
pub mod random;
mod row;
mod table;
pub mod transcripts;

use std::io::{self, IsTerminal as _, Write as _};

use serde::{Deserialize, Serialize};

pub use plot::{Across, Curve, Plot, Scale};
pub use row::{Goal, Reference, Row, Unit};
pub use table::table;

/// The result of a benchmark. Any error ends it; causes are not distinguished.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a benchmark failed.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// A running benchmark.
#[derive(Debug)]
pub struct Bench {
    options: Options,
    rows: Vec<Row>,
}

/// One line of a benchmark's JSON output.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Line {
    /// Curves for a chart.
    Plot {
        /// The curves.
        plot: Plot,
    },
    /// A line of the table.
    Row(Row),
}

impl Line {
    /// Parses a line of a benchmark's output.
    pub fn from_json(line: &str) -> serde_json::Result<Self> {
        serde_json::from_str(line)
    }
}

/// The command-line options.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    /// Only rows with this in their names.
    filter: Option<String>,
    size: Size,
    format: Format,
    /// The task of this process as the child of another benchmark.
    subtask: Option<String>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
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

impl Bench {
    /// Parses the arguments: `[FILTER] [--quick] [--json]`.
    pub fn from_args() -> Result<Self> {
        let options = Options::read(std::env::args().skip(1))?;
        Ok(Self { options, rows: Vec::new() })
    }

    /// The full size of something, or a small one that shows that the benchmark works.
    pub const fn size(&self, full: usize, quick: usize) -> usize {
        match self.options.size {
            Size::Full => full,
            Size::Quick => quick,
        }
    }

    /// Whether one of these rows is requested; if not, it need not be measured.
    pub fn wants(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.options.wants(name))
    }

    /// The task that another benchmark started this process for, with `subtask`.
    pub fn subtask(&self) -> Option<&str> {
        self.options.subtask.as_deref()
    }

    /// Prints progress on a terminal, and nothing into a pipe.
    pub fn progress(&self, what: &str) -> Result<()> {
        if io::stderr().is_terminal() {
            write!(io::stderr(), "\r\x1b[K{what} …")?;
        }
        Ok(())
    }

    /// Adds a row if the filter selects it. With small sizes it has no goal, since it could not miss it.
    pub fn add(&mut self, row: Row) -> Result<()> {
        if !self.options.wants(&row.name) {
            return Ok(());
        }
        let row = match self.options.size {
            Size::Full => row,
            Size::Quick => Row { goal: None, ..row },
        };
        self.print_line(&row.to_json()?)?;
        self.rows.push(row);
        Ok(())
    }

    /// Adds a chart to the JSON output; the table has none.
    pub fn plot(&self, plot: Plot) -> Result<()> {
        self.print_line(&serde_json::to_string(&Line::Plot { plot })?)
    }

    /// Prints a line for the parent process.
    fn print_line(&self, line: &str) -> Result<()> {
        if self.options.format == Format::Json {
            let mut out = io::stdout().lock();
            writeln!(out, "{line}")?;
            out.flush()?;
        }
        Ok(())
    }

    /// Prints the table, unless rows were printed as they came.
    pub fn finish(self) -> Result<()> {
        if io::stderr().is_terminal() {
            write!(io::stderr(), "\r\x1b[K")?;
        }
        if self.options.format == Format::Table && !self.rows.is_empty() {
            write!(io::stdout(), "{}", table(&self.rows))?;
        }
        Ok(())
    }
}

/// Starts this program again for a task that needs a separate process, and returns its output.
pub fn subtask(what: &str) -> Result<String> {
    let program = std::env::current_exe()?;
    let output = std::process::Command::new(program).args(["--subtask", what]).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

impl Options {
    fn read(words: impl Iterator<Item = String>) -> Result<Self> {
        let mut options = Self::default();
        let mut words = words;
        while let Some(word) = words.next() {
            match word.as_str() {
                // Cargo passes `--bench` to every benchmark.
                "--bench" => {}
                "--quick" => options.size = Size::Quick,
                "--json" => options.format = Format::Json,
                "--subtask" => options.subtask = words.next(),
                flag if flag.starts_with('-') => {
                    return Err(format!("unknown option {flag}; known: --quick --json").into());
                }
                _ => options.filter = Some(word),
            }
        }
        Ok(options)
    }

    fn wants(&self, name: &str) -> bool {
        self.filter.as_deref().is_none_or(|part| name.contains(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Options {
        Options::read(words.iter().map(|word| (*word).to_owned())).unwrap()
    }

    #[test]
    fn a_row_is_wanted_when_its_name_contains_the_filter() {
        let options = read(&["--bench", "--quick", "append"]);
        assert_eq!(options.size, Size::Quick);
        assert!(options.wants("append: one prompt"));
        assert!(!options.wants("list: newest"));
        assert!(read(&[]).wants("anything"));
    }

    #[test]
    fn a_misspelt_option_is_refused() {
        let words = ["--quik".to_owned()];
        let error = Options::read(words.into_iter()).unwrap_err();
        assert_eq!(error.to_string(), "unknown option --quik; known: --quick --json");
    }
}
