//! Draws the start screen: the composer, the list of sessions, and a preview at the cursor.

use convoke_api::bodies::InboxKind;
use convoke_api::frames::SessionItem;
use convoke_core::count::counted;
use convoke_core::files::ChangeTotals;
use convoke_core::session::{Attention, EndReason};
use convoke_core::time::relative;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{At, card, finish, list, split_line};
use crate::picture::{Picture, Strip, Target};
use crate::rule;
use crate::text::line_buffer::LineBuffer;
use crate::text::{clean, wrap};
use crate::words;
use crate::workbench::home::{Group, Row};
use crate::workbench::layout::{self, INPUT_INDENT};
use crate::workbench::model::{Focus, Link, Model};
use crate::workbench::request::Request;

/// The agent that only shows what Convoke does.
const DEMO: &str = "demo";

/// Where a new session is written.
pub(super) fn composer(model: &Model, picture: &mut Picture, area: Rect) {
    let palette = model.palette;
    let is_writing = model.focus == Focus::Composer;
    let draft = &model.home.composer.text;
    let rows = area.height.saturating_sub(2);
    let text = Rect { height: rows, ..area };
    picture.zone(text, Target::Input);
    let prompt = if is_writing { palette.here() } else { palette.faint() };
    picture.line(Rect { height: 1, ..area }, Line::styled(" ❯", prompt));
    let inner = Rect { x: area.x + INPUT_INDENT, width: area.width - INPUT_INDENT, ..text };
    if draft.text().is_empty() {
        let words = if is_writing { "What should be done?" } else { "n: start a session" };
        picture.line(Rect { height: 1, ..inner }, Line::styled(words, palette.faint()));
        if is_writing {
            picture.set_cursor(Position { x: inner.x, y: inner.y });
        }
    } else {
        let laid = draft.layout(layout::composer_width(model));
        let mut strip = Strip::default();
        for row in laid.rows {
            let text = draft.text().get(row).unwrap_or_default().replace('\t', "    ");
            strip.push(Line::raw(text.trim_end_matches('\n').to_owned()));
        }
        strip.cursor = is_writing.then_some(laid.cursor);
        picture.strip(inner, strip);
    }
    let chips = Rect { y: area.y + rows, height: 1, ..area };
    picture.line(chips, chip_line(model, usize::from(area.width)));
    let below = Rect { y: area.y + rows + 1, height: 1, ..area };
    picture.line(below, rule::line(area.width, "", Style::new(), palette));
    picture.hidden = (0, 0);
}

/// The project and agent of the next session.
fn chip_line(model: &Model, width: usize) -> Line<'static> {
    let palette = model.palette;
    let project = model.composer_project().and_then(|id| model.list.project(id));
    let project = match project {
        Some(project) => clean::line(&project.name),
        None => "no project".to_owned(),
    };
    let draft = model.home.composer.comparison.as_ref();
    let agent = match draft {
        Some(draft) => {
            let names: Vec<String> =
                draft.candidates.iter().map(|it| model.candidate_name(it)).collect();
            Some(format!("compare {}", names.join(", ")))
        }
        None => model.composer_agent().map(|agent| clean::line(&agent.title)),
    };
    let mut left = vec![
        Span::raw("   "),
        Span::styled(project, palette.code()),
        Span::styled(" · ", palette.faint()),
        Span::styled(agent.unwrap_or_else(|| "no agent".to_owned()), palette.code()),
    ];
    for chosen in chosen(model) {
        left.push(Span::styled(" · ", palette.faint()));
        left.push(Span::styled(clean::line(&chosen), palette.code()));
    }
    left.extend(attached(model));
    // The other keys are in the line at the bottom.
    let right = match model.focus {
        Focus::Composer => vec![
            Span::styled("alt-w", palette.here()),
            Span::raw(" work tree  "),
            Span::styled("alt-c", palette.here()),
            Span::raw(" compare "),
        ],
        Focus::List | Focus::Chat | Focus::Card | Focus::Input => Vec::new(),
    };
    split_line(left, right, width)
}

