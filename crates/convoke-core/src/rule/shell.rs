//! Commands as a shell would read them: strictly for what is allowed, generously for what is denied.
//!
//! `parse` knows lists, pipelines, simple commands, plain words and quoted literals. Everything else, such as `$`, globs and
//! redirections, makes a text that no rule allows. `segments` splits any text into what might be commands.

/// Words that begin something else than a simple command.
const RESERVED: [&str; 23] = [
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "foreach", "function", "if", "in", "repeat", "select", "then", "time", "until", "while", "end",
];
/// Characters without a special meaning outside of quotes.
const PLAIN: &[u8] = b"_-./,:=+@%";

/// The words of each simple command, or `None` for a text that has anything else in it.
pub(super) fn parse(line: &str) -> Option<Vec<Vec<String>>> {
    let mut commands = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut needs_command = false;
    let mut rest = line;
    loop {
        let (token, later) = token(rest)?;
        rest = later;
        match token {
            Token::Word { text, is_quoted } => {
                if words.is_empty() && (is_quoted || !is_program(&text)) {
                    return None;
                }
                words.push(text);
            }
            Token::Newline if words.is_empty() => {}
            Token::Newline | Token::End if !words.is_empty() => {
                commands.push(std::mem::take(&mut words));
                needs_command = false;
            }
            Token::Semicolon if !words.is_empty() => {
                commands.push(std::mem::take(&mut words));
                needs_command = false;
            }
            Token::Joint if !words.is_empty() => {
                commands.push(std::mem::take(&mut words));
                needs_command = true;
            }
            Token::Newline | Token::Semicolon | Token::Joint => return None,
            Token::End => {}
        }
        if rest.is_empty() && words.is_empty() {
            break;
        }
    }
    (!commands.is_empty() && !needs_command).then_some(commands)
}

enum Token {
    Word {
        text: String,
        is_quoted: bool,
    },
    Semicolon,
    Newline,
    /// `&&`, `||` or `|`: a command must follow.
    Joint,
    End,
}

/// The next token, and what follows it.
fn token(text: &str) -> Option<(Token, &str)> {
    let text = text.trim_start_matches([' ', '\t']);
    let joints = ["&&", "||"].iter().find_map(|joint| text.strip_prefix(joint));
    if let Some(rest) = joints {
        return Some((Token::Joint, rest));
    }
    match text.as_bytes().first() {
        None => Some((Token::End, text)),
        Some(b'\n') => Some((Token::Newline, text.get(1..)?)),
        // `;;` ends a part of `case`, and `;&` falls through.
        Some(b';') => {
            let rest = text.get(1..).filter(|rest| !rest.starts_with([';', '&']))?;
            Some((Token::Semicolon, rest))
        }
        Some(b'|') => {
            let rest = text.get(1..).filter(|rest| !rest.starts_with(['|', '&']))?;
            Some((Token::Joint, rest))
        }
        Some(_) => word(text),
    }
}

fn word(text: &str) -> Option<(Token, &str)> {
    let (mut word, mut is_quoted, mut rest) = (String::new(), false, text);
    loop {
        match rest.as_bytes().first() {
            None | Some(b' ' | b'\t' | b'\n' | b';' | b'|' | b'&') => break,
            Some(quote @ (b'\'' | b'"')) => {
                let inner = rest.get(1..)?;
                let (literal, later) = inner.split_once(char::from(*quote))?;
                let is_literal = |byte: u8| match byte {
                    // In double quotes these expand, escape, or recall earlier commands.
                    b'$' | b'`' | b'\\' | b'!' => *quote == b'\'',
                    _ => matches!(byte, b' '..=b'~'),
                };
                if !literal.bytes().all(is_literal) {
                    return None;
                }
                (is_quoted, rest) = (true, later);
                word.push_str(literal);
            }
            // Some shells replace `=name` by the path of a program.
            Some(b'=') if word.is_empty() => return None,
            Some(byte) if byte.is_ascii_alphanumeric() || PLAIN.contains(byte) => {
                word.push(char::from(*byte));
                rest = rest.get(1..)?;
            }
            Some(_) => return None,
        }
    }
    // A single `&` begins no word.
    (rest.len() < text.len()).then_some((Token::Word { text: word, is_quoted }, rest))
}

