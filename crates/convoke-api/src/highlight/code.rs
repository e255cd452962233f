//! Lexes code of most languages: comments, strings, numbers, words and marks, by a grammar.

use std::collections::HashMap;

use super::Class;
use super::cursor::Cursor;
use super::grammar::{Capitals, Escape, Grammar, Quote, Reach, Ticks};
use super::spans::Spans;

/// Longest known word; longer ones are not looked up.
const WORD_MAX: usize = 24;

/// After these the name of a function follows.
const DEFINING: [&str; 5] = ["def", "fn", "fun", "func", "function"];

pub(super) fn paint(spans: &mut Spans<'_>, grammar: &Grammar, code: &str) {
    let mut lexer = Lexer { grammar, words: grammar.words(), before: "" };
    let mut cursor = Cursor::new(code);
    while let Some(next) = cursor.next() {
        let (class, text) = lexer.token(&mut cursor, next);
        spans.write(class, text);
    }
}

struct Lexer<'a> {
    grammar: &'a Grammar,
    words: HashMap<&'static str, Class>,
    /// The word before, when nothing but blanks is between.
    before: &'a str,
}

impl<'a> Lexer<'a> {
    /// Reads at least the next letter.
    fn token(&mut self, cursor: &mut Cursor<'a>, next: char) -> (Class, &'a str) {
        if next.is_whitespace() {
            return (Class::Plain, cursor.take_while(char::is_whitespace));
        }
        let before = std::mem::take(&mut self.before);
        let quote = self.grammar.quotes.iter().find(|quote| begins(quote, cursor));
        if let Some(quote) = quote {
            let text = quoted(cursor, quote);
            return (self.class_of_quote(quote, cursor), text);
        }
        if self.is_comment(cursor) {
            return (Class::Comment, cursor.take_line());
        }
        if next == '\'' && self.grammar.ticks == Ticks::Lifetimes {
            return self.tick(cursor);
        }
        if next.is_ascii_digit() {
            return (Class::Number, number(cursor));
        }
        let sigil = self.grammar.sigils.iter().find(|(sigil, _)| *sigil == next);
        if let Some((_, class)) = sigil
            && cursor.rest().chars().nth(1).is_some_and(|letter| self.is_letter(letter))
        {
            let bytes = cursor.rest().chars().skip(1).take_while(|it| self.is_letter(*it));
            let bytes = bytes.map(char::len_utf8).sum::<usize>();
            return (*class, cursor.take(next.len_utf8() + bytes));
        }
        if self.is_letter(next) {
            return self.word(cursor, before);
        }
        let class = match next {
            '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' | ':' | '.' => Class::Punctuation,
            _ if next.is_ascii_punctuation() => Class::Operator,
            _ => Class::Plain,
        };
        (class, cursor.take_char())
    }

    fn is_letter(&self, letter: char) -> bool {
        letter.is_alphanumeric() || letter == '_' || self.grammar.letters.contains(letter)
    }

    fn is_comment(&self, cursor: &Cursor<'_>) -> bool {
        let mark = self.grammar.comments.iter().find(|mark| cursor.rest().starts_with(**mark));
        mark.is_some_and(|mark| *mark != "#" || cursor.is_after_blank())
    }

    /// A string in front of what follows a key is a key.
    fn class_of_quote(&self, quote: &Quote, cursor: &Cursor<'_>) -> Class {
        let is_key = quote.class == Class::String
            && self
                .grammar
                .after_key
                .is_some_and(|mark| cursor.rest().trim_start_matches(' ').starts_with(mark));
        if is_key { Class::Attribute } else { quote.class }
    }

