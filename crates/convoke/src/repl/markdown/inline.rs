//! The inline text of a line: emphasis, code, links, and escapes with a backslash.

/// The longest link that is buffered; a longer one is shown as plain text.
const LINK_MAX: usize = 500;

/// How a character looks: a set of the bits in [`CODES`].
type Style = u8;

const PLAIN: Style = 0;
const BOLD: Style = 1;
const FAINT: Style = 2;
const ITALIC: Style = 4;
const UNDERLINED: Style = 8;
const STRUCK: Style = 16;
const CODE: Style = 32;

/// The terminal codes of each bit.
const CODES: [(Style, &str); 6] =
    [(BOLD, "1"), (FAINT, "2"), (ITALIC, "3"), (UNDERLINED, "4"), (STRUCK, "9"), (CODE, "36")];

/// The state within a line.
#[derive(Debug, Default)]
pub(super) struct Inline {
    /// The current style.
    style: Style,
    /// How the whole line looks.
    base: Style,
    /// The style that the terminal is set to.
    painted: Style,
    /// How many backticks opened the current code.
    ticks: usize,
    /// Marks, a link or a backslash whose meaning depends on what follows.
    held: String,
    /// The character before those.
    previous: Option<char>,
}

impl Inline {
    /// A new block follows, in which nothing is emphasised yet.
    pub(super) const fn begin_block(&mut self) {
        self.base = PLAIN;
        self.style = PLAIN;
    }

    /// Begins the text of a heading.
    pub(super) const fn begin_heading(&mut self, level: usize) {
        self.begin_block();
        self.go_on(if level == 1 { BOLD | UNDERLINED } else { BOLD });
    }

    /// Begins the text of a quotation, which may continue that of the line before.
    pub(super) const fn begin_quote(&mut self) {
        self.go_on(ITALIC);
    }

    /// Begins other text, which may continue the paragraph of the line before.
    pub(super) const fn begin_words(&mut self) {
        self.go_on(PLAIN);
    }

    /// Emphasis continues as long as the block does.
    const fn go_on(&mut self, base: Style) {
        if self.base != base {
            self.base = base;
            self.style = base;
        }
    }

    /// Handles a character of the text.
    pub(super) fn take(&mut self, c: char, out: &mut String) {
        match self.held.chars().next() {
            None => self.fresh(c, out),
            Some('[') => self.link(c, out),
            Some('\\') => {
                self.held.clear();
                if !c.is_ascii_punctuation() {
                    self.show('\\', out);
                }
                self.show(c, out);
            }
            Some(mark) if mark == c => self.held.push(c),
            Some(_) => {
                self.settle_marks(Some(c), out);
                self.take(c, out);
            }
        }
    }

    /// A character that is shown faintly.
    pub(super) fn faint(&mut self, c: char, out: &mut String) {
        self.paint(FAINT, out);
        out.push(c);
    }

    /// Resets the style of the terminal.
    pub(super) fn rest(&mut self, out: &mut String) {
        self.paint(PLAIN, out);
    }

    /// Ends the line and renders the buffer. Emphasis may continue in the next line, code does not.
    pub(super) fn end(&mut self, out: &mut String) {
        match self.held.chars().next() {
            Some('[' | '\\') => self.give_up(out),
            Some(_) => self.settle_marks(None, out),
            None => {}
        }
        self.rest(out);
        self.previous = None;
        if self.ticks > 0 {
            self.ticks = 0;
            self.style = self.base;
        }
    }

    /// A character with nothing buffered before it.
    fn fresh(&mut self, c: char, out: &mut String) {
        let holds = match c {
            '`' => true,
            '*' | '_' | '~' | '[' | '\\' => self.ticks == 0,
            _ => false,
        };
        if holds {
            self.held.push(c);
        } else {
            self.show(c, out);
        }
    }

    fn show(&mut self, c: char, out: &mut String) {
        self.paint(self.style, out);
        out.push(c);
        self.previous = Some(c);
    }

    /// Decides what a run of marks means, now that the character after it is known.
    fn settle_marks(&mut self, next: Option<char>, out: &mut String) {
        let marks = std::mem::take(&mut self.held);
        let count = marks.chars().count();
        match marks.chars().next() {
            Some('`') if self.ticks == 0 && next.is_some() => {
                self.ticks = count;
                self.style = CODE;
                return;
            }
            Some('`') if self.ticks == count => {
                self.ticks = 0;
                self.style = self.base;
                self.previous = Some('`');
                return;
            }
            Some(mark @ ('*' | '_' | '~')) if self.toggle(mark, count, next) => return,
            Some(_) | None => {}
        }
        marks.chars().for_each(|c| self.show(c, out));
    }

    /// Toggles the emphasis of the marks; returns whether they have a meaning here.
    fn toggle(&mut self, mark: char, count: usize, next: Option<char>) -> bool {
        let is_space = |c: Option<char>| c.is_none_or(char::is_whitespace);
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        // An underscore in the middle of a name is part of the name.
        if mark == '_' && is_word(self.previous) && is_word(next) {
            return false;
        }
        let bits = match (mark, count) {
            ('~', 2) => STRUCK,
            ('*' | '_', 1) => ITALIC,
            ('*' | '_', 2) => BOLD,
            ('*' | '_', 3) => BOLD | ITALIC,
            _ => return false,
        };
        let is_on = self.style & bits == bits;
        if is_space(if is_on { self.previous } else { next }) {
            return false;
        }
        self.style = if is_on { self.style & !bits } else { self.style | bits };
        true
    }

    /// Handles a character of a possible link.
    fn link(&mut self, c: char, out: &mut String) {
        self.held.push(c);
        let text_end = self.held.find(']');
        let may_be = match text_end.and_then(|end| self.held.get(end + 1..)) {
            None | Some("") => true,
            Some(after) => after.starts_with('('),
        };
        if !may_be || self.held.len() > LINK_MAX {
            return self.give_up(out);
        }
        let parts = self.held.strip_suffix(')').and_then(|held| held.split_once("]("));
        let Some((text, address)) = parts else { return };
        let (text, address) = (text.trim_start_matches('[').to_owned(), address.to_owned());
        self.held.clear();
        let style = self.style;
        self.style |= UNDERLINED;
        text.chars().for_each(|c| self.show(c, out));
        self.style = style;
        if address != text {
            let address = format!(" ({address})");
            address.chars().for_each(|c| self.faint(c, out));
            self.previous = Some(')');
        }
    }

    /// Shows the buffered text as plain text.
    fn give_up(&mut self, out: &mut String) {
        let held = std::mem::take(&mut self.held);
        let mut rest = held.chars();
        if let Some(first) = rest.next() {
            self.show(first, out);
        }
        rest.for_each(|c| self.take(c, out));
    }

    fn paint(&mut self, style: Style, out: &mut String) {
        if style == self.painted {
            return;
        }
        if self.painted != PLAIN {
            out.push_str("\x1b[0m");
        }
        if style != PLAIN {
            let codes = CODES.iter().filter(|(bit, _)| style & bit != 0).map(|(_, code)| *code);
            out.push_str(&format!("\x1b[{}m", codes.collect::<Vec<_>>().join(";")));
        }
        self.painted = style;
    }
}
