//! Our crates depend on each other in one direction only, from the edges to the core.

use crate::finding::Finding;
use crate::manifest::{self, DependencyKind};
use crate::tree::Tree;

/// Each crate with those of the workspace that it may depend on; tests are checked, too.
const MAY_DEPEND_ON: [(&str, &[&str]); 13] = [
    ("convoke-core", &[]),
    ("convoke-agents", &["convoke-core"]),
    ("convoke-files", &["convoke-core"]),
    ("convoke-git", &[]),
    ("convoke-histories", &["convoke-core"]),
    ("convoke-store", &["convoke-core"]),
    (
        "convoke-engine",
        &[
            "convoke-agents",
            "convoke-core",
            "convoke-files",
            "convoke-git",
            "convoke-histories",
            "convoke-store",
        ],
    ),
    ("convoke-api", &["convoke-core"]),
    ("convoke-server", &["convoke-api", "convoke-core", "convoke-engine", "convoke-files"]),
    ("convoke-tui", &["convoke-api", "convoke-core", "convoke-files"]),
    // The store for the upkeep of its schema alone (docs/decisions/0001); the engine for its settings, its errors and
    // the backups, since all calls on a running engine go through the server.
    (
        "convoke",
        &[
            "convoke-agents",
            "convoke-api",
            "convoke-core",
            "convoke-engine",
            "convoke-files",
            "convoke-server",
            "convoke-store",
            "convoke-tui",
        ],
    ),
    (TESTKIT, &["convoke-core"]),
    // The rows and the table of benchmarks, which are run from there.
    ("xtask", &[TESTKIT]),
];

/// The crate that tests and benchmarks of any crate may use in addition.
const TESTKIT: &str = "convoke-testkit";

/// A crate whose benchmarks may use another one in addition, since filling a store through a daemon
/// would take hours.
const BENCHMARKS: (&str, &str) = ("convoke-server", "convoke-store");

/// The path of this file, for hints.
const HERE: &str = "crates/xtask/src/tidy/crate_direction.rs";

/// Finds dependencies that point the wrong way, and crates that are not listed yet.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let crates = manifest::crates(tree);
    let ours = |name: &str| crates.iter().any(|manifest| manifest.name == name);
    let mut findings = Vec::new();
    for manifest in &crates {
        let (path, name) = (&manifest.path, &manifest.name);
        let Some((_, allowed)) = MAY_DEPEND_ON.iter().find(|(known, _)| known == name) else {
            let what = format!("the crate {name} has no place among the others");
            let way_out = format!("say in {HERE} what it may depend on, and who may depend on it");
            findings.push(Finding::new(path, 1, what, way_out));
            continue;
        };
        for dependency in &manifest.dependencies {
            let package = dependency.package.as_str();
            let of_tests = dependency.kind == DependencyKind::Dev
                && (package == TESTKIT || (name.as_str(), package) == BENCHMARKS);
            if ours(package) && !allowed.contains(&package) && !of_tests {
                let what = format!("{name} must not depend on {package}");
                let allowed =
                    if allowed.is_empty() { "none of ours".to_owned() } else { allowed.join(", ") };
                let way_out =
                    format!("it may depend on {allowed}; move the code to where both can be seen");
                findings.push(Finding::new(path, dependency.line, what, way_out));
            }
        }
    }
    findings
}
