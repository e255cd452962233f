//! Draws a permission: the question, as much of the evidence as fits, and the answers.

use convoke_core::count::counted;
use convoke_core::request::PermissionKind;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{Choice, PermissionCard, Stage};
use crate::hints::{HELP, Hints, QUIT};
use crate::palette::Palette;
use crate::picture::{Picture, Strip, Target};
use crate::sheet::Ending;
use crate::sheet::keys::Room;
use crate::text::{evidence, wrap};

/// Rows of evidence that are worth showing; with fewer, `v` shows it.
const EVIDENCE_MIN: usize = 2;
/// Cells before a note: its bar.
const NOTE_INDENT: usize = 2;

/// The cells that a note has in a row of a page that is so wide.
pub(super) const fn note_width(page: u16) -> usize {
    (page as usize).saturating_sub(NOTE_INDENT + 1)
}

/// The rows that it needs in full.
pub(crate) fn height(card: &PermissionCard, width: u16, palette: Palette) -> usize {
    let rows = evidence_lines(card, width, palette).len();
    let question = wrap::rows(&card.question, usize::from(width).max(1)).len();
    question + rows + usize::from(rows > 0) + answers(card, width, palette).len()
}

impl PermissionCard {
    /// The keys that work now.
    pub(crate) fn hints(&self) -> Hints {
        let here = match self.stage {
            Stage::Choosing => {
                let mut here =
                    vec![("1…9", "choose"), ("y", "allow"), ("n", "deny"), ("r", "note")];
                if self.evidence.is_some() {
                    here.push(("v", "view all"));
                }
                if self.has_wider() {
                    here.push(("w", "wider rules"));
                }
                return Hints { here, always: vec![HELP, QUIT] };
            }
            Stage::Settling => return Hints { here: vec![], always: vec![HELP, QUIT] },
            Stage::Viewing => {
                vec![("↑↓", "move"), ("PgDn", "page"), ("esc", "back to the answers")]
            }
            Stage::Noting => vec![("enter", "deny"), ("alt-enter", "new line"), ("esc", "back")],
            Stage::Gone(_) => vec![("enter", "continue")],
        };
        Hints { here, always: vec![] }
    }
}

/// The maximum scroll offset of the evidence.
pub(super) fn scroll_max(card: &PermissionCard, room: Room) -> usize {
    let rows = evidence_lines(card, room.size.width, room.palette).len();
    rows.saturating_sub(evidence_rows(card, room))
}

/// Draws it.
pub(crate) fn page(card: &PermissionCard, picture: &mut Picture, area: Rect, palette: Palette) {
    if let Stage::Gone(ending) = card.stage {
        return gone(card, ending, picture, area, palette);
    }
    let room = Room { size: area.as_size(), palette };
    let lines = evidence_lines(card, area.width, palette);
    let shown = evidence_rows(card, room);
    let from = card.scroll.min(lines.len().saturating_sub(shown));
    let hidden = lines.len().saturating_sub(from + shown);
    let mut above = question(card, area.width, palette);
    let is_cut = shown < lines.len();
    for line in lines.into_iter().skip(from).take(shown) {
        above.push(line);
    }
    if is_cut {
        let words = match card.stage {
            Stage::Viewing => format!("  ↑ {from} ↓ {}", counted(hidden, "more line")),
            Stage::Choosing | Stage::Noting | Stage::Settling | Stage::Gone(_) => {
                format!("  … {}: v shows all", counted(hidden + from, "more line"))
            }
        };
        above.push(Line::styled(words, palette.news()));
    } else if above.len() > 0 && shown > 0 {
        above.gap();
    }
    let height = u16::try_from(above.len()).unwrap_or(u16::MAX).min(area.height);
    picture.strip(Rect { height, ..area }, above);
    let below = Rect { y: area.y + height, height: area.height - height, ..area };
    if card.stage != Stage::Viewing {
        picture.strip(below, answers(card, area.width, palette));
    }
    picture.hidden = (0, 0);
}

