//! Fields that are parsed without the rest of the line. As in `json`, a field of another type than
//! expected reads as empty: formats change, and a line is not lost for that.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// A text, borrowed from the line where it has no escapes; anything else is empty.
#[derive(Debug, Default, Clone)]
pub(crate) struct RawText<'a>(Cow<'a, str>);

impl RawText<'_> {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RawText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawTextVisitor)
    }
}

struct RawTextVisitor;

impl<'de> Visitor<'de> for RawTextVisitor {
    type Value = RawText<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<RawText<'de>, E> {
        Ok(RawText(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<RawText<'de>, E> {
        Ok(RawText(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<RawText<'de>, E> {
        Ok(RawText::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<RawText<'de>, E> {
        Ok(RawText::default())
    }

    fn visit_u64<E>(self, number: u64) -> Result<RawText<'de>, E> {
        Ok(RawText(Cow::Owned(number.to_string())))
    }

    fn visit_i64<E>(self, number: i64) -> Result<RawText<'de>, E> {
        Ok(RawText(Cow::Owned(number.to_string())))
    }

    fn visit_f64<E>(self, _: f64) -> Result<RawText<'de>, E> {
        Ok(RawText::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<RawText<'de>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(RawText::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawText<'de>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(RawText::default())
    }
}

/// A part of a line that was not parsed yet, parsed.
pub(crate) fn parse(raw: Option<&RawValue>) -> serde_json::Result<Value> {
    raw.map_or(Ok(Value::Null), |raw| serde_json::from_str(raw.get()))
}

/// Whether a part of a line is `true`.
pub(crate) fn is_true(raw: Option<&RawValue>) -> bool {
    raw.is_some_and(|raw| raw.get() == "true")
}
