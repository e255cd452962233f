//! Sleeps and spinning in tests are found, and elsewhere left alone.

use xtask::tidy::sleep_in_tests::check;

use crate::support::{passes_here, said};

#[test]
fn this_tree_passes() {
    passes_here(check);
}

const SLEEPER: &str = "\
fn wait() { std::thread::sleep(SECOND); }
#[cfg(test)]
mod tests {
    use tokio::time::{sleep, timeout};
    // thread::sleep in a comment
    const NAME: &str = \"thread::sleep\";
    fn wait() { team.sleep(); }
}
";

#[test]
fn a_test_module_may_not_sleep_and_the_code_beside_it_may() {
    assert_eq!(
        said(check, &[("crates/a/src/lib.rs", SLEEPER)]),
        ["crates/a/src/lib.rs:4: a test sleeps \
          — wait for the event, the file or the exit that the sleep stands for"]
    );
}

#[test]
fn a_file_of_tests_may_not_sleep_wherever_it_lies() {
    let files = [
        ("crates/a/src/session.rs", "#[cfg(test)]\nmod scripted;\nmod live;\n"),
        ("crates/a/src/session/live.rs", "fn f() { thread::sleep(S) }\n"),
        ("crates/a/src/session/scripted.rs", "fn f() { thread::sleep(S) }\n"),
        ("crates/a/src/session/tests.rs", "fn f() { thread::sleep(S) }\n"),
        ("crates/a/tests/it/main.rs", "\nfn f() { tokio::time::sleep_until(S) }\n"),
    ];
    let at: Vec<String> = said(check, &files)
        .iter()
        .map(|line| line.split(": ").next().unwrap().to_owned())
        .collect();
    let expected = [
        "crates/a/src/session/scripted.rs:1",
        "crates/a/src/session/tests.rs:1",
        "crates/a/tests/it/main.rs:2",
    ];
    assert_eq!(at, expected);
}

#[test]
fn a_test_may_not_spin_on_its_thread_and_a_task_may_yield() {
    let spinner = "\
use std::{task::ready, thread};
fn f() { while !g() { std::thread::yield_now(); } }
async fn h() { tokio::task::yield_now().await }
use tokio::task::yield_now;
";
    let files = [("crates/a/tests/it/main.rs", spinner), ("crates/a/src/lib.rs", spinner)];
    assert_eq!(
        said(check, &files),
        ["crates/a/tests/it/main.rs:2: a test spins \
          — wait with `convoke_testkit::wait`, which leaves the core to the program under test"]
    );
}
