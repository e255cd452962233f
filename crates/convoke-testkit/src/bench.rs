//! What a benchmark needs: figures beside references measured in the same run, and a table or JSON of them.
//!
//! A benchmark is a program without a harness: it makes a `Bench` of its arguments, adds rows and ends with
//! `finish`. Alone it prints a table; under `cargo xtask bench` one JSON row a line.

pub mod build;
pub mod direct;
pub mod instructions;
pub mod measure;
mod plot;
pub mod process;
pub mod questions;
pub mod random;
mod row;
mod table;

use std::io::{self, IsTerminal as _, Write as _};

use serde::{Deserialize, Serialize};

pub use plot::{Across, Curve, Plot, Scale};
pub use row::{Goal, Reference, Row, Unit};
pub use table::table;

/// What benchmarks return. Whatever goes wrong ends them; nobody tells causes apart.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a benchmark could not go on.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// A benchmark under way.
#[derive(Debug)]
pub struct Bench {
    options: Options,
    rows: Vec<Row>,
}

/// What a benchmark says on one line of JSON.
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
    /// Reads what a benchmark said.
    pub fn from_json(line: &str) -> serde_json::Result<Self> {
        serde_json::from_str(line)
    }
}

/// What a benchmark is asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    /// Only rows with this in their names.
    filter: Option<String>,
    size: Size,
    format: Format,
    /// What this process does as the child of another benchmark.
    errand: Option<String>,
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
    /// Reads the words after the program's name: `[FILTER] [--quick] [--json]`.
    pub fn from_args() -> Result<Self> {
        let options = Options::read(std::env::args().skip(1))?;
        Ok(Self { options, rows: Vec::new() })
    }

    /// The full size of something, or what is enough to see that the benchmark works.
    pub const fn size(&self, full: usize, quick: usize) -> usize {
        match self.options.size {
            Size::Full => full,
            Size::Quick => quick,
        }
    }

    /// Whether one of these rows is asked for; if not, it need not be measured.
    pub fn wants(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.options.wants(name))
    }

    /// What this process was started for by another benchmark, with `errand`.
    pub fn errand(&self) -> Option<&str> {
        self.options.errand.as_deref()
    }

    /// Tells a person who watches what is being done; a pipe hears nothing.
    pub fn progress(&self, what: &str) -> Result<()> {
        if io::stderr().is_terminal() {
            write!(io::stderr(), "\r\x1b[K{what} …")?;
        }
        Ok(())
    }

    /// Adds a row, unless nobody asked for it. With small sizes it has no goal, since it could not miss it.
    pub fn add(&mut self, row: Row) -> Result<()> {
        if !self.options.wants(&row.name) {
            return Ok(());
        }
        let row = match self.options.size {
            Size::Full => row,
            Size::Quick => Row { goal: None, ..row },
        };
        self.tell(&row.to_json()?)?;
        self.rows.push(row);
        Ok(())
    }

    /// Adds a chart, for whoever collects them: a table has no place for it.
    pub fn plot(&self, plot: Plot) -> Result<()> {
        self.tell(&serde_json::to_string(&Line::Plot { plot })?)
    }

    /// Says something to the program that started this one.
    fn tell(&self, line: &str) -> Result<()> {
        if self.options.format == Format::Json {
            let mut out = io::stdout().lock();
            writeln!(out, "{line}")?;
            out.flush()?;
        }
        Ok(())
    }

    /// Prints the table, where rows were not printed as they came.
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

/// Starts this program again for something that needs a process of its own, and returns what it prints.
pub fn errand(what: &str) -> Result<String> {
    let program = std::env::current_exe()?;
    let output = std::process::Command::new(program).args(["--errand", what]).output()?;
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
                // Cargo tells every benchmark that it is one.
                "--bench" => {}
                "--quick" => options.size = Size::Quick,
                "--json" => options.format = Format::Json,
                "--errand" => options.errand = words.next(),
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
