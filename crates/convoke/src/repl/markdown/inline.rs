//! The words of a line: strong and emphasised ones, code, links, and what is said to be none of it by a backslash.

/// The longest link that is waited for; what is longer is shown as it stands.
const LINK_MAX: usize = 500;

/// How the next character is to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Style {
    bold: bool,
    italic: bool,
    struck: bool,
    code: bool,
    underlined: bool,
    faint: bool,
}

impl Style {
    const CODE: Self = Self { code: true, ..Self::PLAIN };
    const FAINT: Self = Self { faint: true, ..Self::PLAIN };
    const PLAIN: Self = Self {
        bold: false,
        italic: false,
        struck: false,
        code: false,
        underlined: false,
        faint: false,
    };

    /// The codes that make a terminal show it.
    fn codes(self) -> String {
        let codes = [
            (self.bold, "1"),
            (self.faint, "2"),
            (self.italic, "3"),
            (self.underlined, "4"),
            (self.struck, "9"),
            (self.code, "36"),
        ];
        let codes: Vec<&str> =
            codes.into_iter().filter_map(|(is_on, code)| is_on.then_some(code)).collect();
        codes.join(";")
    }
}

/// What is in the middle of a line.
#[derive(Debug, Default)]
pub(super) struct Inline {
    /// How words look here.
    style: Style,
    /// How the whole line looks.
    base: Style,
    /// How the terminal paints at the moment.
    painted: Style,
    /// How many backticks opened the code that is open.
    ticks: usize,
    /// Marks, a link or a backslash, of which too little is known.
    held: String,
    /// The character before those.
    previous: Option<char>,
}

impl Inline {
    /// A new block follows, in which nothing is emphasised yet.
    pub(super) const fn begin_block(&mut self) {
        self.base = Style::PLAIN;
        self.style = Style::PLAIN;
    }

    /// The words of a heading follow.
    pub(super) fn begin_heading(&mut self, level: usize) {
        self.begin_block();
        self.go_on(Style { bold: true, underlined: level == 1, ..Style::PLAIN });
    }

    /// The words of a quotation follow, perhaps of the one in the line before.
    pub(super) fn begin_quote(&mut self) {
        self.go_on(Style { italic: true, ..Style::PLAIN });
    }

    /// Other words follow, perhaps of the paragraph in the line before.
    pub(super) fn begin_words(&mut self) {
        self.go_on(Style::PLAIN);
    }

    /// What is emphasised stays so as long as the block does.
    fn go_on(&mut self, base: Style) {
        if self.base != base {
            self.base = base;
            self.style = base;
        }
    }

    /// A character of the words.
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

    /// A character of a line of code.
    pub(super) fn code(&mut self, c: char, out: &mut String) {
        self.paint(Style::CODE, out);
        out.push(c);
    }

    /// A character that is there only if one looks for it.
    pub(super) fn faint(&mut self, c: char, out: &mut String) {
        self.paint(Style::FAINT, out);
        out.push(c);
    }

    /// Stops painting for now.
    pub(super) fn rest(&mut self, out: &mut String) {
        self.paint(Style::PLAIN, out);
    }

    /// The line is over: shows what was held back. Emphasis may go on in the next one, code does not.
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

    /// A character with nothing held back before it.
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
                self.style = Style::CODE;
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

    /// Switches what the marks stand for; tells whether they stand for anything here.
    fn toggle(&mut self, mark: char, count: usize, next: Option<char>) -> bool {
        let is_space = |c: Option<char>| c.is_none_or(char::is_whitespace);
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        // An underscore in the middle of a name is part of the name.
        if mark == '_' && is_word(self.previous) && is_word(next) {
            return false;
        }
        let mut style = self.style;
        let flags: Vec<&mut bool> = match (mark, count) {
            ('~', 2) => vec![&mut style.struck],
            ('*' | '_', 1) => vec![&mut style.italic],
            ('*' | '_', 2) => vec![&mut style.bold],
            ('*' | '_', 3) => vec![&mut style.italic, &mut style.bold],
            _ => return false,
        };
        let is_on = flags.iter().all(|flag| **flag);
        let fits = if is_on { !is_space(self.previous) } else { !is_space(next) };
        if !fits {
            return false;
        }
        flags.into_iter().for_each(|flag| *flag = !is_on);
        self.style = style;
        true
    }

    /// A character of what may be a link.
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
        self.style.underlined = true;
        text.chars().for_each(|c| self.show(c, out));
        self.style = style;
        if address != text {
            let address = format!(" ({address})");
            address.chars().for_each(|c| self.faint(c, out));
            self.previous = Some(')');
        }
    }

    /// Shows what turned out to be no link.
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
        if self.painted != Style::PLAIN {
            out.push_str("\x1b[0m");
        }
        if style != Style::PLAIN {
            out.push_str(&format!("\x1b[{}m", style.codes()));
        }
        self.painted = style;
    }
}
