//! What people and agents write every day.

use super::rendered;

#[test]
fn every_kind_of_block_is_one_element() {
    let text = "# One *two* three\n\nA line\nand another,\\\nand **more**.\n\n- a\n- b\n\n1. c\n\n   d\n\n3. e\n\n> q\n\n---\n\n<b>\nraw\n";
    assert_eq!(
        rendered(text).replace("><", ">\n<"),
        "<h1>One <em>two</em> three</h1>\n<p>A line\nand another,<br>and <strong>more</strong>.</p>\n\
         <ul>\n<li>a</li>\n<li>b</li>\n</ul>\n<ol>\n<li>\n<p>c</p>\n<p>d</p>\n</li>\n<li>\n<p>e</p>\n</li>\n</ol>\n\
         <blockquote>\n<p>q</p>\n</blockquote>\n<hr>\n<p>&lt;b&gt;<br>raw</p>"
    );
}

#[test]
fn a_list_keeps_its_first_number() {
    assert_eq!(rendered("7. a"), "<ol start=\"7\"><li>a</li></ol>");
}

#[test]
fn tables_are_aligned() {
    assert_eq!(
        rendered("a|b|c|d\n-|:-|:-:|-:\n1|2|`3`|**4**"),
        "<table><thead><tr><th>a</th><th align=\"left\">b</th><th align=\"center\">c</th><th align=\"right\">d</th></tr></thead>\
         <tbody><tr><td>1</td><td align=\"left\">2</td><td align=\"center\"><code>3</code></td>\
         <td align=\"right\"><strong>4</strong></td></tr></tbody></table>"
    );
    assert_eq!(
        rendered("a|b\n-|-\n"),
        "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody></tbody></table>"
    );
}

#[test]
fn tasks_have_boxes_that_screen_readers_can_read() {
    let open = "<input type=\"checkbox\" aria-label=\"to do\" disabled>";
    let done = "<input type=\"checkbox\" aria-label=\"done\" disabled checked>";
    assert_eq!(
        rendered("- [ ] a\n- [x] b\n- c"),
        format!(
            "<ul><li class=\"task\">{open} a</li><li class=\"task\">{done} b</li><li>c</li></ul>"
        )
    );
    assert_eq!(
        rendered("- [ ] a\n\n- [x] b"),
        format!(
            "<ul><li class=\"task\"><p>{open} a</p></li><li class=\"task\"><p>{done} b</p></li></ul>"
        )
    );
}

#[test]
fn links_lead_out_of_the_page() {
    let link = |address: &str, words: &str| {
        format!(
            "<p><a href=\"{address}\" rel=\"noopener noreferrer\" target=\"_blank\">{words}</a></p>"
        )
    };
    assert_eq!(
        rendered("[a *b*](https://c.d/?e=f&g)"),
        link("https://c.d/?e=f&amp;g", "a <em>b</em>")
    );
    assert_eq!(rendered("<https://a.b>"), link("https://a.b", "https://a.b"));
    assert_eq!(rendered("https://a.b/c_d_e"), link("https://a.b/c_d_e", "https://a.b/c_d_e"));
    assert_eq!(rendered("<me@a.b>"), link("mailto:me@a.b", "me@a.b"));
    assert_eq!(rendered("[me](mailto:me@a.b)"), link("mailto:me@a.b", "me"));
    assert_eq!(rendered("[a][1]\n\n[1]: http://b"), link("http://b", "a"));
    assert_eq!(
        rendered("[a](http://b \"c\")"),
        "<p><a href=\"http://b\" rel=\"noopener noreferrer\" target=\"_blank\" title=\"c\">a</a></p>"
    );
    assert_eq!(rendered("`https://a.b`"), "<p><code>https://a.b</code></p>");
}

#[test]
fn images_are_links_with_their_words() {
    let link = "rel=\"noopener noreferrer\" target=\"_blank\"";
    assert_eq!(
        rendered("![a **b**](https://c/d.png)"),
        format!("<p><a href=\"https://c/d.png\" {link}>a <strong>b</strong></a></p>")
    );
    assert_eq!(
        rendered("![](https://c/d.png)"),
        format!("<p><a href=\"https://c/d.png\" {link}>https://c/d.png</a></p>")
    );
    assert_eq!(
        rendered("[![a](https://b/c.svg)](https://d)"),
        format!(
            "<p><a href=\"https://d\" {link}><span class=\"inert\" title=\"https://b/c.svg\">a</span></a></p>"
        )
    );
}

#[test]
fn words_are_kept_as_they_are() {
    assert_eq!(rendered(""), "");
    assert_eq!(rendered(" \n\n "), "");
    assert_eq!(
        rendered("a < b && c > d \"e\" 'f'"),
        "<p>a &lt; b &amp;&amp; c &gt; d &quot;e&quot; &#39;f&#39;</p>"
    );
    assert_eq!(rendered("Vec<String> and <T>"), "<p>Vec&lt;String&gt; and &lt;T&gt;</p>");
    assert_eq!(
        rendered("~~gone~~ [^1] $x$ \"q\" -- ..."),
        "<p><del>gone</del> [^1] $x$ &quot;q&quot; -- ...</p>"
    );
    assert_eq!(rendered("日本語 *é*"), "<p>日本語 <em>é</em></p>");
}
