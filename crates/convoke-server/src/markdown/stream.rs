//! Incremental rendering of a growing text: only its tail is rendered again.

use std::time::Duration;

use super::blocks::{self, Block, Definitions, Rendered, Shape};

/// A growing text, and how much of it needs rendering.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    text: String,
    /// The start of the first block that more text could still change.
    open: usize,
    /// The number of elements before it.
    settled: usize,
    definitions: Definitions,
    /// The size of the last tail.
    tail_bytes: usize,
}

/// The changed end of a rendered text: the reader drops its elements from `from` on and appends these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tail {
    /// The index of the first top-level element that may have changed.
    pub(crate) from: usize,
    /// The elements from there on.
    pub(crate) html: String,
}

impl Stream {
    /// An empty text.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Appends text.
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// The whole text.
    #[cfg(test)]
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The part that the next call renders.
    pub(super) fn open_text(&self) -> &str {
        self.text.get(self.open..).unwrap_or_default()
    }

    /// The debounce interval before the next tail: 40 ms, more for long tails, since each is sent and shown whole.
    pub(crate) fn pause(&self) -> Duration {
        const SHORTEST: Duration = Duration::from_millis(40);
        /// The size that a browser renders within the shortest interval without a noticeable delay.
        const BYTES_EASY: usize = 32 * 1024;
        let steps = self.tail_bytes.div_ceil(BYTES_EASY).clamp(1, 25);
        SHORTEST * u32::try_from(steps).unwrap_or(u32::MAX)
    }

    /// Renders what may have changed since the last call.
    pub(crate) fn render(&mut self) -> Tail {
        let from = self.settled;
        let text = self.text.get(self.open..).unwrap_or_default();
        let Rendered { html, blocks, defined } =
            super::guarded(text, || blocks::render(text, &self.definitions));
        if let Some(next) = settle(text, &blocks) {
            self.settled += blocks.len() - 1;
            self.open += next;
            let settled = defined.into_iter().filter(|(start, _)| *start < next);
            settled.for_each(|(_, definition)| self.definitions.insert(definition));
        }
        self.tail_bytes = html.len();
        Tail { from, html }
    }
}

/// The start of the last block, if nothing that may follow can merge it with the one before.
fn settle(text: &str, blocks: &[Block]) -> Option<usize> {
    let [.., before, last] = blocks else { return None };
    // The range of a block does not always include its indentation.
    let start = text.get(..last.range.start)?.rfind('\n')? + 1;
    let follows_blank = is_blank(text.get(..start - 1)?.rsplit('\n').next()?);
    // Definitions are not blocks, and one can continue with what looks like the next block.
    let follows_block = is_blank(text.get(before.range.end.min(start)..start)?);
    let lines = text.get(start..)?.bytes().filter(|byte| *byte == b'\n').take(2).count();
    let is_certain = match last.shape {
        Shape::Lines if !follows_blank => follows_block && lines == 2,
        Shape::Lines | Shape::Loose | Shape::Firm if lines == 0 => {
            follows_blank && before.shape != Shape::Loose
        }
        Shape::Lines | Shape::Loose | Shape::Firm => follows_blank || follows_block,
    };
    is_certain.then_some(start)
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_whitespace())
}
