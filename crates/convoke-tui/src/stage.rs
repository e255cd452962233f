//! Helpers for the tests of both screens: keys by their names, and a screen as text.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::backend::TestBackend;
use ratatui::layout::{Position, Size};
use ratatui::{Frame, Terminal};

use crate::text::wrap;

/// The text of the screen, with `█` at the cursor.
pub(crate) fn screen(size: Size, draw: impl FnOnce(&mut Frame<'_>)) -> String {
    let Size { width, height } = size;
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(draw).unwrap();
    let cursor = terminal.backend().cursor_visible().then(|| terminal.backend().cursor_position());
    let buffer = terminal.backend().buffer();
    let mut text = String::new();
    for y in 0..height {
        let mut line = String::new();
        let mut x = 0;
        while x < width {
            let symbol = buffer[(x, y)].symbol();
            let here = cursor == Some(Position { x, y });
            line.push_str(if here && symbol == " " { "█" } else { symbol });
            x += u16::try_from(wrap::width(symbol).max(1)).unwrap();
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The styles of the screen.
pub(crate) fn styles(size: Size, draw: impl FnOnce(&mut Frame<'_>)) -> String {
    let mut terminal = Terminal::new(TestBackend::new(size.width, size.height)).unwrap();
    terminal.draw(draw).unwrap();
    let cells = terminal.backend().buffer().content();
    let mut styles: Vec<String> =
        cells.iter().map(|cell| format!("{:?} on {:?}", cell.fg, cell.bg)).collect();
    styles.sort();
    styles.dedup();
    styles.join(", ")
}

/// The first place where a text stands on the screen.
pub(crate) fn position_of(screen: &str, text: &str) -> Position {
    let mut rows = screen.lines().zip(0..);
    let (before, y) = rows.find_map(|(line, y)| Some((line.split_once(text)?.0, y))).unwrap();
    Position { x: u16::try_from(wrap::width(before)).unwrap(), y }
}

/// The keys of a script: names and single letters, separated by spaces.
pub(crate) fn keys(script: &str) -> impl Iterator<Item = KeyEvent> {
    script.split_whitespace().map(key)
}

/// The keys that type a text.
pub(crate) fn letters(text: &str) -> impl Iterator<Item = KeyEvent> {
    text.chars().map(|letter| KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE))
}

/// A key by its name, or the letter that it writes.
pub(crate) fn key(name: &str) -> KeyEvent {
    let (modifiers, name) = match name.split_once('-') {
        Some(("ctrl", name)) => (KeyModifiers::CONTROL, name),
        Some(("alt", name)) => (KeyModifiers::ALT, name),
        Some(("shift", name)) => (KeyModifiers::SHIFT, name),
        Some(_) | None => (KeyModifiers::NONE, name),
    };
    let code = match name {
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "backtab" => KeyCode::BackTab,
        "space" => KeyCode::Char(' '),
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pgup" => KeyCode::PageUp,
        "pgdn" => KeyCode::PageDown,
        "back" => KeyCode::Backspace,
        letter => {
            let mut letters = letter.chars();
            let code = KeyCode::Char(letters.next().unwrap());
            assert_eq!(letters.next(), None, "{letter} is no key");
            code
        }
    };
    KeyEvent::new(code, modifiers)
}
