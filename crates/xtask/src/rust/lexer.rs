//! Splits Rust source into words, punctuation, literals and comments.

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An identifier or a keyword.
    Word,
    /// One character of punctuation.
    Mark,
    /// A string, a character, a number or a lifetime.
    Literal,
    /// A comment of any form, its slashes included.
    Comment,
}

/// A piece of source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// Its kind.
    pub kind: Kind,
    /// Its source text.
    pub text: &'a str,
    /// Where it begins, counted from 1.
    pub line: usize,
}

/// Splits a source file lazily; whitespace is left out.
pub fn lex(source: &str) -> Tokens<'_> {
    Tokens { rest: source, line: 1 }
}

/// The tokens of a source file, first to last.
#[derive(Debug)]
pub struct Tokens<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let first = self.rest.chars().next()?;
            let (kind, length) = measure(self.rest, first);
            let (text, rest) = self.rest.split_at(length);
            let line = self.line;
            self.rest = rest;
            self.line += text.matches('\n').count();
            if let Some(kind) = kind {
                return Some(Token { kind, text, line });
            }
        }
    }
}

/// The kind (`None` for whitespace) and the length in bytes of the token at the start of `rest`.
fn measure(rest: &str, first: char) -> (Option<Kind>, usize) {
    if first.is_whitespace() {
        return (None, run(rest, char::is_whitespace));
    }
    if rest.starts_with("//") {
        return (Some(Kind::Comment), run(rest, |c| c != '\n'));
    }
    if rest.starts_with("/*") {
        return (Some(Kind::Comment), block_comment(rest));
    }
    // Most tokens begin with none of these, and this is checked for every one.
    let may_quote = matches!(first, '"' | 'r' | 'b' | 'c');
    if let Some(length) = may_quote.then(|| raw_string(rest).or_else(|| quoted(rest))).flatten() {
        return (Some(Kind::Literal), length);
    }
    if first == '\'' {
        return (Some(Kind::Literal), character_or_lifetime(rest));
    }
    if first.is_ascii_digit() {
        return (Some(Kind::Literal), run(rest, is_word));
    }
    if is_word(first) {
        let prefix = if rest.starts_with("r#") { 2 } else { 0 };
        return (Some(Kind::Word), prefix + run(rest.split_at(prefix).1, is_word));
    }
    (Some(Kind::Mark), first.len_utf8())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Bytes until the first character that does not belong.
fn run(rest: &str, belongs: impl Fn(char) -> bool) -> usize {
    rest.find(|c| !belongs(c)).unwrap_or(rest.len())
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    loop {
        let tail = rest.split_at(at).1;
        let Some(first) = tail.chars().next() else { return rest.len() };
        if tail.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if tail.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += first.len_utf8();
        }
    }
}

/// The length of `r"…"`, `br#"…"#` and their like.
fn raw_string(rest: &str) -> Option<usize> {
    let prefix = ["r", "br", "cr"].into_iter().find(|prefix| {
        rest.strip_prefix(prefix).is_some_and(|tail| tail.trim_start_matches('#').starts_with('"'))
    })?;
    let tail = rest.strip_prefix(prefix)?;
    let hashes = run(tail, |c| c == '#');
    let opening = prefix.len() + hashes + 1;
    let close = format!("\"{}", "#".repeat(hashes));
    let body = rest.split_at(opening).1;
    Some(body.find(&close).map_or(rest.len(), |at| opening + at + close.len()))
}

/// The length of `"…"`, `b"…"` and `c"…"`.
fn quoted(rest: &str) -> Option<usize> {
    let prefix = ["", "b", "c"]
        .into_iter()
        .find(|prefix| rest.strip_prefix(prefix).is_some_and(|tail| tail.starts_with('"')))?;
    let body = rest.split_at(prefix.len() + 1).1;
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(prefix.len() + 1 + at + 1),
            _ => {}
        }
    }
    Some(rest.len())
}

/// The length of `'x'`, `'\n'` or `'static`; the `b` of a byte literal is a separate word, which does no harm.
fn character_or_lifetime(rest: &str) -> usize {
    let body = rest.split_at(1).1;
    let mut chars = body.chars();
    match (chars.next(), chars.next()) {
        (Some('\\'), Some(escape)) => {
            let skipped = 1 + 1 + escape.len_utf8();
            let tail = rest.split_at(skipped).1;
            skipped + tail.find('\'').map_or(tail.len(), |at| at + 1)
        }
        (Some(c), Some('\'')) => 1 + c.len_utf8() + 1,
        (Some(_) | None, Some(_) | None) => 1 + run(body, is_word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(source: &str) -> Vec<(Kind, &str, usize)> {
        lex(source).map(|token| (token.kind, token.text, token.line)).collect()
    }

    #[test]
    fn strings_of_every_form_are_one_literal() {
        for literal in [
            r#""a \" b""#,
            r###"r#"a " b"#"###,
            "br\"x\"",
            "b\"x\"",
            "'x'",
            "'\\''",
            "'\\u{41}'",
            "'a",
            "1_000u64",
        ] {
            assert_eq!(split(literal), [(Kind::Literal, literal, 1)]);
        }
    }

    #[test]
    fn a_comment_ends_where_it_ends() {
        let found = split("a // b\n/* c /* d */ e */ f");
        let expected = [
            (Kind::Word, "a", 1),
            (Kind::Comment, "// b", 1),
            (Kind::Comment, "/* c /* d */ e */", 2),
            (Kind::Word, "f", 2),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn words_and_marks_carry_their_lines() {
        let found = split("fn r#type()\n{ x::<'a> }");
        let words: Vec<_> = found.iter().filter(|(kind, ..)| *kind == Kind::Word).collect();
        assert_eq!(
            words,
            [&(Kind::Word, "fn", 1), &(Kind::Word, "r#type", 1), &(Kind::Word, "x", 2)]
        );
    }

    #[test]
    fn unfinished_source_ends_with_the_file() {
        for source in ["\"abc", "r#\"abc", "/* abc", "'", "'\\"] {
            let total: usize = lex(source).map(|token| token.text.len()).sum();
            assert_eq!(total, source.len());
        }
    }
}
