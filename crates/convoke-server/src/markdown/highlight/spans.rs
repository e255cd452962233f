//! Text of one class after the other, as HTML.

use crate::markdown::escape::push_text;

/// What a piece of code is, as far as the page's style sheet can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Plain,
    Comment,
    String,
    Number,
    Keyword,
    Constant,
    Function,
    Type,
    Tag,
    Attribute,
    Punctuation,
    Operator,
    Heading,
    Inserted,
    Deleted,
}

impl Class {
    const fn name(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Comment => "hl-comment",
            Self::String => "hl-string",
            Self::Number => "hl-number",
            Self::Keyword => "hl-keyword",
            Self::Constant => "hl-constant",
            Self::Function => "hl-function",
            Self::Type => "hl-type",
            Self::Tag => "hl-tag",
            Self::Attribute => "hl-attribute",
            Self::Punctuation => "hl-punctuation",
            Self::Operator => "hl-operator",
            Self::Heading => "hl-heading",
            Self::Inserted => "hl-inserted",
            Self::Deleted => "hl-deleted",
        }
    }
}

/// Writes text; neighbours of the same class share an element.
pub(super) struct Spans<'a> {
    html: &'a mut String,
    open: Class,
}

impl<'a> Spans<'a> {
    pub(super) const fn new(html: &'a mut String) -> Self {
        Self { html, open: Class::Plain }
    }

    pub(super) fn write(&mut self, class: Class, text: &str) {
        // Blanks look the same in every colour.
        if !text.trim_ascii().is_empty() {
            self.show(class);
        }
        push_text(self.html, text);
    }

    /// Ends the last element.
    pub(super) fn finish(mut self) {
        self.show(Class::Plain);
    }

    fn show(&mut self, class: Class) {
        if class == self.open {
            return;
        }
        if self.open != Class::Plain {
            self.html.push_str("</span>");
        }
        if class != Class::Plain {
            self.html.push_str("<span class=\"");
            self.html.push_str(class.name());
            self.html.push_str("\">");
        }
        self.open = class;
    }
}
