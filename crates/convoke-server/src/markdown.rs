//! Renders Markdown of agents and users as HTML that is safe to show.
//!
//! No input becomes markup: raw HTML becomes text, only http, https and mailto links are kept, images become links,
//! and every top-level block is exactly one element. `writer.rs` alone produces HTML, with a fixed set of tags and
//! attributes.

mod background;
mod blocks;
mod escape;
mod highlight;
mod language;
mod link;
mod stream;
pub(crate) mod terminal;
#[cfg(test)]
mod tests;
mod writer;

use std::panic::{AssertUnwindSafe, catch_unwind};

use blocks::{Block, Definitions, Rendered, Shape};

pub(crate) use background::Renderer;
pub(crate) use stream::{Stream, Tail};

/// How much longer than its text HTML may be; code with one span per character would be 25 times as long.
const HTML_GROWTH_MAX: usize = 4;
/// HTML up to this size is always accepted.
const HTML_BYTES_FREE: usize = 64 * 1024;

/// Renders a whole text.
pub(crate) fn render(text: &str) -> String {
    guarded(text, || blocks::render(text, &Definitions::default())).html
}

/// Renders, and falls back to plain text if that panics or the result is too large: one message must not break the
/// whole conversation, and the size of a response stays proportional to its text.
fn guarded(text: &str, render: impl FnOnce() -> Rendered) -> Rendered {
    let html_bytes_max = HTML_BYTES_FREE + text.len() * HTML_GROWTH_MAX;
    let rendered = catch_unwind(AssertUnwindSafe(render)).ok();
    rendered.filter(|rendered| rendered.html.len() <= html_bytes_max).unwrap_or_else(|| {
        let mut html = "<pre>".to_owned();
        escape::push_text(&mut html, text);
        html.push_str("</pre>");
        let whole = Block { range: 0..text.len(), shape: Shape::Firm };
        Rendered { html, blocks: vec![whole], defined: Vec::new() }
    })
}
