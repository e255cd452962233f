//! Turns the events of a Markdown parser into HTML.
//!
//! All tags and attributes in the output are written in this file; all input becomes text or a checked address.

use std::ops::Range;

use pulldown_cmark::{Alignment, CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Tag};

use super::escape::{push_address, push_text};
use super::{highlight, language, link};

/// The deepest nesting; deeper elements are dropped and their text is kept. Browsers stop at 512.
const DEPTH_MAX: usize = 100;

/// Writes one text.
pub(super) struct Writer {
    html: String,
    open: Vec<Open>,
    /// Text that the next event may continue.
    pending: String,
    /// The depth of links that are followed: HTML does not allow nested links.
    links: usize,
    table: Table,
}

/// What a start event opened and its end event closes.
enum Open {
    /// An element, with its closing tag.
    Element(&'static str),
    /// A link, followed or not, with its closing tag and the start of its text.
    Link { close: &'static str, start: usize, address: String },
    /// A code block with its language.
    Code(Option<String>),
    /// A block of raw HTML, which is shown as text.
    Html,
    /// Nothing, because it is nested too deep.
    Nothing,
}

/// The position in a table.
#[derive(Default)]
struct Table {
    alignments: Vec<Alignment>,
    column: usize,
    cell: Option<&'static str>,
}

impl Writer {
    pub(super) fn new(text: &str) -> Self {
        Self {
            html: String::with_capacity(text.len() + text.len() / 2),
            open: Vec::new(),
            pending: String::new(),
            links: 0,
            table: Table::default(),
        }
    }

    /// The finished HTML.
    pub(super) fn finish(mut self) -> String {
        self.flush();
        self.html
    }

    /// Writes one event.
    pub(super) fn write(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => {
                self.flush();
                self.start(tag);
            }
            Event::End(_) => self.end(),
            Event::Text(text) => self.pending.push_str(&text),
            Event::Code(code) => {
                self.flush();
                self.html.push_str("<code>");
                push_text(&mut self.html, &code);
                self.html.push_str("</code>");
            }
            Event::Html(html) if matches!(self.open.last(), Some(Open::Html)) => {
                self.pending.push_str(&html);
            }
            Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => {
                self.flush();
                push_text(&mut self.html, &text);
            }
            Event::SoftBreak => self.pending.push('\n'),
            Event::HardBreak => self.tag("<br>"),
            Event::Rule => self.tag("<hr>"),
            Event::TaskListMarker(done) => self.task(if done { Task::Done } else { Task::Open }),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        // A table takes three levels, and is opened as a whole or not at all.
        let levels = if matches!(tag, Tag::Table(_)) { 3 } else { 1 };
        if self.open.len() + levels > DEPTH_MAX || matches!(self.open.last(), Some(Open::Nothing)) {
            return self.open.push(Open::Nothing);
        }
        match tag {
            Tag::Paragraph => self.element("<p>", "</p>"),
            Tag::Heading { level, .. } => {
                let (start, close) = heading(level);
                self.element(start, close);
            }
            Tag::BlockQuote(_) => self.element("<blockquote>", "</blockquote>"),
            Tag::CodeBlock(kind) => self.open.push(Open::Code(language_of(&kind))),
            Tag::HtmlBlock => self.open.push(Open::Html),
            Tag::List(None) => self.element("<ul>", "</ul>"),
            Tag::List(Some(1)) => self.element("<ol>", "</ol>"),
            Tag::List(Some(first)) => {
                self.html.push_str(&format!("<ol start=\"{first}\">"));
                self.open.push(Open::Element("</ol>"));
            }
            Tag::Item => self.element("<li>", "</li>"),
            Tag::Table(alignments) => {
                self.table = Table { alignments, column: 0, cell: None };
                self.element("<table>", "</tbody></table>");
            }
            Tag::TableHead => {
                self.table.begin_row("th");
                self.element("<thead><tr>", "</tr></thead><tbody>");
            }
            Tag::TableRow => {
                self.table.begin_row("td");
                self.element("<tr>", "</tr>");
            }
            Tag::TableCell => self.cell(),
            Tag::Emphasis => self.element("<em>", "</em>"),
            Tag::Strong => self.element("<strong>", "</strong>"),
            Tag::Strikethrough => self.element("<del>", "</del>"),
            Tag::Link { link_type, dest_url, title, .. } => {
                let address = if matches!(link_type, LinkType::Email) {
                    CowStr::from(format!("mailto:{dest_url}"))
                } else {
                    dest_url
                };
                self.link(&address, &title);
            }
            // Loading an image would reveal to its server who reads the message, and when.
            Tag::Image { dest_url, title, .. } => self.link(&dest_url, &title),
            // Extensions that are not enabled.
            Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => self.element("<div>", "</div>"),
        }
    }

    fn end(&mut self) {
        match self.open.pop() {
            Some(Open::Code(language)) => self.code(language.as_deref()),
            Some(Open::Html) => {
                let html = std::mem::take(&mut self.pending);
                self.lines(html.trim_end());
            }
            Some(Open::Element(close)) => self.tag(close),
            Some(Open::Link { close, start, address }) => {
                self.flush();
                if self.html.len() == start {
                    push_text(&mut self.html, &address);
                }
                self.links = self.links.saturating_sub(1);
                self.html.push_str(close);
            }
            Some(Open::Nothing) | None => self.pending.push(' '),
        }
    }

    fn element(&mut self, start: &'static str, close: &'static str) {
        self.html.push_str(start);
        self.open.push(Open::Element(close));
    }

    fn tag(&mut self, tag: &str) {
        self.flush();
        self.html.push_str(tag);
    }

    /// A link, or a span in its place if the address is not followed.
    fn link(&mut self, address: &str, title: &str) {
        let is_followed = self.links == 0 && link::is_followed(address);
        let close = if is_followed {
            self.anchor(address);
            self.attribute("title", title);
            "</a>"
        } else {
            self.html.push_str("<span class=\"inert\"");
            self.attribute("title", if link::is_shown(address) { address } else { "" });
            "</span>"
        };
        self.html.push('>');
        self.links += 1;
        let start = self.html.len();
        self.open.push(Open::Link { close, start, address: address.to_owned() });
    }

    /// The start of an `a` element; the caller closes the tag.
    fn anchor(&mut self, address: &str) {
        self.html.push_str("<a href=\"");
        push_address(&mut self.html, address);
        self.html.push_str("\" rel=\"noopener noreferrer\" target=\"_blank\"");
    }

    fn attribute(&mut self, name: &'static str, value: &str) {
        if !value.is_empty() {
            self.html.push_str(&format!(" {name}=\""));
            push_text(&mut self.html, value);
            self.html.push('"');
        }
    }

    fn cell(&mut self) {
        let name = self.table.cell.unwrap_or("td");
        let alignment = self.table.next_column();
        self.html.push_str(&format!("<{name}{alignment}>"));
        self.open.push(Open::Element(if name == "th" { "</th>" } else { "</td>" }));
    }

    fn task(&mut self, task: Task) {
        self.flush();
        // The marker comes right after the start of its item, or of the item's first paragraph.
        for start in ["<li>", "<li><p>"] {
            if self.html.ends_with(start) {
                let at = self.html.len() - start.len();
                self.html.insert_str(at + "<li".len(), " class=\"task\"");
                break;
            }
        }
        self.html.push_str(match task {
            Task::Done => "<input type=\"checkbox\" aria-label=\"done\" disabled checked>",
            Task::Open => "<input type=\"checkbox\" aria-label=\"to do\" disabled>",
        });
        self.pending.push(' ');
    }

    fn code(&mut self, language: Option<&str>) {
        let code = std::mem::take(&mut self.pending);
        self.html.push_str("<pre><code");
        if let Some(language) = language {
            self.html.push_str(" class=\"language-");
            push_text(&mut self.html, language);
            self.html.push('"');
        }
        self.html.push('>');
        match language {
            Some(language) => highlight::paint(&mut self.html, language, &code),
            None => push_text(&mut self.html, &code),
        }
        self.html.push_str("</code></pre>");
    }

    /// Text with its line breaks, as a paragraph.
    fn lines(&mut self, text: &str) {
        self.html.push_str("<p>");
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.html.push_str("<br>");
            }
            push_text(&mut self.html, line);
        }
        self.html.push_str("</p>");
    }

