//! Colours for code: classes that the page's style sheet knows, found by syntect's grammars.
//!
//! Grammars are read when the first code with a language comes, take tens of megabytes once they are used, and can be
//! slow; so this belongs on a blocking thread, what was painted is remembered, and there are bounds for everything.

mod cache;
mod class;
mod painter;
mod syntaxes;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::escape::push_text;
use cache::{Cache, Key};
use painter::Painter;
#[cfg(test)]
pub(super) use painter::thread_time;
use syntaxes::Syntaxes;

/// Longest code that is painted; nobody reads more than that in colours, and it takes seconds.
const CODE_MAX: usize = 200_000;

/// Paints code, and remembers what it painted.
#[derive(Default)]
pub(crate) struct Highlighter {
    syntaxes: OnceLock<Arc<Syntaxes>>,
    painted: Mutex<Cache>,
}

impl Highlighter {
    /// A highlighter that has not read any grammar yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Whether grammars are in memory.
    pub(super) fn is_loaded(&self) -> bool {
        self.syntaxes.get().is_some()
    }

    fn remembered(&self, key: &Key) -> Option<Arc<str>> {
        self.painted.lock().unwrap_or_else(PoisonError::into_inner).get(key)
    }

    fn remember(&self, key: Key, html: &str) {
        self.painted.lock().unwrap_or_else(PoisonError::into_inner).insert(key, html.into());
    }
}

impl std::fmt::Debug for Highlighter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Highlighter").field("is_loaded", &self.is_loaded()).finish()
    }
}

/// Paints the code of one text.
pub(super) struct Brush<'a> {
    highlighter: &'a Highlighter,
    unfinished: Option<&'a mut Unfinished>,
}

/// Where code stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// At the end: there may be more to come.
    Last,
    /// Other text follows.
    Earlier,
}

/// Code that was painted as far as it was known.
#[derive(Default)]
pub(super) struct Unfinished(Option<(String, Painter)>);

impl<'a> Brush<'a> {
    /// For a text that is whole.
    pub(super) const fn new(highlighter: &'a Highlighter) -> Self {
        Self { highlighter, unfinished: None }
    }

    /// For a text that grows at its end.
    pub(super) const fn for_stream(
        highlighter: &'a Highlighter,
        unfinished: &'a mut Unfinished,
    ) -> Self {
        Self { highlighter, unfinished: Some(unfinished) }
    }

    /// Writes code in colours.
    pub(super) fn paint(&mut self, html: &mut String, language: &str, code: &str, place: Place) {
        if code.len() > CODE_MAX {
            return push_text(html, code);
        }
        let key = Key::of(language, code);
        if let Some(painted) = self.highlighter.remembered(&key) {
            return html.push_str(&painted);
        }
        let start = html.len();
        match &mut self.unfinished {
            Some(unfinished) => unfinished.paint(self.highlighter, html, language, code),
            None => match start_painter(self.highlighter, language) {
                Some(mut painter) => painter.paint(html, code),
                None => return push_text(html, code),
            },
        }
        if place == Place::Earlier || self.unfinished.is_none() {
            self.highlighter.remember(key, html.get(start..).unwrap_or_default());
        }
    }
}

fn start_painter(highlighter: &Highlighter, language: &str) -> Option<Painter> {
    let syntaxes = highlighter.syntaxes.get_or_init(|| Arc::new(Syntaxes::load()));
    Painter::start(syntaxes, language)
}

impl Unfinished {
    /// Paints code, going on where the last call for the same code stopped.
    fn paint(&mut self, highlighter: &Highlighter, html: &mut String, language: &str, code: &str) {
        let goes_on = self
            .0
            .as_ref()
            .is_some_and(|(known, painter)| known == language && painter.is_beginning_of(code));
        if !goes_on {
            self.0 =
                start_painter(highlighter, language).map(|painter| (language.to_owned(), painter));
        }
        match &mut self.0 {
            Some((_, painter)) => painter.paint(html, code),
            None => push_text(html, code),
        }
    }
}

impl std::fmt::Debug for Unfinished {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Unfinished")
    }
}
