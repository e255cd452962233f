//! A text that is still being written: only its end is rendered again.

use std::time::Duration;

use super::blocks::{self, Block, Definitions, Rendered, Shape};

/// A text that grows, and what of it needs to be rendered again.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    text: String,
    /// Where the first block begins that more text could still change.
    open: usize,
    /// Elements before that.
    settled: usize,
    definitions: Definitions,
    /// Bytes of the last tail.
    tail_bytes: usize,
}

/// The end of a text: whoever shows it drops the elements from `from` on, and appends these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tail {
    /// Index of the first element at the top level that may have changed.
    pub(crate) from: usize,
    /// The elements from there on.
    pub(crate) html: String,
}

impl Stream {
    /// A text without words.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds to the end.
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// All the text so far.
    #[cfg(test)]
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// What of it is rendered by the next call.
    pub(super) fn open_text(&self) -> &str {
        self.text.get(self.open..).unwrap_or_default()
    }

    /// How long to wait before the next tail: 40 ms, and longer when tails are long, since each of them is sent and shown whole.
    pub(crate) fn pause(&self) -> Duration {
        const SHORTEST: Duration = Duration::from_millis(40);
        /// What a browser takes in within the shortest pause without anybody noticing.
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

/// Where the last block begins, when nothing that may follow can make it a part of the one before.
fn settle(text: &str, blocks: &[Block]) -> Option<usize> {
    let [.., before, last] = blocks else { return None };
    // Its indentation is not always in its range.
    let start = text.get(..last.range.start)?.rfind('\n')? + 1;
    let follows_blank = is_blank(text.get(..start - 1)?.rsplit('\n').next()?);
    // Definitions are no blocks, and one of them can go on with what looks like the next block.
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