    fn tick(&self, cursor: &mut Cursor<'a>) -> (Class, &'a str) {
        let mut letters = cursor.rest().chars().skip(1);
        match (letters.next(), letters.next()) {
            (Some('\\'), _) => (Class::String, quoted(cursor, &Quote::string("'"))),
            (Some(letter), Some('\'')) => {
                (Class::String, cursor.take(letter.len_utf8() + "''".len()))
            }
            (Some(letter), _) if self.is_letter(letter) => {
                let name = cursor.rest().chars().skip(1).take_while(|it| self.is_letter(*it));
                let bytes = name.map(char::len_utf8).sum::<usize>();
                (Class::Constant, cursor.take("'".len() + bytes))
            }
            _ => (Class::Operator, cursor.take_char()),
        }
    }

    fn word(&mut self, cursor: &mut Cursor<'a>, before: &str) -> (Class, &'a str) {
        let word = cursor.take_while(|letter| self.is_letter(letter));
        self.before = word;
        if let Some(class) = self.known(word) {
            return (class, word);
        }
        let follows = cursor.rest();
        if self.is_key(follows) {
            return (Class::Attribute, word);
        }
        let is_macro = ["!(", "![", "!{", "! {"].iter().any(|mark| follows.starts_with(mark));
        if follows.starts_with('(') || is_macro || DEFINING.contains(&before) {
            return (Class::Function, word);
        }
        (self.class_by_capitals(word), word)
    }

    fn known(&self, word: &str) -> Option<Class> {
        if word.len() > WORD_MAX {
            return None;
        }
        match self.grammar.capitals {
            Capitals::Optional => self.words.get(word.to_ascii_lowercase().as_str()).copied(),
            Capitals::Speak | Capitals::Silent => self.words.get(word).copied(),
        }
    }

    /// `:` also stands in addresses and before the states of CSS, but then no blank follows it.
    fn is_key(&self, follows: &str) -> bool {
        let Some(mark) = self.grammar.after_key else { return false };
        let after = follows.trim_start_matches(' ').strip_prefix(mark);
        after.is_some_and(|after| {
            mark != ':' || after.chars().next().is_none_or(char::is_whitespace)
        })
    }

    fn class_by_capitals(&self, word: &str) -> Class {
        let begins_high = word.starts_with(char::is_uppercase);
        if self.grammar.capitals != Capitals::Speak || !begins_high {
            Class::Plain
        } else if word.len() > 1 && !word.contains(char::is_lowercase) {
            Class::Constant
        } else {
            Class::Type
        }
    }
}

fn begins(quote: &Quote, cursor: &Cursor<'_>) -> bool {
    cursor.rest().starts_with(quote.open)
        && (quote.reach != Reach::WholeLine || cursor.is_at_line_start())
}

/// Reads what stands between two marks, and the marks.
fn quoted<'a>(cursor: &mut Cursor<'a>, quote: &Quote) -> &'a str {
    let text = cursor.rest();
    let mut at = quote.open.len();
    while let Some(rest) = text.get(at..) {
        if rest.starts_with(quote.close) {
            return cursor.take(at + quote.close.len());
        }
        let mut letters = rest.chars();
        at += match letters.next() {
            None => break,
            Some('\n') if quote.reach != Reach::Text => break,
            // A backslash at the end of a line continues the string.
            Some('\\') if quote.escape == Escape::Backslash => {
                1 + letters.next().map_or(0, char::len_utf8)
            }
            Some(letter) => letter.len_utf8(),
        };
    }
    cursor.take(at)
}

/// Reads digits with what may stand between and behind them: `1_000`, `0xff`, `1.5e-3`, `10px`.
fn number<'a>(cursor: &mut Cursor<'a>) -> &'a str {
    let mut bytes = 0;
    let mut letters = cursor.rest().chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let is_inside = match letter {
            '.' => letters.peek().is_some_and(char::is_ascii_digit),
            '+' | '-' => {
                matches!(before, 'e' | 'E') && letters.peek().is_some_and(char::is_ascii_digit)
            }
            _ => letter.is_ascii_alphanumeric() || letter == '_',
        };
        if !is_inside {
            break;
        }
        bytes += letter.len_utf8();
        before = letter;
    }
    cursor.take(bytes)
}
