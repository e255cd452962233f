//! The language that the first line of a code block names.

/// Longest name of a language; what is longer names none.
const NAME_MAX: usize = 40;

/// Names that people and agents use beside those that the syntaxes know themselves.
const ALIASES: [(&str, &str); 46] = [
    ("assembly", "asm"),
    ("cjs", "js"),
    ("console", "sh"),
    ("containerfile", "dockerfile"),
    ("csharp", "cs"),
    ("cuda", "cpp"),
    ("docker", "dockerfile"),
    ("dos", "bat"),
    ("ejs", "html"),
    ("elisp", "lisp"),
    ("fortran", "f90"),
    ("fsharp", "f#"),
    ("golang", "go"),
    ("handlebars", "html"),
    ("hbs", "html"),
    ("hlsl", "glsl"),
    ("ipython", "py"),
    ("javascriptreact", "js"),
    ("json5", "js"),
    ("jsonc", "js"),
    ("jsonl", "json"),
    ("jsx", "js"),
    ("mdx", "md"),
    ("mjs", "js"),
    ("mysql", "sql"),
    ("ndjson", "json"),
    ("node", "js"),
    ("nodejs", "js"),
    ("objc", "objective-c"),
    ("objectivec", "objective-c"),
    ("pgsql", "sql"),
    ("plist", "xml"),
    ("postgres", "sql"),
    ("postgresql", "sql"),
    ("python3", "py"),
    ("regex", "re"),
    ("scheme", "lisp"),
    ("sh-session", "sh"),
    ("shell", "sh"),
    ("shell-session", "sh"),
    ("shellscript", "sh"),
    ("shellsession", "sh"),
    ("sqlite", "sql"),
    ("starlark", "py"),
    ("systemd", "ini"),
    ("typescriptreact", "tsx"),
];

/// The language in the words after a fence, as it was written: `rust,ignore` and `ts title="a"` name `rust` and `ts`.
pub(super) fn of_fence(words: &str) -> Option<&str> {
    let words = words.trim_start_matches(['{', '.', ' ', '\t']);
    let is_end =
        |c: char| c.is_whitespace() || matches!(c, ',' | ':' | ';' | '{' | '}' | '=' | '(');
    let name = words.split(is_end).next()?;
    let is_name_char =
        |c: char| c.is_alphanumeric() || matches!(c, '+' | '#' | '-' | '.' | '_' | '*' | '/');
    let is_name = name.len() <= NAME_MAX
        && name.chars().all(is_name_char)
        && name.contains(char::is_alphabetic);
    is_name.then_some(name)
}

/// The name by which the syntaxes know a language.
pub(super) fn canonical(name: &str) -> String {
    let name = name.to_lowercase();
    match ALIASES.iter().find(|(alias, _)| *alias == name) {
        Some((_, known)) => (*known).to_owned(),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_after_the_fence_names_the_language() {
        let cases = [
            ("rust", Some("rust")),
            ("rust,ignore", Some("rust")),
            ("ts title=\"a.ts\"", Some("ts")),
            ("{.python .numberLines}", Some("python")),
            ("C++", Some("C++")),
            ("js:src/a.js", Some("js")),
            ("", None),
            ("  ", None),
            ("12:15:src/a.js", None),
            ("\"><script>", None),
            ("<b>", None),
        ];
        for (words, expected) in cases {
            assert_eq!(of_fence(words), expected, "{words}");
        }
        assert_eq!(of_fence(&"x".repeat(41)), None);
    }
}