/// Whether a word can be the program of a simple command.
fn is_program(word: &str) -> bool {
    !RESERVED.contains(&word) && !word.contains('=') && !word.starts_with(['-', '%', '+'])
}

/// What might be commands in any text, each as its words; quotes and escapes are dropped.
pub(super) fn segments(text: &str) -> Vec<Vec<String>> {
    let text: String =
        text.replace("\\\n", "").chars().filter(|it| !"\\'\"".contains(*it)).collect();
    let ends = |it: char| ";|&(){}`$<>\n".contains(it) || (it.is_control() && it != '\t');
    let segments =
        text.split(ends).map(|part| part.split_whitespace().map(str::to_owned).collect());
    segments.filter(|words: &Vec<String>| !words.is_empty()).collect()
}

/// Whether a word begins a compound command.
pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// A word as one would write it.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || PLAIN.contains(&byte);
    if !word.is_empty() && !word.starts_with('=') && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p2_lists_pipelines_words_and_literals_are_read_and_nothing_else() {
        let read = |line: &str| {
            let commands = parse(line)?;
            Some(commands.iter().map(|words| words.join("|")).collect::<Vec<_>>().join(" / "))
        };
        for (line, commands) in [
            ("ls", "ls"),
            ("  ls -la\t'a b'  ", "ls|-la|a b"),
            ("a && b || c; d | e\nf", "a / b / c / d / e / f"),
            ("a &&\n b", "a / b"),
            ("\n\na;\n", "a"),
            ("git commit -m \"it's done\" 'x \"y\" $z'", "git|commit|-m|it's done|x \"y\" $z"),
            ("echo a'b'\"c\" ''", "echo|abc|"),
            ("a=1 --b=c", ""),
            ("make --b=c d=e", "make|--b=c|d=e"),
        ] {
            assert_eq!(read(line).unwrap_or_default(), commands, "{line:?}");
        }
        for line in [
            "",
            " ",
            ";",
            "a;;b",
            "a &",
            "a & b",
            "&& a",
            "a &&",
            "a | | b",
            "a |& b",
            "a ||| b",
            "a\n&& b",
            "a $x",
            "a \"$x\"",
            "a `b`",
            "a \"`b`\"",
            "$(a)",
            "a > b",
            "a 2>&1",
            "a < b",
            "a <<E\nE",
            "(a)",
            "{ a; }",
            "a {b,c}",
            "a *",
            "a ?",
            "a [b]",
            "a ~",
            "a \\b",
            "a \"\\b\"",
            "a # b",
            "! a",
            "a \"!b\"",
            "if a",
            "then a",
            "for",
            "X=1 a",
            "'a' b",
            "a\"\" b",
            "a 'b",
            "a \"b",
            "a\u{a0}b",
            "a b\u{200b}",
            "a\rb",
            "a\0",
            "a 'b\nc'",
            "a ^b",
            "a =b",
            "-a",
            "%1",
            "time a",
            "[[ a ]]",
            "a 'ñ'",
        ] {
            assert_eq!(parse(line), None, "{line:?}");
        }
    }

    #[test]
    fn p2_what_is_quoted_is_read_as_the_same_word() {
        for word in ["a", "", "a b", "it's", "$x", "-a", "=a", "a=b", "a\"b", "*", "\\"] {
            let line = format!("x {}", quoted(word));
            // An apostrophe needs an escape, which `parse` does not know.
            let read = (!word.contains('\'')).then(|| vec![vec!["x".to_owned(), word.to_owned()]]);
            assert_eq!(parse(&line), read, "{line}");
        }
    }
}
