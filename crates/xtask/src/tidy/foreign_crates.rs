//! A third-party crate is only used by the crate at its border, so that its types and its releases
//! stop there.
//!
//! Checked in the manifests: only a dependency can be imported.

use crate::finding::Finding;
use crate::manifest::{self, Dependency, DependencyKind, Manifest};
use crate::tree::Tree;

/// The crates that may depend on a third-party crate; those that are not listed are open to all but
/// the core.
const BORDERS: [(&str, &[&str]); 36] = [
    ("anyhow", &["convoke", "xtask"]),
    ("axum", &["convoke-server"]),
    ("cap-std", &["convoke-agents"]),
    ("clap", &["convoke", "xtask"]),
    ("clap_complete", &["convoke"]),
    ("clap_mangen", &["convoke"]),
    ("close_fds", &["convoke-agents"]),
    ("crossterm", &["convoke-tui"]),
    ("hyper", &["convoke-api", "convoke-server"]),
    ("hyper-util", &["convoke-api", "convoke-server"]),
    ("ignore", &["convoke-files"]),
    ("landlock", &["convoke-agents"]),
    ("miniz_oxide", &["convoke-git"]),
    ("moka", &["convoke-engine"]),
    ("notify", &["convoke-files"]),
    ("nucleo-matcher", &["convoke-files"]),
    ("postgres", &["convoke-store", "convoke-testkit"]),
    ("pulldown-cmark", &["convoke-server", "convoke-tui"]),
    ("ratatui", &["convoke-tui"]),
    ("rmcp", &["convoke", "convoke-server"]),
    // Our own database, and those of other programs, which are only ever read.
    ("rusqlite", &["convoke-histories", "convoke-store"]),
    ("rust-embed", &["convoke-server"]),
    ("rustls", &["convoke-store"]),
    ("rustls-native-certs", &["convoke-store"]),
    ("rustyline", &["convoke"]),
    // The core derives the schemas of its own JSON: docs/decisions/0010.
    ("schemars", &["convoke-api", "convoke-core"]),
    ("seccompiler", &["convoke-agents"]),
    ("sha1", &["convoke-git"]),
    ("strsim", &["convoke"]),
    ("subtle", &["convoke-server"]),
    ("tokio-postgres-rustls", &["convoke-store"]),
    ("tokio-tungstenite", &["convoke-api", "convoke-server"]),
    ("toml_edit", &["convoke", "xtask"]),
    ("tower", &["convoke-server"]),
    ("utoipa", &["convoke-api", "convoke-server"]),
    ("utoipa-axum", &["convoke-server"]),
];

/// The crate that decides and does nothing else.
const CORE: &str = "convoke-core";

/// All that the core may know: data, its text forms, and error types. The table above adds schemas of these forms.
const CORE_MAY_USE: [&str; 5] = ["jiff", "serde", "serde_json", "thiserror", "uuid"];

/// Tools that a test may use in any crate.
const TEST_TOOLS: [&str; 4] = ["criterion", "insta", "proptest", "tempfile"];

/// The path of this file, for hints.
const HERE: &str = "crates/xtask/src/tidy/foreign_crates.rs";

/// Finds dependencies on the wrong side of a border.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in &manifest::crates(tree) {
        findings.extend(manifest.dependencies.iter().filter_map(|it| judge(manifest, it)));
    }
    findings
}

fn judge(manifest: &Manifest, dependency: &Dependency) -> Option<Finding> {
    let package = dependency.package.as_str();
    if dependency.kind == DependencyKind::Dev && TEST_TOOLS.contains(&package) {
        return None;
    }
    let border = BORDERS.iter().find(|(foreign, _)| *foreign == package);
    let (what, way_out) = match border {
        Some((_, homes)) if !homes.contains(&manifest.name.as_str()) => (
            format!(
                "{} depends on {package}, which stops at {}",
                manifest.name,
                homes.join(" and ")
            ),
            format!("ask {} for what is needed, in our own types", homes.join(" or ")),
        ),
        None if manifest.name == CORE && !CORE_MAY_USE.contains(&package) => {
            // Our own crates are the business of the rule on direction.
            if package.starts_with("convoke") {
                return None;
            }
            (
                format!("{CORE} depends on {package}, and knows nothing but data"),
                format!(
                    "do it in another crate, or add {package} to the list in {HERE} and say why"
                ),
            )
        }
        Some(_) | None => return None,
    };
    Some(Finding::new(&manifest.path, dependency.line, what, way_out))
}
