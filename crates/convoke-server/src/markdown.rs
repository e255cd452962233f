//! Markdown as HTML that is safe to show, whoever wrote it.
//!
//! Nothing that was written comes through as markup: raw HTML becomes text, links lead to http, https and mail only,
//! images become links, and every block at the top level is exactly one element. What comes out is decided by
//! `writer.rs` alone, which knows no other tags and attributes than those it writes.

mod background;
mod blocks;
mod escape;
mod highlight;
mod language;
mod link;
mod stream;
#[cfg(test)]
mod tests;
mod writer;

use std::panic::{AssertUnwindSafe, catch_unwind};

use blocks::{Block, Definitions, Rendered, Shape};

pub(crate) use background::Renderer;
pub(crate) use stream::{Stream, Tail};

/// How many times as long as its text HTML may be; code with a colour for each character would be 25 times as long.
const HTML_GROWTH_MAX: usize = 4;
/// HTML that is sent without asking how long its text is.
const HTML_BYTES_FREE: usize = 64 * 1024;

/// Renders a whole text.
pub(crate) fn render(text: &str) -> String {
    guarded(text, || blocks::render(text, &Definitions::default())).html
}

/// Renders, or shows the text as it is when that fails or makes much more of it: one odd message must not take a
/// conversation with it, and what a client is sent stays in proportion to what was said.
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
