//! The project speaks of itself alone: no path and no download host of the machine it was written on.

use crate::finding::Finding;
use crate::tree::{SourceFile, Tree};

/// Beginnings of paths that exist on one machine only; written in two pieces so that this file passes.
const MACHINE_PATHS: [&str; 2] = [concat!("/", "work/"), concat!("/", "root/")];

/// Folders of people's homes, under which only the names below may appear.
const HOMES: [&str; 2] = ["/home/", "/Users/"];

/// Fictional people, for examples.
const EXAMPLE_PEOPLE: [&str; 6] = ["alice", "ann", "bob", "me", "user", "you"];

/// The registries that each kind of lock file may contain.
const REGISTRIES: [(&str, &str, &str); 2] = [
    ("Cargo.lock", "source = \"", "registry+https://github.com/rust-lang/crates.io-index"),
    ("package-lock.json", "\"resolved\": \"", "https://registry.npmjs.org/"),
];

/// Settings that point a package tool at another registry than its own.
const REDIRECTIONS: [(&str, &str); 3] =
    [(".cargo/config.toml", "replace-with"), (".npmrc", "registry"), ("pip.conf", "index-url")];

/// Finds paths and hosts that mean nothing elsewhere.
pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.files().iter().flat_map(check_file).collect()
}

fn check_file(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        if let Some(path) = machine_path(line) {
            let what = format!("`{path}` is a path of one machine");
            let way_out = "use a relative path, a temporary directory, or /home/me in an example";
            findings.push(Finding::new(&file.path, index + 1, what, way_out));
        }
        if is_mirrored(file, line) {
            let way_out = "use the public registry here, and redirect on the machine that needs it";
            findings.push(Finding::new(
                &file.path,
                index + 1,
                "packages come from a mirror",
                way_out,
            ));
        }
    }
    findings
}

/// The first path in a line that exists on one machine only.
fn machine_path(line: &str) -> Option<&str> {
    let tails = line.char_indices().filter(|(_, c)| *c == '/').filter_map(|(at, _)| {
        let (before, tail) = line.split_at(at);
        // Inside a longer path or an address this is a folder's name like any other.
        let begins = !before.ends_with(|c: char| c.is_alphanumeric() || "._-/~}".contains(c));
        begins.then_some(tail)
    });
    tails.filter(|tail| is_of_one_machine(tail)).map(first_words).next()
}

fn is_of_one_machine(tail: &str) -> bool {
    let of_a_person = HOMES.iter().filter_map(|home| tail.strip_prefix(home)).any(|inside| {
        let name = inside.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_')).next();
        name.is_some_and(|name| !name.is_empty() && !EXAMPLE_PEOPLE.contains(&name))
    });
    of_a_person || MACHINE_PATHS.iter().any(|path| tail.starts_with(path))
}

/// A path up to the first character that cannot belong to it.
fn first_words(tail: &str) -> &str {
    tail.split(|c: char| c.is_whitespace() || "\"'`,;:()<>|".contains(c)).next().unwrap_or(tail)
}

fn is_mirrored(file: &SourceFile, line: &str) -> bool {
    let line = line.trim_start();
    let locked = REGISTRIES.iter().any(|(name, key, registry)| {
        file.name() == *name
            && line.strip_prefix(key).is_some_and(|source| !source.starts_with(registry))
    });
    locked
        || REDIRECTIONS.iter().any(|(path, key)| file.path.ends_with(path) && line.starts_with(key))
}
