//! Whole numbers in JSON: `5.0` counts as `5`, and beyond 2^53 not every number can be represented.

use std::str::FromStr;

use convoke_core::message::Seq;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Number;

/// The largest number up to which every whole one has a place of its own in any JSON.
pub(super) const COUNT_MAX: u64 = (1 << 53) - 1;

/// A whole number, or none.
pub(crate) fn optional<'de, D: Deserializer<'de>, T: FromStr>(
    input: D,
) -> Result<Option<T>, D::Error> {
    let number = Option::<Number>::deserialize(input)?;
    number.map(|number| read(&number).ok_or_else(|| not_whole(&number))).transpose()
}

/// How many there are of something.
pub(super) fn count<'de, D: Deserializer<'de>>(input: D) -> Result<u64, D::Error> {
    let number = Number::deserialize(input)?;
    let count = read(&number).ok_or_else(|| not_whole(&number))?;
    if count > COUNT_MAX {
        return Err(D::Error::custom(format!("{number} is more than {COUNT_MAX}")));
    }
    Ok(count)
}

/// A turn, by the place of its prompt.
pub(super) fn turn<'de, D: Deserializer<'de>>(input: D) -> Result<Seq, D::Error> {
    count(input).map(Seq::new)
}

/// A turn, or none.
pub(super) fn optional_turn<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Seq>, D::Error> {
    Ok(optional(input)?.map(Seq::new))
}

fn read<T: FromStr>(number: &Number) -> Option<T> {
    let text = number.to_string();
    text.strip_suffix(".0").unwrap_or(&text).parse().ok()
}

fn not_whole<E: serde::de::Error>(number: &Number) -> E {
    E::custom(format!("{number} is not a whole number here"))
}
