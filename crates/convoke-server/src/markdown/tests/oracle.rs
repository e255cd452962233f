//! A strict HTML reader that accepts only what a rendered text may contain.

/// Allowed elements and their attributes.
const ALLOWED: [(&str, &[&str]); 27] = [
    ("a", &["href", "rel", "target", "title"]),
    ("blockquote", &[]),
    ("br", &[]),
    ("code", &["class"]),
    ("del", &[]),
    ("em", &[]),
    ("h1", &[]),
    ("h2", &[]),
    ("h3", &[]),
    ("h4", &[]),
    ("h5", &[]),
    ("h6", &[]),
    ("hr", &[]),
    ("input", &["type", "aria-label", "disabled", "checked"]),
    ("li", &["class"]),
    ("ol", &["start"]),
    ("p", &[]),
    ("pre", &[]),
    ("span", &["class", "title"]),
    ("strong", &[]),
    ("table", &[]),
    ("tbody", &[]),
    ("td", &["align"]),
    ("th", &["align"]),
    ("thead", &[]),
    ("tr", &[]),
    ("ul", &[]),
];

const VOID: [&str; 3] = ["br", "hr", "input"];

/// The top-level elements in order; panics on anything that is not allowed.
pub(super) fn elements(html: &str) -> Vec<&str> {
    let mut elements = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < html.len() {
        let rest = &html[at..];
        if !rest.starts_with('<') {
            let text = &rest[..rest.find('<').unwrap_or(rest.len())];
            assert!(!open.is_empty(), "{text:?} stands outside of every element in {html}");
            check_text(text);
            at += text.len();
            continue;
        }
        let tag = &rest[1..rest.find('>').unwrap_or_else(|| panic!("unclosed tag in {html}"))];
        at += tag.len() + 2;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "wrongly nested in {html}");
        } else {
            if open.is_empty() {
                start = at - tag.len() - 2;
            }
            let name = check_tag(tag);
            assert!(name != "a" || !open.contains(&"a"), "a link in a link: {html}");
            assert!(open.len() < 512, "too deep for browsers");
            if !VOID.contains(&name) {
                open.push(name);
            }
        }
        if open.is_empty() {
            elements.push(&html[start..at]);
        }
    }
    assert!(open.is_empty(), "{open:?} not closed in {html}");
    elements
}

fn check_tag(tag: &str) -> &str {
    let (name, mut rest) = tag.split_at(tag.find(' ').unwrap_or(tag.len()));
    let (_, allowed) =
        ALLOWED.iter().find(|it| it.0 == name).unwrap_or_else(|| panic!("<{tag}> is not allowed"));
    while let Some(attribute) = rest.strip_prefix(' ') {
        let end = attribute.find(['=', ' ']).unwrap_or(attribute.len());
        let attribute_name = &attribute[..end];
        assert!(allowed.contains(&attribute_name), "{attribute_name:?} is not allowed: <{tag}>");
        rest = &attribute[end..];
        if let Some(quoted) = rest.strip_prefix("=\"") {
            let value =
                &quoted[..quoted.find('"').unwrap_or_else(|| panic!("open quote: <{tag}>"))];
            check_text(value);
            check_value(attribute_name, value);
            rest = &quoted[value.len() + 1..];
        }
    }
    assert_eq!(rest, "", "<{tag}>");
    if name == "a" {
        assert!(tag.contains(" rel=\"noopener noreferrer\" target=\"_blank\""), "<{tag}>");
    }
    name
}

fn check_value(name: &str, value: &str) {
    match name {
        "href" => {
            let start = value.to_ascii_lowercase();
            let is_followed =
                ["http://", "https://", "mailto:"].iter().any(|scheme| start.starts_with(scheme));
            assert!(is_followed, "href {value:?}");
            assert!(value.bytes().all(|byte| byte.is_ascii_graphic()), "href {value:?}");
        }
        "class" => {
            let is_known = value == "inert"
                || value == "task"
                || value.starts_with("hl-")
                || value.starts_with("language-");
            assert!(is_known && !value.contains(' '), "class {value:?}");
        }
        "type" => assert_eq!(value, "checkbox"),
        _ => {}
    }
}

/// Text may contain anything that does not start markup; every `&` starts one of our five entities.
fn check_text(text: &str) {
    assert!(!text.contains(['<', '>', '"', '\'', '\0']), "{text:?}");
    for (at, _) in text.match_indices('&') {
        let entities = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
        assert!(entities.iter().any(|it| text[at..].starts_with(it)), "{:?}", &text[at..]);
    }
}
