//! The spans of highlighted code, in order.

use super::Class;

/// Hands pieces to a reader.
pub(super) struct Spans<'a> {
    read: &'a mut dyn FnMut(Class, &str),
}

impl<'a> Spans<'a> {
    pub(super) fn new(read: &'a mut dyn FnMut(Class, &str)) -> Self {
        Self { read }
    }

    pub(super) fn write(&mut self, class: Class, text: &str) {
        if !text.is_empty() {
            (self.read)(class, text);
        }
    }
}
