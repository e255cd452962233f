//! HTML, XML and related languages: tags with attributes, and embedded scripts and styles.

use super::Class;
use super::cursor::Cursor;
use super::spans::Spans;
use super::{code, languages};

pub(super) fn paint(spans: &mut Spans<'_>, code: &str) {
    let mut cursor = Cursor::new(code);
    while let Some(next) = cursor.next() {
        let rest = cursor.rest();
        if rest.starts_with("<!--") {
            spans.write(Class::Comment, cursor.take_through("-->"));
        } else if rest.starts_with("<!") || rest.starts_with("<?") {
            spans.write(Class::Keyword, cursor.take_through(">"));
        } else if next == '<' && rest.chars().nth(1).is_some_and(|it| it == '/' || is_name(it)) {
            let name = paint_tag(spans, &mut cursor);
            paint_inside(spans, &mut cursor, name);
        } else if next == '&' {
            paint_entity(spans, &mut cursor);
        } else {
            spans.write(Class::Plain, cursor.take_char());
            spans.write(Class::Plain, cursor.take_while(|letter| letter != '<' && letter != '&'));
        }
    }
}

/// Paints a tag; returns its name, with the slash of a closing one: `a`, or `/a`.
fn paint_tag<'a>(spans: &mut Spans<'_>, cursor: &mut Cursor<'a>) -> &'a str {
    spans.write(Class::Tag, cursor.take_char());
    let name = cursor.take_while(|letter| letter == '/' || is_name(letter));
    spans.write(Class::Tag, name);
    while let Some(next) = cursor.next() {
        match next {
            '>' => {
                spans.write(Class::Tag, cursor.take_char());
                break;
            }
            // The tag was never closed.
            '<' => break,
            '/' => spans.write(Class::Tag, cursor.take_char()),
            '"' | '\'' => {
                let mark = cursor.take_char();
                spans.write(Class::String, mark);
                spans.write(Class::String, cursor.take_through(mark));
            }
            _ if is_name(next) => spans.write(Class::Attribute, cursor.take_while(is_name)),
            _ => spans.write(Class::Operator, cursor.take_char()),
        }
    }
    name
}

/// What stands in a tag that holds code.
fn paint_inside(spans: &mut Spans<'_>, cursor: &mut Cursor<'_>, name: &str) {
    let (grammar, end) = match name {
        "script" => (&languages::JAVASCRIPT, "</script"),
        "style" => (&languages::CSS, "</style"),
        _ => return,
    };
    let bytes = cursor.rest().find(end).unwrap_or(cursor.rest().len());
    code::paint(spans, grammar, cursor.take(bytes));
}

fn paint_entity(spans: &mut Spans<'_>, cursor: &mut Cursor<'_>) {
    let name =
        cursor.rest().chars().skip(1).take_while(|it| it.is_ascii_alphanumeric() || *it == '#');
    let bytes = 1 + name.map(char::len_utf8).sum::<usize>();
    let is_entity = bytes > 1 && cursor.rest().get(bytes..).is_some_and(|it| it.starts_with(';'));
    let class = if is_entity { Class::Constant } else { Class::Plain };
    spans.write(class, cursor.take(if is_entity { bytes + 1 } else { 1 }));
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-' | ':' | '.' | '@' | '#')
}
