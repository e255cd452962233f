//! Draws the queued prompts, the dialog about them, and refusals.

use ratatui::layout::Rect;
use ratatui::text::Span;

use super::At;
use super::finish;
use super::fresh::{field, key, row, titled};
use crate::editor::Editor;
use crate::picture::Picture;
use crate::text::{clean, wrap};
use crate::workbench::layout;
use crate::workbench::model::Model;
use crate::workbench::refusal::CallRefusal;

/// The prompts that wait; one may be edited.
pub(super) fn queue(
    model: &Model,
    cursor: usize,
    edited: Option<&Editor>,
    picture: &mut Picture,
    area: Rect,
) {
    let area = layout::text_area(area);
    let width = usize::from(area.width);
    let prompts = model.chat.as_ref().map(|chat| chat.entries().queue()).unwrap_or_default();
    let mut strip = titled(model, "Queued prompts, sent one after the other");
    for (index, prompt) in prompts.iter().enumerate() {
        let here = At::from(index == cursor);
        if let (At::Here, Some(editor)) = (here, edited) {
            field(&mut strip, model, editor, width);
            continue;
        }
        let node = prompt.waits_for.as_deref().map(clean::line);
        let node = node.map(|node| format!("  (waits for {node})")).unwrap_or_default();
        let who = prompt.by.as_ref().map(|by| format!("{by}: ")).unwrap_or_default();
        let text = format!("{who}{}{node}", clean::line(&prompt.content));
        let text = wrap::shorten(&text, width.saturating_sub(6));
        row(&mut strip, model, here, vec![Span::raw(format!("{}  {text}", index + 1))]);
    }
    picture.strip(area, strip);
}

/// Something that was not done, and why.
pub(super) fn refused(
    model: &Model,
    title: &str,
    refusal: &CallRefusal,
    picture: &mut Picture,
    area: Rect,
) {
    let area = layout::text_area(area);
    let mut strip = titled(model, title);
    finish::refused(model, refusal, &mut strip, usize::from(area.width));
    picture.strip(area, strip);
}

/// The dialog about queued prompts when the turn is cancelled.
pub(super) fn stop(model: &Model, picture: &mut Picture, area: Rect) {
    let area = layout::text_area(area);
    let count = model.chat.as_ref().map_or(0, |chat| chat.entries().queue().len());
    let title = match count {
        1 => "Stop the turn? One prompt is queued.".to_owned(),
        count => format!("Stop the turn? {count} prompts are queued."),
    };
    let mut strip = titled(model, &title);
    let choices = [
        ("s", "stop, and send the next one"),
        ("k", "stop, and keep them until you send one"),
        ("d", "stop, and discard them"),
        ("esc", "do not stop"),
    ];
    for (letter, words) in choices {
        key(model, &mut strip, letter, words);
    }
    picture.strip(area, strip);
}
