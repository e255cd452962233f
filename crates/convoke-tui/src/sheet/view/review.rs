//! All answers of a set before they are sent, as the asker will read them.

use convoke_core::question::Question;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::palette::Palette;
use crate::picture::{Picture, Strip, Target};
use crate::sheet::draft::{Draft, Label, words_row};
use crate::sheet::{Page, PageLink, QuestionSet, title};
use crate::text::{clean, wrap};

/// The markers of the row at the cursor, and of the others.
const HERE: &str = "▸ ";
const ELSEWHERE: &str = "  ";

/// The review with its cursor at a question, or after them where the answers are sent.
pub(super) fn page(
    set: &QuestionSet,
    picture: &mut Picture,
    area: Rect,
    palette: Palette,
    cursor: usize,
) {
    let mut strip = strip(set, usize::from(area.width), cursor, palette);
    strip.gap();
    let is_complete = set.first_missing().is_none();
    let is_settling = set.page == Page::Settling;
    let text = if is_settling { "Sending…" } else { "Send these answers" };
    let is_here = cursor == set.drafts.len();
    let style = match (is_here, is_complete) {
        (true, _) => palette.open(),
        (false, true) => palette.strong(),
        (false, false) => palette.faint(),
    };
    let marker = Span::styled(if is_here { HERE } else { ELSEWHERE }, palette.here());
    let line = vec![marker, Span::styled(format!(" {text} "), style)];
    if is_here || is_settling {
        strip.focus = strip.len()..strip.len() + 1;
    }
    strip.push_target(Line::from(line), Target::Send);
    picture.strip(area, strip);
}

fn strip(set: &QuestionSet, width: usize, cursor: usize, palette: Palette) -> Strip {
    let mut strip = Strip::default();
    let answered = set.drafts.iter().filter(|draft| draft.is_answered()).count();
    let heading = format!("{answered} of {} answered", set.drafts.len());
    strip.push(Line::styled(heading, palette.faint()));
    for (index, (question, draft)) in set.asked.questions.iter().zip(&set.drafts).enumerate() {
        let is_here = index == cursor;
        let from = strip.len();
        let target = Target::Page(PageLink::Question(index));
        let name = wrap::shorten(&title(question), width.saturating_sub(6));
        let style = if is_here { palette.here() } else { palette.strong() };
        let line = vec![
            Span::styled(if is_here { HERE } else { ELSEWHERE }, palette.here()),
            Span::styled(format!("{} ", index + 1), palette.faint()),
            Span::styled(name, style),
        ];
        strip.push_target(Line::from(line), target);
        for line in answer_lines(question, draft, width.saturating_sub(4), palette) {
            let mut spans = vec![Span::raw("    ")];
            spans.extend(line);
            strip.push_target(Line::from(spans), target);
        }
        if is_here {
            strip.focus = from..strip.len();
        }
    }
    strip
}

/// The answer to a question, in rows that fit.
fn answer_lines(
    question: &Question,
    draft: &Draft,
    width: usize,
    palette: Palette,
) -> Vec<Vec<Span<'static>>> {
    if !draft.is_answered() {
        return vec![vec![Span::styled("! no answer yet", palette.bad())]];
    }
    let mut lines = Vec::new();
    for label in draft.labels(question) {
        let mut spans = vec![Span::raw(clean::line(&Label::of(label).text))];
        if !draft.seen {
            spans.push(Span::styled(" · recommended, not visited", palette.news()));
        }
        lines.extend(arrowed(&spans, width, palette));
    }
    if draft.chosen.contains(&words_row(question)) {
        for (index, line) in draft.words.text().trim_end().split('\n').enumerate() {
            let text = if index == 0 { format!("Other: {line}") } else { line.to_owned() };
            let spans = [Span::raw(text.replace('\t', "    "))];
            if index == 0 {
                lines.extend(arrowed(&spans, width, palette));
            } else {
                lines.extend(indented(&spans, width));
            }
        }
    }
    if lines.is_empty() {
        lines.extend(arrowed(&[Span::raw("(No selection)")], width, palette));
    }
    lines
}

fn arrowed(spans: &[Span<'static>], width: usize, palette: Palette) -> Vec<Vec<Span<'static>>> {
    let mut rows = indented(spans, width);
    if let Some(margin) = rows.first_mut().and_then(|row| row.first_mut()) {
        *margin = Span::styled("→ ", palette.good());
    }
    rows
}

fn indented(spans: &[Span<'static>], width: usize) -> Vec<Vec<Span<'static>>> {
    let rows = wrap::spans(spans, width.saturating_sub(2)).into_iter();
    rows.map(|row| [vec![Span::raw("  ")], row].concat()).collect()
}
