//! Renders the Markdown of prompts as wrapped lines. Unknown syntax is shown as it was written.
//!
//! Text is sanitised after parsing, since `&#27;` is an escape character only then.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::table::Table;
use super::{clean, code, wrap};
use crate::Colour;
use crate::palette::Palette;

/// The lines of a text, broken at `width`.
pub(crate) fn lines(text: &str, width: usize, palette: Palette) -> Vec<Line<'static>> {
    let mut page = Page::new(width, palette);
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    for event in Parser::new_ext(text, options) {
        page.take(event);
    }
    page.end_line();
    page.lines
}

/// Rows narrower than this cannot be read; text in deep lists runs out of the picture instead.
const WIDTH_MIN: usize = 8;

struct Page {
    width: usize,
    palette: Palette,
    lines: Vec<Line<'static>>,
    /// The line that is being gathered.
    spans: Vec<Span<'static>>,
    styles: Vec<Style>,
    margins: Vec<Margin>,
    /// The next number of each open list, or `None` for bullets.
    lists: Vec<Option<u64>>,
    /// The address of each open link, and where its text begins.
    links: Vec<(String, usize)>,
    /// The language and the text of the code that is being gathered.
    code: Option<(String, String)>,
    table: Option<Table>,
}

/// The prefix of the first line of a block, and of the others.
struct Margin {
    first: Option<String>,
    rest: String,
}

impl Page {
    fn new(width: usize, palette: Palette) -> Self {
        Self {
            width,
            palette,
            lines: Vec::new(),
            spans: Vec::new(),
            styles: Vec::new(),
            margins: Vec::new(),
            lists: Vec::new(),
            links: Vec::new(),
            code: None,
            table: None,
        }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.text(&text),
            Event::Code(text) => self.inline_code(&text),
            // An agent's line breaks are meant, as in a chat.
            Event::SoftBreak | Event::HardBreak => self.end_line(),
            Event::Rule => {
                self.gap();
                let rule = "─".repeat(self.width.min(20));
                self.lines.push(Line::styled(rule, self.palette.faint()));
            }
            Event::TaskListMarker(done) => self.push(if done { "[x] " } else { "[ ] " }),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.gap(),
            Tag::Heading { .. } => {
                self.gap();
                let style = self.palette.strong().add_modifier(Modifier::UNDERLINED);
                self.styles.push(style);
            }
            Tag::BlockQuote(_) => {
                self.gap();
                self.margins.push(Margin { first: None, rest: "▏ ".to_owned() });
            }
            Tag::CodeBlock(kind) => {
                self.gap();
                let language = match kind {
                    CodeBlockKind::Fenced(name) => {
                        name.split([' ', ',', '{']).next().map(str::to_owned)
                    }
                    CodeBlockKind::Indented => None,
                };
                self.code = Some((language.unwrap_or_default(), String::new()));
            }
            Tag::Table(alignments) => {
                self.gap();
                self.table = Some(Table { alignments, rows: Vec::new() });
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
                let is_head = matches!(tag, Tag::TableHead);
                self.styles.push(if is_head { self.palette.strong() } else { Style::new() });
            }
            Tag::Strikethrough => {
                self.styles.push(Style::new().add_modifier(Modifier::CROSSED_OUT));
            }
            Tag::List(first) => {
                if self.lists.is_empty() {
                    self.gap();
                }
                self.end_line();
                self.lists.push(first);
            }
            Tag::Item => self.item(),
            Tag::Emphasis => self.styles.push(Style::new().add_modifier(Modifier::ITALIC)),
            Tag::Strong => self.styles.push(self.palette.strong()),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.links.push((clean::line(&dest_url), self.spans.len()));
                self.styles.push(Style::new().add_modifier(Modifier::UNDERLINED));
            }
            Tag::Superscript
            | Tag::Subscript
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::TableCell
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.end_line(),
            TagEnd::Heading(_) => {
                self.end_line();
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) | TagEnd::Item => {
                self.end_line();
                self.margins.pop();
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::Table => self.end_table(),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.spans);
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::TableHead
            | TagEnd::TableRow => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => self.end_link(),
            TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    fn text(&mut self, text: &str) {
        match &mut self.code {
            Some((_, code)) => code.push_str(text),
            None => self.push(&clean::line(text)),
        }
    }

    fn end_code(&mut self) {
        let Some((language, code)) = self.code.take() else { return };
        self.margins.push(Margin { first: None, rest: "│ ".to_owned() });
        for line in code::lines(&language, &code, self.palette) {
            // A line of code may be empty.
            self.spans = if line.is_empty() { vec![Span::raw("")] } else { line };
            self.break_line();
        }
        self.margins.pop();
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        for line in table.lines(self.room(), self.palette) {
            self.push_row(line.spans);
        }
    }

    fn inline_code(&mut self, text: &str) {
        let text = clean::line(text);
        self.styles.push(self.palette.code());
        match self.palette.colour {
            Colour::On => self.push(&text),
            Colour::Off => self.push(&format!("`{text}`")),
        }
        self.styles.pop();
    }

