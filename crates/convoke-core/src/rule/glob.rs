//! Path patterns: `*` and `?` within a name, `**` for any number of folders. No classes, no braces, no escapes.

/// Why a text is no pattern, or `None` if it is one.
pub(super) fn fault(glob: &str) -> Option<&'static str> {
    let parts = || glob.strip_prefix('/').unwrap_or(glob).split('/');
    if glob.is_empty() || glob == "/" {
        Some("it is empty")
    } else if glob.starts_with('~') {
        Some("`~` is not expanded: give the whole path")
    } else if glob.contains(['[', ']', '{', '}', '\\']) || glob.chars().any(char::is_control) {
        Some(
            "only `*`, `**` and `?` have a meaning, and `[`, `]`, `{`, `}` and `\\` are not allowed",
        )
    } else if parts().any(|part| matches!(part, "" | "." | "..")) {
        Some("it must have no empty part, no `.` and no `..`")
    } else if parts().any(|part| part.contains("**") && part != "**") {
        Some("`**` must stand alone between slashes")
    } else {
        None
    }
}

/// Whether a path matches a pattern; both are relative, or both absolute.
pub(super) fn matches(glob: &str, path: &str) -> bool {
    if glob.starts_with('/') != path.starts_with('/') {
        return false;
    }
    let parts = |text| str::split(text, '/').filter(|part| !part.is_empty());
    let path: Vec<&str> = parts(path).collect();
    covers(parts(glob), &path, |part| *part == "**", |part, name| name_matches(part, name))
}

fn name_matches(pattern: &str, name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    covers(
        pattern.chars(),
        &name,
        |wanted| *wanted == '*',
        |wanted, c| *wanted == '?' || wanted == c,
    )
}

/// Whether a pattern matches a whole sequence; items of the pattern for which `is_any` holds match any number of items.
fn covers<P, T>(
    pattern: impl Iterator<Item = P>,
    items: &[T],
    is_any: impl Fn(&P) -> bool,
    fits: impl Fn(&P, &T) -> bool,
) -> bool {
    // One row of the usual table: whether the pattern so far matches the first `n` items.
    let mut reached = vec![false; items.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    for wanted in pattern {
        let mut next = vec![false; items.len() + 1];
        let mut any = false;
        for (place, slot) in next.iter_mut().enumerate() {
            if is_any(&wanted) {
                any |= reached.get(place).copied().unwrap_or_default();
                *slot = any;
            } else if let Some(before) = place.checked_sub(1) {
                let is_reached = reached.get(before).copied().unwrap_or_default();
                *slot = is_reached && items.get(before).is_some_and(|item| fits(&wanted, item));
            }
        }
        reached = next;
    }
    reached.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p2_a_pattern_matches_names_and_folders_and_no_more() {
        for (glob, path, expected) in [
            ("src/a.rs", "src/a.rs", true),
            ("src/a.rs", "src/a.rsx", false),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/b/a.rs", false),
            ("src/**", "src/b/a.rs", true),
            ("src/**", "src", true),
            ("src/**", "srcs/a", false),
            ("**", "a/b/c", true),
            ("**/a.rs", "a.rs", true),
            ("**/a.rs", "x/y/a.rs", true),
            ("**/test/*", "a/test/b/test/c", true),
            ("?.md", "a.md", true),
            ("?.md", "ab.md", false),
            ("*", "a/b", false),
            ("*a*b*", "xxaxxbxx", true),
            ("/etc/**", "/etc/passwd", true),
            ("etc/**", "/etc/passwd", false),
            ("/etc/**", "etc/passwd", false),
            ("/**", "/etc/passwd", true),
        ] {
            assert_eq!(matches(glob, path), expected, "{glob} {path}");
            assert_eq!(fault(glob), None, "{glob}");
        }
        for glob in [
            "", "/", "~/.ssh/*", "../a", "a/../b", "./a", "a//b", "a/", "[a]", "{a,b}", "a**",
            "a\nb",
        ] {
            assert!(fault(glob).is_some(), "{glob:?}");
        }
    }
}
