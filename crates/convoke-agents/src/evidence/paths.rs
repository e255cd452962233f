//! Resolves the paths of requests in the file system, so that rules compare the file that would
//! really be changed or read.

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use convoke_core::evidence::Evidence;
use convoke_core::rule::ResolvedPath;

use crate::sandbox::is_protected;

/// Resolves the paths of a request in a project's folder; `None` for a path that cannot be resolved
/// safely.
///
/// The agent can replace a folder by a link afterwards; then the sandbox limits where it can write.
pub fn resolve(evidence: &Evidence, project: &Path) -> Vec<Option<ResolvedPath>> {
    let paths = evidence.paths();
    if paths.is_empty() {
        return Vec::new();
    }
    let root = fs::canonicalize(project).ok();
    paths.into_iter().map(|path| resolved(path, root.as_deref()?)).collect()
}

fn resolved(path: &str, root: &Path) -> Option<ResolvedPath> {
    // An agent may expand `~`, which the kernel does not.
    if path.is_empty() || path.starts_with('~') || path.chars().any(char::is_control) {
        return None;
    }
    let whole = root.join(path);
    let real = real(&whole)?;
    // After a link, `..` is another folder for the kernel than for a program that normalises the
    // text.
    let lexical = without_dots(&whole);
    if lexical != whole && self::real(&lexical)? != real {
        return None;
    }
    let inside = real.strip_prefix(root).ok().map(Path::to_owned);
    let is_protected = has_protected_end(inside.as_deref().unwrap_or(&real));
    Some(ResolvedPath { real, inside, is_protected })
}

/// The path without links; parts that do not exist yet stay as they are.
fn real(path: &Path) -> Option<PathBuf> {
    for existing in path.ancestors() {
        let Ok(base) = fs::canonicalize(existing) else { continue };
        let Ok(rest) = path.strip_prefix(existing) else { return None };
        let Some(first) = rest.components().next() else { return Some(base) };
        if rest.components().any(|part| part == Component::ParentDir) {
            return None;
        }
        // A dangling link would be followed when the file is written.
        return match fs::symlink_metadata(base.join(first)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Some(base.join(rest)),
            Ok(_) | Err(_) => None,
        };
    }
    None
}

fn without_dots(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => whole.push(part),
        }
    }
    whole
}

/// Whether a path, or a suffix of it, is protected because programs outside of the sandbox obey it.
fn has_protected_end(path: &Path) -> bool {
    let parts: Vec<_> = path.components().filter(|part| *part != Component::RootDir).collect();
    let mut ends = (0..parts.len()).filter_map(|start| parts.get(start..));
    ends.any(|end| is_protected(&end.iter().collect::<PathBuf>()))
}