    fn item(&mut self) {
        self.end_line();
        let bullet = match self.lists.last_mut() {
            Some(Some(number)) => {
                let bullet = format!("{number}. ");
                *number += 1;
                bullet
            }
            Some(None) | None => "• ".to_owned(),
        };
        let rest = " ".repeat(wrap::width(&bullet));
        self.margins.push(Margin { first: Some(bullet), rest });
    }

    /// Adds the address of a link, unless its text shows it.
    fn end_link(&mut self) {
        self.styles.pop();
        let Some((address, from)) = self.links.pop() else { return };
        let text: String = self.spans.iter().skip(from).map(|span| &*span.content).collect();
        if !address.is_empty() && text != address {
            self.spans.push(Span::styled(format!(" ({address})"), self.palette.faint()));
        }
    }

    fn push(&mut self, text: &str) {
        let style = self.styles.iter().fold(Style::new(), |all, style| all.patch(*style));
        self.spans.push(Span::styled(text.to_owned(), style));
    }

    /// A blank line between two blocks.
    fn gap(&mut self) {
        self.end_line();
        if self.lines.last().is_some_and(|line| !line.spans.is_empty()) {
            self.lines.push(Line::default());
        }
    }

    fn end_line(&mut self) {
        if !self.spans.is_empty() {
            self.break_line();
        }
    }

    fn break_line(&mut self) {
        let spans = std::mem::take(&mut self.spans);
        for row in wrap::spans(&spans, self.room()) {
            self.push_row(row);
        }
    }

    /// The cells beside the margins.
    fn room(&self) -> usize {
        let margin: usize = self.margins.iter().map(|margin| wrap::width(&margin.rest)).sum();
        self.width.saturating_sub(margin).max(WIDTH_MIN)
    }

    /// A row that fits, behind the margins.
    fn push_row(&mut self, row: Vec<Span<'static>>) {
        let mut line: Vec<Span<'static>> = Vec::new();
        for margin in &mut self.margins {
            let text = margin.first.take().unwrap_or_else(|| margin.rest.clone());
            line.push(Span::styled(text, self.palette.faint()));
        }
        line.extend(row);
        self.lines.push(Line::from(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, width: usize) -> String {
        let palette = Palette { colour: Colour::Off };
        let lines = lines(text, width, palette);
        lines
            .iter()
            .map(|line| line.to_string().trim_end().to_owned())
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn blocks_keep_their_shape() {
        let text = "# Plan\nUse *one* of **these**:\n- `a`: the first option of all\n  - deeper\n- b\n\n\
                    3. three\n4. four\n\n> quoted\n\n```rust\nfn main() {\n\n    let x = 1;\n}\n```\nEnd";
        insta::assert_snapshot!(shown(text, 24), @r"
        Plan

        Use one of these:

        • `a`: the first option
          of all
          • deeper
        • b

        3. three
        4. four

        ▏ quoted

        │ fn main() {
        │
        │     let x = 1;
        │ }

        End
        ");
    }

    #[test]
    fn p12_tables_have_columns_and_become_lists_where_there_is_no_room() {
        let text = "| Name | What it is | Price |\n|---|:-:|--:|\n| `tea` | a warm drink | 2 |\n| coffee | **strong** | 12 |";
        insta::assert_snapshot!(shown(text, 60), @r"
        Name   │  What it is  │ Price
        ───────┼──────────────┼──────
        `tea`  │ a warm drink │     2
        coffee │    strong    │    12
        ");
        insta::assert_snapshot!(shown(text, 24), @r"
        Name   │ What it │ Price
               │   is    │
        ───────┼─────────┼──────
        `tea`  │ a warm  │     2
               │  drink  │
        coffee │ strong  │    12
        ");
        insta::assert_snapshot!(shown(text, 16), @r"
        Name: `tea`
        What it is: a
        warm drink
        Price: 2

        Name: coffee
        What it is:
        strong
        Price: 12
        ");
    }

    #[test]
    fn links_say_where_they_lead_once() {
        let text = "[docs](https://example.org) <https://example.org> ![logo](a.png)";
        assert_eq!(shown(text, 80), "docs (https://example.org) https://example.org logo (a.png)");
    }

    #[test]
    fn line_breaks_stay_and_html_is_shown_as_text() {
        assert_eq!(
            shown("one\ntwo <b>three</b>\n\n<div>x</div>", 40),
            "one\ntwo <b>three</b>\n\n<div>x</div>"
        );
    }

    #[test]
    fn an_escape_character_in_disguise_is_harmless() {
        assert_eq!(shown("a&#27;[31mb &#x9b;2J `c\u{1b}d`", 40), "a␛[31mb \u{fffd}2J `c␛d`");
        assert_eq!(shown("[x](<http://a\u{1b}]0;t\u{7}>)", 40), "x (http://a␛]0;t␇)");
    }
}
