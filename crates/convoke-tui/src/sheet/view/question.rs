//! A question: its prompt, which the human can move, and its options below.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::options::{self, Focus};
use crate::palette::Palette;
use crate::picture::{Picture, Strip};
use crate::sheet::{Page, QuestionSet};
use crate::text::{markdown, wrap};

/// The page of a question.
pub(super) fn page(
    set: &QuestionSet,
    picture: &mut Picture,
    area: Rect,
    palette: Palette,
    index: usize,
) {
    let Some((question, draft)) = set.question(index) else { return };
    let focus = if matches!(set.page, Page::Writing(_)) { Focus::Writing } else { Focus::Choosing };
    let width = usize::from(area.width);
    let mut prompt = Strip::default();
    for line in markdown::lines(&question.prompt, width, palette) {
        prompt.push(line);
    }
    let options = options::strip(question, draft, width, focus, palette);
    let heights = heights(usize::from(area.height), prompt.len(), options.len(), focus);
    let prompt_rows = u16::try_from(heights.prompt).unwrap_or(area.height);
    let hint_row = area.y + prompt_rows + u16::try_from(heights.gap).unwrap_or_default();
    picture.scrolled(Rect { height: prompt_rows, ..area }, prompt, draft.scroll);
    let hint = if question.multi_select { "Choose any number" } else { "Choose one" };
    let line = hint_line(palette, hint, picture.scroll_max, draft.scroll, width);
    picture.line(Rect { y: hint_row, height: 1, ..area }, line);
    let below =
        Rect { y: hint_row + 1, height: area.bottom().saturating_sub(hint_row + 1), ..area };
    picture.strip(below, options);
}

/// The rows that a whole question needs.
pub(crate) fn height(set: &QuestionSet, index: usize, width: u16, palette: Palette) -> usize {
    let Some((question, draft)) = set.question(index) else { return 0 };
    let focus = if matches!(set.page, Page::Writing(_)) { Focus::Writing } else { Focus::Choosing };
    let width = usize::from(width);
    let prompt = markdown::lines(&question.prompt, width, palette).len();
    prompt + 2 + options::strip(question, draft, width, focus, palette).len()
}

struct Heights {
    prompt: usize,
    /// Blank rows below the prompt.
    gap: usize,
}

/// Shares the rows: all for both if they fit, else half for the options, or more when something is written there.
fn heights(height: usize, prompt: usize, options: usize, focus: Focus) -> Heights {
    if prompt + options + 2 <= height {
        return Heights { prompt, gap: 1 };
    }
    let share = match focus {
        Focus::Choosing => height / 2,
        Focus::Writing => height / 3,
    };
    Heights { prompt: prompt.min(share.max(height.saturating_sub(options + 1))), gap: 0 }
}

/// The hint for the human, and how much of the prompt is hidden.
fn hint_line(
    palette: Palette,
    hint: &str,
    max: usize,
    scroll: usize,
    width: usize,
) -> Line<'static> {
    let above = scroll.min(max);
    let hidden = match (above, max - above) {
        (0, 0) => String::new(),
        (0, below) => format!("PgDn: {below} more ↓"),
        (above, 0) => format!("PgUp: {above} more ↑"),
        (above, below) => format!("PgUp: {above} more ↑  PgDn: {below} more ↓"),
    };
    let gap = width.saturating_sub(wrap::width(hint) + wrap::width(&hidden));
    Line::from(vec![
        Span::styled(hint.to_owned(), palette.faint()),
        Span::raw(" ".repeat(gap)),
        Span::styled(hidden, palette.news()),
    ])
}
