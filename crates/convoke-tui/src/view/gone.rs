//! A set that somebody else settled while the human was at it.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::editor;
use super::picture::{Picture, Strip};
use crate::message::Ending;
use crate::model::Model;
use crate::set::{QuestionSet, title};
use crate::text::wrap;

/// Says what happened, and shows what the human had written, so that it can be copied.
pub(super) fn page(
    model: &Model,
    set: &QuestionSet,
    picture: &mut Picture,
    area: Rect,
    ending: Ending,
) {
    let width = usize::from(area.width);
    let mut strip = Strip::default();
    let headline = match ending {
        Ending::Answered => "Someone else answered this set first.",
        Ending::Rejected => "Someone else rejected this set.",
        Ending::Deleted => "This set was deleted.",
    };
    strip.push(Line::styled(headline, model.palette.news()));
    if set.is_touched() {
        strip.push("What you chose and wrote here was not sent.");
    }
    strip.gap();
    let written = set.asked.questions.iter().zip(&set.drafts);
    for (question, draft) in written.filter(|(_, draft)| !draft.words.is_blank()) {
        let name = wrap::shorten(&title(question), width.saturating_sub(14));
        strip.push(Line::styled(format!("You wrote on {name}:"), model.palette.strong()));
        let width = editor::width(model.size);
        strip.rows.extend(editor::strip(&draft.words, width, usize::MAX, model.palette).rows);
        strip.gap();
    }
    strip.push(vec![
        Span::raw("Press "),
        Span::styled(" enter ", model.palette.open()),
        Span::raw(" to go on."),
    ]);
    picture.strip(area, strip);
}
