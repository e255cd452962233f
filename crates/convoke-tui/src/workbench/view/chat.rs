//! Draws the open session: its head, its entries, its request, and the input.

use convoke_api::bodies::Activity;
use convoke_core::session::{Attention, Status};
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::{Title, card, finish, home, list, titled_line};
use crate::picture::{Picture, Strip, Target};
use crate::rule;
use crate::text::{clean, wrap};
use crate::words;
use crate::workbench::chat::{Chat, Phase};
use crate::workbench::layout::{self, ChatAreas, GUTTER, INPUT_INDENT};
use crate::workbench::model::{Focus, Model};

pub(super) fn page(model: &Model, picture: &mut Picture, page: Rect) {
    let Some(chat) = &model.chat else { return nothing(model, picture, page) };
    let ChatAreas { head, body, card, input } = layout::chat(model, page);
    heading(model, chat, picture, head);
    entries(model, chat, picture, body);
    if let (Some(area), Some(request)) = (card, model.request()) {
        card::dock(model, request, picture, area);
    }
    if let Some(area) = input {
        written(model, chat, picture, area);
    }
}

fn nothing(model: &Model, picture: &mut Picture, page: Rect) {
    let palette = model.palette;
    let area = layout::text_area(page);
    let mut strip = Strip::default();
    for _ in 0..area.height / 3 {
        strip.gap();
    }
    strip.push(Line::styled("No session is open.", palette.strong()));
    strip.gap();
    for (key, text) in [
        ("enter", "opens one from the list"),
        ("n", "starts a new one"),
        ("/", "searches all of them"),
    ] {
        strip.push(vec![Span::styled(format!("{key:>7}  "), palette.here()), Span::raw(text)]);
    }
    picture.strip(area, strip);
}

fn heading(model: &Model, chat: &Chat, picture: &mut Picture, area: Rect) {
    let palette = model.palette;
    let Some(session) = model.list.session(chat.id) else { return };
    let (mark, mark_style) = list::mark(session, palette);
    let title = Title {
        before: vec![Span::raw(" "), Span::styled(mark, mark_style), Span::raw(" ")],
        title: Span::styled(clean::line(&session.title), palette.strong()),
    };
    let about = format!("  {}", home::place(model, session));
    let mut after = vec![Span::styled(about, palette.faint())];
    if let Some(own) = &session.worktree {
        after.push(Span::styled(format!("  {}", finish::branch(own)), palette.code()));
    }
    let state = match (session.attention, session.status) {
        (Attention::Idle, _) => "",
        (Attention::Working, _) => "working",
        (Attention::NeedsYou, _) => "needs you",
        (Attention::Ended, Status::Cancelled) => "cancelled",
        (Attention::Ended, Status::Active | Status::Completed | Status::Error) => "ended",
        (Attention::Failed, _) => "failed: R retries",
    };
    let mut right = list::totals(session, palette);
    right.push(Span::styled(format!("{state} "), mark_style));
    picture.line(area, titled_line(title, after, right, usize::from(area.width)));
}

fn entries(model: &Model, chat: &Chat, picture: &mut Picture, area: Rect) {
    let palette = model.palette;
    let text = layout::text_area(area);
    if chat.shown().is_empty() {
        let words = match &chat.phase {
            Phase::Opening => "Opening…".to_owned(),
            Phase::Open => "No messages yet.".to_owned(),
            Phase::Failed(why) => format!("This session cannot be shown: {}", clean::line(why)),
        };
        let mut strip = Strip::default();
        for row in wrap::spans(&[Span::styled(words, palette.faint())], usize::from(text.width)) {
            strip.push(row);
        }
        picture.strip(text, strip);
        return;
    }
    let rows: usize = chat.shown().iter().map(|shown| shown.to - shown.from).sum();
    // Entries that do not fill the area are drawn at its bottom, as in every chat.
    let gap = usize::from(area.height).saturating_sub(rows);
    let mut places = text.rows().skip(gap);
    for shown in chat.shown() {
        let is_here = chat.cursor() == Some(shown.block) && model.focus == Focus::Chat;
        for line in chat.lines(*shown) {
            let Some(place) = places.next() else { return };
            picture
                .zone(Rect { x: area.x, width: area.width, ..place }, Target::Block(shown.block));
            picture.line(place, line.clone());
            if is_here && !line.spans.is_empty() {
                let bar = Rect { x: area.x, width: GUTTER, ..place };
                picture.line(bar, Line::styled("▌", palette.here()));
            }
        }
    }
}

