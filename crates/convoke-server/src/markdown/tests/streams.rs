//! Incremental rendering, and a page that shows it.

use proptest::prelude::*;

use super::super::{Stream, Tail, render};
use super::oracle::elements;
use super::pieces;

/// Shows a stream as the page does.
#[derive(Default)]
struct Page {
    elements: Vec<String>,
}

impl Page {
    fn show(&mut self, tail: &Tail) {
        assert!(tail.from <= self.elements.len(), "{tail:?} leaves a gap");
        self.elements.truncate(tail.from);
        self.elements.extend(elements(&tail.html).into_iter().map(str::to_owned));
    }
}

fn streamed<S: AsRef<str>>(pushes: &[S]) -> String {
    let (mut stream, mut page) = (Stream::new(), Page::default());
    for push in pushes {
        stream.push(push.as_ref());
        page.show(&stream.render());
        assert_eq!(page.elements.concat(), render(stream.text()), "{:?}", stream.text());
    }
    page.elements.concat()
}

proptest! {
    #[test]
    fn a_stream_shows_at_every_moment_what_rendering_the_whole_shows(pushes in pieces::pushes()) {
        streamed(&pushes);
    }

}

proptest! {
    // Renders every prefix, and the whole text each time.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_stream_that_comes_letter_by_letter_is_no_different(text in pieces::text()) {
        let letters: Vec<String> = text.chars().map(String::from).collect();
        streamed(&letters);
    }
}

/// Definitions come first, each once; then random pieces may use them.
fn with_definitions() -> impl Strategy<Value = Vec<String>> {
    const USES: [&str; 9] = [
        "[one]",
        "[ONE][]",
        "[a][two]",
        "![b][two]",
        "[three]",
        "[a][ one ]",
        "\"t\n",
        "[zz]: /u\n",
        "[yy]: ",
    ];
    let piece =
        prop_oneof![prop::sample::select(&USES[..]).prop_map(str::to_owned), pieces::text()];
    prop::collection::vec(piece, 0..8).prop_map(|mut soup| {
        // A second one would define what the first, in the middle of a paragraph, may have used before.
        for definition in ["[zz]: /u\n", "[yy]: "] {
            let mut count = 0;
            soup.retain(|piece| {
                count += usize::from(piece == definition);
                piece != definition || count == 1
            });
        }
        let mut pushes = vec![
            "[one]: http://a 'b'\n[two]: <https://c>\n\n[Three]:\n".to_owned(),
            "/d\n\n".to_owned(),
        ];
        pushes.extend(soup);
        pushes
    })
}

proptest! {
    #[test]
    fn what_was_defined_before_is_known_for_the_rest_of_the_stream(pushes in with_definitions()) {
        streamed(&pushes);
    }
}

#[test]
fn only_the_last_block_is_rendered_again() {
    let mut stream = Stream::new();
    let mut told = Vec::new();
    for push in [
        "# Title\n",
        "\nSome ",
        "words\n",
        "\n- a\n",
        "- b\n\n",
        "1",
        "st",
        "\n```rust\n",
        "fn a() {\n",
        "}\n```\n",
        "end",
    ] {
        stream.push(push);
        let Tail { from, html } = stream.render();
        told.push(format!(
            "{from} {}",
            elements(&html).iter().map(|it| &it[1..3]).collect::<Vec<_>>().join(" ")
        ));
    }
    assert_eq!(
        told,
        // An incomplete line could still belong to the list before it.
        [
            "0 h1",
            "0 h1 p>",
            "1 p>",
            "1 p> ul",
            "2 ul",
            "2 ul p>",
            "2 ul p>",
            "2 ul p> pr",
            "4 pr",
            "4 pr",
            "4 pr p>"
        ]
    );
}

#[test]
fn a_link_that_is_defined_later_is_mended_by_the_whole() {
    let mut stream = Stream::new();
    let mut page = Page::default();
    for push in ["[a]\n\nb\n\nc\n", "\n[a]: http://d\n"] {
        stream.push(push);
        page.show(&stream.render());
    }
    assert_eq!(page.elements.concat(), "<p>[a]</p><p>b</p><p>c</p>");
    assert!(render(stream.text()).starts_with("<p><a href=\"http://d\""));
}

#[test]
fn long_code_is_rendered_at_longer_intervals() {
    let line = "    let value = compute(\"text\", 12345).unwrap(); // and so on\n";
    let mut stream = Stream::new();
    stream.push("```rust\n");
    let (mut last, mut longest_pause) = (None, stream.pause());
    for _ in 0..200 {
        stream.push(line);
        last = Some(stream.render());
        longest_pause = longest_pause.max(stream.pause());
    }
    assert!(last.unwrap().html == render(stream.text()), "they differ");
    assert!(longest_pause > std::time::Duration::from_millis(40));
}
