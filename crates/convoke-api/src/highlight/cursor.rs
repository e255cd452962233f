//! A position in a text that moves forward only.

/// A text and how much of it was read.
pub(super) struct Cursor<'a> {
    rest: &'a str,
    /// The letter before the rest.
    before: Option<char>,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { rest: text, before: None }
    }

    /// What was not read yet.
    pub(super) const fn rest(&self) -> &'a str {
        self.rest
    }

    pub(super) fn next(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// Whether nothing or a blank stands before.
    pub(super) fn is_after_blank(&self) -> bool {
        self.before.is_none_or(char::is_whitespace)
    }

    /// Whether a line begins here.
    pub(super) fn is_at_line_start(&self) -> bool {
        self.before.is_none_or(|before| before == '\n')
    }

    /// Reads some bytes; all there is when they would end within a letter.
    pub(super) fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.rest = rest;
        self.before = taken.chars().next_back().or(self.before);
        taken
    }

    /// Reads one letter.
    pub(super) fn take_char(&mut self) -> &'a str {
        self.take(self.next().map_or(0, char::len_utf8))
    }

    /// Reads as long as letters are wanted.
    pub(super) fn take_while(&mut self, is_wanted: impl Fn(char) -> bool) -> &'a str {
        self.take(self.rest.find(|letter| !is_wanted(letter)).unwrap_or(self.rest.len()))
    }

    /// Reads up to and with some words; everything when they do not come.
    pub(super) fn take_through(&mut self, words: &str) -> &'a str {
        self.take(self.rest.find(words).map_or(self.rest.len(), |at| at + words.len()))
    }

    /// Reads the rest of the line without its end.
    pub(super) fn take_line(&mut self) -> &'a str {
        self.take_while(|letter| letter != '\n')
    }
}
