//! Paths with `*` in their parts: which files of a store are transcripts, and which may be opened beside them.

/// Whether a path below a root matches a pattern; each `*` matches any part of one name.
pub(crate) fn matches(pattern: &str, path: &str) -> bool {
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return true,
            (Some(shape), Some(name)) if matches_name(shape, name) => {}
            (Some(_) | None, Some(_) | None) => return false,
        }
    }
}

/// Whether a name has the shape of one part of a pattern.
pub(crate) fn matches_name(shape: &str, name: &str) -> bool {
    if name.is_empty() || name == "." || name == ".." {
        return false;
    }
    let mut parts = shape.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h5_a_star_stands_for_part_of_one_name_only() {
        let cases = [
            ("a/*/c.json", "a/b/c.json", true),
            ("a/*/c.json", "a/b/b/c.json", false),
            ("a/*/c.json", "a/../c.json", false),
            ("*.jsonl", "auth.json", false),
            ("*.jsonl", ".jsonl", true),
            ("rollout-*.jsonl", "rollout-1.jsonl", true),
            ("rollout-*.jsonl", "rollout.jsonl", false),
            ("s-*-*.db", "s-a-b.db", true),
            ("s-*-*.db", "s-ab.db", false),
            ("auth", "auth.json", false),
        ];
        for (pattern, path, expected) in cases {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }
}
