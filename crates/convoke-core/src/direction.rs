//! Characters for the direction of writing. They are invisible, and can make a text look like another: the end of a file
//! name like its middle, or the arguments of a call in another order.

/// Whether a character changes the order in which the text around it is shown.
pub const fn changes_direction(c: char) -> bool {
    matches!(
        c,
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}
