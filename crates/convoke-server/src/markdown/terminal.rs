//! Output for terminals as HTML: colours and weights become classes of the style sheet.
//!
//! The content security policy forbids inline styles, so 256-colour and true-colour values become
//! the nearest of the sixteen colours that the style sheet defines for both themes. No element
//! crosses a line break: the page may cut at any line.

#[cfg(test)]
mod tests;

use convoke_api::ansi::{self, Colour, Style};

use super::escape::push_text;
use super::{HTML_BYTES_FREE, HTML_GROWTH_MAX};

/// The levels of the colour cube in the palette of 256.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// Renders terminal output. `None` if it is plain text, which needs no markup.
pub(crate) fn render(text: &str) -> Option<String> {
    if !text.contains(['\u{1b}', '\u{9b}', '\r', '\u{8}']) {
        return None;
    }
    let html_bytes_max = HTML_BYTES_FREE + text.len() * HTML_GROWTH_MAX;
    let mut html = String::with_capacity(text.len());
    ansi::split(text, |style, run| push_run(&mut html, style, run));
    if html.len() > html_bytes_max {
        html.clear();
        ansi::split(text, |_, run| push_run(&mut html, Style::default(), run));
    }
    Some(html)
}

fn push_run(html: &mut String, style: Style, run: &str) {
    let letters = run.replace(|letter: char| letter.is_control() && !"\n\t".contains(letter), "");
    let classes = classes(style);
    if classes.is_empty() || letters == "\n" || letters.is_empty() {
        return push_text(html, &letters);
    }
    html.push_str("<span class=\"");
    html.push_str(&classes);
    html.push_str("\">");
    push_text(html, &letters);
    html.push_str("</span>");
}

/// The classes of a style; none for plain text.
fn classes(style: Style) -> String {
    let flags = [
        (style.reversed, "ansi-inverse"),
        (style.bold, "ansi-bold"),
        (style.faint, "ansi-faint"),
        (style.italic, "ansi-italic"),
        (style.underlined, "ansi-underline"),
        (style.struck, "ansi-strike"),
    ];
    let mut classes: Vec<String> =
        flags.iter().filter(|(is_on, _)| *is_on).map(|(_, name)| (*name).to_owned()).collect();
    let (mut letters, mut behind) = (style.foreground, style.background);
    if style.reversed {
        std::mem::swap(&mut letters, &mut behind);
    }
    classes.extend(letters.map(|colour| format!("ansi-{}", sixteen(colour))));
    classes.extend(behind.map(|colour| format!("ansi-on-{}", sixteen(colour))));
    classes.join(" ")
}

/// The index of a colour, or of the nearest one, among the sixteen.
fn sixteen(colour: Colour) -> u8 {
    match colour {
        Colour::Rgb(red, green, blue) => nearest(red, green, blue),
        Colour::Indexed(number @ 0..=15) => number,
        Colour::Indexed(number @ 16..=231) => {
            let at = number - 16;
            let level = |at: u8| LEVELS.get(usize::from(at % 6)).copied().unwrap_or_default();
            nearest(level(at / 36), level(at / 6), level(at))
        }
        Colour::Indexed(number @ 232..=255) => {
            let grey = 8 + (number - 232) * 10;
            nearest(grey, grey, grey)
        }
    }
}

/// The nearest of the sixteen by hue; greys by lightness.
fn nearest(red: u8, green: u8, blue: u8) -> u8 {
    let most = red.max(green).max(blue);
    let least = red.min(green).min(blue);
    if most - least < 32 {
        return match most {
            0..=63 => 0,
            64..=159 => 8,
            160..=223 => 7,
            224..=255 => 15,
        };
    }
    let middle = least + (most - least) / 2;
    let bit = |part: u8, place: u8| u8::from(part > middle) << place;
    let hue = bit(red, 0) | bit(green, 1) | bit(blue, 2);
    if most > 200 { hue + 8 } else { hue }
}
