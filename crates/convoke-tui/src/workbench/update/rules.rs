//! The rules: listed, and revoked.

use convoke_api::bodies::Rule;
use convoke_api::frames::ClientFrame;
use convoke_core::id::RuleId;
use crossterm::event::{KeyCode, KeyEvent};

use super::{Handled, session};
use crate::list_keys::{Move, PAGE};
use crate::sheet::keys::is_plain;
use crate::workbench::message::InFlight;
use crate::workbench::model::{Focus, Link, Model, Tab};

/// Shows the rules, with the cursor at one of them if given.
pub(super) fn open(model: &mut Model, rule: Option<RuleId>) {
    model.tab = Tab::Rules;
    model.focus = Focus::List;
    model.rules.cursor = rule.or(model.rules.cursor);
    ask(model);
}

/// Requests the rules.
pub(super) fn ask(model: &mut Model) {
    if model.link == Link::Up {
        model.send(InFlight::List, ClientFrame::RuleList {});
    }
}

/// Replaces all rules.
pub(super) fn take(model: &mut Model, rules: Vec<Rule>) {
    let at = position(model);
    let is_there = |id: &RuleId| rules.iter().any(|rule| rule.id == *id);
    let here = model.rules.cursor.filter(is_there);
    let next = rules.get(at.min(rules.len().saturating_sub(1))).map(|rule| rule.id);
    model.rules.cursor = here.or(next);
    model.rules.all = Some(rules);
}

/// Handles a key in the list of rules; returns whether it was used.
pub(super) fn press(model: &mut Model, key: KeyEvent) -> Handled {
    let revoking = model.rules.revoking.take();
    if let Some(to) = Move::of(key, PAGE) {
        step(model, to);
        return Handled::Yes;
    }
    let (at, rules) = (position(model), model.rules.all.as_deref().unwrap_or_default());
    match (key.code, is_plain(key)) {
        (KeyCode::Char('d' | 'x') | KeyCode::Delete, true) => {
            if let Some(id) = rules.get(at).map(|rule| rule.id) {
                revoke(model, id, revoking);
            }
        }
        (KeyCode::Enter | KeyCode::Char('o'), true) => {
            match rules.get(at).and_then(|rule| rule.session_id) {
                Some(id) => session::open(model, id),
                None => model.refuse("This rule was not made in a session."),
            }
        }
        _ => return Handled::No,
    }
    Handled::Yes
}

/// Moves the cursor.
pub(super) fn step(model: &mut Model, to: Move) {
    let rules = model.rules.all.as_deref().unwrap_or_default();
    let to = to.apply(position(model), rules.len().saturating_sub(1));
    model.rules.cursor = rules.get(to).map(|rule| rule.id);
}

/// Revokes a rule after a confirmation, since this cannot be undone.
fn revoke(model: &mut Model, id: RuleId, revoking: Option<RuleId>) {
    if revoking == Some(id) {
        model.send(InFlight::Revoke, ClientFrame::RuleRemove { rule_id: id.to_string() });
    } else {
        model.rules.revoking = Some(id);
        model.refuse("Press d again to revoke this rule.");
    }
}

/// The index of the cursor.
pub(in crate::workbench) fn position(model: &Model) -> usize {
    let rules = model.rules.all.as_deref().unwrap_or_default();
    rules.iter().position(|rule| Some(rule.id) == model.rules.cursor).unwrap_or_default()
}
