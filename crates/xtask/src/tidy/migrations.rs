//! Migrations come in pairs, are numbered without gaps, and never change once they are released.

use std::collections::{BTreeMap, BTreeSet};

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use crate::finding::Finding;
use crate::tree::Tree;

const FOLDER: &str = "crates/convoke-store/migrations/";
const LIST: &str = "crates/convoke-store/migrations/checksums.txt";

/// How the list begins.
const HEADER: &str = "\
# The migrations and their SHA-256, as `sha256sum` prints them; checked by `cargo xtask tidy`.
# A line under \"released\" never changes, and neither does its file: databases out there were made by that very text.
# Lines under \"unreleased\" follow their files with `cargo xtask tidy --bless`; a release moves them up.
";
const RELEASED: &str = "# released";
const UNRELEASED: &str = "# unreleased";

/// Finds migrations that lack a half or a number, or are not what the list says.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let found = migrations(tree);
    let mut findings = numbering(&found);
    findings.extend(checksums(tree, &found));
    findings
}

/// The corrected list: released lines unchanged, the rest from the files. `None` without
/// migrations.
pub fn blessed(tree: &Tree) -> Option<(&'static str, String)> {
    let found = migrations(tree);
    if found.is_empty() {
        return None;
    }
    let listed = listed(tree);
    let released: Vec<&Line<'_>> =
        listed.iter().filter(|line| line.section == Section::Released).collect();
    let mut text = format!("{HEADER}\n{RELEASED}\n");
    for line in &released {
        text.push_str(&format!("{}  {}\n", line.checksum, line.name));
    }
    text.push_str(&format!("\n{UNRELEASED}\n"));
    for (name, checksum) in &found {
        if !released.iter().any(|line| line.name == *name) {
            text.push_str(&format!("{checksum}  {name}\n"));
        }
    }
    Some((LIST, text))
}

/// Every SQL file in the folder with its checksum, by name.
fn migrations(tree: &Tree) -> BTreeMap<&str, String> {
    let inside = tree.files().iter().filter_map(|file| {
        let name = file.path.strip_prefix(FOLDER)?;
        name.ends_with(".sql").then(|| (name, sha256(&file.text)))
    });
    inside.collect()
}

fn sha256(text: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(text))
}

fn numbering(found: &BTreeMap<&str, String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut report = |name: &str, what: String, way_out: String| {
        findings.push(Finding::new(&format!("{FOLDER}{name}"), 1, what, way_out));
    };
    let mut stems: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for name in found.keys() {
        let Some((stem, half)) = split(name) else {
            let what = "not the name of a migration".to_owned();
            report(name, what, "call it NNNN_what.up.sql or NNNN_what.down.sql".to_owned());
            continue;
        };
        // Each database has numbers of its own.
        let folder = stem.rsplit_once('/').map_or("", |(folder, _)| folder);
        stems.entry(folder).or_default().insert(stem);
        let other = format!("{stem}.{}.sql", if half == "up" { "down" } else { "up" });
        if !found.contains_key(other.as_str()) {
            report(name, format!("it has no {other}"), "write the other half".to_owned());
        }
    }
    for stems in stems.into_values() {
        for (expected, stem) in (1_u32..).zip(stems) {
            let name = stem.rsplit('/').next().unwrap_or(stem);
            let number = name.split('_').next().and_then(|number| number.parse().ok());
            if number != Some(expected) {
                let what = format!("number {expected:04} was expected here");
                let way_out = "number migrations from 0001 without gaps or doubles".to_owned();
                report(&format!("{stem}.up.sql"), what, way_out);
                break;
            }
        }
    }
    findings
}

/// `NNNN_what.up.sql` as (`NNNN_what`, `up`).
fn split(name: &str) -> Option<(&str, &str)> {
    let (stem, half) = name.strip_suffix(".sql")?.rsplit_once('.')?;
    let (number, what) = stem.rsplit('/').next()?.split_once('_')?;
    let numbered = number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit());
    (numbered && !what.is_empty() && matches!(half, "up" | "down")).then_some((stem, half))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Released,
    Unreleased,
}

struct Line<'a> {
    number: usize,
    section: Section,
    checksum: &'a str,
    name: &'a str,
}

fn listed(tree: &Tree) -> Vec<Line<'_>> {
    let text = tree.file(LIST).map_or("", |file| &file.text);
    let mut section = Section::Unreleased;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        match line {
            RELEASED => section = Section::Released,
            UNRELEASED => section = Section::Unreleased,
            _ if line.starts_with('#') => {}
            _ => lines.extend(line.split_once("  ").map(|(checksum, name)| Line {
                number: index + 1,
                section,
                checksum,
                name,
            })),
        }
    }
    lines
}

fn checksums(tree: &Tree, found: &BTreeMap<&str, String>) -> Vec<Finding> {
    let listed = listed(tree);
    let mut findings = Vec::new();
    for line in &listed {
        let now = found.get(line.name).map(String::as_str);
        if now == Some(line.checksum) {
            continue;
        }
        let fate = if now.is_some() { "changed" } else { "is gone" };
        let (what, way_out) = match line.section {
            Section::Released => (
                format!("the released migration {} {fate}", line.name),
                "restore the file, and put the change into a new migration",
            ),
            Section::Unreleased => {
                (format!("the migration {} {fate}", line.name), "run `cargo xtask tidy --bless`")
            }
        };
        findings.push(Finding::new(LIST, line.number, what, way_out));
    }
    for name in found.keys().filter(|name| !listed.iter().any(|line| line.name == **name)) {
        let what = format!("the migration {name} is not listed");
        findings.push(Finding::new(LIST, 1, what, "run `cargo xtask tidy --bless`"));
    }
    findings
}