/// The draft, below a rule that shows when there is more above.
fn written(model: &Model, chat: &Chat, picture: &mut Picture, area: Rect) {
    let palette = model.palette;
    let rule_area = Rect { height: 1, ..area };
    let text = if chat.is_following() { "" } else { "↓ more below: PgDn" };
    let facts = facts(model, chat, usize::from(area.width).saturating_sub(wrap::width(text) + 8));
    let facts_width = u16::try_from(wrap::width(&facts)).unwrap_or_default();
    let mut line = rule::line(area.width - facts_width, text, palette.news(), palette);
    line.push_span(Span::styled(facts, palette.faint()));
    picture.line(rule_area, line);
    let area = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    picture.zone(area, Target::Input);
    let is_writing = model.focus == Focus::Input;
    let prompt = if is_writing { palette.here() } else { palette.faint() };
    picture.line(Rect { height: 1, ..area }, Line::styled(" ❯", prompt));
    let inner =
        Rect { x: area.x + INPUT_INDENT, width: area.width.saturating_sub(INPUT_INDENT), ..area };
    let draft = model.draft().filter(|draft| !draft.text().is_empty());
    let Some(draft) = draft else {
        picture.line(
            Rect { height: 1, ..inner },
            Line::styled(input_placeholder(model), palette.faint()),
        );
        if is_writing {
            picture.set_cursor(Position { x: inner.x, y: inner.y });
        }
        return;
    };
    let laid = draft.layout(layout::input_width(area));
    let mut strip = Strip::default();
    for row in laid.rows {
        let text = draft.text().get(row).unwrap_or_default().replace('\t', "    ");
        strip.push(Line::raw(text.trim_end_matches('\n').to_owned()));
    }
    strip.cursor = Some(laid.cursor);
    let hidden = picture.hidden;
    if is_writing {
        picture.strip(inner, strip);
    } else {
        strip.cursor = None;
        picture.strip(inner, strip);
    }
    picture.hidden = hidden;
}

/// The agent's settings and the usage of the conversation; parts that do not fit are dropped from
/// the front.
fn facts(model: &Model, chat: &Chat, room: usize) -> String {
    let chosen = model.offers().into_iter().filter(|offer| offer.is_current);
    let mut facts: Vec<String> = chosen.map(|offer| clean::line(&offer.choice.name)).collect();
    facts.extend(chat.usage().map(words::usage).filter(|usage| !usage.is_empty()));
    while !facts.is_empty() {
        let text = format!(" {} ─", facts.join(" · "));
        if wrap::width(&text) <= room {
            return text;
        }
        facts.remove(0);
    }
    String::new()
}

fn input_placeholder(model: &Model) -> String {
    let Some(session) = model.open_session() else { return String::new() };
    match (session.status, session.activity) {
        (Status::Cancelled, _) => "This session was cancelled and cannot be resumed.".to_owned(),
        (Status::Completed | Status::Error, _) if session.accepts_prompts => {
            "Ended because it was idle: the next prompt resumes it.".to_owned()
        }
        (Status::Completed | Status::Error, _) => "Ended: press esc, then R to resume.".to_owned(),
        (Status::Active, Activity::Running) => "Next prompt (sent after this turn)".to_owned(),
        (Status::Active, Activity::Waiting | Activity::Idle) => {
            format!("Message {}", session.cli_type)
        }
    }
}
