//! The crates of the workspace and what they depend on, read from their manifests.

use toml_edit::{Document, Item, TableLike};

use crate::tree::Tree;

/// A crate of the workspace.
#[derive(Debug)]
pub struct Manifest {
    /// The path of its `Cargo.toml`.
    pub path: String,
    /// The crate's name.
    pub name: String,
    /// Everything it depends on, in order.
    pub dependencies: Vec<Dependency>,
}

/// One line under `[dependencies]` or its kin.
#[derive(Debug)]
pub struct Dependency {
    /// The package's real name, whatever it is called here.
    pub package: String,
    /// The kind of use.
    pub kind: DependencyKind,
    /// Its line in the manifest.
    pub line: usize,
}

/// The kind of use of a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DependencyKind {
    /// For the crate itself or its build script.
    Normal,
    /// For its tests and benchmarks only.
    Dev,
}

/// Reads the manifests of all crates under `crates/`; invalid ones are left to cargo.
pub fn crates(tree: &Tree) -> Vec<Manifest> {
    let root = tree.file("Cargo.toml").and_then(|file| Document::parse(&*file.text).ok());
    let shared = root
        .as_ref()
        .and_then(|document| document.get("workspace")?.get("dependencies")?.as_table_like());
    tree.files()
        .iter()
        .filter(|file| {
            let inside = file.path.strip_prefix("crates/").and_then(|path| path.split_once('/'));
            inside.is_some_and(|(_, rest)| rest == "Cargo.toml")
        })
        .filter_map(|file| read(&file.path, &file.text, shared))
        .collect()
}

fn read(path: &str, text: &str, shared: Option<&dyn TableLike>) -> Option<Manifest> {
    let document = Document::parse(text).ok()?;
    let name = document.get("package")?.get("name")?.as_str()?.to_owned();
    let mut dependencies = Vec::new();
    let mut collect = |item: Option<&Item>, kind| {
        let Some(table) = item.and_then(Item::as_table_like) else { return };
        for (key, value) in table.iter() {
            let package = package_of(key, value, shared).to_owned();
            let at = table.key(key).and_then(|key| key.span()).map_or(0, |span| span.start);
            dependencies.push(Dependency { package, kind, line: line_at(text, at) });
        }
    };
    let mut sections: Vec<&dyn TableLike> = vec![document.as_table()];
    if let Some(targets) = document.get("target").and_then(Item::as_table_like) {
        sections.extend(targets.iter().filter_map(|(_, item)| item.as_table_like()));
    }
    for section in sections {
        collect(section.get("dependencies"), DependencyKind::Normal);
        collect(section.get("build-dependencies"), DependencyKind::Normal);
        collect(section.get("dev-dependencies"), DependencyKind::Dev);
    }
    Some(Manifest { path: path.to_owned(), name, dependencies })
}

/// A dependency's own name: `package = "…"` here or in the workspace's table, else the key.
fn package_of<'a>(key: &'a str, value: &'a Item, shared: Option<&'a dyn TableLike>) -> &'a str {
    let renamed = |item: &'a Item| item.get("package").and_then(Item::as_str);
    let by_workspace = || shared.and_then(|table| table.get(key)).and_then(renamed);
    renamed(value).or_else(by_workspace).unwrap_or(key)
}

fn line_at(text: &str, byte: usize) -> usize {
    1 + text.bytes().take(byte).filter(|byte| *byte == b'\n').count()
}
