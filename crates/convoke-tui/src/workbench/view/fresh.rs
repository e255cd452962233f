//! Draws the choices for the next session, the agent's offers, and the editor of a title.

mod candidates;
mod place;

use convoke_api::frames::AgentItem;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::At;
use crate::editor::Editor;
use crate::picture::{Picture, Strip};
use crate::text::{clean, wrap};
use crate::words;
use crate::workbench::layout;
use crate::workbench::model::{Model, NewSession};
use crate::workbench::offers::Offer;

/// Folders that are offered at once.
const FOUND_MAX: usize = 12;

pub(super) fn page(model: &Model, new: &NewSession, picture: &mut Picture, area: Rect) {
    let area = layout::text_area(area);
    let width = usize::from(area.width);
    let strip = match new {
        NewSession::Project { cursor } => projects(model, *cursor, width),
        NewSession::Folder { path, found } => folder(model, path, found, width),
        NewSession::Agent { cursor } => agents(model, *cursor, width),
        NewSession::Place { cursor } => place::places(model, *cursor, width),
        NewSession::Branch { name } => place::branch(model, name, width),
        NewSession::Candidates { cursor, unfolded } => {
            candidates::candidates(model, *cursor, unfolded.as_ref(), width)
        }
        NewSession::Test { line } => candidates::test(model, line, width),
        NewSession::Choices { cursor } => {
            let title = titled(model, "New session: in which mode, with which model?");
            choices(model, title, model.composer_offers(), *cursor, width)
        }
    };
    picture.strip(area, strip);
}

/// Another title.
pub(super) fn rename(model: &Model, title: &Editor, picture: &mut Picture, area: Rect) {
    let area = layout::text_area(area);
    let mut strip = titled(model, "New title for this session");
    field(&mut strip, model, title, usize::from(area.width));
    picture.strip(area, strip);
}

/// Draws the agent's offers, with the current ones marked.
pub(super) fn offers(model: &Model, cursor: usize, picture: &mut Picture, area: Rect) {
    let area = layout::text_area(area);
    let width = usize::from(area.width);
    picture.strip(area, choices(model, Strip::default(), model.offers(), cursor, width));
}

fn choices(
    model: &Model,
    mut strip: Strip,
    offers: Vec<Offer<'_>>,
    cursor: usize,
    width: usize,
) -> Strip {
    let palette = model.palette;
    let mut group = None;
    for (index, offer) in offers.into_iter().enumerate() {
        if group != Some((offer.name, offer.setting)) {
            strip.gap();
            strip.push(Line::styled(clean::line(offer.name), palette.strong()));
            group = Some((offer.name, offer.setting));
        }
        let mark = if offer.is_current { "● " } else { "○ " };
        let name = clean::line(&offer.choice.name);
        let room = width.saturating_sub(wrap::width(&name) + 8);
        let about = offer.choice.description.as_deref().map(clean::line).unwrap_or_default();
        let about = if room > 8 { wrap::shorten(&about, room) } else { String::new() };
        let spans = vec![
            Span::styled(mark, palette.here()),
            Span::raw(name),
            Span::styled(format!("  {about}"), palette.faint()),
        ];
        row(&mut strip, model, At::from(index == cursor), spans);
    }
    strip
}

pub(super) fn titled(model: &Model, text: &str) -> Strip {
    let mut strip = Strip::default();
    strip.gap();
    strip.push(Line::styled(text.to_owned(), model.palette.strong()));
    strip.gap();
    strip
}

fn projects(model: &Model, cursor: usize, width: usize) -> Strip {
    let palette = model.palette;
    let mut strip = titled(model, "New session: in which project?");
    for (index, project) in model.list.projects.iter().enumerate() {
        let name = clean::line(&project.name);
        let path = words::folder(model.user_folder.as_deref(), &project.path);
        let path = words::tail(&path, width.saturating_sub(wrap::width(&name) + 6));
        row(
            &mut strip,
            model,
            At::from(index == cursor),
            vec![
                Span::styled(name, palette.strong()),
                Span::styled(format!("  {path}"), palette.faint()),
            ],
        );
    }
    let here = At::from(cursor == model.list.projects.len());
    row(&mut strip, model, here, vec![Span::raw("another folder…")]);
    strip
}

fn folder(model: &Model, path: &Editor, found: &[String], width: usize) -> Strip {
    let palette = model.palette;
    let mut strip = titled(model, "New session: in which folder?");
    field(&mut strip, model, path, width);
    strip.gap();
    for folder in found.iter().take(FOUND_MAX) {
        let folder = words::folder(model.user_folder.as_deref(), folder);
        strip.push(Line::styled(format!("  {}", words::tail(&folder, width)), palette.code()));
    }
    if found.len() > FOUND_MAX {
        let more = format!("  … {} more", found.len() - FOUND_MAX);
        strip.push(Line::styled(more, palette.faint()));
    }
    strip
}

fn agents(model: &Model, cursor: usize, width: usize) -> Strip {
    let mut strip = titled(model, "New session: with which agent?");
    for (index, agent) in model.agents_offered().into_iter().enumerate() {
        row(&mut strip, model, At::from(index == cursor), agent_spans(model, agent, width));
    }
    strip
}

fn agent_spans(model: &Model, agent: &AgentItem, width: usize) -> Vec<Span<'static>> {
    let palette = model.palette;
    let title = clean::line(&agent.title);
    let style = if agent.installed { palette.strong() } else { palette.faint() };
    let mut spans = vec![
        Span::styled(format!("{:2} ", clean::line(&agent.badge)), palette.code()),
        Span::styled(title.clone(), style),
    ];
    if !agent.installed {
        let room = width.saturating_sub(wrap::width(&title) + 22);
        let how = agent.install.as_deref().map(clean::line).unwrap_or_default();
        let how = if room > 8 { wrap::shorten(&how, room) } else { String::new() };
        spans.push(Span::styled(format!("  not installed  {how}"), palette.faint()));
    }
    spans
}

pub(super) fn row(strip: &mut Strip, model: &Model, here: At, spans: Vec<Span<'static>>) {
    let is_here = here == At::Here;
    if is_here {
        strip.focus = strip.len()..strip.len() + 1;
    }
    let marker = if is_here { "▸ " } else { "  " };
    let style = if is_here { model.palette.here() } else { Style::new() };
    let mut line = vec![Span::styled(marker, model.palette.here())];
    line.extend(spans.into_iter().map(|span| {
        let patched = if is_here { span.style.patch(style) } else { span.style };
        Span::styled(span.content, patched)
    }));
    strip.push(Line::from(line));
}

/// A paragraph.
pub(super) fn text(strip: &mut Strip, words: &str, width: usize, style: Style) {
    for row in wrap::spans(&[Span::styled(clean::line(words), style)], width) {
        strip.push(row);
    }
}

/// A key and what it does.
pub(super) fn key(model: &Model, strip: &mut Strip, key: &str, words: &str) {
    strip.push(Line::from(vec![
        Span::styled(format!("{key:>5}  "), model.palette.here()),
        Span::raw(words.to_owned()),
    ]));
}

/// A text that is written in one row.
pub(super) fn field(strip: &mut Strip, model: &Model, editor: &Editor, width: usize) {
    let laid = editor.layout(width.saturating_sub(3).max(1));
    let from = strip.len();
    for range in laid.rows {
        let text = editor.text().get(range).unwrap_or_default().replace(['\t', '\n'], " ");
        strip.push(vec![Span::styled("│ ", model.palette.here()), Span::raw(text)]);
    }
    strip.cursor = Some((from + laid.cursor.0, 2 + laid.cursor.1));
}
