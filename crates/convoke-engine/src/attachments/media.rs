//! Detects the media type of a file from its first bytes. Types that Convoke handles alike are not
//! distinguished.

/// The magic numbers of binary formats.
const BEGINNINGS: [(&[u8], &str); 8] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"ID3", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
    (b"PK\x03\x04", "application/zip"),
];
/// How much of a text is searched for `<svg`.
const HEAD_BYTES: usize = 1024;
/// Media types of text by file extension.
const ENDINGS: [(&str, &str); 8] = [
    ("md", "text/markdown"),
    ("csv", "text/csv"),
    ("json", "application/json"),
    ("xml", "application/xml"),
    ("html", "text/html"),
    ("htm", "text/html"),
    ("css", "text/css"),
    ("js", "text/javascript"),
];

/// The media type of some bytes; for text, the extension of the name decides.
pub(super) fn of(bytes: &[u8], name: &str) -> &'static str {
    if let Some((_, media_type)) = BEGINNINGS.iter().find(|(head, _)| bytes.starts_with(head)) {
        return media_type;
    }
    if let Some(kind) = bytes.strip_prefix(b"RIFF").and_then(|rest| rest.get(4..8)) {
        match kind {
            b"WEBP" => return "image/webp",
            b"WAVE" => return "audio/wav",
            _ => {}
        }
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return "application/octet-stream" };
    if text.contains('\0') {
        return "application/octet-stream";
    }
    if is_svg(text) {
        return "image/svg+xml";
    }
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let known = ENDINGS.iter().find(|(known, _)| Some(*known) == ending.as_deref());
    known.map_or("text/plain", |(_, media_type)| media_type)
}

fn is_svg(text: &str) -> bool {
    let head = text.get(..text.floor_char_boundary(HEAD_BYTES)).unwrap_or_default();
    let head = head.trim_start_matches('\u{feff}').trim_start();
    head.starts_with("<svg") || (head.starts_with("<?xml") && head.contains("<svg"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l3_bytes_are_what_they_look_like_whatever_their_name() {
        let cases: [(&[u8], &str, &str); 10] = [
            (b"\x89PNG\r\n\x1a\n....", "evil.html", "image/png"),
            (b"\xff\xd8\xff\xe0", "x", "image/jpeg"),
            (b"RIFF\0\0\0\0WEBPVP8 ", "x.txt", "image/webp"),
            (b"%PDF-1.7", "x", "application/pdf"),
            (b"<svg xmlns='x'/>", "a.png", "image/svg+xml"),
            (b"<?xml version='1.0'?><svg/>", "a", "image/svg+xml"),
            (b"# Title", "README.md", "text/markdown"),
            (b"fn main() {}", "main.rs", "text/plain"),
            (b"\0\x01", "main.rs", "application/octet-stream"),
            (b"", "empty", "text/plain"),
        ];
        for (bytes, name, expected) in cases {
            assert_eq!(of(bytes, name), expected, "{name}");
        }
    }
}
