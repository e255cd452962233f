//! A Markdown text as the blocks at its top level, each of which becomes exactly one element.

use std::collections::HashMap;
use std::ops::Range;

use pulldown_cmark::{BrokenLink, CodeBlockKind, CowStr, Event, Options, Parser, Tag};

use super::writer::Writer;

/// Where the words in brackets lead that earlier parts of a text have defined: `[words]: address "title"`.
#[derive(Debug, Default)]
pub(super) struct Definitions(HashMap<String, (String, String)>);

/// A text as HTML.
#[derive(Debug)]
pub(super) struct Rendered {
    pub(super) html: String,
    /// The blocks in their order; as many as there are elements at the top level of `html`.
    pub(super) blocks: Vec<Block>,
    /// The definitions in this text, and where each of them begins.
    pub(super) defined: Vec<(usize, Definition)>,
}

/// What a definition says: words, address, title.
pub(super) type Definition = (String, String, String);

/// A block at the top level.
#[derive(Debug)]
pub(super) struct Block {
    /// Where it stands in the text.
    pub(super) range: Range<usize>,
    pub(super) shape: Shape,
}

/// What matters of a block for where the next one begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A paragraph or a table: the second line says which, and whether it is one block with the lines before it.
    Lines,
    /// It can go on behind empty lines.
    Loose,
    /// Its first line says what it is, and it does not go on behind an empty line.
    Firm,
}

impl Definitions {
    pub(super) fn insert(&mut self, (words, address, title): Definition) {
        // The first definition counts.
        self.0.entry(normal(&words)).or_insert((address, title));
    }

    fn find<'a>(&self, words: &str) -> Option<(CowStr<'a>, CowStr<'a>)> {
        let (address, title) = self.0.get(&normal(words))?;
        Some((address.clone().into(), title.clone().into()))
    }
}

/// Renders a text whose earlier parts made these definitions.
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
            // A line across the page is the only block without a beginning and an end.
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

/// Words in brackets mean the same whatever their case and blanks.
fn normal(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}
