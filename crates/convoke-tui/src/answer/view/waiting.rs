//! Nothing to answer, and nowhere to show anything.

use ratatui::layout::Rect;
use ratatui::text::Line;

use super::frame;
use crate::answer::model::{Daemon, Model};
use crate::picture::{Picture, Strip};
use crate::words;

/// The page while there are no questions.
pub(super) fn page(model: &Model, picture: &mut Picture, area: Rect) {
    let area = frame::text_area(model.size, area);
    let width = usize::from(area.width);
    let mut strip = Strip::default();
    for _ in 0..area.height.saturating_sub(12) / 3 {
        strip.gap();
    }
    strip.push(Line::styled("Nothing needs your answer.", model.palette.strong()));
    strip.gap();
    strip.push("Questions appear here as soon as they are asked, in");
    let folder = words::tail(&words::folder(model.user_folder.as_deref(), &model.folder), width);
    strip.push(Line::styled(folder, model.palette.code()));
    match model.daemon {
        Daemon::Linked => strip.push("and so does what the daemon's agents ask."),
        Daemon::Unlinked => {
            strip.push("No daemon is running, so there is nothing from its agents.");
        }
    }
    strip.gap();
    strip
        .push(Line::styled("To see one, ask yourself in another terminal:", model.palette.faint()));
    strip.push(Line::styled(
        r#"echo '[{"prompt":"Tea?","options":[{"label":"Yes"},"#,
        model.palette.code(),
    ));
    strip.push(Line::styled(r#"  {"label":"No"}]}]' | convoke ask -"#, model.palette.code()));
    if !model.damaged.is_empty() {
        strip.gap();
        let text = match model.damaged.len() {
            1 => "One set is damaged; l shows it.".to_owned(),
            count => format!("{count} sets are damaged; l shows them."),
        };
        strip.push(Line::styled(text, model.palette.bad()));
    }
    picture.strip(area, strip);
}
