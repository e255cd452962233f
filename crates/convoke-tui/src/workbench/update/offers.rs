//! Choosing among the agent's offers.

use convoke_api::frames::ClientFrame;
use crossterm::event::{KeyCode, KeyEvent};

use crate::list_keys::moved_or_numbered;
use crate::sheet::keys::is_plain;
use crate::text::clean;
use crate::workbench::message::InFlight;
use crate::workbench::model::{Model, Overlay};

/// Shows the choices, if there are any.
pub(super) fn begin(model: &mut Model) {
    let offers = model.offers();
    if offers.is_empty() {
        model.refuse("This agent offers no modes or settings.");
        return;
    }
    let cursor = offers.iter().position(|offer| offer.is_current).unwrap_or_default();
    model.overlay = Some(Overlay::Offers { cursor });
}

/// A key while something is being chosen.
pub(super) fn press(model: &mut Model, key: KeyEvent, cursor: usize) {
    let last = model.offers().len().saturating_sub(1);
    match (key.code, is_plain(key)) {
        (KeyCode::Enter, _) => choose(model, cursor),
        (KeyCode::Esc | KeyCode::Char('q' | 'm'), true) => model.overlay = None,
        _ => model.overlay = Some(Overlay::Offers { cursor: moved_or_numbered(key, cursor, last) }),
    }
}

fn choose(model: &mut Model, cursor: usize) {
    let Some(id) = model.chat.as_ref().map(|chat| chat.id) else { return };
    let offers = model.offers();
    let Some(offer) = offers.get(cursor) else { return };
    let (session_id, choice) = (id.to_string(), offer.choice.id.clone());
    let frame = match offer.setting {
        None => ClientFrame::SessionMode { session_id, mode: choice },
        Some(setting) => {
            ClientFrame::SessionSetting { session_id, setting: setting.to_owned(), choice }
        }
    };
    let request = InFlight::Choose(format!(
        "{}: {}",
        clean::line(offer.name),
        clean::line(&offer.choice.name)
    ));
    model.overlay = None;
    model.send(request, frame);
}