/// The rows that the evidence gets.
fn evidence_rows(card: &PermissionCard, room: Room) -> usize {
    let (width, palette) = (room.size.width, room.palette);
    let rows = evidence_lines(card, width, palette).len();
    let others = question(card, width, palette).len()
        + match card.stage {
            Stage::Viewing => 0,
            Stage::Choosing | Stage::Noting | Stage::Settling | Stage::Gone(_) => {
                answers(card, width, palette).len()
            }
        };
    // One row is for the gap below it, or shows that there is more.
    let left = usize::from(room.size.height).saturating_sub(others + 1);
    if rows <= left {
        rows
    } else if left < EVIDENCE_MIN {
        0
    } else {
        left
    }
}

fn gone(
    card: &PermissionCard,
    ending: Ending,
    picture: &mut Picture,
    area: Rect,
    palette: Palette,
) {
    let mut strip = question(card, area.width, palette);
    let words = match ending {
        Ending::Answered => "This was answered elsewhere.",
        Ending::Rejected => "This was denied elsewhere.",
        Ending::Deleted => "This is no longer asked.",
    };
    strip.push(Line::styled(words, palette.news()));
    picture.strip(area, strip);
}

fn question(card: &PermissionCard, width: u16, palette: Palette) -> Strip {
    let mut strip = Strip::default();
    let words = Span::styled(card.question.clone(), palette.strong());
    for row in wrap::spans(&[words], usize::from(width).max(1)) {
        strip.push(row);
    }
    strip
}

fn evidence_lines(card: &PermissionCard, width: u16, palette: Palette) -> Vec<Line<'static>> {
    card.evidence
        .as_ref()
        .map(|evidence| evidence::lines(evidence, usize::from(width), palette))
        .unwrap_or_default()
}

fn answers(card: &PermissionCard, width: u16, palette: Palette) -> Strip {
    if card.stage == Stage::Noting {
        return note(card, width, palette);
    }
    let mut strip = Strip::default();
    for (index, choice) in card.choices().into_iter().enumerate() {
        let is_here = index == card.cursor;
        let from = strip.len();
        for line in answer(card, index, choice, usize::from(width), palette) {
            strip.push_target(line, Target::Choice(index));
        }
        if is_here {
            strip.focus = from..strip.len();
        }
    }
    strip
}

fn answer(
    card: &PermissionCard,
    index: usize,
    choice: &Choice,
    width: usize,
    palette: Palette,
) -> Vec<Line<'static>> {
    let is_here = index == card.cursor;
    let kind = match choice.kind {
        PermissionKind::AllowOnce | PermissionKind::AllowAlways => palette.good(),
        PermissionKind::RejectOnce | PermissionKind::RejectAlways => palette.removed(),
    };
    let style = if is_here { palette.open() } else { kind };
    let is_sending = is_here && card.stage == Stage::Settling;
    let key = if index < 9 { (index + 1).to_string() } else { " ".to_owned() };
    let rows =
        wrap::spans(&[Span::styled(choice.name.clone(), style)], width.saturating_sub(8).max(8));
    let count = rows.len();
    let line = |(row, spans): (usize, Vec<Span<'static>>)| {
        let marker = if is_here && row == 0 { "▸ " } else { "  " };
        let key = if row == 0 { key.clone() } else { " ".to_owned() };
        let mut line = vec![
            Span::styled(marker, palette.here()),
            Span::styled(format!("{key} "), palette.strong()),
        ];
        line.push(Span::styled(" ", style));
        line.extend(spans);
        line.push(Span::styled(" ", style));
        if is_sending && row + 1 == count {
            line.push(Span::styled("  sending…", palette.faint()));
        }
        Line::from(line)
    };
    rows.into_iter().enumerate().map(line).collect()
}

fn note(card: &PermissionCard, width: u16, palette: Palette) -> Strip {
    let mut strip = Strip::default();
    strip.push(Line::styled("Deny. A note for the agent, if you like:", palette.removed()));
    let laid = card.note.layout(note_width(width));
    strip.cursor = Some((strip.len() + laid.cursor.0, NOTE_INDENT + laid.cursor.1));
    for row in laid.rows {
        let text = card.note.text().get(row).unwrap_or_default().replace('\t', "    ");
        let words = Span::raw(text.trim_end_matches('\n').to_owned());
        strip.push(vec![Span::styled("│ ", palette.here()), words]);
    }
    strip
}
