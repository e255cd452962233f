//! What agents may do without asking, and may not.

use convoke_api::bodies::Rule;
use convoke_core::rule::Effect;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{At, not_loaded, split_line};
use crate::picture::{Picture, Strip, Target};
use crate::text::clean;
use crate::words;
use crate::workbench::model::Model;
use crate::workbench::update::rules::position;

pub(super) fn pane(model: &Model, picture: &mut Picture, area: Rect) {
    let palette = model.palette;
    let head = Rect { height: 1, ..area };
    let Some(rules) = &model.rules.all else {
        picture.line(head, Line::styled(not_loaded(&model.link), palette.faint()));
        return;
    };
    let words = " What agents may do without asking. The sandbox still limits them.";
    picture.line(head, Line::styled(words, palette.faint()));
    let mut strip = Strip::default();
    if rules.is_empty() {
        strip.push(Line::styled(" No rules yet.", palette.strong()));
        strip.push(Line::styled(
            " An answer makes one: “Always allow …” when an agent asks for permission.",
            palette.faint(),
        ));
    }
    let at = position(model);
    let width = usize::from(area.width).saturating_sub(1);
    for (index, rule) in rules.iter().enumerate() {
        let here = At::from(index == at);
        let from = strip.len();
        for line in lines(model, rule, here, width) {
            strip.push_target(line, Target::Entry(index));
        }
        if here == At::Here {
            strip.focus = from..strip.len();
        }
    }
    let body = Rect { y: area.y + 2, height: area.height.saturating_sub(2), ..area };
    picture.strip(body, strip);
}

fn lines(model: &Model, rule: &Rule, here: At, width: usize) -> [Line<'static>; 2] {
    let palette = model.palette;
    let (mark, mark_style) = match rule.effect {
        Effect::Allow => ("✓ ", palette.good()),
        Effect::Deny => ("✗ ", palette.bad()),
    };
    let style = if here == At::Here { palette.open() } else { Style::new() };
    let first = vec![
        Span::styled(here.marker(), palette.here()),
        Span::styled(mark, mark_style),
        Span::styled(clean::line(&rule.text), style),
    ];
    let used = match (rule.used_count, rule.last_used_at) {
        (0, _) | (_, None) => "never used".to_owned(),
        (1, Some(at)) => format!("used once, {}", words::ago(at, model.now)),
        (count, Some(at)) => format!("used {count} times, last {}", words::ago(at, model.now)),
    };
    let made = format!("     made {} · {used}", words::ago(rule.created_at, model.now));
    [
        split_line(first, vec![], width),
        split_line(vec![Span::styled(made, palette.faint())], vec![], width),
    ]
}
