//! The choices that the agent of the open session offers: its modes, its models and other settings.

use convoke_api::entry::{Entry, EntryBody};
use convoke_core::state::OfferedChoice;

/// One thing that can be chosen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offer<'a> {
    /// The name of the setting.
    pub(crate) name: &'a str,
    /// The setting's id; `None` for a mode.
    pub(crate) setting: Option<&'a str>,
    pub(crate) choice: &'a OfferedChoice,
    /// Whether it is chosen now.
    pub(crate) is_current: bool,
}

/// All choices, grouped by setting.
pub(crate) fn offers(state: &[Entry]) -> Vec<Offer<'_>> {
    let (mut modes, mut settings) = (Vec::new(), Vec::new());
    for entry in state {
        if let EntryBody::Modes { current, available } = &entry.body {
            modes.extend(group("Mode", None, current, available));
        }
        if let EntryBody::Settings { settings: offered } = &entry.body {
            // An agent that offers its modes as a setting too would have them twice.
            if offered.iter().any(|it| it.category.as_deref() == Some("mode")) {
                modes.clear();
            }
            for it in offered {
                settings.extend(group(&it.name, Some(&it.id), &it.current, &it.choices));
            }
        }
    }
    modes.append(&mut settings);
    modes
}

/// The choices of one kind.
pub(crate) fn group<'a>(
    name: &'a str,
    setting: Option<&'a str>,
    current: &str,
    choices: &'a [OfferedChoice],
) -> impl Iterator<Item = Offer<'a>> {
    let offer = move |choice: &'a OfferedChoice| {
        let is_current = choice.id == current;
        Offer { name, setting, choice, is_current }
    };
    choices.iter().map(offer)
}
