//! The model and mode of a session's agent: chosen when the session begins, and chosen again for each new process, which
//! begins with the agent's own defaults.

use convoke_agents::driver::Order;
use convoke_core::id::AgentName;
use convoke_core::state::{OfferedChoice, OfferedSetting, SessionState};

use crate::error::Error;

/// What is chosen for a session when it begins; `None` for the agent's default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Choices {
    /// The model, by its id or its name.
    pub model: Option<String>,
    /// The mode, by its id or its name.
    pub mode: Option<String>,
}

/// The category of the setting that chooses the model.
const MODEL: &str = "model";
/// The category of the setting that chooses the mode, of agents that offer modes as a setting.
const MODE: &str = "mode";

/// The modes that an agent offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Modes<'a> {
    pub(crate) current: &'a str,
    pub(crate) available: &'a [OfferedChoice],
    /// The setting that chooses among them; none where the protocol's own order does.
    setting: Option<&'a str>,
}

impl Modes<'_> {
    fn order(&self, mode: String) -> Order {
        match self.setting {
            Some(setting) => Order::SetSetting { setting: setting.to_owned(), choice: mode },
            None => Order::SetMode { mode },
        }
    }
}

impl Choices {
    /// The orders that apply the choices, given what the agent offers.
    pub(crate) fn orders(
        &self,
        agent: &AgentName,
        offers: &[SessionState],
    ) -> Result<Vec<Order>, Error> {
        let mut orders = Vec::new();
        if let Some(wanted) = &self.mode {
            let modes = modes(offers);
            let mode = chosen(agent, "mode", wanted, modes.map_or(&[], |modes| modes.available))?;
            if let Some(modes) = modes.filter(|modes| modes.current != mode) {
                orders.push(modes.order(mode));
            }
        }
        if let Some(wanted) = &self.model {
            let models = models(offers);
            let choices = models.map_or(&[][..], |setting| &setting.choices);
            let choice = chosen(agent, "model", wanted, choices)?;
            if let Some(setting) = models.filter(|setting| setting.current != choice) {
                orders.push(Order::SetSetting { setting: setting.id.clone(), choice });
            }
        }
        Ok(orders)
    }
}

/// The orders that give a new process the mode and model of the previous one.
pub(crate) fn again(before: &[SessionState], offers: &[SessionState]) -> Vec<Order> {
    let is_offered = |id: &str, choices: &[OfferedChoice]| choices.iter().any(|it| it.id == id);
    let mut orders = Vec::new();
    if let (Some(before), Some(now)) = (modes(before), modes(offers))
        && before.current != now.current
        && is_offered(before.current, now.available)
    {
        orders.push(now.order(before.current.to_owned()));
    }
    if let (Some(before), Some(now)) = (models(before), models(offers))
        && before.current != now.current
        && is_offered(&before.current, &now.choices)
    {
        let (setting, choice) = (now.id.clone(), before.current.clone());
        orders.push(Order::SetSetting { setting, choice });
    }
    orders
}

/// The id of the option with this id or, in any case, this name.
fn chosen(
    agent: &AgentName,
    what: &'static str,
    wanted: &str,
    choices: &[OfferedChoice],
) -> Result<String, Error> {
    let by_id = choices.iter().find(|choice| choice.id == wanted);
    let is_named = |choice: &&OfferedChoice| choice.name.to_lowercase() == wanted.to_lowercase();
    let found = by_id.or_else(|| choices.iter().find(is_named));
    found.map(|choice| choice.id.clone()).ok_or_else(|| Error::NotOffered {
        agent: agent.clone(),
        what,
        wanted: wanted.to_owned(),
        offered: choices.iter().map(|choice| choice.id.clone()).collect(),
    })
}

/// The modes, which some agents offer as a setting.
pub(crate) fn modes(offers: &[SessionState]) -> Option<Modes<'_>> {
    let own = offers.iter().find_map(|offer| match offer {
        SessionState::Modes { current, available } => {
            Some(Modes { current, available, setting: None })
        }
        SessionState::Queue { .. }
        | SessionState::Commands { .. }
        | SessionState::Settings { .. }
        | SessionState::Usage(_) => None,
    });
    own.or_else(|| {
        let setting = of_category(settings(offers), MODE)?;
        let OfferedSetting { id, current, choices, .. } = setting;
        Some(Modes { current, available: choices, setting: Some(id) })
    })
}