/// The other choices: for a comparison its test, for a session mode, model and work tree.
fn chosen(model: &Model) -> Vec<String> {
    let composer = &model.home.composer;
    if let Some(draft) = &composer.comparison {
        return draft.test.iter().map(|test| format!("test {test}")).collect();
    }
    let choices = [model.composer_mode(), model.composer_model()].into_iter().flatten();
    let worktree = composer
        .worktree
        .as_ref()
        .map(|worktree| format!("⎇ {}", worktree.branch.as_deref().unwrap_or("a new branch")));
    choices.map(|choice| choice.name.clone()).chain(worktree).collect()
}

/// The attachments of the draft.
pub(super) fn attached(model: &Model) -> Vec<Span<'static>> {
    let chip =
        |name: &&str| Span::styled(format!(" [{}]", clean::line(name)), model.palette.here());
    model.attached_names().iter().map(chip).collect()
}

/// The sessions and requests, by group.
pub(super) fn pane(model: &Model, picture: &mut Picture, area: Rect) {
    let palette = model.palette;
    let area = Rect { width: area.width.saturating_sub(2), ..area };
    let width = usize::from(area.width);
    let rows = model.home_rows();
    let at = model.home_position(&rows);
    let mut strip = Strip::default();
    let mut group = None;
    for (index, (of, row)) in rows.iter().enumerate() {
        if group != Some(*of) {
            if group.is_some() {
                strip.gap();
            }
            group = Some(*of);
            let count = rows.iter().filter(|(other, _)| other == of).count();
            let style = if *of == Group::NeedsYou { palette.news() } else { palette.strong() };
            strip.push(Line::from(vec![
                Span::styled(format!(" {}", of.heading()), style),
                Span::styled(format!("  {count}"), palette.faint()),
            ]));
        }
        let here = At::from(index == at);
        let from = strip.len();
        for line in lines(model, *of, *row, here, width) {
            strip.push_target(line, Target::Entry(index));
        }
        if here == At::Here {
            // The heading above the first row is scrolled into view with it.
            strip.focus = if index == 0 { 0..strip.len() } else { from..strip.len() };
        }
    }
    if rows.is_empty() {
        nothing(model, width, &mut strip);
    }
    picture.strip(area, strip);
}

fn nothing(model: &Model, width: usize, strip: &mut Strip) {
    let palette = model.palette;
    strip.gap();
    let words = match &model.link {
        Link::Opening => "Asking the daemon…",
        Link::Down(_) => "Not connected to the daemon.",
        Link::Up => "No sessions yet.",
    };
    strip.push(Line::styled(format!(" {words}"), palette.strong()));
    if model.link != Link::Up {
        return;
    }
    let mut hints = vec!["Press n, describe a task, and press enter."];
    let mut installed = model.agents.iter().filter(|agent| agent.installed);
    if !model.agents.is_empty() && installed.all(|agent| agent.cli_type.as_str() == DEMO) {
        hints.push(
            "Only the demo agent is installed; `convoke agent list` says how to install others.",
        );
    }
    for hint in hints {
        let hint = Span::styled(hint, palette.faint());
        for row in wrap::spans(&[hint], width.saturating_sub(2)) {
            strip.push([vec![Span::raw(" ")], row].concat());
        }
    }
}

fn lines(model: &Model, group: Group, row: Row, here: At, width: usize) -> Vec<Line<'static>> {
    match row {
        Row::Request(id) => {
            let request = model.inbox.iter().find(|request| request.item.id == id);
            request.map(|request| of_request(model, request, here, width)).unwrap_or_default()
        }
        Row::Session(id) => {
            let session = model.list.session(id);
            session
                .map(|session| of_session(model, group, session, here, width))
                .unwrap_or_default()
        }
    }
}

