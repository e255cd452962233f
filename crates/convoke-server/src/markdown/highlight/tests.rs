//! Colours of samples, and what holds for all code.

use proptest::prelude::*;

use super::paint;

fn painted(language: &str, code: &str) -> String {
    let mut html = String::new();
    paint(&mut html, language, code);
    html
}

/// The classes of a sample as `class:text`, plain text left out.
fn classes(language: &str, code: &str) -> String {
    let html = painted(language, code);
    let spans = html.split("<span class=\"hl-").skip(1).map(|span| {
        let (class, rest) = span.split_once("\">").unwrap();
        let (text, _) = rest.split_once("</span>").unwrap();
        format!("{class}:{}", unescaped(text.trim()))
    });
    let is_mark = |span: &String| span.starts_with("punctuation") || span.starts_with("operator");
    spans.filter(|span| !is_mark(span)).collect::<Vec<_>>().join(" ")
}

fn unescaped(html: &str) -> String {
    html.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

/// What a reader of the HTML reads.
fn text_of(html: &str) -> String {
    let mut text = String::new();
    for (number, part) in html.split('<').enumerate() {
        let words = if number == 0 { part } else { part.split_once('>').unwrap().1 };
        text.push_str(words);
    }
    unescaped(&text)
}

#[test]
fn samples_have_the_colours_that_people_expect() {
    let cases = [
        (
            "rust",
            "#[test]\nfn a<'a>(b: &'a str) -> Vec<u8> { vec![b'\\n', 'x', MAX, 1_0.5e-3] } /* c */",
            "attribute:#[test] keyword:fn function:a constant:'a constant:'a type:str type:Vec type:u8 function:vec \
             string:'\\n' string:'x' constant:MAX number:1_0.5e-3 comment:/* c */",
        ),
        ("rust", "r#\"a\" \"#; \"b\\\"\n\"", "string:r#\"a\" \"# string:\"b\\\"\n\""),
        (
            "ts",
            "import { a } from 'b'; // c\nconst d: string = `e\n${f}`;",
            "keyword:import keyword:from string:'b' comment:// c keyword:const type:string string:`e\n${f}`",
        ),
        (
            "python",
            "@cached\ndef f(x):\n    \"\"\"doc\n    \"\"\"\n    return None # why",
            "attribute:@cached keyword:def function:f string:\"\"\"doc\n    \"\"\" keyword:return constant:None \
             comment:# why",
        ),
        (
            "go",
            "func (s *Server) Run() error { return nil }",
            "keyword:func type:Server function:Run type:error keyword:return constant:nil",
        ),
        (
            "c++",
            "#include <map>\nint main() { return 0x1f; }",
            "keyword:#include type:int function:main keyword:return number:0x1f",
        ),
        (
            "bash",
            "if [ -n \"$A\" ]; then echo ${B:-c}#d $E # f\nfi",
            "keyword:if string:\"$A\" keyword:then constant:${B:-c} constant:$E comment:# f keyword:fi",
        ),
        ("json", "{\"a\":[\"b\",-1,null]}", "attribute:\"a\" string:\"b\" number:1 constant:null"),
        ("toml", "[a.b]\nc-d = [1] # e\n", "heading:[a.b] attribute:c-d number:1 comment:# e"),
        ("yaml", "a: http://b\n- c: true # d", "attribute:a attribute:c constant:true comment:# d"),
        (
            "sql",
            "SELECT count(*) from t where a = 'b' -- c",
            "keyword:SELECT function:count keyword:from keyword:where string:'b' comment:-- c",
        ),
        (
            "css",
            ".a:hover { color: #fff; } /* b */",
            "type:.a attribute:color number:#fff comment:/* b */",
        ),
        (
            "html",
            "<a b='c'>d &amp; e</a><!-- f --><script>let g</script>",
            "tag:<a attribute:b string:'c' tag:> constant:&amp; tag:</a> comment:<!-- f --> tag:<script> keyword:let tag:</script>",
        ),
        (
            "diff",
            "--- a\n+++ b\n@@ -1 @@\n-c\n+d\n e",
            "heading:--- a\n+++ b\n@@ -1 @@ deleted:-c inserted:+d",
        ),
        (
            "md",
            "# a\n- `b` c\n```\nd\n```\n> e",
            "heading:# a string:`b` string:```\nd\n``` comment:> e",
        ),
    ];
    for (language, code, expected) in cases {
        assert_eq!(classes(language, code), expected, "{language}: {code}");
    }
}

const LANGUAGES: [&str; 26] = [
    "rust",
    "ts",
    "json",
    "py",
    "go",
    "java",
    "kotlin",
    "c",
    "c#",
    "php",
    "ruby",
    "lua",
    "sh",
    "dockerfile",
    "make",
    "toml",
    "ini",
    "yaml",
    "sql",
    "css",
    "scss",
    "proto",
    "html",
    "diff",
    "md",
    "klingon",
];

/// Marks that mean something to some language, and what may stand around them.
fn code() -> impl Strategy<Value = String> {
    const PIECES: [&str; 52] = [
        "\"",
        "'",
        "`",
        "\"\"\"",
        "'''",
        "/*",
        "*/",
        "//",
        "#",
        "#[",
        "]",
        "--",
        "--[[",
        "]]",
        "<!--",
        "-->",
        "<",
        ">",
        "</",
        "<script>",
        "</script>",
        "<a ",
        "=",
        "&",
        "&amp;",
        "&lt",
        "\\",
        "\\\n",
        "\n",
        "\r\n",
        " ",
        "\t",
        "r#\"",
        "b'",
        "'a",
        "'é'",
        "$",
        "${",
        "}",
        "@",
        "+",
        "-",
        "```",
        "> ",
        "fn ",
        "word",
        "Word",
        "WORD",
        "1.5e-3",
        "0x",
        "é",
        "日本",
    ];
    let piece = prop_oneof![
        8 => prop::sample::select(&PIECES[..]).prop_map(str::to_owned),
        1 => "\\PC{0,4}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn colours_change_no_letter_and_are_harmless(language in prop::sample::select(&LANGUAGES[..]), code in code()) {
        let html = painted(language, &code);
        prop_assert_eq!(text_of(&html), code.replace('\0', "\u{fffd}"));
        let tags = html.split('<').skip(1).map(|part| part.split_once('>').unwrap().0);
        for tag in tags {
            let is_ours = tag == "/span"
                || tag.strip_prefix("span class=\"hl-").is_some_and(|it| it.trim_end_matches('"').bytes().all(|byte| byte.is_ascii_lowercase()));
            prop_assert!(is_ours, "{}", tag);
        }
        prop_assert_eq!(html.matches("<span ").count(), html.matches("</span>").count());
    }
}

#[test]
fn code_made_to_hurt_is_read_once_like_any_other() {
    let pieces =
        ["(", "a(", " ", "'", "\"", "`", "/*", "<a ", "&", "a ", "\\", "#[", "é", "```", "${"];
    for language in LANGUAGES {
        for piece in pieces {
            let code = piece.repeat(10_000 / piece.len());
            assert_eq!(text_of(&painted(language, &code)), code, "{language} {piece}");
        }
    }
}
