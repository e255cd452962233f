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

/// Renders a whole text.
pub(crate) fn render(text: &str) -> String {
    guarded(text, || blocks::render(text, &Definitions::default())).html
}

/// Renders, or shows the text as it is when that fails: one odd message must not take a conversation with it.
fn guarded(text: &str, render: impl FnOnce() -> Rendered) -> Rendered {
    catch_unwind(AssertUnwindSafe(render)).unwrap_or_else(|_| {
        let mut html = "<pre>".to_owned();
        escape::push_text(&mut html, text);
        html.push_str("</pre>");
        let whole = Block { range: 0..text.len(), shape: Shape::Firm };
        Rendered { html, blocks: vec![whole], defined: Vec::new() }
    })
}
