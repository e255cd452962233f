//! The properties of the machine that a reader needs to judge the figures.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// A list of facts, as Markdown.
pub(super) fn facts() -> Result<String> {
    let processors = fs::read_to_string("/proc/cpuinfo")?;
    let count = processors.lines().filter(|line| line.starts_with("processor")).count();
    let model = field(&processors, "model name").unwrap_or("of unknown make");
    let memory = fs::read_to_string("/proc/meminfo")?;
    let kilobytes: u64 = field(&memory, "MemTotal")
        .and_then(|text| text.split_whitespace().next())
        .context("/proc/meminfo has no MemTotal")?
        .parse()?;
    Ok(format!(
        "- date: {}\n- processors: {count} × {model}\n- memory: {} GiB\n- system: {}\n- compiler: {}\n",
        output("date", &["-u", "+%Y-%m-%d"])?,
        kilobytes.div_ceil(1024 * 1024),
        output("uname", &["-s", "-r", "-m"])?,
        output("rustc", &["--version"])?,
    ))
}

/// The value of a name in the kernel's lists.
fn field<'a>(list: &'a str, name: &str) -> Option<&'a str> {
    list.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim())
}

fn output(program: &str, words: &[&str]) -> Result<String> {
    let output = Command::new(program).args(words).output().with_context(|| program.to_owned())?;
    if !output.status.success() {
        bail!("{program}: {}", output.status);
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_is_what_stands_behind_its_name() {
        let list = "processor\t: 0\nmodel name\t: A B\nmodel\t: 3\n";
        assert_eq!(field(list, "model name"), Some("A B"));
        assert_eq!(field(list, "stepping"), None);
    }
}
