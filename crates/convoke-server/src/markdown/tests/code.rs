//! Code and its colours.

use super::rendered;

#[test]
fn code_carries_its_language_and_its_colours() {
    assert_eq!(
        rendered("```rust,ignore\nfn main() { // <hi>\n    println!(\"{}\", 1);\n}\n```"),
        "<pre><code class=\"language-rust\"><span class=\"hl-keyword\">fn </span><span class=\"hl-function\">main</span>\
         <span class=\"hl-punctuation\">() { </span><span class=\"hl-comment\">// &lt;hi&gt;\n    </span>\
         <span class=\"hl-function\">println</span><span class=\"hl-operator\">!</span><span class=\"hl-punctuation\">(</span>\
         <span class=\"hl-string\">&quot;{}&quot;</span><span class=\"hl-punctuation\">, </span>\
         <span class=\"hl-number\">1</span><span class=\"hl-punctuation\">);\n}\n</span></code></pre>"
    );
}

#[test]
fn code_without_a_language_is_plain() {
    for text in ["```\nfn main() {}\n```", "    fn main() {}", "~~~\nfn main() {}\n"] {
        let html = rendered(text);
        assert!(html.starts_with("<pre><code>fn main() {}"), "{html}");
    }
}

#[test]
fn an_unknown_language_is_still_named() {
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
}
