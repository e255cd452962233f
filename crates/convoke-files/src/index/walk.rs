//! Lists the files and folders of a project.
//!
//! Agents write to the folders that are listed here, so time and memory are bounded whatever is in
//! them. Links are not followed, and one folder is open at a time.

use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::patterns::Kind;
use super::rules::{self, Rules};

/// Where a listing ends. What was found until then is the listing.
#[derive(Debug)]
pub(super) struct Limits {
    pub(super) entries: usize,
    /// Bytes of all paths together.
    pub(super) path_bytes: usize,
    pub(super) time: Duration,
}

impl Limits {
    pub(super) const DEFAULT: Self = Self {
        // Among more, people find none by a few letters.
        entries: 500_000,
        // 64 bytes for each; a path may have 4 KiB.
        path_bytes: 32 << 20,
        // 100,000 files take some 0.2 s. Only rules that are made to be slow and disks that hardly
        // answer take seconds.
        time: Duration::from_secs(10),
    };
}

/// The paths of the files and folders below a folder, relative to it; a folder ends with `/`.
pub(super) fn paths(root: &Path, limits: &Limits) -> Vec<String> {
    let deadline = Instant::now() + limits.time;
    let Ok(root) = root.canonicalize() else { return Vec::new() };
    let base = rules::text(&root);
    let mut listing = Listing { paths: Vec::new(), bytes: 0, limits, deadline };
    let mut folders = vec![(None, Rules::around(&root))];
    while let Some((place, outer)) = folders.pop() {
        let inside = listing.path(place);
        let folder = root.join(inside);
        let mut path = format!("{base}{inside}");
        let (base_length, folder_length) = (base.len(), path.len());
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        let rules = Rules::within(&outer, &folder, &path);
        for entry in entries.flatten() {
            if listing.is_full() {
                return listing.paths;
            }
            path.truncate(folder_length);
            let Some(kind) = append(&mut path, &entry) else { continue };
            if rules.is_ignored(&path, kind) {
                continue;
            }
            let place = listing.add(path.get(base_length..).unwrap_or_default(), kind);
            if kind == Kind::Folder {
                folders.push((Some(place), Rc::clone(&rules)));
            }
        }
    }
    listing.paths
}

/// Appends the name of a file or folder to the path of its folder; `None` for what is not listed.
fn append(path: &mut String, entry: &fs::DirEntry) -> Option<Kind> {
    let found = entry.file_type().ok()?;
    let name = entry.file_name();
    // A name that is not UTF-8 cannot be typed.
    let name = name.to_str()?;
    // Workflows and settings in hidden folders are worth mentioning; the internals of git are not.
    if name == ".git" {
        return None;
    }
    path.push_str(name);
    if found.is_dir() {
        Some(Kind::Folder)
    } else {
        // Neither links nor pipes, sockets and devices.
        found.is_file().then_some(Kind::File)
    }
}

struct Listing<'a> {
    paths: Vec<String>,
    bytes: usize,
    limits: &'a Limits,
    deadline: Instant,
}

impl Listing<'_> {
    /// The path of a folder that was added; the root has an empty one.
    fn path(&self, place: Option<usize>) -> &str {
        place.and_then(|place| self.paths.get(place)).map_or("", String::as_str)
    }

    fn is_full(&self) -> bool {
        self.paths.len() >= self.limits.entries
            || self.bytes >= self.limits.path_bytes
            || Instant::now() >= self.deadline
    }

    /// Adds a path and returns its place.
    fn add(&mut self, path: &str, kind: Kind) -> usize {
        let path = match kind {
            Kind::File => path.to_owned(),
            Kind::Folder => [path, "/"].concat(),
        };
        self.bytes += path.len();
        self.paths.push(path);
        self.paths.len() - 1
    }
}
