//! Draws the dialogs about changes, below them.

use convoke_api::entry::EntryBody;
use convoke_core::message::Seq;
use convoke_core::review::ReviewComment;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::picture::{Picture, Strip};
use crate::rule;
use crate::text::{clean, wrap};
use crate::workbench::changes::{Changes, Commented, Dialog};
use crate::workbench::layout;
use crate::workbench::model::Model;
use crate::workbench::view::At;
use crate::workbench::view::fresh::{field, key, row, text};

pub(super) fn page(
    model: &Model,
    changes: &Changes,
    dialog: &Dialog,
    picture: &mut Picture,
    area: Rect,
) {
    let palette = model.palette;
    let title = title(changes, dialog);
    let line = rule::line(area.width, &title, palette.news(), palette);
    picture.line(Rect { height: 1.min(area.height), ..area }, line);
    let area = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let area = layout::text_area(area);
    let width = usize::from(area.width);
    let mut strip = Strip::default();
    match dialog {
        Dialog::Comment { text, .. } => field(&mut strip, model, text, width),
        Dialog::Turns { cursor } => turns(model, changes, *cursor, &mut strip, width),
        Dialog::Comments { cursor } => comments(model, changes, *cursor, &mut strip, width),
        Dialog::Restore { turn } => restore(model, changes, *turn, &mut strip, width),
        Dialog::Confirm(call) => {
            text(
                &mut strip,
                &call.question(|turn| changes.number_of(turn)),
                width,
                palette.strong(),
            );
            strip.gap();
            key(model, &mut strip, "y", "yes; what is overwritten can be brought back with u");
        }
        Dialog::Refused { why, files, .. } => {
            text(&mut strip, why, width, palette.bad());
            for file in files {
                text(&mut strip, &format!("  {file}"), width, palette.code());
            }
            key(model, &mut strip, "o", "overwrite them");
        }
        Dialog::Blocked { files } => {
            for file in files {
                text(&mut strip, &format!("  {file}"), width, palette.code());
            }
        }
    }
    picture.strip(area, strip);
}

fn title(changes: &Changes, dialog: &Dialog) -> String {
    match dialog {
        Dialog::Turns { .. } => "Whose changes?".to_owned(),
        Dialog::Comment { of: Commented::Comment(_), .. } => "Edit the comment".to_owned(),
        Dialog::Comment { of: Commented::Rows(first, last), .. } => {
            let diff = changes.diff();
            let comment = diff.and_then(|diff| diff.comment((*first, *last), String::new()));
            let place = comment.map(|comment| ReviewComment::from(comment).place());
            format!("Comment on {}", clean::line(&place.unwrap_or_default()))
        }
        Dialog::Comments { .. } => "Comments that are not sent".to_owned(),
        Dialog::Restore { turn } => {
            format!("Restore to before turn {}", changes.number_of(*turn))
        }
        Dialog::Confirm(_) => "Is this meant?".to_owned(),
        Dialog::Refused { .. } => "Not done: someone else changed these files".to_owned(),
        Dialog::Blocked { .. } => "These files were left alone".to_owned(),
    }
}

fn turns(model: &Model, changes: &Changes, cursor: usize, strip: &mut Strip, width: usize) {
    row(strip, model, At::from(cursor == 0), vec![Span::raw("The whole session")]);
    for (index, turn) in changes.turns().iter().enumerate() {
        let spans = turn_words(model, changes, *turn, width);
        row(strip, model, At::from(cursor == index + 1), spans);
    }
}

/// A turn, with the beginning of its prompt where that is known.
fn turn_words(model: &Model, changes: &Changes, turn: Seq, width: usize) -> Vec<Span<'static>> {
    let conversation = model.chat.as_ref().map(|chat| chat.entries().conversation());
    let prompt = conversation.into_iter().flatten().find(|entry| entry.seq == turn);
    let prompt = prompt.and_then(|entry| {
        let EntryBody::User(prompted) = &entry.body else { return None };
        Some(clean::line(&prompted.content))
    });
    let number = format!("Turn {}", changes.number_of(turn));
    let room = width.saturating_sub(wrap::width(&number) + 5);
    let prompt = wrap::shorten(&prompt.unwrap_or_default(), room);
    vec![Span::raw(number), Span::styled(format!("  {prompt}"), model.palette.faint())]
}

fn restore(model: &Model, changes: &Changes, turn: Seq, strip: &mut Strip, width: usize) {
    let mut words = vec![Span::styled("  ↑↓  ", model.palette.here())];
    words.extend(turn_words(model, changes, turn, width.saturating_sub(6)));
    strip.push(Line::from(words));
    key(model, strip, "f", "the files");
    key(model, strip, "c", "the conversation: a new session continues from there");
    key(model, strip, "b", "both");
}

fn comments(model: &Model, changes: &Changes, cursor: usize, strip: &mut Strip, width: usize) {
    let palette = model.palette;
    let comments = model.reviews.get(&changes.id).map(Vec::as_slice).unwrap_or_default();
    for (index, comment) in comments.iter().enumerate() {
        let place = ReviewComment::from(comment.clone()).place();
        let place = wrap::shorten(&clean::line(&place), width.saturating_sub(2));
        row(strip, model, At::from(index == cursor), vec![Span::styled(place, palette.code())]);
        let words = wrap::shorten(&clean::line(&comment.comment), width.saturating_sub(4));
        strip.push(Line::raw(format!("    {words}")));
    }
    let draft = model.drafts.get(&changes.id).filter(|draft| !draft.is_blank());
    if let Some(draft) = draft {
        let words = format!("Sent with what you wrote: {}", clean::line(draft.text()));
        strip.push(Line::styled(wrap::shorten(&words, width), palette.faint()));
    }
}
