//! Reads `config.toml` into a tree of values with places. Only this file and `edit` know TOML.

use std::fs;
use std::io;
use std::path::Path;

use toml_edit::{Document, Item, TableLike};

use super::expand::expand;
use super::mistake::Mistake;
use super::tree::{Entry, Node, Origin, Value};
use crate::environment::Environment;

/// The top-level entries of the file; none when it does not exist or cannot be read as TOML.
pub(super) fn read(
    path: &Path,
    environment: &Environment,
    mistakes: &mut Vec<Mistake>,
) -> Vec<Entry> {
    let source = match source_text(path) {
        Ok(Some(source)) => source,
        Ok(None) => return Vec::new(),
        Err(mistake) => {
            mistakes.push(mistake);
            return Vec::new();
        }
    };
    read_text(&source, environment, mistakes)
}

/// The top-level entries of a text; none when it cannot be read as TOML.
pub(super) fn read_text(
    source: &str,
    environment: &Environment,
    mistakes: &mut Vec<Mistake>,
) -> Vec<Entry> {
    match Document::parse(source) {
        Ok(document) => {
            let mut reader = Reader { source, environment, mistakes };
            reader.entries(document.as_table())
        }
        Err(error) => {
            mistakes.push(invalid(source, &error));
            Vec::new()
        }
    }
}

/// The mistake of a text that is not TOML.
fn invalid(source: &str, error: &toml_edit::TomlError) -> Mistake {
    let offset = error.span().map_or(source.len(), |span| span.start);
    Mistake {
        origin: Some(place(source, offset)),
        text: format!("invalid TOML: {}", error.message()),
        hint: "strings need quotes, each key appears once, and a table starts with `[name]`"
            .to_owned(),
    }
}

/// The text of the file; `None` when there is no file.
pub(super) fn source_text(path: &Path) -> Result<Option<String>, Mistake> {
    let unreadable = |text: String, hint: &str| Mistake {
        origin: None,
        text,
        hint: hint.replace("{path}", &path.display().to_string()),
    };
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => {
            return Ok(None);
        }
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
            let text = "this is a folder, not a file".to_owned();
            return Err(unreadable(text, "move it away: `mv '{path}' '{path}.d'`"));
        }
        Err(error) => {
            let text = format!("cannot read the file: {error}");
            return Err(unreadable(text, "see what is there: `ls -l '{path}'`"));
        }
    };
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let readable = String::from_utf8_lossy(error.as_bytes().get(..valid).unwrap_or_default());
        Mistake {
            origin: Some(place(&readable, valid)),
            text: "the file is not valid UTF-8 from here on".to_owned(),
            hint: "save it as UTF-8".to_owned(),
        }
    })
}

/// Line and column of a byte offset.
fn place(source: &str, offset: usize) -> Origin {
    let before = source.get(..offset).unwrap_or(source);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let in_line = before.get(line_start..).unwrap_or_default();
    Origin::File { line: before.matches('\n').count() + 1, column: in_line.chars().count() + 1 }
}

/// Turns TOML items into nodes, expanding texts on the way.
struct Reader<'a> {
    source: &'a str,
    environment: &'a Environment,
    mistakes: &'a mut Vec<Mistake>,
}

impl Reader<'_> {
    fn entries(&mut self, table: &dyn TableLike) -> Vec<Entry> {
        let mut entries = Vec::new();
        for (key, item) in table.iter() {
            let span = table.key(key).and_then(toml_edit::Key::span);
            let origin = place(self.source, span.map_or(0, |span| span.start));
            // A table made by dotted keys has no position of its own, so that of its first key is
            // used.
            let item_origin = item.span().map_or(origin, |span| place(self.source, span.start));
            let value = self.item(item, item_origin);
            let node = Node { origin: item_origin, value };
            entries.push(Entry { key: key.to_owned(), origin, node });
        }
        entries
    }

    fn item(&mut self, item: &Item, origin: Origin) -> Value {
        match item {
            Item::None => Value::Table(Vec::new()),
            Item::Value(value) => self.value(value, origin),
            Item::Table(table) => Value::Table(self.entries(table)),
            Item::ArrayOfTables(tables) => {
                let nodes = tables.iter().map(|table| Node {
                    origin: table.span().map_or(origin, |span| place(self.source, span.start)),
                    value: Value::Table(self.entries(table)),
                });
                Value::List(nodes.collect())
            }
        }
    }

    fn value(&mut self, value: &toml_edit::Value, origin: Origin) -> Value {
        match value {
            toml_edit::Value::Integer(number) => Value::Whole(*number.value()),
            toml_edit::Value::Float(number) => Value::Fraction(*number.value()),
            toml_edit::Value::Boolean(switch) => Value::Switch(*switch.value()),
            toml_edit::Value::Datetime(_) => Value::Moment,
            toml_edit::Value::InlineTable(table) => Value::Table(self.entries(table)),
            toml_edit::Value::String(text) => self.text(text.value(), origin),
            toml_edit::Value::Array(values) => {
                let nodes = values.iter().map(|value| {
                    let origin = value.span().map_or(origin, |span| place(self.source, span.start));
                    Node { origin, value: self.value(value, origin) }
                });
                Value::List(nodes.collect())
            }
        }
    }

    fn text(&mut self, source: &str, origin: Origin) -> Value {
        match expand(source, self.environment) {
            // The operating system ends its texts at NUL, so such a value would silently become a shorter one.
            Ok(text) if text.text.contains('\0') => {
                self.mistakes.push(Mistake {
                    origin: Some(origin),
                    text: "the string contains a NUL character".to_owned(),
                    hint: "remove the `\\u0000`".to_owned(),
                });
                Value::Broken
            }
            Ok(text) => Value::Text(text),
            Err(problem) => {
                let hint = problem.hint.unwrap_or_default();
                self.mistakes.push(Mistake { origin: Some(origin), text: problem.text, hint });
                Value::Broken
            }
        }
    }
}
