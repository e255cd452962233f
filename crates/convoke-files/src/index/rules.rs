//! The ignore rules that are in force in a folder: its own and those of the folders around it.

use std::path::Path;
use std::rc::Rc;

use super::ignore_files;
use super::patterns::{Kind, Patterns, Verdict};

/// What the rules of a project take at most, all that are in force in one folder together. A file
/// that exceeds it is not applied at all: half of its rules could hide what the other half includes.
const BUDGET_MAX: Budget = Budget {
    // The rules take some thirty times as much memory if every line is short.
    bytes: 1 << 20,
    // Wildcards are compared with every path one by one. The most costly ones take less than a
    // second for the longest path, so the deadline of the listing holds.
    wildcard_bytes: 64 << 10,
};

/// The rules in force in a folder; they share those of the folders around it.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    /// Of `.ignore`, of `.gitignore`, and of git's private files; an earlier list wins.
    lists: [List; 3],
    /// What is left for the folders inside.
    budget: Budget,
}

/// The rules of files with the same name; those of the innermost folder come first and win.
type List = Option<Rc<Layer>>;

#[derive(Debug)]
struct Layer {
    patterns: Patterns,
    /// The length of the path that the patterns are relative to.
    base_length: usize,
    outer: List,
}

#[derive(Debug, Clone, Copy)]
struct Budget {
    bytes: usize,
    wildcard_bytes: usize,
}

impl Rules {
    /// The rules that the user and the folders around a project set for it.
    pub(super) fn around(root: &Path) -> Rc<Self> {
        let mut rules = Self { lists: [const { None }; 3], budget: BUDGET_MAX };
        let [.., private] = &mut rules.lists;
        if let Some(file) = ignore_files::of_user() {
            push(private, &mut rules.budget, &file, text(root).len());
        }
        let mut rules = Rc::new(rules);
        let around: Vec<&Path> = root.ancestors().skip(1).collect();
        for folder in around.into_iter().rev() {
            rules = Self::within(&rules, folder, &text(folder));
        }
        rules
    }

    /// The rules in force in a folder, from those around it and its files; `path` is its [`text`].
    pub(super) fn within(outer: &Rc<Self>, folder: &Path, path: &str) -> Rc<Self> {
        let mut rules = Self::clone(outer);
        let mut has_own = false;
        for (list, file) in rules.lists.iter_mut().zip(ignore_files::of_folder(folder)) {
            let pushed = file.and_then(|file| push(list, &mut rules.budget, &file, path.len()));
            has_own |= pushed.is_some();
        }
        if has_own { Rc::new(rules) } else { Rc::clone(outer) }
    }

    /// Whether a file or folder is left out; `path` is its [`text`] without the slash at the end.
    pub(super) fn is_ignored(&self, path: &str, kind: Kind) -> bool {
        let verdict = self.lists.iter().find_map(|list| {
            let mut layers = std::iter::successors(list.as_ref(), |layer| layer.outer.as_ref());
            layers.find_map(|layer| layer.patterns.verdict(path.get(layer.base_length..)?, kind))
        });
        verdict == Some(Verdict::Ignore)
    }
}

/// Puts the rules of a file before those of a list; `None` if there are none or too many.
fn push(list: &mut List, budget: &mut Budget, file: &Path, base_length: usize) -> Option<()> {
    let bytes = ignore_files::read(file, budget.bytes)?;
    let patterns = Patterns::parse(&bytes, budget.wildcard_bytes);
    if patterns.is_none() {
        tracing::debug!("{} has too many wildcards and is not applied", file.display());
    }
    let patterns = patterns.filter(|patterns| !patterns.is_empty())?;
    budget.bytes = budget.bytes.saturating_sub(bytes.len());
    budget.wildcard_bytes = budget.wildcard_bytes.saturating_sub(patterns.wildcard_bytes());
    *list = Some(Rc::new(Layer { patterns, base_length, outer: list.take() }));
    Some(())
}

/// The path of a folder from `/` on, as rules are matched with; it ends with a slash.
pub(super) fn text(folder: &Path) -> String {
    let mut text = folder.to_string_lossy().into_owned();
    if !text.ends_with('/') {
        text.push('/');
    }
    text
}
