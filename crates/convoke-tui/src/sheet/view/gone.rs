//! A set that was settled elsewhere while the human was answering it.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::editor;
use crate::palette::Palette;
use crate::picture::{Picture, Strip};
use crate::sheet::{Ending, QuestionSet, title};
use crate::text::wrap;

/// Shows how it was settled, and what the human had written, so that it can be copied.
pub(super) fn page(
    set: &QuestionSet,
    picture: &mut Picture,
    area: Rect,
    palette: Palette,
    ending: Ending,
) {
    let width = usize::from(area.width);
    let mut strip = Strip::default();
    let headline = match ending {
        Ending::Answered => "Someone else answered this set first.",
        Ending::Rejected => "Someone else rejected this set.",
        Ending::Deleted => "This set was deleted.",
    };
    strip.push(Line::styled(headline, palette.news()));
    if set.is_touched() {
        strip.push("What you chose and wrote here was not sent.");
    }
    strip.gap();
    let written = set.asked.questions.iter().zip(&set.drafts);
    for (question, draft) in written.filter(|(_, draft)| !draft.words.is_blank()) {
        let name = wrap::shorten(&title(question), width.saturating_sub(14));
        strip.push(Line::styled(format!("You wrote on {name}:"), palette.strong()));
        let width = editor::width(area.width);
        strip.rows.extend(editor::strip(&draft.words, width, usize::MAX, palette).rows);
        strip.gap();
    }
    strip.push(vec![
        Span::raw("Press "),
        Span::styled(" enter ", palette.open()),
        Span::raw(" to go on."),
    ]);
    picture.strip(area, strip);
}
