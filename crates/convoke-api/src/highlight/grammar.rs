//! The description of a language for a lexer.

use std::collections::HashMap;

use super::Class;

/// The words and marks of a language.
pub(super) struct Grammar {
    /// What begins a comment that ends with its line. `#` does so only after a blank.
    pub(super) comments: &'static [&'static str],
    /// What stands between two marks; the first that fits counts.
    pub(super) quotes: &'static [Quote],
    /// Words with blanks between them.
    pub(super) keywords: &'static str,
    pub(super) constants: &'static str,
    pub(super) types: &'static str,
    /// Letters of words beside alphabet, digits and `_`.
    pub(super) letters: &'static str,
    /// Marks in front of a word that say what it is.
    pub(super) sigils: &'static [(char, Class)],
    /// What follows a key, as `:` in JSON.
    pub(super) after_key: Option<char>,
    pub(super) capitals: Capitals,
    pub(super) ticks: Ticks,
}

/// What words in capitals are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Capitals {
    /// `Word` is a type and `WORD` a constant.
    Speak,
    /// Words as all others.
    Silent,
    /// Keywords are keywords in capitals too.
    Optional,
}

/// What a single `'` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ticks {
    /// What `quotes` say.
    Quotes,
    /// Around a letter, or in front of a lifetime.
    Lifetimes,
}

/// Text between two marks.
pub(super) struct Quote {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    pub(super) class: Class,
    pub(super) escape: Escape,
    pub(super) reach: Reach,
}

/// How the closing mark can be meant literally.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escape {
    Backslash,
    None,
}

/// Where a quote may begin, and where it ends when nothing closes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// At the end of its line.
    Line,
    /// As `Line`, and it stands at a line's start.
    WholeLine,
    /// At the end of the text.
    Text,
}

impl Quote {
    const fn new(open: &'static str, close: &'static str, class: Class, reach: Reach) -> Self {
        Self { open, close, class, escape: Escape::None, reach }
    }

    /// A string on one line, with escapes.
    pub(super) const fn string(mark: &'static str) -> Self {
        Self { escape: Escape::Backslash, ..Self::new(mark, mark, Class::String, Reach::Line) }
    }

    /// A string over several lines, with escapes.
    pub(super) const fn text(mark: &'static str) -> Self {
        Self { escape: Escape::Backslash, ..Self::new(mark, mark, Class::String, Reach::Text) }
    }

    /// A string over several lines in which nothing but its end means anything.
    pub(super) const fn raw(open: &'static str, close: &'static str) -> Self {
        Self::new(open, close, Class::String, Reach::Text)
    }

    /// A comment over several lines.
    pub(super) const fn comment(open: &'static str, close: &'static str) -> Self {
        Self::new(open, close, Class::Comment, Reach::Text)
    }

    /// Something on one line.
    pub(super) const fn marked(open: &'static str, close: &'static str, class: Class) -> Self {
        Self::new(open, close, class, Reach::Line)
    }

    /// The heading of a section, as in TOML.
    pub(super) const fn section() -> Self {
        Self::new("[", "]", Class::Heading, Reach::WholeLine)
    }
}

impl Grammar {
    /// A language without words.
    pub(super) const BLANK: Self = Self {
        comments: &[],
        quotes: &[],
        keywords: "",
        constants: "",
        types: "",
        letters: "",
        sigils: &[],
        after_key: None,
        capitals: Capitals::Silent,
        ticks: Ticks::Quotes,
    };

    /// What every known word is.
    pub(super) fn words(&self) -> HashMap<&'static str, Class> {
        let lists = [
            (self.keywords, Class::Keyword),
            (self.constants, Class::Constant),
            (self.types, Class::Type),
        ];
        let words = lists
            .into_iter()
            .flat_map(|(list, class)| list.split_ascii_whitespace().map(move |word| (word, class)));
        words.collect()
    }
}
