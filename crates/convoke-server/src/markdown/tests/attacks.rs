//! Texts that try to inject markup. The oracle decides whether one succeeded.

use proptest::prelude::*;

use super::super::{Stream, render};
use super::{oracle, pieces, rendered};

const ATTACKS: [&str; 76] = [
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<script\n>alert(1)</script\n>",
    "</p><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<img src=\"x\" onerror=\"alert(1)\"/>",
    "<IMG \"\"\"><SCRIPT>alert(1)</SCRIPT>\">",
    "<img src=x:x onerror\n=alert(1)",
    "<svg/onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><a xlink:href=\"javascript:alert(1)\"><text>x</text></a></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<iframe src=\"javascript:alert(1)\"></iframe>",
    "<iframe srcdoc=\"<script>alert(1)</script>\">",
    "<object data=\"data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==\">",
    "<embed src=javascript:alert(1)>",
    "<body onload=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<input autofocus onfocus=alert(1)>",
    "<form action=\"javascript:alert(1)\"><button>x</button></form>",
    "<a href=\"javascript:alert(1)\">x</a>",
    "<base href=\"//evil.example/\">",
    "<meta http-equiv=refresh content=\"0;url=//evil.example\">",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<style>*{background:url(//evil.example)}</style>",
    "<p style=\"position:fixed;inset:0\">x</p>",
    "<div class=\"code\" id=\"x\" onclick=\"alert(1)\">x</div>",
    "<!-- --><script>alert(1)</script> -->",
    "<!--><script>alert(1)</script>-->",
    "<!-- a -- b --!><script>alert(1)</script>",
    "<?xml version=\"1.0\"?><script>alert(1)</script>",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<!DOCTYPE html [<!ENTITY x \"<script>alert(1)</script>\">]>&x;",
    "<textarea><script>alert(1)</script>",
    "<title></title><script>alert(1)</script>",
    "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
    "<template><script>alert(1)</script></template>",
    "<plaintext>",
    "<xmp><script>alert(1)</script></xmp>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "&#x3c;img src=x onerror=alert(1)&#x3e;",
    "\\<script>alert(1)\\</script>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](javascript&colon;alert(1))",
    "[x](javascript&#58;alert(1))",
    "[x](java&#10;script:alert(1))",
    "[x](java&Tab;script:alert(1))",
    "[x](&#1;javascript:alert(1))",
    "[x](&#x6A;&#x61;vascript:alert(1))",
    "[x](<java\tscript:alert(1)>)",
    "[x]( \u{a0}javascript:alert(1))",
    "[x](java%0ascript:alert(1))",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](DATA:text/html,<script>alert(1)</script>)",
    "[x](file:///etc/passwd)",
    "[x](//evil.example)",
    "[x](\\\\evil.example)",
    "[x](/\\evil.example)",
    "[x](https://a\"onmouseover=alert(1)//)",
    "[x](<https://a\" onmouseover=alert(1) x=\">)",
    "[x](https://a 'title\" onmouseover=\"alert(1)')",
    "[x](https://a \"title&quot; onmouseover=&quot;alert(1)\")",
    "![x](javascript:alert(1))",
    "![x](https://evil.example/track.gif)",
    "![x\" onerror=\"alert(1)](https://evil.example/x.png)",
    "[![x](javascript:alert(1))](javascript:alert(2))",
    "<javascript:alert(1)>",
    "<https://a/\"onmouseover=alert(1)>",
    "https://a/\"onmouseover='alert(1)'>x",
    "[x]: javascript:alert(1)\n\n[x] [x][] [y][x] ![x]",
    "`<script>alert(1)</script>`",
    "```<script>\" onload=\"alert(1)\n</code></pre><script>alert(1)</script>\n```",
];

/// Contexts in which an attack may occur.
const PLACES: [&str; 22] = [
    "@",
    "a @ b",
    "# @",
    "> @",
    "- @",
    "1. @\n\n   @",
    "- [ ] @",
    "*@*",
    "**@**",
    "~~@~~",
    "| a |\n|---|\n| @ |",
    "[@](https://a)",
    "[a](@)",
    "[a](<@>)",
    "[a](https://a \"@\")",
    "![@](https://a)",
    "![@](b)",
    "<div>\n@\n</div>",
    "```@\n@\n```",
    "```html\n@",
    "    @",
    "[@]: https://a '@'\n\n[@] [b][@]",
];

#[test]
fn no_attack_gets_out_of_its_place() {
    for attack in ATTACKS {
        for place in PLACES {
            rendered(&place.replace('@', attack));
        }
    }
}

#[test]
fn no_attack_is_lost_either() {
    // The visible text is what was written: nothing disappears from a message.
    for attack in ATTACKS.iter().filter(|attack| attack.starts_with('<') && !attack.contains("&x;"))
    {
        let html = rendered(attack);
        let text = html.replace("<br>", "\n").replace("<p>", "").replace("</p>", "");
        let letters =
            |text: &str| text.chars().filter(|c| c.is_ascii_alphanumeric()).collect::<String>();
        let decoded = ["&lt;", "&gt;", "&quot;", "&#39;", "&amp;"]
            .iter()
            .fold(text, |text, it| text.replace(it, ""));
        assert!(letters(&decoded).contains("alert1") == attack.contains("alert(1)"), "{html}");
    }
}

#[test]
fn relative_and_foreign_addresses_lead_nowhere() {
    for address in
        ["/etc/passwd", "a.html", "#top", "?a", "//evil.example", "javascript:alert(1)", "data:,x"]
    {
        let html = rendered(&format!("[words]({address})"));
        assert_eq!(html, format!("<p><span class=\"inert\" title=\"{address}\">words</span></p>"));
    }
    assert_eq!(
        rendered(&format!("[words](data:,{})", "x".repeat(1000))),
        "<p><span class=\"inert\">words</span></p>"
    );
}

#[test]
fn deeply_nested_markdown_is_linear_and_not_recursive() {
    let (count, fewer) = (100_000, 10_000);
    let pieces = [
        ">",
        "> ",
        "[",
        "![",
        "](",
        "[a](",
        "[a][",
        "*",
        "*a ",
        "a**b",
        "_a ",
        "`",
        "<",
        "<a ",
        "<!--",
        "<?",
        "<![CDATA[",
        "&",
        "- ",
        "1. ",
        "- \n",
        "# ",
        "```\n",
        "|",
        "|\n",
        "[a]: x\n",
        "[]",
        "~~a ",
        "\\",
        "\n",
        "\r",
        "\t",
        "> a\n",
        ">- ",
        "http://",
        "https://a)",
        "<div>\n\n",
        "a\n=\n",
        "[x](<",
        "- [ ] ",
        "\0",
        "![[]()",
        "*_~",
    ];
    let mut monsters: Vec<String> = pieces.iter().map(|piece| piece.repeat(fewer)).collect();
    monsters.extend([">", "[", "![", "*a ", "- "].map(|piece| piece.repeat(count)));
    monsters.push(format!("{}a{}", "*a ".repeat(fewer), " a*".repeat(fewer)));
    monsters.push(format!("{}a{}", "**a ".repeat(fewer), " a**".repeat(fewer)));
    monsters.push(format!("{}a{}", "[".repeat(count), "](b)".repeat(count)));
    monsters.push(format!("https://a{}", ").".repeat(fewer)));
    monsters.push((0..300).map(|depth| " ".repeat(2 * depth) + "- a\n").collect());
    monsters.push((0..300).map(|depth| ">".repeat(depth) + "a\n\n").collect());
    monsters.push(format!("{}\n{}\n{}", "|a".repeat(900), "|-".repeat(900), "|b\n".repeat(900)));
    // The stack size of the runtime's blocking threads.
    let small_stack = std::thread::Builder::new().stack_size(2 << 20);
    let judged = small_stack.spawn(move || {
        for monster in monsters {
            let html = rendered(&monster);
            let beginning: String = monster.chars().take(20).collect();
            assert!(
                html.len() < 30 * monster.len() + 4_000_000,
                "{beginning:?} became {} bytes",
                html.len()
            );
        }
    });
    judged.unwrap().join().unwrap();
}

#[test]
fn a_stream_of_attacks_is_as_harmless() {
    for attack in ATTACKS {
        let mut stream = Stream::new();
        for letter in attack.chars() {
            stream.push(&letter.to_string());
            oracle::elements(&stream.render().html);
        }
    }
}

proptest! {
    #[test]
    fn whatever_is_written_every_block_is_one_harmless_element(text in pieces::text()) {
        oracle::elements(&render(&text));
    }

    #[test]
    fn whatever_characters_come_they_stay_text(text in "\\PC{0,60}|[<>&\"'`\\[\\]()!*_\\\\ \\n:/a-c-]{0,60}") {
        oracle::elements(&render(&text));
    }
}
