//! The last part of a command's output.

/// Keeps the last bytes that were printed.
pub(crate) struct Screen {
    bytes: Vec<u8>,
    bytes_max: usize,
    cut: bool,
}

impl Screen {
    pub(crate) const fn new(bytes_max: usize) -> Self {
        Self { bytes: Vec::new(), bytes_max, cut: false }
    }

    pub(super) fn print(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Moving the bytes to the front is expensive, so it is done rarely.
        if self.bytes.len() > self.bytes_max.saturating_mul(2) {
            self.bytes.drain(..self.first_kept());
            self.cut = true;
        }
    }

    /// Whether some of the output was dropped.
    pub(super) const fn is_cut(&self) -> bool {
        self.cut || self.bytes.len() > self.bytes_max
    }

    /// The stored text, from the first complete character on.
    pub(crate) fn text(&self) -> String {
        let kept = self.bytes.get(self.first_kept()..).unwrap_or_default();
        let is_inside = |byte: &&u8| self.is_cut() && (0x80..0xc0).contains(*byte);
        // No character has more than three bytes after its first.
        let inside = kept.iter().take(3).take_while(is_inside).count();
        String::from_utf8_lossy(kept.get(inside..).unwrap_or_default()).into_owned()
    }

    const fn first_kept(&self) -> usize {
        self.bytes.len().saturating_sub(self.bytes_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(bytes_max: usize, printed: &[&str]) -> (String, bool) {
        let mut screen = Screen::new(bytes_max);
        for text in printed {
            screen.print(text.as_bytes());
        }
        (screen.text(), screen.is_cut())
    }

    #[test]
    fn the_beginning_is_dropped_between_characters() {
        assert_eq!(screen(8, &["abc", "def"]), ("abcdef".to_owned(), false));
        assert_eq!(screen(4, &["abc", "def"]), ("cdef".to_owned(), true));
        assert_eq!(screen(4, &["日本語"]), ("語".to_owned(), true));
        assert_eq!(screen(4, &["abcdefghij", "kl", "m"]), ("jklm".to_owned(), true));
        assert_eq!(screen(0, &["abc"]), (String::new(), true));
    }

    #[test]
    fn what_is_not_text_is_shown_as_well_as_it_can_be() {
        let mut screen = Screen::new(100);
        screen.print(b"\x80\xffok");
        assert_eq!(screen.text(), "\u{fffd}\u{fffd}ok");
    }
}
