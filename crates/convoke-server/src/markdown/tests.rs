//! What comes out, whatever goes in.

mod attacks;
mod code;
mod oracle;
mod pieces;
mod samples;
mod streams;

use super::render;

/// Renders a text, and makes sure that what comes out is harmless and whole.
fn rendered(text: &str) -> String {
    let html = render(text);
    oracle::elements(&html);
    html
}
