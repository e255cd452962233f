//! Patches as agents write them: the envelope of `apply_patch`, and unified diffs.
//!
//! A changed file becomes the text of its hunks before and after: the whole file is not in the patch.

use convoke_core::content::Diff;

/// The files that a patch of `apply_patch` changes.
pub(crate) fn diffs(patch: &str) -> Vec<Diff> {
    let mut files: Vec<File> = Vec::new();
    for line in patch.lines() {
        if let Some(file) = File::begin(line) {
            files.push(file);
        } else if let Some(file) = files.last_mut() {
            file.add(line);
        }
    }
    files.into_iter().map(File::finish).collect()
}

/// A change of one file in the form of a unified diff.
pub(crate) fn from_unified(path: &str, diff: &str) -> Diff {
    let mut file = File { path: path.to_owned(), kind: Kind::Update, ..File::default() };
    for line in diff.lines() {
        // The names of the files come before the first hunk.
        if !file.began && !line.starts_with("@@") {
            continue;
        }
        file.began = true;
        file.add(line);
    }
    file.finish()
}

#[derive(Debug, Default, PartialEq)]
enum Kind {
    Add,
    #[default]
    Update,
    Delete,
}

#[derive(Debug, Default)]
struct File {
    path: String,
    kind: Kind,
    began: bool,
    old: Vec<String>,
    new: Vec<String>,
}

impl File {
    fn begin(line: &str) -> Option<Self> {
        let named =
            |kind, path: &str| Some(Self { path: path.trim().to_owned(), kind, ..Self::default() });
        if let Some(path) = line.strip_prefix("*** Add File: ") {
            return named(Kind::Add, path);
        }
        if let Some(path) = line.strip_prefix("*** Update File: ") {
            return named(Kind::Update, path);
        }
        named(Kind::Delete, line.strip_prefix("*** Delete File: ")?)
    }

    fn add(&mut self, line: &str) {
        if let Some(path) = line.strip_prefix("*** Move to: ") {
            self.path = path.trim().to_owned();
            return;
        }
        if line.starts_with("***") || line.starts_with('\\') {
            return;
        }
        if line.starts_with("@@") {
            // The patch does not show the text between hunks.
            if !self.old.is_empty() || !self.new.is_empty() {
                self.old.push("⋯".to_owned());
                self.new.push("⋯".to_owned());
            }
            return;
        }
        let mut letters = line.chars();
        match letters.next() {
            Some('+') => self.new.push(letters.as_str().to_owned()),
            Some('-') => self.old.push(letters.as_str().to_owned()),
            Some(' ') => {
                self.old.push(letters.as_str().to_owned());
                self.new.push(letters.as_str().to_owned());
            }
            Some(_) | None => {
                self.old.push(line.to_owned());
                self.new.push(line.to_owned());
            }
        }
    }

    fn finish(self) -> Diff {
        let old_text = (self.kind != Kind::Add).then(|| joined(&self.old));
        Diff { path: self.path, old_text, new_text: joined(&self.new) }
    }
}

fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(path: &str, old: Option<&str>, new: &str) -> Diff {
        Diff { path: path.to_owned(), old_text: old.map(str::to_owned), new_text: new.to_owned() }
    }

    #[test]
    fn h1_a_patch_becomes_a_change_of_each_file() {
        let patch = "*** Begin Patch\n*** Add File: a.txt\n+hello\n*** Update File: b.rs\n*** Move to: c.rs\n@@ fn x\n one\n-two\n+three\n@@\n four\n*** Delete File: d\n*** End Patch\n";
        assert_eq!(
            diffs(patch),
            [
                diff("a.txt", None, "hello\n"),
                diff("c.rs", Some("one\ntwo\n⋯\nfour\n"), "one\nthree\n⋯\nfour\n"),
                diff("d", Some(""), ""),
            ]
        );
        let unified =
            "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n\\ No newline at end of file\n";
        assert_eq!(from_unified("x", unified), diff("x", Some("one\ntwo\n"), "one\nthree\n"));
    }
}
