//! The page's declarations of what the daemon sends and reads, in `web/types.generated.d.ts`.

use std::fmt::Write as _;
use std::path::Path;

use super::*;
use crate::frames::{ClientFrame, ServerFrame};

/// How the file is made anew.
const COMMAND: &str = "UPDATE_TYPES=1 cargo nextest run -p convoke-api typescript";

#[test]
fn the_typescript_declarations_are_those_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/types.generated.d.ts");
    let made = file();
    if std::env::vars_os().any(|(name, _)| name == "UPDATE_TYPES") {
        std::fs::write(&path, &made).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == made, "web/types.generated.d.ts is stale; run: {COMMAND}");
}

fn file() -> String {
    let mut requests = SchemaSettings::default().for_deserialize().into_generator();
    requests.subschema_for::<ClientFrame>();
    requests.subschema_for::<FinishWorktree>();
    let mut responses = SchemaSettings::default().for_serialize().into_generator();
    responses.subschema_for::<ServerFrame>();
    responses.subschema_for::<Audit>();
    responses.subschema_for::<Comparisons>();
    responses.subschema_for::<FileDiff>();
    responses.subschema_for::<FinishedWorktree>();
    responses.subschema_for::<Histories>();
    responses.subschema_for::<Me>();
    responses.subschema_for::<MoveTargets>();
    responses.subschema_for::<Nodes>();
    responses.subschema_for::<Restored>();
    responses.subschema_for::<SessionChanges>();
    responses.subschema_for::<TeamAnalytics>();
    responses.subschema_for::<Teams>();
    responses.subschema_for::<Users>();
    responses.subschema_for::<Worktrees>();
    let (mut all, responses) = (requests.take_definitions(true), responses.take_definitions(true));
    for (name, written) in &responses {
        let read = all.get(name).unwrap_or(written);
        assert_eq!(read, written, "{name} is read in another shape than it is written in");
    }
    all.extend(responses);
    let mut names: Vec<&String> = all.keys().collect();
    names.sort();
    let mut file = format!("// Made from the types of convoke-api: {COMMAND}\n\n");
    file.push_str("declare namespace Api {\n");
    for (at, name) in names.into_iter().enumerate() {
        let empty = if at == 0 { "" } else { "\n" };
        let (comment, declared) = (comment(&all[name], 1), of(&all[name], 1));
        writeln!(file, "{empty}{comment}  type {name} ={}{declared};", gap(&declared)).unwrap();
    }
    file + "}\n"
}

/// The description of a schema as lines of their own.
fn comment(schema: &Value, depth: usize) -> String {
    let Some(text) = schema["description"].as_str() else { return String::new() };
    let indent = "  ".repeat(depth);
    format!("{indent}/** {} */\n", text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The type of the values that fit a schema.
fn of(schema: &Value, depth: usize) -> String {
    let mut parts = Vec::new();
    if let Some(name) = schema["$ref"].as_str() {
        parts.push(name.rsplit('/').next().unwrap().to_owned());
    }
    if schema.get("properties").is_some() {
        parts.push(object(schema, depth));
    } else if let Some(pattern) = schema["patternProperties"].as_object() {
        parts.extend(pattern.values().map(|one| format!("Record<string, {}>", of(one, depth))));
    } else if let Some(value) = schema.get("const") {
        parts.push(value.to_string());
    } else if let Some(values) = schema["enum"].as_array() {
        parts.extend(values.iter().map(Value::to_string).reduce(|a, b| format!("{a} | {b}")));
    } else if let Some(kind) = schema.get("type") {
        parts.push(plain(kind, schema, depth));
    }
    for key in ["oneOf", "anyOf"] {
        let Some(all) = schema[key].as_array() else { continue };
        let described = |one| (comment(one, depth + 1), of(one, depth + 1));
        parts.push(union(all.iter().map(described).collect(), depth));
    }
    for one in schema["allOf"].as_array().into_iter().flatten() {
        parts.push(of(one, depth));
    }
    match parts.as_slice() {
        [] => "any".to_owned(),
        [one] => one.clone(),
        _ => parts.iter().map(|part| in_brackets(part)).collect::<Vec<_>>().join(" & "),
    }
}

/// A type that must stand alone beside an operator.
fn in_brackets(part: &str) -> String {
    let is_union = !part.starts_with('{') && part.contains('|');
    if is_union { format!("({part})") } else { part.to_owned() }
}

/// A value of one of these types; words in one line, objects below each other with their comments.
fn union(all: Vec<(String, String)>, depth: usize) -> String {
    if all.iter().all(|(_, one)| !one.contains('{')) {
        return all.into_iter().map(|(_, one)| one).collect::<Vec<_>>().join(" | ");
    }
    let indent = "  ".repeat(depth + 1);
    all.iter().map(|(comment, one)| format!("\n{comment}{indent}| {one}")).collect()
}

/// An object with its fields: those that are always there as they are declared, then the others by name.
fn object(schema: &Value, depth: usize) -> String {
    let properties = schema["properties"].as_object().unwrap();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut optional: Vec<&str> = properties.keys().map(String::as_str).collect();
    optional.retain(|name| !required.contains(name));
    optional.sort_unstable();
    let mut lines = Vec::new();
    for name in required.iter().filter(|name| properties.contains_key(**name)).chain(&optional) {
        let (mark, field) = if optional.contains(name) {
            // A field that may be left out is left out instead of `null`.
            ("?", without_null(&properties[*name]))
        } else {
            ("", properties[*name].clone())
        };
        let declared = of(&field, depth + 1);
        lines.push((
            comment(&field, depth + 1),
            format!("{name}{mark}:{}{declared};", gap(&declared)),
        ));
    }
    if lines.iter().all(|(comment, line)| comment.is_empty() && !line.contains('\n')) {
        let line: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
        return format!("{{ {} }}", line.join(" ").trim_end_matches(';'));
    }
    let indent = "  ".repeat(depth + 1);
    let lines: String =
        lines.iter().map(|(comment, line)| format!("{comment}{indent}{line}\n")).collect();
    format!("{{\n{lines}{}}}", "  ".repeat(depth))
}

/// What stands before a type: nothing where it begins with a line of its own.
fn gap(declared: &str) -> &'static str {
    if declared.starts_with('\n') { "" } else { " " }
}

fn without_null(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(types) = schema.get_mut("type").and_then(Value::as_array_mut) {
        types.retain(|kind| kind != "null");
    }
    if let Some(any) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        any.retain(|one| one["type"] != "null");
    }
    schema
}

/// A type that JSON has a word for.
fn plain(kind: &Value, schema: &Value, depth: usize) -> String {
    match kind.as_str() {
        Some("integer" | "number") => "number".to_owned(),
        Some("array") if schema["prefixItems"].is_array() => {
            let items = schema["prefixItems"].as_array().into_iter().flatten();
            format!("[{}]", items.map(|item| of(item, depth)).collect::<Vec<_>>().join(", "))
        }
        Some("array") => format!("{}[]", in_brackets(&of(&schema["items"], depth))),
        Some("object") => "object".to_owned(),
        Some(word) => word.to_owned(),
        None => {
            let kinds = kind.as_array().unwrap().iter().map(|one| plain(one, schema, depth));
            kinds.collect::<Vec<_>>().join(" | ")
        }
    }
}
