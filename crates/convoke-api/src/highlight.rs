//! Syntax highlighting by small lexers, for every reader that shows code in colours: the page as
//! HTML, the terminal as styles.
//!
//! They read code once, from beginning to end, and know words but no grammar. If they are mistaken,
//! something has the wrong colour; no text is lost, and nothing takes longer.

mod code;
mod cursor;
mod grammar;
mod languages;
mod lines;
mod markup;
mod spans;

use languages::Lexer;
use spans::Spans;

/// Longest code that is split; colours make several bytes of one, and longer code is not read in colours.
const CODE_MAX: usize = 200_000;

/// What a piece of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Nothing in particular.
    Plain,
    /// A comment.
    Comment,
    /// A string, or a quotation.
    String,
    /// A number.
    Number,
    /// A word of the language.
    Keyword,
    /// A constant, or a variable that is replaced.
    Constant,
    /// The name of a function.
    Function,
    /// The name of a type.
    Type,
    /// A tag of a markup language.
    Tag,
    /// An attribute, or a key.
    Attribute,
    /// A bracket, comma or full stop.
    Punctuation,
    /// Another mark.
    Operator,
    /// A heading.
    Heading,
    /// A line that was added.
    Inserted,
    /// A line that was removed.
    Deleted,
}

/// Splits code into pieces, first to last; in one plain piece when the language is not known.
pub fn split(language: &str, code: &str, mut read: impl FnMut(Class, &str)) {
    let mut spans = Spans::new(&mut read);
    match Lexer::of(language).filter(|_| code.len() <= CODE_MAX) {
        Some(Lexer::Code(grammar)) => code::paint(&mut spans, grammar, code),
        Some(Lexer::Markup) => markup::paint(&mut spans, code),
        Some(Lexer::Diff) => lines::paint_diff(&mut spans, code),
        Some(Lexer::Markdown) => lines::paint_markdown(&mut spans, code),
        None => spans.write(Class::Plain, code),
    }
}

/// Whether code in the language of this name has colours.
pub fn is_known(language: &str) -> bool {
    Lexer::of(language).is_some()
}

/// The language of a file, by its name; what it is called is a name for [`split`] only.
pub fn of_file(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    ending.into_iter().chain([name]).find(|name| is_known(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_languages_of_every_day_have_colours() {
        let names = "rust rs python py python3 javascript js jsx typescript ts tsx json jsonc bash sh shell zsh \
             console go golang java kotlin swift c cpp c++ C# csharp ruby php html css scss sql yaml yml toml xml \
             diff dockerfile makefile lua zig graphql protobuf terraform ini markdown md vue svelte";
        let missing: Vec<&str> = names.split_whitespace().filter(|it| !is_known(it)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        for name in ["klingon", "text", "txt", "", "rust rs"] {
            assert!(!is_known(name), "{name}");
        }
    }

    #[test]
    fn a_file_has_the_language_of_its_ending_or_its_name() {
        let cases = [
            ("src/main.rs", Some("rs")),
            ("Dockerfile", Some("Dockerfile")),
            ("a/.b", None),
            ("x", None),
        ];
        for (path, language) in cases {
            assert_eq!(of_file(path), language, "{path}");
        }
    }
}