fn style(model: &Model, here: At) -> Style {
    match (here, model.focus) {
        (At::Here, Focus::List) => model.palette.open(),
        (At::Here, Focus::Chat | Focus::Card | Focus::Input | Focus::Composer) => {
            model.palette.here()
        }
        (At::Elsewhere, _) => Style::new(),
    }
}

fn of_request(model: &Model, request: &Request, here: At, width: usize) -> Vec<Line<'static>> {
    let palette = model.palette;
    let item = &request.item;
    let kind = match item.kind {
        InboxKind::Permission => "◆",
        InboxKind::Questions => "?",
    };
    let first = vec![
        Span::styled(here.marker(), palette.here()),
        Span::styled(format!("{kind} "), palette.news()),
        Span::styled(clean::line(&item.title), style(model, here)),
    ];
    let age = Span::styled(relative(item.created_at, model.now), palette.faint());
    // Several sessions of one agent may ask in one project.
    let session = item.uid.and_then(|id| model.list.session(id));
    let session = session.map(|session| format!("{} · ", clean::line(&session.title)));
    let second = format!("     {}{}", session.unwrap_or_default(), origin(request));
    let second = vec![Span::styled(second, palette.faint())];
    vec![split_line(first, vec![age], width), split_line(second, vec![], width)]
}

fn origin(request: &Request) -> String {
    let item = &request.item;
    let agent = item.agent.as_ref().map(ToString::to_string);
    let asker = agent.or_else(|| item.asked_by.clone()).unwrap_or_else(|| "a program".to_owned());
    let place = item.project.clone().or_else(|| item.working_directory.clone());
    clean::line(&match place {
        Some(place) => format!("{asker} · {place}"),
        None => asker,
    })
}

fn of_session(
    model: &Model,
    group: Group,
    session: &SessionItem,
    here: At,
    width: usize,
) -> Vec<Line<'static>> {
    let palette = model.palette;
    let (mark, mark_style) = list::mark(session, palette);
    let first = vec![
        Span::styled(here.marker(), palette.here()),
        Span::styled(format!("{mark} "), mark_style),
        Span::styled(clean::line(&session.title), style(model, here)),
        Span::styled(format!("  {}", place(model, session)), palette.faint()),
    ];
    let since = session.running_since.filter(|_| group == Group::Working);
    let age = relative(since.unwrap_or(session.last_active_at), model.now);
    let mut right = list::totals(session, palette);
    right.push(Span::styled(age, palette.faint()));
    let first = split_line(first, right, width);
    let Some((words, words_style)) = about(model, group, session) else { return vec![first] };
    let cost = session.cost.as_ref().map(words::cost).unwrap_or_default();
    let second = vec![Span::raw("     "), Span::styled(clean::line(&words), words_style)];
    vec![first, split_line(second, vec![Span::styled(cost, palette.faint())], width)]
}

/// The most relevant text about a session; none in the list of recent ones.
fn about(model: &Model, group: Group, session: &SessionItem) -> Option<(String, Style)> {
    let palette = model.palette;
    let last_line = session.last_line.clone().filter(|line| !line.trim().is_empty());
    match group {
        Group::Working => {
            let step = session.step.clone().map(|step| format!("▸ {step}"));
            step.or(last_line).map(|words| (words, palette.faint()))
        }
        Group::Failed => {
            let failure = session.failure.as_ref().map(|failure| failure.detail.clone());
            Some((failure.unwrap_or_else(|| "The turn failed.".to_owned()), palette.removed()))
        }
        Group::Finished => last_line.map(|words| (words, palette.faint())),
        Group::NeedsYou | Group::Recent | Group::Left => None,
    }
}

/// The agent of a session, its project and its machine.
pub(super) fn place(model: &Model, session: &SessionItem) -> String {
    let project = model.list.project(session.project_id);
    let project = match project {
        Some(project) => format!(" · {}", clean::line(&project.name)),
        None if session.reason == Some(EndReason::Imported) => " · imported".to_owned(),
        None => " · no project".to_owned(),
    };
    let node = model.node(session.node).map(|node| format!(" on {node}")).unwrap_or_default();
    format!("{}{project}{node}", session.cli_type)
}

