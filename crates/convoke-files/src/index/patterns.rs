//! The patterns of one ignore file, with the meaning that gitignore(5) gives them.

use std::collections::HashMap;

use super::globs::{NameGlob, PathGlob};

/// What a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
}

/// What a pattern says about the paths that it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    Ignore,
    Include,
}

/// The patterns of a file. Of those that match a path, the last one decides.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    /// Patterns without wildcards are looked up: some projects list thousands of files.
    names: HashMap<Box<str>, Fixed>,
    paths: HashMap<Box<str>, Fixed>,
    /// In the order of the file.
    wildcards: Vec<Wildcard>,
    wildcard_bytes: usize,
}

/// The last rules with a fixed name or path.
#[derive(Debug, Default)]
struct Fixed {
    file: Option<Rule>,
    folder: Option<Rule>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rule {
    line: usize,
    verdict: Verdict,
}

#[derive(Debug)]
struct Wildcard {
    glob: Glob,
    rule: Rule,
    /// What alone it applies to; `None` for everything.
    only: Option<Kind>,
}

#[derive(Debug)]
enum Glob {
    /// The end of a name, as in `*.log`.
    Ending(Box<str>),
    Name(NameGlob),
    Path(PathGlob),
}

impl Patterns {
    /// Parses a file; `None` if its wildcards have more bytes than that.
    pub(super) fn parse(file: &[u8], wildcard_bytes_max: usize) -> Option<Self> {
        let file = file.strip_prefix("\u{feff}".as_bytes()).unwrap_or(file);
        let mut patterns = Self::default();
        for (number, line) in file.split(|byte| *byte == b'\n').enumerate() {
            // A pattern that is not UTF-8 matches no path that is.
            let Ok(line) = str::from_utf8(line) else { continue };
            patterns.add(number, line.strip_suffix('\r').unwrap_or(line));
            if patterns.wildcard_bytes > wildcard_bytes_max {
                return None;
            }
        }
        Some(patterns)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty() && self.paths.is_empty() && self.wildcards.is_empty()
    }

    pub(super) const fn wildcard_bytes(&self) -> usize {
        self.wildcard_bytes
    }

    /// What the file says about a path relative to its folder, if anything.
    pub(super) fn verdict(&self, path: &str, kind: Kind) -> Option<Verdict> {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        let fixed = [self.names.get(name), self.paths.get(path)].into_iter().flatten();
        let fixed = fixed.filter_map(|fixed| fixed.rule(kind)).max();
        let mut later = self.wildcards.iter().rev().take_while(|found| Some(found.rule) > fixed);
        let wildcard = later.find(|found| found.matches(path, name, kind));
        wildcard.map(|found| found.rule).or(fixed).map(|rule| rule.verdict)
    }

    fn add(&mut self, number: usize, line: &str) {
        if line.starts_with('#') {
            return;
        }
        let line = if line.ends_with("\\ ") { line } else { line.trim_end() };
        let (line, verdict) = match line.strip_prefix('!') {
            Some(line) => (line, Verdict::Include),
            None => (line, Verdict::Ignore),
        };
        let (line, only) = match line.strip_suffix('/') {
            Some(line) => (line, Some(Kind::Folder)),
            None => (line, None),
        };
        // A slash ties the pattern to the folder of the file; without one it is for names anywhere.
        let is_path = line.contains('/');
        let pattern = line.strip_prefix('/').unwrap_or(line);
        if pattern.is_empty() {
            return;
        }
        let rule = Rule { line: number, verdict };
        if !pattern.contains(['*', '?', '[', '\\']) {
            let fixed = if is_path { &mut self.paths } else { &mut self.names };
            fixed.entry(pattern.into()).or_default().set(rule, only);
            return;
        }
        self.wildcard_bytes += pattern.len();
        let glob = if is_path {
            Glob::Path(PathGlob::parse(pattern))
        } else {
            match pattern.strip_prefix('*').filter(|end| !end.contains(['*', '?', '[', '\\'])) {
                Some(ending) => Glob::Ending(ending.into()),
                None => Glob::Name(NameGlob::parse(pattern)),
            }
        };
        self.wildcards.push(Wildcard { glob, rule, only });
    }
}

impl Fixed {
    const fn set(&mut self, rule: Rule, only: Option<Kind>) {
        match only {
            None => (self.file, self.folder) = (Some(rule), Some(rule)),
            Some(Kind::File) => self.file = Some(rule),
            Some(Kind::Folder) => self.folder = Some(rule),
        }
    }

    const fn rule(&self, kind: Kind) -> Option<Rule> {
        match kind {
            Kind::File => self.file,
            Kind::Folder => self.folder,
        }
    }
}

impl Wildcard {
    fn matches(&self, path: &str, name: &str, kind: Kind) -> bool {
        self.only.is_none_or(|only| only == kind)
            && match &self.glob {
                Glob::Ending(ending) => name.ends_with(&**ending),
                Glob::Name(glob) => glob.matches(name),
                Glob::Path(glob) => glob.matches(path),
            }
    }
}
