//! The index of a project's files and folders, which are found by a few letters of their paths.
//!
//! Files that git ignores are left out, and so are links: they may lead out of the project.

mod globs;
mod ignore_files;
mod patterns;
mod rules;
#[cfg(test)]
mod tests;
mod walk;

use std::path::{Component, Path, PathBuf};

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use self::walk::Limits;

/// Paths that one thread compares. Fewer take less time than starting another thread.
const SHARE: usize = 20_000;
/// Threads that compare, at most.
const THREADS_MAX: usize = 4;

/// A snapshot of the files and folders of a project.
#[derive(Debug, Default)]
pub struct FileIndex {
    /// Relative paths; a folder ends with `/`.
    paths: Vec<String>,
}

impl FileIndex {
    /// Walks through a folder. Blocks.
    pub fn build(root: &Path) -> Self {
        let mut paths = walk::paths(root, &Limits::DEFAULT);
        paths.sort_unstable_by(|a, b| (depth(a), a).cmp(&(depth(b), b)));
        Self { paths }
    }

    /// How many files and folders there are.
    pub const fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// The best matches for some letters, best first; without letters those at the top.
    pub fn search(&self, query: &str, limit: usize) -> Vec<String> {
        let query = query.trim();
        if query.is_empty() {
            return self.paths.iter().take(limit).cloned().collect();
        }
        let pattern = Pattern::parse(query, CaseMatching::Smart, Normalization::Smart);
        let mut found = self.score(&pattern);
        // Of two equal ones the one nearer to the top comes first, which is also the shorter one mostly.
        let better = |a: &(u32, usize), b: &(u32, usize)| (b.0, a.1).cmp(&(a.0, b.1));
        if found.len() > limit {
            found.select_nth_unstable_by(limit, better);
            found.truncate(limit);
        }
        found.sort_unstable_by(better);
        found.iter().filter_map(|(_, place)| self.paths.get(*place).cloned()).collect()
    }

    /// The scores of all paths that match, with their places.
    fn score(&self, pattern: &Pattern) -> Vec<(u32, usize)> {
        let threads = self.paths.len().div_ceil(SHARE).clamp(1, THREADS_MAX);
        let share = self.paths.len().div_ceil(threads).max(1);
        let mut shares = self.paths.chunks(share).enumerate();
        let first = shares.next();
        let score = |(number, paths): (usize, &[String])| score_all(pattern, paths, number * share);
        std::thread::scope(|scope| {
            let others: Vec<_> = shares.map(|share| scope.spawn(move || score(share))).collect();
            let mut found = first.map(score).unwrap_or_default();
            for other in others {
                // A thread that panics, as none does, costs its share of the answer only.
                found.extend(other.join().unwrap_or_default());
            }
            found
        })
    }
}

fn score_all(pattern: &Pattern, paths: &[String], first: usize) -> Vec<(u32, usize)> {
    let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
    let mut characters = Vec::new();
    let scored = paths.iter().enumerate().filter_map(|(place, path)| {
        let haystack = Utf32Str::new(path, &mut characters);
        Some((pattern.score(haystack, &mut matcher)?, first + place))
    });
    scored.collect()
}

/// How many folders a path is inside of.
fn depth(path: &str) -> usize {
    path.trim_end_matches('/').bytes().filter(|byte| *byte == b'/').count()
}

/// The real path of a file or folder of a project; `None` if it is not there, or if it or a link in it leads out.
pub fn inside(root: &Path, relative: &str) -> Option<PathBuf> {
    let path = Path::new(relative);
    let is_inner = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if relative.is_empty() || relative.contains('\0') || !path.components().all(is_inner) {
        return None;
    }
    let root = root.canonicalize().ok()?;
    let real = root.join(path).canonicalize().ok()?;
    real.starts_with(&root).then_some(real)
}
