//! Output of programs: colours become styles, and all other escape sequences are removed.

use convoke_api::ansi::{self, Colour as Printed};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;

use super::clean;
use crate::Colour;
use crate::palette::Palette;

/// The lines of an output; where it sets no style of its own, it has this one.
pub(crate) fn lines(text: &str, base: Style, palette: Palette) -> Vec<Vec<Span<'static>>> {
    let mut lines = vec![Vec::new()];
    ansi::split(text, |printed, run| {
        let style = base.patch(style(printed, palette));
        for (index, piece) in clean::block(run).split('\n').enumerate() {
            if index > 0 {
                lines.push(Vec::new());
            }
            if let Some(line) = lines.last_mut().filter(|_| !piece.is_empty()) {
                line.push(Span::styled(piece.to_owned(), style));
            }
        }
    });
    lines
}

fn style(printed: ansi::Style, palette: Palette) -> Style {
    let mut style = Style::new();
    if palette.colour == Colour::On {
        style.fg = printed.foreground.map(color);
        style.bg = printed.background.map(color);
    }
    let modifiers = [
        (printed.bold, Modifier::BOLD),
        (printed.faint, Modifier::DIM),
        (printed.italic, Modifier::ITALIC),
        (printed.underlined, Modifier::UNDERLINED),
        (printed.reversed, Modifier::REVERSED),
        (printed.struck, Modifier::CROSSED_OUT),
    ];
    for (_, modifier) in modifiers.into_iter().filter(|(is_set, _)| *is_set) {
        style = style.add_modifier(modifier);
    }
    style
}

const fn color(printed: Printed) -> Color {
    match printed {
        Printed::Indexed(number) => Color::Indexed(number),
        Printed::Rgb(red, green, blue) => Color::Rgb(red, green, blue),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p8_colours_are_shown_and_other_sequences_are_not() {
        let palette = Palette { colour: Colour::On };
        let lines = lines("ok \u{1b}[1;31mfailed\u{1b}[0m\n\u{1b}[2J\u{7}x", Style::new(), palette);
        let red = Style::new().fg(Color::Indexed(1)).add_modifier(Modifier::BOLD);
        assert_eq!(
            lines,
            [vec![Span::raw("ok "), Span::styled("failed", red)], vec![Span::raw("␇x")],]
        );
        let without = super::lines("\u{1b}[31mred", Style::new(), Palette { colour: Colour::Off });
        assert_eq!(without, [vec![Span::raw("red")]]);
    }
}
