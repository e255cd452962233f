//! Colours for code: classes that the page's style sheet knows, found by small lexers.
//!
//! They read code once, from its first letter to its last, and know words but no grammar. Where they are mistaken,
//! something has the wrong colour; no letter is lost, and nothing takes longer.

mod code;
mod cursor;
mod grammar;
mod languages;
mod lines;
mod markup;
mod spans;
#[cfg(test)]
mod tests;

use super::escape::push_text;
use languages::Lexer;
use spans::Spans;

/// Longest code that is painted: colours make several bytes of one, and nobody reads more than that in colours.
const CODE_MAX: usize = 200_000;

/// Writes code in the colours of its language; as it is when nobody knows the language.
pub(super) fn paint(html: &mut String, language: &str, code: &str) {
    let lexer = Lexer::of(language).filter(|_| code.len() <= CODE_MAX);
    let Some(lexer) = lexer else { return push_text(html, code) };
    let mut spans = Spans::new(html);
    match lexer {
        Lexer::Code(grammar) => code::paint(&mut spans, grammar, code),
        Lexer::Markup => markup::paint(&mut spans, code),
        Lexer::Diff => lines::paint_diff(&mut spans, code),
        Lexer::Markdown => lines::paint_markdown(&mut spans, code),
    }
    spans.finish();
}
