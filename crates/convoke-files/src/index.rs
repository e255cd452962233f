//! The index of a project's files and folders, which are found by a few letters of their paths.
//!
//! Files that git ignores are left out, and so are links: they may lead out of the project.

use std::path::{Component, Path, PathBuf};

use ignore::WalkBuilder;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// Entries of one project in the index; among more, people find none by a few letters.
const ENTRIES_MAX: usize = 500_000;

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
        let mut paths = Vec::new();
        let mut walk = WalkBuilder::new(root);
        // Workflows and settings in hidden folders are worth mentioning; the innards of git are not.
        walk.hidden(false).follow_links(false).require_git(false).parents(true);
        walk.filter_entry(|entry| entry.file_name() != ".git");
        for entry in walk.build().flatten() {
            let Ok(path) = entry.path().strip_prefix(root) else { continue };
            // A path that is not UTF-8 cannot be typed.
            let Some(path) = path.to_str().filter(|path| !path.is_empty()) else { continue };
            match entry.file_type() {
                Some(kind) if kind.is_file() => paths.push(path.to_owned()),
                Some(kind) if kind.is_dir() => paths.push(format!("{path}/")),
                Some(_) | None => continue,
            }
            if paths.len() == ENTRIES_MAX {
                break;
            }
        }
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn project() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in [
            "src/main.rs",
            "src/model/user.rs",
            "docs/user-guide.md",
            "target/debug/x",
            ".git/config",
            ".github/ci.yml",
        ] {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), "").unwrap();
        }
        fs::write(root.join(".gitignore"), "target/\n*.log\n").unwrap();
        fs::write(root.join("debug.log"), "").unwrap();
        symlink("/etc", root.join("etc")).unwrap();
        symlink("/etc/passwd", root.join("passwd")).unwrap();
        symlink("src/main.rs", root.join("main")).unwrap();
        folder
    }

    #[test]
    fn l2_what_git_ignores_and_links_are_not_offered() {
        let folder = project();
        let index = FileIndex::build(folder.path());
        assert_eq!(
            index.search("", 100),
            [
                ".github/",
                ".gitignore",
                "docs/",
                "src/",
                ".github/ci.yml",
                "docs/user-guide.md",
                "src/main.rs",
                "src/model/",
                "src/model/user.rs",
            ]
        );
    }

    #[test]
    fn l2_a_few_letters_find_the_file() {
        let folder = project();
        let index = FileIndex::build(folder.path());
        assert_eq!(index.search("smr", 1), ["src/main.rs"]);
        assert_eq!(index.search("user", 2), ["docs/user-guide.md", "src/model/user.rs"]);
        assert_eq!(index.search("model/", 1), ["src/model/"]);
        assert_eq!(index.search("nothing-like-it", 5), Vec::<String>::new());
    }

    #[test]
    fn l2_threads_that_share_a_large_project_find_what_one_finds() {
        let name = |number: usize| format!("source/part{}/module{number}.rs", number % 7);
        let index = FileIndex { paths: (0..SHARE * 3 + 7).map(name).collect() };
        for typed in ["m", "module59999", "part3/mod400", "nothing-like-it"] {
            let pattern = Pattern::parse(typed, CaseMatching::Smart, Normalization::Smart);
            assert_eq!(index.score(&pattern), score_all(&pattern, &index.paths, 0), "{typed}");
        }
        assert_eq!(index.search("module60006", 1), [name(60_006)]);
    }

    #[test]
    fn l2_no_path_leads_out_of_the_project() {
        let folder = project();
        let root = folder.path();
        let real = root.canonicalize().unwrap();
        assert_eq!(inside(root, "src/main.rs"), Some(real.join("src/main.rs")));
        assert_eq!(inside(root, "docs/"), Some(real.join("docs")));
        assert_eq!(inside(root, "main"), Some(real.join("src/main.rs")), "the link stays inside");
        for out in [
            "",
            "/etc/passwd",
            "../x",
            "src/../../x",
            "passwd",
            "etc/passwd",
            "gone",
            "src/main.rs\0",
        ] {
            assert_eq!(inside(root, out), None, "{out}");
        }
    }
}
