//! Code and its colours.

use std::time::Duration;

use super::super::highlight::thread_time;
use super::super::{Highlighter, render};
use super::{oracle, rendered};

#[test]
fn code_carries_its_language_and_its_colours() {
    assert_eq!(
        rendered("```rust,ignore\nfn main() { // <hi>\n    println!(\"{}\", 1);\n}\n```"),
        "<pre><code class=\"language-rust\"><span class=\"hl-keyword\">fn </span><span class=\"hl-function\">main</span>\
         <span class=\"hl-punctuation\">() { </span><span class=\"hl-comment\">// &lt;hi&gt;\n</span>    \
         <span class=\"hl-function\">println!</span><span class=\"hl-punctuation\">(</span><span class=\"hl-string\">&quot;</span>\
         <span class=\"hl-constant\">{}</span><span class=\"hl-string\">&quot;</span><span class=\"hl-punctuation\">, </span>\
         <span class=\"hl-number\">1</span><span class=\"hl-punctuation\">);\n</span><span class=\"hl-punctuation\">}\n</span></code></pre>"
    );
}

#[test]
fn code_without_a_language_is_plain() {
    let highlighter = Highlighter::new();
    for text in ["```\nfn main() {}\n```", "    fn main() {}", "~~~\nfn main() {}\n"] {
        let html = render(text, &highlighter);
        assert_eq!(html.trim_end(), html);
        assert!(html.starts_with("<pre><code>fn main() {}"), "{html}");
    }
    assert!(!highlighter.is_loaded(), "grammars take memory that nobody needed");
}

#[test]
fn a_language_that_nobody_knows_is_named_all_the_same() {
    assert_eq!(
        rendered("```klingon\nfn <b>\n```"),
        "<pre><code class=\"language-klingon\">fn &lt;b&gt;\n</code></pre>"
    );
}

#[test]
fn colours_say_what_is_what() {
    let html = rendered("```json\n{\"a\": \"b\", \"c\": [1, true]}\n```");
    for part in [
        "hl-attribute\">&quot;a&quot;",
        "hl-string\">&quot;b&quot;",
        "hl-number\">1",
        "hl-constant\">true",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
    let html = rendered("```diff\n--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n```");
    for part in ["hl-deleted\">-old", "hl-inserted\">+new", "hl-heading\">"] {
        assert!(html.contains(part), "{part} in {html}");
    }
    let html = rendered("```html\n<a href=\"b\">c</a>\n```");
    for part in ["hl-tag\">", "hl-attribute\">href", "hl-string\">&quot;b&quot;"] {
        assert!(html.contains(part), "{part} in {html}");
    }
}

#[test]
fn what_is_too_long_has_no_colours_and_loses_no_letter() {
    let code = "let a = 1;\n".repeat(20_000);
    assert_eq!(
        rendered(&format!("```rust\n{code}```")),
        format!("<pre><code class=\"language-rust\">{code}</code></pre>")
    );
    let line = "let a = 1; ".repeat(1_000);
    let html = rendered(&format!("```rust\n{line}\nlet b = 2;\n```"));
    assert!(html.contains(&line), "the long line is plain");
    assert!(
        html.contains("<span class=\"hl-keyword\">let</span> b"),
        "the next one is not: {html}"
    );
}

#[test]
fn code_that_hurts_grammars_ends_in_time() {
    for (language, piece) in
        [("typescript", "("), ("php", "a("), ("scss", " "), ("systemverilog", "@a(")]
    {
        let line = piece.repeat(490 / piece.len());
        let start = thread_time();
        rendered(&format!("```{language}\n{}```", format!("{line}\n").repeat(400)));
        let spent = thread_time() - start;
        assert!(spent < Duration::from_secs(5), "{language}: {spent:?}");
    }
}

#[test]
fn grammars_are_read_when_the_first_code_comes() {
    let highlighter = Highlighter::new();
    render("no code", &highlighter);
    assert!(!highlighter.is_loaded());
    oracle::elements(&render("```rust\nlet a = 1;\n```", &highlighter));
    assert!(highlighter.is_loaded());
}
