//! What terminals print becomes HTML with colours, and nothing else.

use proptest::prelude::*;

use super::render;

/// Renders a text that is not plain.
fn shown(text: &str) -> String {
    render(text).expect("the text has escape sequences")
}

#[test]
fn p8_terminal_colours_become_classes() {
    let cases = [
        ("\u{1b}[31mred\u{1b}[0m", "<span class=\"ansi-1\">red</span>"),
        ("\u{1b}[1;92mok\u{1b}[m.", "<span class=\"ansi-bold ansi-10\">ok</span>."),
        ("\u{1b}[44mon\u{1b}[49m off", "<span class=\"ansi-on-4\">on</span> off"),
        ("\u{1b}[7;31mx", "<span class=\"ansi-inverse ansi-on-1\">x</span>"),
        (
            "\u{1b}[2;3;4;9mx",
            "<span class=\"ansi-faint ansi-italic ansi-underline ansi-strike\">x</span>",
        ),
        ("\u{1b}[38;5;196mx", "<span class=\"ansi-9\">x</span>"),
        ("\u{1b}[38;5;240mx", "<span class=\"ansi-8\">x</span>"),
        ("\u{1b}[38;2;20;160;40mx", "<span class=\"ansi-2\">x</span>"),
        ("\u{1b}[48;2;250;240;30mx", "<span class=\"ansi-on-11\">x</span>"),
        (
            "\u{1b}[31ma\nb\u{1b}[0m",
            "<span class=\"ansi-1\">a</span>\n<span class=\"ansi-1\">b</span>",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(shown(text), expected, "{text:?}");
    }
}

#[test]
fn p8_a_line_that_is_drawn_again_is_shown_once() {
    assert_eq!(shown("10%\r50%\r100%\ndone\r\nlast"), "100%\ndone\nlast");
}

#[test]
fn plain_text_needs_no_markup() {
    assert_eq!(render("a <b> &\n\tc"), None);
}

#[test]
fn p8_markup_in_output_stays_text() {
    assert_eq!(
        shown("\u{1b}[31m<img src=x onerror=alert(1)>\"'&\u{0}\u{7}\u{1b}[0m"),
        "<span class=\"ansi-1\">&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;</span>"
    );
}

#[test]
fn p8_output_that_is_all_colours_does_not_grow_without_bound() {
    let text = "\u{1b}[1;3;7;31m<\u{1b}[0;2m>".repeat(40_000);
    let html = shown(&text);
    assert!(html == "&lt;&gt;".repeat(40_000), "{} bytes of {}", html.len(), text.len());
}

proptest! {
    #[test]
    fn p8_any_output_becomes_lines_of_spans_with_known_classes(
        text in "(\u{1b}\\[[0-9;:?]{0,9}[a-zA-Z]?|\u{1b}.?|[a-c<>&\r\n\u{8}\u{7}\u{9b}]){0,40}"
    ) {
        let Some(html) = render(&text) else { return Ok(()) };
        for line in html.split('\n') {
            let spans = line.matches("<span class=\"ansi-").count();
            prop_assert_eq!(spans, line.matches("</span>").count());
            prop_assert_eq!(line.matches('<').count(), 2 * spans);
            prop_assert!(!line.contains(|letter: char| letter.is_control() && letter != '\t'));
        }
    }
}
