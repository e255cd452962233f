//! Markdown as it comes, in pieces of any size.

use super::*;

/// Wider than the samples.
const WIDTH: usize = 120;

/// Shows a text with colours as words in angle brackets.
fn shown(text: &str) -> String {
    let mut markdown = Markdown::new(Colour::On);
    let out = markdown.push(text, WIDTH) + &markdown.finish(WIDTH);
    legible(&out)
}

fn legible(out: &str) -> String {
    [
        ("\x1b[0m", "</>"),
        ("\x1b[1m", "<bold>"),
        ("\x1b[1;4m", "<title>"),
        ("\x1b[1;3m", "<bold italic>"),
        ("\x1b[2m", "<faint>"),
        ("\x1b[3m", "<italic>"),
        ("\x1b[4m", "<link>"),
        ("\x1b[9m", "<struck>"),
        ("\x1b[36m", "<code>"),
        ("\x1b[34m", "<name>"),
        ("\x1b[35m", "<keyword>"),
        ("\x1b[32m", "<string>"),
    ]
    .iter()
    .fold(out.to_owned(), |text, (code, word)| text.replace(code, word))
}

const EVERYTHING: &str = "# Title\n\nSome **bold**, *slanted* and `code *as is*` words, a_name_here, 2 * 3 * 4.\n\
    - one\n  - two [docs](https://a.b) and [1]\n1. first\n> quoted\n\n```rust\nlet a = \"**\";\n\n# no title\n```\n---\n\
    ## Sub `x`\n***both*** ~~gone~~ \\*as is\\* ``a ` b`` [https://a.b](https://a.b)\n#hash -dash **open\nnext";

#[test]
fn markdown_is_shown_in_words_and_colours() {
    insta::assert_snapshot!(shown(EVERYTHING), @r#"
    <title>Title</>

    Some <bold>bold</>, <italic>slanted</> and <code>code *as is*</> words, a_name_here, 2 * 3 * 4.
    • one
      • two <link>docs</><faint> (https://a.b)</> and [1]
    1. first
    <faint>│</><italic> quoted</>

    <faint>```rust</>
    <keyword>let</> a = <string>"**"</>;

    # no title
    <faint>```</>
    <faint>────────────────────────────────────────</>
    <bold>Sub </><code>x</>
    <bold italic>both</> <struck>gone</> *as is* <code>a ` b</> <link>https://a.b</>
    #hash -dash <bold>open</>
    <bold>next</>
    "#);
}

#[test]
fn emphasis_goes_on_in_the_next_line_and_ends_with_its_block() {
    assert_eq!(shown("**one\ntwo** three"), "<bold>one</>\n<bold>two</> three");
    assert_eq!(shown("- *one\n  two* three"), "• <italic>one</>\n<italic>  two</> three");
    assert_eq!(
        shown("> **one\n> two** three\nfour"),
        "<faint>│</><italic> </><bold italic>one</>\n<faint>│</><bold italic> two</><italic> three</>\nfour"
    );
    for next in ["\ntwo", "1. two", "---\ntwo", "```\n```\ntwo"] {
        let (all, alone) = (shown(&format!("**one\n{next}")), shown(next));
        assert_eq!(all, format!("<bold>one</>\n{alone}"));
    }
    assert_eq!(shown("**one\n- two"), "<bold>one</>\n• two");
    assert_eq!(shown("## *one\ntwo"), "<bold italic>one</>\ntwo");
    assert_eq!(shown("`one\ntwo"), "<code>one</>\ntwo");
}

#[test]
fn the_pieces_that_a_text_comes_in_do_not_matter() {
    let whole = shown(EVERYTHING);
    for size in 1..7 {
        let mut markdown = Markdown::new(Colour::On);
        let letters: Vec<char> = EVERYTHING.chars().collect();
        let pieces = letters.chunks(size).map(|piece| piece.iter().collect::<String>());
        let out: String = pieces.map(|piece| markdown.push(&piece, WIDTH)).collect();
        let out = out + &markdown.finish(WIDTH);
        // Between pieces nothing is painted, so that the same is said with more codes.
        let bare = |text: &str| {
            let mut text = legible(text);
            for word in [
                "bold italic",
                "bold",
                "title",
                "faint",
                "italic",
                "link",
                "struck",
                "code",
                "keyword",
                "string",
                "name",
            ] {
                text = text.replace(&format!("</><{word}>"), "");
            }
            text
        };
        assert_eq!(bare(&out), bare(&whole), "pieces of {size}");
    }
}

#[test]
fn words_are_shown_as_soon_as_they_are_whole() {
    let mut markdown = Markdown::new(Colour::On);
    let mut push = |piece: &str| legible(&markdown.push(piece, WIDTH));
    assert_eq!(push("He"), "");
    assert_eq!(push("llo *"), "Hello");
    assert_eq!(push("wo"), "");
    assert_eq!(push("rld* "), " <italic>wo</><italic>rld</>");
    assert_eq!(push("and"), "");
    assert_eq!(push("\n``"), " and\n");
    assert_eq!(push("`\nlet x\n"), "<faint>```</>\n<code>let x</>\n");
}

#[test]
fn p12_code_has_colours_and_tables_have_columns() {
    insta::assert_snapshot!(shown("```rust\nfn a() {} // b\n```\n"), @"
    <faint>```rust</>
    <keyword>fn</> <name>a</>() {} <faint>// b</>
    <faint>```</>
    ");
    let table = "| Name | Price |\n|---|---|\n| **tea** | 2 |\n| coffee | 12 |\n\nEnd\n";
    insta::assert_snapshot!(shown(table), @"
    Name<faint>   │ </>Price
    <faint>───────┼──────</>
    <bold>tea</><faint>    │ </>2
    coffee<faint> │ </>12

    End
    ");
    assert_eq!(shown("| no table\nEnd"), "| no table\nEnd");
}

#[test]
fn p12_without_colours_only_the_ends_of_lines_change() {
    let text = "Some **words** that are longer than a line of\nso few cells\n```\nlet a = \"a line of code that is longer\";\n```\n";
    let mut markdown = Markdown::new(Colour::Off);
    let out = markdown.push(text, 30) + &markdown.finish(30);
    insta::assert_snapshot!(out, @r#"
    Some **words** that are longer
    than a line of
    so few cells
    ```
    let a = "a line of code that is longer";
    ```
    "#);
}
