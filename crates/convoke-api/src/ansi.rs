//! Parses the colours of terminal output into runs of text with a style, for every reader that
//! shows it.
//!
//! Other escape sequences (cursor movement, clearing, titles) are dropped, and so is text of a line
//! that was overwritten after a carriage return, as progress bars do.

/// How text looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Style {
    /// The colour of the letters; `None` is the reader's own.
    pub foreground: Option<Colour>,
    /// The colour behind them; `None` is the reader's own.
    pub background: Option<Colour>,
    /// Bold.
    pub bold: bool,
    /// Fainter than other text.
    pub faint: bool,
    /// Italic.
    pub italic: bool,
    /// Underlined.
    pub underlined: bool,
    /// With both colours exchanged.
    pub reversed: bool,
    /// Struck through.
    pub struck: bool,
}

/// A colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// One of the terminal's palette; the first sixteen are those of its theme.
    Indexed(u8),
    /// Red, green and blue.
    Rgb(u8, u8, u8),
}

/// Reads output from its first letter to its last; every run has at least one letter.
pub fn split(text: &str, mut read: impl FnMut(Style, &str)) {
    let mut style = Style::default();
    for line in text.split_inclusive('\n') {
        let words = line.trim_end_matches(['\n', '\r']);
        // The part before the last carriage return is overwritten.
        let overwritten = words.rfind('\r').map_or(0, |at| at + 1);
        let (hidden, shown) = words.split_at(overwritten);
        // Hidden text may still set the colour.
        parts(hidden, &mut style, &mut |_, _| {});
        parts(shown, &mut style, &mut read);
        if line.ends_with('\n') {
            read(style, "\n");
        }
    }
}

/// The letters alone.
pub fn plain(text: &str) -> String {
    let mut letters = String::with_capacity(text.len());
    split(text, |_, run| letters.push_str(run));
    letters
}

fn parts(text: &str, style: &mut Style, read: &mut dyn FnMut(Style, &str)) {
    let mut rest = text;
    while let Some(at) = rest.find(['\u{1b}', '\u{9b}', '\u{8}']) {
        let (before, sequence) = rest.split_at(at);
        if !before.is_empty() {
            read(*style, before);
        }
        rest = escape(sequence, style);
    }
    if !rest.is_empty() {
        read(*style, rest);
    }
}

/// Consumes one escape sequence; returns the rest.
fn escape<'a>(text: &'a str, style: &mut Style) -> &'a str {
    let mut letters = text.chars();
    match letters.next() {
        Some('\u{9b}') => return control(letters.as_str(), style),
        Some('\u{1b}') => {}
        Some(_) | None => return letters.as_str(),
    }
    match letters.next() {
        Some('[') => control(letters.as_str(), style),
        // A string that only terminals read; it ends with BEL or ESC \.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            let rest = letters.as_str();
            let end = rest.find(['\u{7}', '\u{1b}']).unwrap_or(rest.len());
            let rest = rest.get(end..).unwrap_or_default();
            rest.strip_prefix("\u{1b}\\").or_else(|| rest.strip_prefix('\u{7}')).unwrap_or(rest)
        }
        // Intermediate letters and one last letter, as in `ESC ( B`.
        Some(' '..='/') => {
            let mut last =
                letters.as_str().trim_start_matches(|it| matches!(it, ' '..='/')).chars();
            last.next();
            last.as_str()
        }
        Some('0'..='~') => letters.as_str(),
        Some(_) | None => text.get(1..).unwrap_or_default(),
    }
}

/// Consumes the rest of a control sequence; applies it if it sets the style.
fn control<'a>(text: &'a str, style: &mut Style) -> &'a str {
    let end = text.find(|letter| !matches!(letter, ' '..='?'));
    let Some((end, last)) = end.and_then(|at| Some((at, text.get(at..)?.chars().next()?))) else {
        return "";
    };
    let numbers = text.get(..end).unwrap_or_default();
    if last == 'm' && !numbers.starts_with(['?', '>', '<', '=']) {
        set(style, numbers);
    }
    match last {
        '@'..='~' => text.get(end + 1..).unwrap_or_default(),
        // Interrupted by a character that is no part of it.
        _ => text.get(end..).unwrap_or_default(),
    }
}

