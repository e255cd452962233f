//! The rendered HTML of any input is safe and complete.

mod attacks;
mod code;
mod oracle;
mod pieces;
mod samples;
mod streams;

use super::render;

/// Renders a text, and checks that the result is safe and complete.
fn rendered(text: &str) -> String {
    let html = render(text);
    oracle::elements(&html);
    html
}
