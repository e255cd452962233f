//! Query parameters. An invalid value is refused with an error that names it.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use axum::extract::{FromRequestParts, Query as AxumQuery};
use axum::http::request::Parts;
use serde::de::{self, DeserializeOwned};
use serde::{Deserialize, Deserializer};

use crate::failure::Failure;

/// The parameters of a request.
pub(crate) struct Query<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        match AxumQuery::from_request_parts(parts, state).await {
            Ok(AxumQuery(parameters)) => Ok(Self(parameters)),
            Err(rejection) => {
                let text = rejection.body_text();
                let said = text.split_once(": ").map_or(&*text, |(_, said)| said);
                Err(Failure::invalid(format!("invalid query: {said}")))
            }
        }
    }
}

/// Deserialises an optional number within bounds.
pub(crate) fn within<'de, D, const MIN: u64, const MAX: u64>(
    deserializer: D,
) -> Result<Option<u64>, D::Error>
where
    D: Deserializer<'de>,
{
    let range: RangeInclusive<u64> = MIN..=MAX;
    let text = String::deserialize(deserializer)?;
    // `u64::from_str` also accepts a sign.
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|number| is_digits && range.contains(number));
    match number {
        Some(number) => Ok(Some(number)),
        None => Err(de::Error::custom(format!(
            "must be a whole number between {MIN} and {MAX}, and is `{text}`"
        ))),
    }
}

/// Deserialises an optional value from its text form.
pub(crate) fn parsed<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: fmt::Display>,
{
    let text = String::deserialize(deserializer)?;
    text.parse().map(Some).map_err(de::Error::custom)
}
