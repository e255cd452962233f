//! Whether a value fits a schema, for the few keywords that our schemas use.
//!
//! Stricter than JSON Schema: a property that the schema does not name is a fault, since the types would not write it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Says why a value does not fit.
pub(super) fn check(
    definitions: &Map<String, Value>,
    schema: &Value,
    value: &Value,
) -> Result<(), String> {
    let known = Fit { definitions }.properties(schema, value)?;
    let unknown = value.as_object().into_iter().flatten().find(|(name, _)| !known.contains(*name));
    unknown.map_or(Ok(()), |(name, _)| Err(format!("`{name}` is not in the schema")))
}

struct Fit<'a> {
    definitions: &'a Map<String, Value>,
}

impl Fit<'_> {
    /// Checks a value, and returns which of its properties the schema names.
    fn properties(&self, schema: &Value, value: &Value) -> Result<BTreeSet<String>, String> {
        let Value::Object(keywords) = schema else {
            assert_eq!(*schema, Value::Bool(true), "a schema is an object or true");
            return Ok(names(value));
        };
        let mut known = BTreeSet::new();
        for (keyword, said) in keywords {
            known.extend(self.keyword(keyword, said, value)?);
        }
        // A schema with at most a description accepts anything.
        let says_nothing = keywords.keys().all(|keyword| keyword == "description");
        Ok(if says_nothing { names(value) } else { known })
    }

    fn keyword(
        &self,
        keyword: &str,
        said: &Value,
        value: &Value,
    ) -> Result<BTreeSet<String>, String> {
        let none = BTreeSet::new();
        match keyword {
            "$ref" => {
                let name = said.as_str().unwrap().rsplit('/').next().unwrap();
                self.properties(&self.definitions[name], value)
            }
            "const" if value == said => Ok(none),
            "enum" if said.as_array().unwrap().contains(value) => Ok(none),
            "const" | "enum" => Err(format!("{value} is not {said}")),
            "type" if is_of_type(said, value) => Ok(none),
            "type" => Err(format!("{value} is no {said}")),
            "required" => {
                let missing = said.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
                let missing = missing.into_iter().find(|name| value.get(name).is_none());
                missing.map_or(Ok(none), |name| Err(format!("`{name}` is missing")))
            }
            "properties" => self.each(value, |name| said.get(name)),
            "patternProperties" => self.each(value, |_| said.as_object().unwrap().values().next()),
            "additionalProperties" if *said == Value::Bool(false) => Ok(none),
            "additionalProperties" => self.each(value, |_| Some(said)),
            "items" => {
                let mut items = value.as_array().into_iter().flatten();
                items.try_for_each(|item| check(self.definitions, said, item))?;
                Ok(none)
            }
            "allOf" => {
                let all = said.as_array().unwrap().iter();
                let known: Result<Vec<_>, _> = all.map(|one| self.properties(one, value)).collect();
                Ok(known?.into_iter().flatten().collect())
            }
            "oneOf" | "anyOf" => {
                let all = said.as_array().unwrap().iter().map(|one| self.properties(one, value));
                let (fits, faults): (Vec<_>, Vec<_>) = all.partition(Result::is_ok);
                match fits.len() {
                    1 => fits.into_iter().next().unwrap(),
                    0 => Err(faults
                        .into_iter()
                        .filter_map(Result::err)
                        .collect::<Vec<_>>()
                        .join("; ")),
                    _ => Err(format!("{value} fits several of {said}")),
                }
            }
            "description" | "default" | "format" | "minimum" | "maximum" | "pattern" => Ok(none),
            other => panic!("the checker does not know the keyword `{other}`"),
        }
    }

    /// Checks the properties that have a schema.
    fn each<'s>(
        &self,
        value: &Value,
        schema_of: impl Fn(&str) -> Option<&'s Value>,
    ) -> Result<BTreeSet<String>, String> {
        let mut known = BTreeSet::new();
        for (name, value) in value.as_object().into_iter().flatten() {
            if let Some(schema) = schema_of(name) {
                check(self.definitions, schema, value)?;
                known.insert(name.clone());
            }
        }
        Ok(known)
    }
}

fn names(value: &Value) -> BTreeSet<String> {
    value.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

fn is_of_type(said: &Value, value: &Value) -> bool {
    match said.as_str() {
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some("null") => value.is_null(),
        Some(other) => panic!("`{other}` is not a type"),
        None => said.as_array().unwrap().iter().any(|one| is_of_type(one, value)),
    }
}
