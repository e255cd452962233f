//! Counts instructions with valgrind: the count of a program does not depend on the load of the
//! machine.

use std::io::{self, ErrorKind, Write as _};
use std::process::Command;

use super::Result;

/// A command that runs under valgrind, which counts the instructions of all its threads and none of its children's.
pub fn counting(program: &std::path::Path) -> Command {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
    command
}

/// The number of instructions in the output of a command made with `counting`.
pub fn counted(said: &str) -> Result<f64> {
    let line = said.lines().find_map(|line| line.split_once("Collected :"));
    let (_, number) = line.ok_or_else(|| format!("valgrind did not count: {said}"))?;
    Ok(number.trim().parse()?)
}

/// Whether valgrind is installed; prints a note if not.
pub fn can_count() -> Result<bool> {
    match Command::new("valgrind").arg("--version").output() {
        Ok(output) => Ok(output.status.success()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            writeln!(io::stderr(), "valgrind is not installed: instructions are not counted")?;
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

/// The instructions of one of many iterations: `count` is called for this many and for twice as
/// many, so that startup and exit do not count.
pub fn each(times: usize, mut count: impl FnMut(usize) -> Result<f64>) -> Result<f64> {
    let (once, twice) = (count(times)?, count(2 * times)?);
    Ok((twice - once) / times as f64)
}

/// The instructions of this program when it is started for a task in a separate process.
pub fn of_subtask(what: &str) -> Result<f64> {
    let program = std::env::current_exe()?;
    let output = counting(&program).args(["--subtask", what]).output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(said.into());
    }
    counted(&said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_takes_to_begin_does_not_count() {
        assert_eq!(each(10, |times| Ok(5000.0 + 7.0 * times as f64)).unwrap(), 7.0);
    }

    #[test]
    fn the_count_is_in_the_last_words_of_valgrind() {
        let said = "==7== Events    : Ir\n==7== Collected : 123456\n==7== \n";
        assert_eq!(counted(said).unwrap(), 123_456.0);
        assert!(counted("Segmentation fault").is_err());
    }
}
