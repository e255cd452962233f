//! The conversations of teams: asker, answerer, status, messages, and last use.

use convoke_api::bodies::{TeamSession, TeamStats};
use convoke_core::count::counted;
use convoke_core::team::PairStatus;
use convoke_core::time::relative;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{At, not_loaded, split_line};
use crate::picture::{Picture, Strip, Target};
use crate::text::clean;
use crate::workbench::model::Model;

pub(super) fn pane(model: &Model, picture: &mut Picture, area: Rect) {
    let palette = model.palette;
    let head = Rect { height: 1, ..area };
    let Some(stats) = &model.teams.stats else {
        picture.line(head, Line::styled(not_loaded(&model.link), palette.faint()));
        return;
    };
    picture.line(head, Line::styled(summary(stats), palette.faint()));
    let body = Rect { y: area.y + 2, height: area.height.saturating_sub(2), ..area };
    let mut strip = Strip::default();
    if model.teams.sessions.is_empty() {
        strip.push(Line::styled(" No team has asked another yet.", palette.faint()));
        strip.gap();
        strip.push(Line::styled(
            " teams.json in the home names them; see `convoke team --help`.",
            palette.faint(),
        ));
    }
    for (index, session) in model.teams.sessions.iter().enumerate() {
        let is_here = index == model.teams.cursor;
        if is_here {
            strip.focus = index..index + 1;
        }
        let width = usize::from(area.width).saturating_sub(1);
        strip.push_target(pair(model, session, At::from(is_here), width), Target::Entry(index));
    }
    picture.strip(body, strip);
}

fn summary(stats: &TeamStats) -> String {
    let TeamStats { total, active, compact_pending, archived, total_messages } = stats;
    let mut parts = vec![counted(total, "conversation"), format!("{active} active")];
    if *compact_pending > 0 {
        parts.push(format!("{compact_pending} to be compacted"));
    }
    if *archived > 0 {
        parts.push(format!("{archived} archived"));
    }
    parts.push(counted(total_messages, "message"));
    format!(" {}", parts.join(" · "))
}

fn pair(model: &Model, session: &TeamSession, here: At, width: usize) -> Line<'static> {
    let palette = model.palette;
    let (mark, mark_style) = match session.status {
        PairStatus::Active => ("●", palette.good()),
        PairStatus::Idle => ("○", palette.faint()),
        PairStatus::CompactPending | PairStatus::Compacting | PairStatus::Migrating => {
            ("◐", palette.news())
        }
        PairStatus::Archived => ("·", palette.faint()),
        PairStatus::Error => ("✗", palette.bad()),
    };
    let from = session.from_team.as_ref().map_or("outside", |team| team.as_str());
    let style = if here == At::Here { palette.open() } else { Style::new() };
    let thread = session.thread.as_deref().map(|thread| format!("  #{}", clean::line(thread)));
    let left = vec![
        Span::styled(here.marker(), palette.here()),
        Span::styled(mark, mark_style),
        Span::raw(" "),
        Span::styled(format!("{from} → {}", session.to_team.as_str()), style),
        Span::styled(thread.unwrap_or_default(), palette.code()),
        Span::styled(format!("  {}", session.status.as_str()), palette.faint()),
        Span::styled(
            model.node(session.node).map(|node| format!("  {node}")).unwrap_or_default(),
            palette.faint(),
        ),
    ];
    let age = relative(session.last_used_at, model.now);
    let right = format!("{}  {age:>4}", counted(session.message_count, "message"));
    split_line(left, vec![Span::styled(right, palette.faint())], width)
}
