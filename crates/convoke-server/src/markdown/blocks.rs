//! A Markdown text as its top-level blocks, each of which becomes exactly one element.

use std::collections::HashMap;
use std::ops::Range;

use pulldown_cmark::{BrokenLink, CodeBlockKind, CowStr, Event, Options, Parser, Tag};

use super::writer::Writer;

/// The link reference definitions of the earlier parts of a text: `[label]: address "title"`.
#[derive(Debug, Default)]
pub(super) struct Definitions(HashMap<String, (String, String)>);

/// A rendered text.
#[derive(Debug)]
pub(super) struct Rendered {
    pub(super) html: String,
    /// The blocks in order; as many as `html` has top-level elements.
    pub(super) blocks: Vec<Block>,
    /// The link reference definitions of this text, with their offsets.
    pub(super) defined: Vec<(usize, Definition)>,
}

/// A link reference definition: label, address, title.
pub(super) type Definition = (String, String, String);

/// A top-level block.
#[derive(Debug)]
pub(super) struct Block {
    /// Its range in the text.
    pub(super) range: Range<usize>,
    pub(super) shape: Shape,
}

/// How a block can be continued, which decides where the next one begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A paragraph or a table: the second line decides which, and whether it belongs to the lines before it.
    Lines,
    /// It can continue after blank lines.
    Loose,
    /// Its first line determines it, and a blank line ends it.
    Firm,
}

impl Definitions {
    pub(super) fn insert(&mut self, (words, address, title): Definition) {
        // The first definition of a label counts.
        self.0.entry(normal(&words)).or_insert((address, title));
    }

    fn find<'a>(&self, words: &str) -> Option<(CowStr<'a>, CowStr<'a>)> {
        let (address, title) = self.0.get(&normal(words))?;
        Some((address.clone().into(), title.clone().into()))
    }
}

/// Renders a text; `earlier` has the definitions of the parts before it.
pub(super) fn render(text: &str, earlier: &Definitions) -> Rendered {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let find = |link: BrokenLink<'_>| earlier.find(&link.reference);
    let find = (!earlier.0.is_empty()).then_some(find);
    let mut events = Parser::new_with_broken_link_callback(text, options, find).into_offset_iter();
    let defined = events.reference_definitions().iter().map(|(words, definition)| {
        let title = definition.title.as_deref().unwrap_or_default().to_owned();
        (definition.span.start, (words.to_owned(), definition.dest.to_string(), title))
    });
    let defined = defined.collect();
    let mut writer = Writer::new(text);
    let mut blocks = Vec::new();
    let mut depth = 0_usize;
    for (event, range) in &mut events {
        let is_top = depth == 0;
        if let Event::Start(tag) = &event {
            depth += 1;
            if is_top {
                blocks.push(Block { range: range.clone(), shape: Shape::of(tag) });
            }
        } else if matches!(event, Event::End(_)) {
            depth = depth.saturating_sub(1);
        } else if is_top {
            // A thematic break is the only block without start and end events.
            debug_assert!(matches!(event, Event::Rule), "{event:?} stands in no block");
            blocks.push(Block { range: range.clone(), shape: Shape::Firm });
        }
        writer.write(event);
    }
    Rendered { html: writer.finish(), blocks, defined }
}

impl Shape {
    const fn of(tag: &Tag<'_>) -> Self {
        if matches!(tag, Tag::Paragraph | Tag::Table(_)) {
            Self::Lines
        } else if matches!(
            tag,
            Tag::List(_) | Tag::CodeBlock(CodeBlockKind::Indented) | Tag::HtmlBlock
        ) {
            Self::Loose
        } else {
            Self::Firm
        }
    }
}

/// Labels match regardless of case and white space.
fn normal(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}