/// A request to answer, or a preview of the session at the cursor.
pub(super) fn page(model: &Model, picture: &mut Picture, area: Rect) {
    if let Some(request) = model.request() {
        let age = words::ago(request.item.created_at, model.now);
        let heading = format!("{} · {age}", origin(request));
        card::whole(model, request, picture, area, &heading);
        return;
    }
    let Some(Row::Session(id)) = model.home_row() else { return };
    let Some(session) = model.list.session(id) else { return };
    let text = layout::text_area(area);
    let mut line_buffer = LineBuffer::new(usize::from(text.width), model.palette);
    preview(model, session, &mut line_buffer);
    let mut strip = Strip::default();
    strip.gap();
    line_buffer.lines.into_iter().for_each(|line| strip.push(line));
    picture.strip(text, strip);
    picture.hidden = (0, 0);
}

/// A preview of a session that is not open.
fn preview(model: &Model, session: &SessionItem, line_buffer: &mut LineBuffer) {
    let palette = line_buffer.palette;
    let (mark, style) = list::mark(session, palette);
    line_buffer.text(&format!("{mark} "), "  ", &session.title, style, palette.strong());
    let age = words::ago(session.last_active_at, model.now);
    let place = format!("{} · {age}", place(model, session));
    line_buffer.text("  ", "  ", &place, palette.faint(), palette.faint());
    let state = match (session.attention, session.unseen) {
        (Attention::NeedsYou, _) => "Needs your answer",
        (Attention::Working, _) => "Working",
        (Attention::Failed, _) => "The last turn failed",
        (Attention::Idle | Attention::Ended, true) => "Finished, not seen yet",
        (Attention::Idle, false) => "Idle",
        (Attention::Ended, false) => "Ended",
    };
    line_buffer.text("  ", "  ", state, style, style);
    if let Some(own) = &session.worktree {
        let branch = finish::branch(own);
        line_buffer.text("  ", "    ", &branch, palette.code(), palette.code());
    }
    if let Some(step) = &session.step {
        line_buffer.text("  ▸ ", "    ", step, palette.here(), Style::new());
    }
    if let Some(failure) = &session.failure {
        line_buffer.lines.push(Line::default());
        line_buffer.text("  ", "  ", &failure.detail, palette.bad(), palette.bad());
    }
    if let Some(line) = session.last_line.as_ref().filter(|line| !line.trim().is_empty()) {
        line_buffer.lines.push(Line::default());
        line_buffer.text("  “", "   ", &format!("{line}”"), palette.faint(), Style::new());
    }
    line_buffer.lines.push(Line::default());
    let mut facts = vec![counted(session.message_count, "message")];
    facts.extend(session.cost.as_ref().map(words::cost));
    facts.extend(session.changes.filter(|changes| changes.files > 0).map(|changes| {
        let ChangeTotals { files, added, removed } = changes;
        format!("{} changed, +{added} −{removed}", counted(files, "file"))
    }));
    line_buffer.text("  ", "  ", &facts.join(" · "), palette.faint(), palette.faint());
    line_buffer.lines.push(Line::default());
    let mut keys = vec![("enter", "open")];
    match session.attention {
        Attention::Working | Attention::NeedsYou => keys.push(("x", "stop")),
        Attention::Failed => keys.push(("R", "retry the last prompt")),
        Attention::Idle | Attention::Ended => {}
    }
    keys.extend(session.worktree.as_ref().map(|own| match own.removed {
        None => ("F", "finish the work tree"),
        Some(_) => ("F", "restore the work tree"),
    }));
    keys.push(("a", "archive"));
    for (key, words) in keys {
        let spans = [Span::styled(format!("{key:>5}  "), palette.here()), Span::raw(words)];
        line_buffer.row("  ", "  ", palette.faint(), &spans);
    }
}
