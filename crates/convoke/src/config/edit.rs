//! Changes settings in `config.toml`, and keeps its comments and its order.
//!
//! A change is checked by loading the new text with the same table of settings as at the start, and written only then.

mod agents;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use convoke_api::bodies::{ConfigSetting, SettingKind};
use serde_json::{Value, json};
use toml_edit::{Array, DocumentMut, Item, Table, TableLike};

use super::kind::Kind;
use super::settings::{self, Effect, SETTINGS, Setting};
use super::tree::Origin;
use super::{Effective, Loaded, Mistakes, Sources, file, load, load_text, nearest};

pub(crate) use agents::put_agent;

/// Why settings were not changed. The file is as it was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EditError {
    /// The file has mistakes already.
    #[error(transparent)]
    Mistakes(#[from] Mistakes),
    /// There is no such setting.
    #[error("there is no setting `{key}`; {hint}")]
    Unknown {
        /// What was given.
        key: String,
        /// The suggestion.
        hint: String,
    },
    /// A value that no setting can have, or that this one refuses.
    #[error("{0}")]
    Refused(String),
    /// The file was changed while the change was checked.
    #[error("{} was changed at the same time", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] convoke_files::Error),
    /// The file cannot be found or read.
    #[error("cannot use {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// Writes new values by their dotted keys; `null` removes a setting from the file.
pub(crate) fn change(
    sources: &Sources<'_>,
    changes: &BTreeMap<String, Value>,
) -> Result<Loaded, EditError> {
    edit(sources, |root| {
        for (key, value) in changes {
            let setting = settings::find(key).ok_or_else(|| unknown(key))?;
            if value.is_null() {
                remove(root, setting.key);
            } else {
                put(root, setting.key, toml(setting, value)?)?;
            }
        }
        Ok(())
    })
}

/// Changes the file, if its new text can be loaded.
fn edit(
    sources: &Sources<'_>,
    change: impl FnOnce(&mut Table) -> Result<(), EditError>,
) -> Result<Loaded, EditError> {
    // A file with mistakes is left to its author.
    load(sources)?;
    let target = target(sources.file)?;
    let before = text_of(&target)?;
    let mut document: DocumentMut = before.parse().map_err(|error: toml_edit::TomlError| {
        EditError::Refused(format!("the file cannot be changed: {error}"))
    })?;
    change(document.as_table_mut())?;
    let after = document.to_string();
    let loaded = load_text(sources, &after).map_err(|mistakes| refused(&mistakes))?;
    replace(&target, &before, &after)?;
    Ok(loaded)
}

/// Replaces the text of the file, if it is still the one that was changed.
fn replace(target: &Path, before: &str, after: &str) -> Result<(), EditError> {
    if after == before {
        return Ok(());
    }
    if text_of(target)? != before {
        return Err(EditError::Changed { path: target.to_owned() });
    }
    Ok(convoke_files::atomic::write(target, after.as_bytes())?)
}

/// Every setting with its value, as the file has it where the file sets it.
pub(crate) fn describe(sources: &Sources<'_>, effective: &[Effective]) -> Vec<ConfigSetting> {
    let written = text_of(sources.file).unwrap_or_default();
    let document = written.parse::<DocumentMut>().unwrap_or_default();
    let shown = SETTINGS.iter().filter_map(|setting| {
        let settled = effective.iter().find(|effective| effective.key == setting.key)?;
        let value = match settled.origin {
            Origin::File { .. } => in_file(document.as_table(), setting.key),
            Origin::Default | Origin::Variable(_) | Origin::Flag(_) | Origin::Teams => None,
        };
        let (kind, choices) = shape(&setting.kind);
        Some(ConfigSetting {
            key: setting.key.to_owned(),
            value: value.unwrap_or_else(|| settled.value.clone()),
            default: default(&setting.kind),
            source: settled.origin.to_string(),
            kind,
            choices: choices.map(|words| words.iter().map(|it| (*it).to_owned()).collect()),
            description: setting.doc.to_owned(),
            restart: setting.effect == Effect::Restart,
        })
    });
    shown.collect()
}

/// The file that is replaced: where a symbolic link leads, since a rename would replace the link itself.
fn target(path: &Path) -> Result<PathBuf, EditError> {
    match fs::canonicalize(path) {
        Ok(target) => Ok(target),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path.to_owned()),
        Err(source) => Err(EditError::Read { path: path.to_owned(), source }),
    }
}

/// The text of the file; empty when there is none.
fn text_of(path: &Path) -> Result<String, EditError> {
    match file::source_text(path) {
        Ok(text) => Ok(text.unwrap_or_default()),
        Err(mistake) => Err(Mistakes { file: path.to_owned(), list: vec![mistake] }.into()),
    }
}

fn unknown(key: &str) -> EditError {
    let known: Vec<&str> = SETTINGS.iter().map(|setting| setting.key).collect();
    EditError::Unknown { key: key.to_owned(), hint: nearest::hint(key, &known) }
}

