//! Keys on a text, shown with `|` where the cursor stands.

use super::*;

/// Types each word: a key by its name, or else its letters.
fn written(script: &str, width: usize) -> String {
    let mut editor = Editor::default();
    for word in script.split(' ') {
        let (modifiers, name) = match word.split_once('-') {
            Some(("ctrl", name)) => (KeyModifiers::CONTROL, name),
            Some(_) | None => (KeyModifiers::NONE, word),
        };
        let code = match name {
            "left" => KeyCode::Left,
            "right" => KeyCode::Right,
            "up" => KeyCode::Up,
            "down" => KeyCode::Down,
            "home" => KeyCode::Home,
            "end" => KeyCode::End,
            "back" => KeyCode::Backspace,
            "delete" => KeyCode::Delete,
            "break" => {
                editor.break_line();
                continue;
            }
            letter if modifiers == KeyModifiers::CONTROL => {
                KeyCode::Char(letter.chars().next().unwrap())
            }
            letters => {
                for letter in letters.replace('_', " ").chars() {
                    editor.press(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE), width);
                }
                continue;
            }
        };
        editor.press(KeyEvent::new(code, modifiers), width);
    }
    let (before, after) = editor.text.split_at(editor.cursor);
    format!("{before}|{after}")
}

#[test]
fn what_is_typed_stands_before_the_cursor() {
    assert_eq!(written("日本語 left x", 20), "日本x|語");
    assert_eq!(written("one break two up end !", 20), "one!|\ntwo");
}

#[test]
fn the_cursor_steps_over_whole_characters() {
    assert_eq!(written("a👩‍💻e\u{301} left left", 20), "a|👩‍💻e\u{301}");
    assert_eq!(written("a👩‍💻e\u{301} back", 20), "a👩‍💻|");
    assert_eq!(written("a👩‍💻 back", 20), "a|");
    assert_eq!(written("e left x \u{301}", 20), "x\u{301}|e");
}

#[test]
fn up_and_down_follow_the_rows_on_the_screen_and_keep_their_column() {
    assert_eq!(written("abc_def_ghi up", 3), "abc def| ghi");
    assert_eq!(written("abc_def_ghi up up", 3), "abc| def ghi");
    assert_eq!(written("日本語 up", 4), "日|本語");
    assert_eq!(written("long_line break x break long_line up up", 20), "long line|\nx\nlong line");
    assert_eq!(written("ab up", 20), "|ab");
    assert_eq!(written("ab up down", 20), "ab|");
}

#[test]
fn words_and_lines_are_moved_over_and_deleted_whole() {
    assert_eq!(written("one_two_three ctrl-left ctrl-left", 40), "one |two three");
    assert_eq!(written("one_two_three ctrl-w", 40), "one two |");
    assert_eq!(written("one break two_x ctrl-u", 40), "one\n|");
    assert_eq!(written("one break two home ctrl-k", 40), "one\n|");
    assert_eq!(written("one break two ctrl-home delete ctrl-delete", 40), "|\ntwo");
}

#[test]
fn changes_are_taken_back_in_runs() {
    assert_eq!(written("one left two ctrl-z", 40), "on|e");
    assert_eq!(written("one back back ctrl-z", 40), "one|");
    assert_eq!(written("one ctrl-z ctrl-z", 40), "|");
}

#[test]
fn a_paste_keeps_its_line_breaks_and_is_taken_back_alone() {
    let mut editor = Editor::default();
    editor.press(KeyEvent::new(KeyCode::Char('a'), KeyModifiers::NONE), 40);
    editor.paste("1\r\n2\r\u{1b}3");
    assert_eq!(editor.text(), "a1\n2\n3");
    editor.press(KeyEvent::new(KeyCode::Char('z'), KeyModifiers::CONTROL), 40);
    assert_eq!(editor.text(), "a");
}

#[test]
fn pointing_puts_the_cursor_under_the_mouse() {
    let mut editor = Editor::default();
    editor.paste("日本語\nabc");
    editor.point(0, 3, 40);
    assert_eq!(editor.cursor, "日".len());
    editor.point(1, 99, 40);
    assert_eq!(editor.cursor, editor.text.len());
    editor.point(9, 0, 40);
    assert_eq!(editor.cursor, editor.text.len());
}
