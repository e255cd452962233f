//! Code in the colours of its language.

use convoke_api::highlight::{self, Class};
use ratatui::style::Style;
use ratatui::text::Span;

use super::clean;
use crate::palette::Palette;

/// The lines of code; in one colour when its language is not known.
pub(crate) fn lines(language: &str, code: &str, palette: Palette) -> Vec<Vec<Span<'static>>> {
    let is_known = highlight::is_known(language);
    let mut lines = vec![Vec::new()];
    highlight::split(language, &clean::block(code), |class, piece| {
        let style = if is_known { style(class, palette) } else { palette.code() };
        for (index, text) in piece.split('\n').enumerate() {
            if index > 0 {
                lines.push(Vec::new());
            }
            if let Some(line) = lines.last_mut().filter(|_| !text.is_empty()) {
                line.push(Span::styled(text.to_owned(), style));
            }
        }
    });
    // The line break at its end begins no line.
    if lines.len() > 1 && lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    lines
}

fn style(class: Class, palette: Palette) -> Style {
    match class {
        Class::Plain | Class::Punctuation | Class::Operator => Style::new(),
        Class::Comment => palette.faint(),
        Class::String | Class::Inserted => palette.good(),
        Class::Number | Class::Constant => palette.literal(),
        Class::Keyword => palette.keyword(),
        Class::Function | Class::Tag => palette.name(),
        Class::Type | Class::Attribute => palette.code(),
        Class::Heading => palette.strong(),
        Class::Deleted => palette.removed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Colour;

    #[test]
    fn p12_code_has_the_colours_of_its_language() {
        let palette = Palette { colour: Colour::On };
        let lines = lines("rust", "fn a() {\n    1\n}\n", palette);
        let words: Vec<String> =
            lines.iter().map(|line| line.iter().map(|span| &*span.content).collect()).collect();
        assert_eq!(words, ["fn a() {", "    1", "}"]);
        assert_eq!(lines[0][0], Span::styled("fn", palette.keyword()));
        let unknown = super::lines("klingon", "fn", palette);
        assert_eq!(unknown, [vec![Span::styled("fn", palette.code())]]);
    }
}
