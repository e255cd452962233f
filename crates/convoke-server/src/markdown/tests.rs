//! What comes out, whatever goes in.

mod attacks;
mod code;
mod oracle;
mod pieces;
mod samples;
mod streams;

use std::sync::LazyLock;

use super::{Highlighter, render};

/// One for all tests of a process: making a grammar ready takes longer than using it.
static HIGHLIGHTER: LazyLock<Highlighter> = LazyLock::new(Highlighter::new);

/// Renders a text, and makes sure that what comes out is harmless and whole.
fn rendered(text: &str) -> String {
    let html = render(text, &HIGHLIGHTER);
    oracle::elements(&html);
    html
}
