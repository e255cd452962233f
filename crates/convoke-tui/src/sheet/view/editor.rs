//! A text that is or was written, indented and with a bar before it.

use convoke_core::count::counted;
use ratatui::text::{Line, Span};

use crate::editor::Editor;
use crate::palette::Palette;
use crate::picture::{Strip, Target};

/// Cells before the text, including the bar; as many as before a label.
pub(super) const INDENT: usize = 8;

/// The cells that a text has in a row of a page that is so wide.
pub(crate) const fn width(page: u16) -> usize {
    // One cell is left for a cursor behind the last letter.
    (page as usize).saturating_sub(INDENT + 1)
}

/// The rows of a text, at most `rows_max`.
pub(super) fn strip(editor: &Editor, width: usize, rows_max: usize, palette: Palette) -> Strip {
    let margin = " ".repeat(INDENT - 2);
    let mut strip = Strip::default();
    let rows = editor.layout(width).rows;
    let hidden = rows.len().saturating_sub(rows_max);
    for (index, row) in rows.into_iter().take(rows_max).enumerate() {
        let text = editor.text().get(row).unwrap_or_default().replace('\t', "    ");
        let line = vec![Span::styled(format!("{margin}│ "), palette.here()), Span::raw(text)];
        strip.push_target_from(Line::from(line), Target::Text(index), INDENT);
    }
    if hidden > 0 {
        let text = format!("{margin}  … and {}", counted(hidden, "more row"));
        strip.push(Line::styled(text, palette.faint()));
    }
    strip
}

/// The rows of a text that is being written after `above` other rows, with its cursor.
pub(super) fn written_below(
    mut above: Strip,
    editor: &Editor,
    width: usize,
    palette: Palette,
) -> Strip {
    let (row, column) = editor.layout(width).cursor;
    above.cursor = Some((above.len() + row, INDENT + column));
    above.rows.extend(strip(editor, width, usize::MAX, palette).rows);
    above
}
