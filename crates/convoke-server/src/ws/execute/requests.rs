//! Executes the frames that list and settle requests, and those for rules.

use convoke_api::bodies::NewRule;
use convoke_api::frames::ServerFrame;
use convoke_core::id::RequestId;
use convoke_core::question::GivenAnswers;
use convoke_core::user::UserName;
use convoke_engine::{Error, Remember};

use super::Replied;
use crate::app::App;
use crate::failure::Failure;
use crate::rest::rules;
use crate::view::{self, Naming};

pub(super) async fn list(app: &App) -> Replied {
    let items = app.engine.inbox().list().await?.into_iter();
    let items = items.map(|item| view::inbox_item(item, Naming::Canonical)).collect();
    Ok(ServerFrame::InboxList { items }.into())
}

pub(super) async fn choose(
    app: &App,
    request: &str,
    option: String,
    remember: Remember,
    by: Option<UserName>,
) -> Replied {
    let id = id_of(request)?;
    app.engine.inbox().choose(request, option, remember, by).await?;
    Ok(ServerFrame::InboxSettled { id }.into())
}

pub(super) async fn answer(
    app: &App,
    request: &str,
    answers: GivenAnswers,
    by: Option<UserName>,
) -> Replied {
    let id = id_of(request)?;
    app.engine.inbox().answer(request, answers, by).await?;
    Ok(ServerFrame::InboxSettled { id }.into())
}

pub(super) async fn reject(
    app: &App,
    request: &str,
    reason: Option<String>,
    by: Option<UserName>,
) -> Replied {
    let id = id_of(request)?;
    app.engine.inbox().reject(request, reason, by).await?;
    Ok(ServerFrame::InboxSettled { id }.into())
}

fn id_of(id: &str) -> Result<RequestId, Failure> {
    id.parse().map_err(|invalid| Error::Invalid(invalid).into())
}

pub(super) async fn list_rules(app: &App) -> Replied {
    let rules = app.engine.rules().list(None).await?;
    Ok(ServerFrame::RuleList { rules: rules.into_iter().map(view::rule).collect() }.into())
}

pub(super) async fn add_rule(app: &App, new: NewRule) -> Replied {
    Ok(ServerFrame::RuleAdded { rule: view::rule(rules::make(app, new).await?) }.into())
}

pub(super) async fn remove_rule(app: &App, rule: &str) -> Replied {
    let rule_id = app.engine.rules().remove(rule).await?;
    Ok(ServerFrame::RuleRemoved { rule_id }.into())
}