fn set(style: &mut Style, numbers: &str) {
    let mut codes = numbers.split([';', ':']).map(|code| code.trim().parse().unwrap_or(0_u16));
    while let Some(code) = codes.next() {
        match code {
            0 => *style = Style::default(),
            1 => style.bold = true,
            2 => style.faint = true,
            3 => style.italic = true,
            4 | 21 => style.underlined = true,
            7 => style.reversed = true,
            9 => style.struck = true,
            22 => (style.bold, style.faint) = (false, false),
            23 => style.italic = false,
            24 => style.underlined = false,
            27 => style.reversed = false,
            29 => style.struck = false,
            30..=37 => style.foreground = indexed(code - 30),
            38 => style.foreground = extended(&mut codes).or(style.foreground),
            39 => style.foreground = None,
            40..=47 => style.background = indexed(code - 40),
            48 => style.background = extended(&mut codes).or(style.background),
            49 => style.background = None,
            90..=97 => style.foreground = indexed(code - 90 + 8),
            100..=107 => style.background = indexed(code - 100 + 8),
            _ => {}
        }
    }
}

fn indexed(number: u16) -> Option<Colour> {
    u8::try_from(number).ok().map(Colour::Indexed)
}

/// A colour in several numbers: `5;N`, or `2;R;G;B`.
fn extended(codes: &mut impl Iterator<Item = u16>) -> Option<Colour> {
    match codes.next()? {
        5 => indexed(codes.next()?),
        2 => {
            let [red, green, blue] =
                [codes.next()?, codes.next()?, codes.next()?].map(|it| u8::try_from(it).ok());
            Some(Colour::Rgb(red?, green?, blue?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn runs(text: &str) -> Vec<(Style, String)> {
        let mut runs = Vec::new();
        split(text, |style, run| runs.push((style, run.to_owned())));
        runs
    }

    fn coloured(number: u8) -> Style {
        Style { foreground: Some(Colour::Indexed(number)), ..Style::default() }
    }

    #[test]
    fn p8_colours_become_runs_and_reset() {
        let plain = Style::default();
        let bold_red = Style { bold: true, ..coloured(1) };
        assert_eq!(
            runs("a\u{1b}[1;31mb\u{1b}[22mc\u{1b}[md"),
            [
                (plain, "a".to_owned()),
                (bold_red, "b".to_owned()),
                (coloured(1), "c".to_owned()),
                (plain, "d".to_owned())
            ]
        );
        assert_eq!(runs("\u{1b}[38;5;208mx"), [(coloured(208), "x".to_owned())]);
        assert_eq!(runs("\u{1b}[92mx"), [(coloured(10), "x".to_owned())]);
        let rgb = Style { background: Some(Colour::Rgb(1, 2, 3)), ..plain };
        assert_eq!(runs("\u{1b}[48;2;1;2;3mx"), [(rgb, "x".to_owned())]);
    }

    #[test]
    fn p8_all_that_drives_a_terminal_is_dropped() {
        let cases = [
            ("a\u{1b}[2J\u{1b}[Hb", "ab"),
            ("\u{1b}]0;title\u{7}a\u{1b}]8;;http://x\u{1b}\\b", "ab"),
            ("\u{1b}(Ba\u{1b}=b\u{1b}[?25l", "ab"),
            ("a\u{9b}31mb", "ab"),
            ("a\u{1b}[3", "a"),
            ("\u{1b}", ""),
            ("1%\r50%\r100%\nnext\r\n", "100%\nnext\n"),
            ("\u{1b}[31m1%\r\u{1b}[0m2%", "2%"),
        ];
        for (text, letters) in cases {
            assert_eq!(plain(text), letters, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn p8_no_escape_character_is_left(text in "(\u{1b}|\\[|[0-9;m]|\u{9b}|\r|\n|\u{7}|[a-c\u{e9}]){0,40}") {
            let letters = plain(&text);
            prop_assert!(!letters.contains(['\u{1b}', '\u{9b}']), "{:?}", letters);
        }
    }
}
