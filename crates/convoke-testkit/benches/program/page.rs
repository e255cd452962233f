//! The page in a real browser. `web/test/bench.js` defines what is measured there, and against what.

use std::path::Path;
use std::process::{Command, Stdio};

use convoke_testkit::bench::{Bench, Result, Row};

pub(crate) const ROWS: [&str; 7] = [
    "page: first paint, empty cache",
    "page: latency from agent output to screen",
    "page: open a session of 100,000 messages",
    "page: open a session of long answers with code",
    "page: longest frame while scrolling up in a session of 100,000 messages",
    "page: longest frame while scrolling up in a diff of 20,000 lines",
    "page: latency from a line appended by another program to screen",
];

pub(crate) fn measure(bench: &mut Bench, program: &Path) -> Result<()> {
    if !bench.wants(&ROWS) {
        return Ok(());
    }
    bench.progress("the page in a browser")?;
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/test/run");
    let mut command = Command::new(run);
    command.arg("--bench").env("CONVOKE_BIN", program).stderr(Stdio::inherit());
    if bench.size(0, 1) == 1 {
        command.arg("--quick");
    }
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("web/test/run --bench: {}", output.status).into());
    }
    for line in String::from_utf8(output.stdout)?.lines() {
        bench.add(serde_json::from_str::<Row>(line)?)?;
    }
    Ok(())
}
