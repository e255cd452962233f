//! How long it takes to say anything at all.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use convoke_testkit::bench::measure::{in_turn, seconds};
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit};

pub(crate) const ROWS: [&str; 1] = ["start: convoke --version"];

/// Starts of each program.
const STARTS: (usize, usize) = (500, 20);

/// A program that does nothing else.
const HELLO: &str = r#"fn main() {
    println!("hello");
}
"#;

pub(crate) fn measure(bench: &mut Bench, program: &Path) -> Result<()> {
    let [name] = ROWS;
    if !bench.wants(&[name]) {
        return Ok(());
    }
    bench.progress(name)?;
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let hello = build_hello(scratch.path())?;
    let (time, bare) = in_turn(
        bench.size(STARTS.0, STARTS.1),
        || run(Command::new(program).arg("--version")),
        || run(&mut Command::new(&hello)),
    )?;
    bench.add(
        Row::new(name, Unit::Seconds, time.median())
            .against("a hello-world program", bare.median())
            .goal(Goal::RatioAtMost(2.0)),
    )
}

fn build_hello(folder: &Path) -> Result<PathBuf> {
    let (source, program) = (folder.join("hello.rs"), folder.join("hello"));
    fs::write(&source, HELLO)?;
    let built = Command::new("rustc").arg("-O").arg("-o").arg(&program).arg(&source).status()?;
    if built.success() { Ok(program) } else { Err("the hello-world program is not built".into()) }
}

/// How long a command runs, in seconds, with its output thrown away.
pub(crate) fn run(command: &mut Command) -> Result<f64> {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut succeeded = false;
    let taken = seconds(|| command.status().inspect(|status| succeeded = status.success()))?;
    if succeeded { Ok(taken) } else { Err(format!("{command:?} failed").into()) }
}