/// The setting that chooses the model.
pub(crate) fn models(offers: &[SessionState]) -> Option<&OfferedSetting> {
    let settings = settings(offers);
    of_category(settings, MODEL).or_else(|| settings.iter().find(|it| it.id == MODEL))
}

fn of_category<'a>(settings: &'a [OfferedSetting], category: &str) -> Option<&'a OfferedSetting> {
    settings.iter().find(|it| it.category.as_deref() == Some(category))
}

fn settings(offers: &[SessionState]) -> &[OfferedSetting] {
    let settings = offers.iter().find_map(|offer| match offer {
        SessionState::Settings { settings } => Some(settings.as_slice()),
        SessionState::Queue { .. }
        | SessionState::Commands { .. }
        | SessionState::Modes { .. }
        | SessionState::Usage(_) => None,
    });
    settings.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(id: &str, name: &str) -> OfferedChoice {
        OfferedChoice { id: id.to_owned(), name: name.to_owned(), description: None }
    }

    fn offers(mode: &str, model: &str) -> Vec<SessionState> {
        let setting = OfferedSetting {
            id: "llm".to_owned(),
            name: "Model".to_owned(),
            category: Some("model".to_owned()),
            current: model.to_owned(),
            choices: vec![choice("m1", "Small One"), choice("m2", "Large")],
        };
        let available = vec![choice("ask", "Ask"), choice("code", "Code")];
        vec![
            SessionState::Modes { current: mode.to_owned(), available },
            SessionState::Settings { settings: vec![setting] },
        ]
    }

    #[test]
    fn a_choice_is_named_by_id_or_name_and_refused_with_what_there_is() {
        let agent: AgentName = "codex".parse().unwrap();
        let orders = |model: Option<&str>, mode: Option<&str>| {
            let choices =
                Choices { model: model.map(str::to_owned), mode: mode.map(str::to_owned) };
            choices.orders(&agent, &offers("ask", "m1")).map_err(|error| error.to_string())
        };
        let set_mode = Order::SetMode { mode: "code".to_owned() };
        let set_model = Order::SetSetting { setting: "llm".to_owned(), choice: "m2".to_owned() };
        assert_eq!(orders(Some("LARGE"), Some("code")), Ok(vec![set_mode, set_model]));
        assert_eq!(orders(Some("m1"), Some("Ask")), Ok(Vec::new()), "they are chosen already");
        insta::assert_snapshot!(orders(Some("gpt"), None).unwrap_err(), @"codex offers no model gpt");
        insta::assert_snapshot!(Choices { mode: Some("x".to_owned()), model: None }.orders(&agent, &[]).unwrap_err(), @"codex offers no mode x");
    }

    #[test]
    fn a_new_process_is_put_where_the_one_before_was() {
        let before = offers("code", "m2");
        let set_mode = Order::SetMode { mode: "code".to_owned() };
        let set_model = Order::SetSetting { setting: "llm".to_owned(), choice: "m2".to_owned() };
        assert_eq!(again(&before, &offers("ask", "m1")), [set_mode, set_model]);
        assert_eq!(again(&before, &before), []);
        assert_eq!(again(&offers("gone", "m9"), &offers("ask", "m1")), []);
        assert_eq!(again(&[], &offers("ask", "m1")), []);
    }

    #[test]
    fn l1_modes_that_an_agent_offers_as_a_setting_are_its_modes() {
        let setting = |current: &str| {
            let choices = vec![choice("build", "build"), choice("plan", "plan")];
            let (id, name) = ("mode".to_owned(), "Session Mode".to_owned());
            let category = Some("mode".to_owned());
            let current = current.to_owned();
            let settings = vec![OfferedSetting { id, name, category, current, choices }];
            [SessionState::Settings { settings }]
        };
        let agent: AgentName = "opencode".parse().unwrap();
        let plan = Choices { mode: Some("plan".to_owned()), model: None };
        let order = Order::SetSetting { setting: "mode".to_owned(), choice: "plan".to_owned() };
        assert_eq!(plan.orders(&agent, &setting("build")).unwrap(), std::slice::from_ref(&order));
        assert_eq!(plan.orders(&agent, &setting("plan")).unwrap(), []);
        assert_eq!(again(&setting("plan"), &setting("build")), [order]);
    }
}