/// The errors of the new values; their positions in the new text mean nothing to the caller.
fn refused(mistakes: &Mistakes) -> EditError {
    let lines = mistakes.list.iter().map(|mistake| format!("{}; {}", mistake.text, mistake.hint));
    EditError::Refused(lines.collect::<Vec<_>>().join("\n"))
}

/// The value in TOML. Whether it will do is decided when the new text is loaded.
fn toml(setting: &Setting, value: &Value) -> Result<toml_edit::Value, EditError> {
    let odd = || EditError::Refused(format!("`{}`: expected {}", setting.key, setting.kind));
    Ok(match value {
        Value::Bool(switch) => (*switch).into(),
        Value::String(text) => text.as_str().into(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.into(),
            (None, Some(fraction)) => fraction.into(),
            (None, None) => return Err(odd()),
        },
        Value::Array(values) => {
            let mut array = Array::new();
            for value in values {
                array.push(value.as_str().ok_or_else(odd)?);
            }
            array.into()
        }
        Value::Null | Value::Object(_) => return Err(odd()),
    })
}

/// Replaces an existing value, or adds it at the end of its section.
fn put(root: &mut Table, key: &str, mut value: toml_edit::Value) -> Result<(), EditError> {
    let (sections, name) = split(key);
    let mut table: &mut dyn TableLike = root;
    for section in sections {
        let entry = table.entry(section).or_insert_with(|| Item::Table(section_table()));
        let odd = || EditError::Refused(format!("`{key}`: `{section}` is not a table"));
        table = entry.as_table_like_mut().ok_or_else(odd)?;
    }
    match table.get_mut(name).and_then(Item::as_value_mut) {
        Some(there) => {
            // The comment behind the value stays.
            *value.decor_mut() = there.decor().clone();
            *there = value;
        }
        None => {
            table.insert(name, Item::Value(value));
        }
    }
    Ok(())
}

/// A new section. One that only holds other sections gets no header of its own.
fn section_table() -> Table {
    let mut table = Table::new();
    table.set_implicit(true);
    table
}

fn remove(root: &mut Table, key: &str) {
    let (sections, name) = split(key);
    let mut table: &mut dyn TableLike = root;
    for section in sections {
        match table.get_mut(section).and_then(Item::as_table_like_mut) {
            Some(inner) => table = inner,
            None => return,
        }
    }
    table.remove(name);
}

fn in_file(root: &Table, key: &str) -> Option<Value> {
    let (sections, name) = split(key);
    let mut table: &dyn TableLike = root;
    for section in sections {
        table = table.get(section)?.as_table_like()?;
    }
    to_json(table.get(name)?.as_value()?)
}

fn to_json(value: &toml_edit::Value) -> Option<Value> {
    match value {
        toml_edit::Value::String(text) => Some(json!(text.value())),
        toml_edit::Value::Integer(number) => Some(json!(number.value())),
        toml_edit::Value::Float(number) => Some(json!(number.value())),
        toml_edit::Value::Boolean(switch) => Some(json!(switch.value())),
        toml_edit::Value::Array(values) => values.iter().map(to_json).collect(),
        toml_edit::Value::Datetime(_) | toml_edit::Value::InlineTable(_) => None,
    }
}

/// The sections of a dotted key, and the name in the last of them.
fn split(key: &str) -> (Vec<&str>, &str) {
    let mut parts: Vec<&str> = key.split('.').collect();
    let name = parts.pop().unwrap_or(key);
    (parts, name)
}

/// What a page needs to know of a kind: its editor, and its choices.
const fn shape(kind: &Kind) -> (SettingKind, Option<&'static [&'static str]>) {
    match kind {
        Kind::Whole { .. } | Kind::Minutes { .. } => (SettingKind::Number, None),
        Kind::Switch { .. } => (SettingKind::Switch, None),
        Kind::Word { choices, .. } => (SettingKind::Choice, Some(choices)),
        Kind::Words { choices, .. } => (SettingKind::List, Some(choices)),
        Kind::Domains { .. } | Kind::Paths { .. } | Kind::Command { .. } => {
            (SettingKind::List, None)
        }
        Kind::Address { .. }
        | Kind::Interval { .. }
        | Kind::Folder { .. }
        | Kind::Path { .. }
        | Kind::PageUrl { .. }
        | Kind::Database { .. }
        | Kind::Text { .. } => (SettingKind::Text, None),
    }
}

fn default(kind: &Kind) -> Value {
    match kind {
        Kind::Whole { default, .. } => json!(default),
        Kind::Minutes { default, .. } => json!(default),
        Kind::Switch { default, .. } => json!(default),
        Kind::Address { default, .. }
        | Kind::Word { default, .. }
        | Kind::Interval { default, .. }
        | Kind::Path { default, .. }
        | Kind::Text { default, .. } => json!(default),
        Kind::Words { default, .. } => json!(default),
        Kind::Folder { .. } | Kind::PageUrl { .. } | Kind::Database { .. } => json!(""),
        Kind::Domains { .. } | Kind::Paths { .. } | Kind::Command { .. } => json!([]),
    }
}

#[cfg(test)]
mod tests;
