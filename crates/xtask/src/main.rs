//! `cargo xtask`: parses the arguments, runs the task, prints the findings.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use xtask::tree::Tree;
use xtask::{bench, busy, dist, tidy, torture};

/// Printed for `--help`, and after a question that was put wrongly.
const USAGE: &str = "\
Usage: cargo xtask tidy [--bless]
       cargo xtask bench [FILTER] [--quick] [--json] [--release]
       cargo xtask dist [--program FILE] [--out FOLDER]
       cargo xtask torture [--seconds N] [--seed S] [--release]
                           [--nodes N [--calm]]
       cargo xtask busy -- COMMAND [ARGUMENTS]

  tidy           check the tree against the rules no compiler knows
  tidy --bless   first refresh what is generated from the tree:
                 the test column of docs/conformance.md and the
                 checksums of migrations that are not released yet
  bench          build as packages are built, measure, print a table, and
                 write docs/BENCHMARKS.md; a missed goal is no failure
  bench FILTER   only rows with this in their names
  bench --quick  small sizes: does every benchmark work?
  bench --json   one JSON object a row
  bench --release   build as `cargo build --release` does instead
  dist           build a static program, and make a Debian package, a
                 tarball and their checksums in target/dist
  dist --program FILE   pack this program instead of building one
  dist --out FOLDER     put the packages there
  torture        everything goes wrong at once for 30 seconds, and an
                 auditor compares what was acknowledged with what is
                 stored; the seed makes the same plan again
  torture --nodes N     the same with N daemons on one PostgreSQL, which
                 is killed as well; with --calm nothing goes wrong, and
                 notifications and memory are measured under load
  busy           run a command, such as `cargo nextest run -p CRATE`,
                 without inotify instances and at a load of 8
";

fn main() -> Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let root = root()?;
    match args.as_slice() {
        ["tidy"] => check(root),
        ["tidy", "--bless"] => {
            for path in tidy::bless(&Tree::load(root)?)? {
                writeln!(io::stdout(), "refreshed {path}")?;
            }
            check(root)
        }
        ["--help" | "-h" | "help"]
        | ["tidy" | "bench" | "dist" | "torture" | "busy", "--help" | "-h"] => {
            write!(io::stdout(), "{USAGE}")?;
            Ok(ExitCode::SUCCESS)
        }
        ["bench", words @ ..] => match bench::Options::read(words) {
            Some(options) => measure(root, &options),
            None => misunderstood(),
        },
        ["dist", words @ ..] => match dist::Options::read(words) {
            Some(options) => {
                dist::run(root, &options)?;
                Ok(ExitCode::SUCCESS)
            }
            None => misunderstood(),
        },
        ["torture", words @ ..] => match torture::Options::read(words) {
            Some(options) => match torture::run(root, &options)? {
                torture::Verdict::Held => Ok(ExitCode::SUCCESS),
                torture::Verdict::Broken => Ok(ExitCode::FAILURE),
            },
            None => misunderstood(),
        },
        ["busy", "--", command @ ..] if !command.is_empty() => {
            let code = busy::run(command)?.code().and_then(|code| u8::try_from(code).ok());
            Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
        }
        _ => misunderstood(),
    }
}

fn misunderstood() -> Result<ExitCode> {
    write!(io::stderr(), "{USAGE}")?;
    Ok(ExitCode::from(2))
}

fn check(root: &Path) -> Result<ExitCode> {
    let tree = Tree::load(root)?;
    let findings = tidy::run(&tree);
    let mut out = io::stdout().lock();
    for finding in &findings {
        writeln!(out, "{finding}")?;
    }
    let (checks, files) = (tidy::CHECKS.len(), tree.files().len());
    if findings.is_empty() {
        writeln!(out, "tidy: {checks} checks on {files} files, nothing to mend")?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(out, "tidy: {checks} checks on {files} files, {} to mend", findings.len())?;
    Ok(ExitCode::FAILURE)
}

fn measure(root: &Path, options: &bench::Options) -> Result<ExitCode> {
    match bench::run(root, options) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => {
            writeln!(io::stderr(), "bench: {error:#}")?;
            Ok(ExitCode::FAILURE)
        }
    }
}

/// The workspace's root: two levels above this crate, wherever the command was typed.
fn root() -> Result<&'static Path> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent()
        .and_then(Path::parent)
        .context("this crate does not lie in crates/ of a workspace")
}
