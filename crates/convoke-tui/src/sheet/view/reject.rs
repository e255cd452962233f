//! Saying no: the reason, and whether it is meant.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::editor;
use crate::palette::Palette;
use crate::picture::{Picture, Strip};
use crate::sheet::{Asker, QuestionSet};
use crate::text::wrap;
use crate::words;

/// The page on which the reason is written.
pub(super) fn reason(set: &QuestionSet, picture: &mut Picture, area: Rect, palette: Palette) {
    let mut strip = opening(set, usize::from(area.width), palette);
    strip.push(Line::styled("Your reason, if you want to give one:", palette.strong()));
    let width = editor::width(area.width);
    let strip = editor::written_below(strip, &set.reason, width, palette);
    picture.strip(area, strip);
}

/// The page that asks for confirmation.
pub(super) fn confirm(set: &QuestionSet, picture: &mut Picture, area: Rect, palette: Palette) {
    let mut strip = opening(set, usize::from(area.width), palette);
    if set.reason.is_blank() {
        strip.push("You give no reason.");
    } else {
        strip.push("Your reason:");
        let width = editor::width(area.width);
        strip.rows.extend(editor::strip(&set.reason, width, usize::MAX, palette).rows);
    }
    strip.gap();
    strip.focus = strip.len()..strip.len() + 1;
    strip.push(vec![
        Span::raw("Press "),
        Span::styled(" y ", palette.open()),
        Span::raw(" to reject, or Esc to go back."),
    ]);
    picture.strip(area, strip);
}

fn opening(set: &QuestionSet, width: usize, palette: Palette) -> Strip {
    let mut strip = Strip::default();
    strip.push(Line::styled("Reject this set of questions?", palette.bad()));
    let questions = match set.drafts.len() {
        1 => "its question".to_owned(),
        count => format!("its {count} questions"),
    };
    let asker = words::asker(&set.asked);
    let text = match set.asked.asker {
        Asker::Waits => format!("{asker} will learn that you reject {questions}."),
        Asker::TimedOut | Asker::Abandoned => {
            format!("{asker} is no longer waiting; your rejection of {questions} is recorded.")
        }
    };
    for spans in wrap::spans(&[Span::raw(text)], width) {
        strip.push(spans);
    }
    strip.gap();
    strip
}
