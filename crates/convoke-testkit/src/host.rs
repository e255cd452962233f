//! What the machine has for tests: example programs that cargo builds, and agents that `./test --real-agents` installs.

use std::path::PathBuf;

/// An example program of the workspace, which cargo builds along with the tests.
#[track_caller]
pub fn example(name: &str) -> PathBuf {
    let this = std::env::current_exe().expect("a test knows its program");
    // Tests are in `deps`, beside `examples`.
    let target = this.ancestors().nth(2).expect("a test is in a folder of `target`");
    let program = target.join("examples").join(name);
    assert!(program.exists(), "{} is missing: build the examples too", program.display());
    program
}

/// Where the agents are installed.
#[expect(clippy::disallowed_methods, reason = "how `./test --real-agents` passes it")]
pub fn installed() -> PathBuf {
    let folder = std::env::var_os("CONVOKE_REAL_AGENTS");
    PathBuf::from(folder.expect("run `./test --real-agents`, which installs the agents"))
}