    /// Writes the pending text, with links for the addresses in it.
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.pending);
        let mut rest = text.as_str();
        while self.links == 0
            && let Some(Range { start, end }) = link::find(rest)
            && let (Some(before), Some(address)) = (rest.get(..start), rest.get(start..end))
        {
            push_text(&mut self.html, before);
            self.anchor(address);
            self.html.push('>');
            push_text(&mut self.html, address);
            self.html.push_str("</a>");
            rest = rest.get(end..).unwrap_or_default();
        }
        push_text(&mut self.html, rest);
        // Reuses the buffer.
        self.pending = text;
        self.pending.clear();
    }
}

/// The state of a task list item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    Done,
    Open,
}

impl Table {
    fn begin_row(&mut self, cell: &'static str) {
        self.column = 0;
        self.cell = Some(cell);
    }

    /// The alignment attribute of the next cell. The content security policy forbids inline styles.
    fn next_column(&mut self) -> &'static str {
        let alignment = self.alignments.get(self.column);
        self.column += 1;
        match alignment {
            Some(Alignment::Left) => " align=\"left\"",
            Some(Alignment::Center) => " align=\"center\"",
            Some(Alignment::Right) => " align=\"right\"",
            Some(Alignment::None) | None => "",
        }
    }
}

fn language_of(kind: &CodeBlockKind<'_>) -> Option<String> {
    match kind {
        CodeBlockKind::Fenced(words) => language::of_fence(words).map(str::to_owned),
        CodeBlockKind::Indented => None,
    }
}

const fn heading(level: HeadingLevel) -> (&'static str, &'static str) {
    match level {
        HeadingLevel::H1 => ("<h1>", "</h1>"),
        HeadingLevel::H2 => ("<h2>", "</h2>"),
        HeadingLevel::H3 => ("<h3>", "</h3>"),
        HeadingLevel::H4 => ("<h4>", "</h4>"),
        HeadingLevel::H5 => ("<h5>", "</h5>"),
        HeadingLevel::H6 => ("<h6>", "</h6>"),
    }
}
