//! How text looks on a terminal, as the numbers of `SGR` sequences say, and as classes of the style sheet.

/// The levels of the colour cube in the palette of 256.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// How text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Style {
    /// One of the sixteen colours.
    text: Option<u8>,
    background: Option<u8>,
    bold: bool,
    faint: bool,
    italic: bool,
    underline: bool,
    strike: bool,
    inverse: bool,
}

/// The numbers of a sequence, at most so many. A colon groups numbers that belong together: a colour is read as with
/// semicolons, but for the empty colour space in `38:2::r:g:b`, and of other groups the first number counts.
pub(super) fn numbers(text: &str, max: usize) -> Vec<u16> {
    let parse = |number: &str| if number.is_empty() { Some(0) } else { number.parse().ok() };
    let parts = text.split(';').flat_map(|group| {
        let is_colour = group.starts_with("38:") || group.starts_with("48:");
        let count = if is_colour { usize::MAX } else { 1 };
        group.split(':').filter(move |part| !is_colour || !part.is_empty()).take(count)
    });
    parts.take(max).map(|number| parse(number).unwrap_or(u16::MAX)).collect()
}

impl Style {
    /// Changes what the numbers of a sequence say.
    pub(super) fn change(&mut self, numbers: &[u16]) {
        let mut rest = numbers.iter().copied();
        while let Some(number) = rest.next() {
            match number {
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.faint = true,
                3 => self.italic = true,
                4 | 21 => self.underline = true,
                7 => self.inverse = true,
                9 => self.strike = true,
                22 => (self.bold, self.faint) = (false, false),
                23 => self.italic = false,
                24 => self.underline = false,
                27 => self.inverse = false,
                29 => self.strike = false,
                30..=37 | 90..=97 => self.text = sixteen(number),
                40..=47 | 100..=107 => self.background = sixteen(number - 10),
                38 => self.text = extended(&mut rest).or(self.text),
                48 => self.background = extended(&mut rest).or(self.background),
                39 => self.text = None,
                49 => self.background = None,
                _ => {}
            }
        }
    }

    /// The classes of the style sheet; none for plain text.
    pub(super) fn classes(self) -> String {
        let (text, background) =
            if self.inverse { (self.background, self.text) } else { (self.text, self.background) };
        let flags = [
            (self.inverse, "ansi-inverse"),
            (self.bold, "ansi-bold"),
            (self.faint, "ansi-faint"),
            (self.italic, "ansi-italic"),
            (self.underline, "ansi-underline"),
            (self.strike, "ansi-strike"),
        ];
        let mut classes: Vec<String> =
            flags.iter().filter(|(is_on, _)| *is_on).map(|(_, name)| (*name).to_owned()).collect();
        classes.extend(text.map(|colour| format!("ansi-{colour}")));
        classes.extend(background.map(|colour| format!("ansi-on-{colour}")));
        classes.join(" ")
    }
}

/// One of the sixteen colours by its number among those of text.
fn sixteen(number: u16) -> Option<u8> {
    let colour = if number < 90 { number.checked_sub(30) } else { number.checked_sub(90 - 8) };
    colour.and_then(|colour| u8::try_from(colour).ok())
}

/// A colour of 256 or of all, as the nearest of the sixteen.
fn extended(numbers: &mut impl Iterator<Item = u16>) -> Option<u8> {
    let mut next = || numbers.next().and_then(|number| u8::try_from(number).ok());
    match next()? {
        5 => Some(indexed(next()?)),
        2 => {
            let (red, green, blue) = (next(), next(), next());
            Some(nearest(red?, green?, blue?))
        }
        _ => None,
    }
}

fn indexed(number: u8) -> u8 {
    match number {
        0..=15 => number,
        16..=231 => {
            let at = number - 16;
            let level = |at: u8| LEVELS.get(usize::from(at % 6)).copied().unwrap_or_default();
            nearest(level(at / 36), level(at / 6), level(at))
        }
        232..=255 => {
            let grey = 8 + (number - 232) * 10;
            nearest(grey, grey, grey)
        }
    }
}

/// The nearest of the sixteen by hue; greys by how light they are.
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
