//! Colours for code: classes that the page's style sheet knows.

#[cfg(test)]
mod tests;

use convoke_api::highlight::{Class, split};

use super::escape::push_text;

/// Writes code with spans of its language's classes; unchanged if the language is unknown.
pub(super) fn paint(html: &mut String, language: &str, code: &str) {
    let mut open = Class::Plain;
    split(language, code, |class, text| {
        // White space looks the same in every colour; neighbours of the same class share an
        // element.
        if !text.trim_ascii().is_empty() {
            show(html, &mut open, class);
        }
        push_text(html, text);
    });
    show(html, &mut open, Class::Plain);
}

fn show(html: &mut String, open: &mut Class, class: Class) {
    if class == *open {
        return;
    }
    if *open != Class::Plain {
        html.push_str("</span>");
    }
    if class != Class::Plain {
        html.push_str("<span class=\"");
        html.push_str(name(class));
        html.push_str("\">");
    }
    *open = class;
}

const fn name(class: Class) -> &'static str {
    match class {
        Class::Plain => "",
        Class::Comment => "hl-comment",
        Class::String => "hl-string",
        Class::Number => "hl-number",
        Class::Keyword => "hl-keyword",
        Class::Constant => "hl-constant",
        Class::Function => "hl-function",
        Class::Type => "hl-type",
        Class::Tag => "hl-tag",
        Class::Attribute => "hl-attribute",
        Class::Punctuation => "hl-punctuation",
        Class::Operator => "hl-operator",
        Class::Heading => "hl-heading",
        Class::Inserted => "hl-inserted",
        Class::Deleted => "hl-deleted",
    }
}
