//! Documentation and JSON Schema, generated from the definitions of shapes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use boswell_model::json::Json;

use super::{HOST, Schema, ShapeDefinition, ShapeField};

/// Returns a heading per type and a table per shape, for `docs/cli.md`.
pub fn markdown(shapes: &[ShapeDefinition]) -> String {
    let mut out = String::new();
    let mut written: Vec<&str> = Vec::new();
    for shape in shapes {
        let word = type_of(shape);
        // Shapes with the same type follow each other under one heading, at the position of the
        // first.
        if written.contains(&word) {
            continue;
        }
        written.push(word);
        let _ = write!(out, "### `{word}`\n\n");
        for shape in shapes.iter().filter(|shape| type_of(shape) == word) {
            table(shape, &mut out);
        }
    }
    out
}

/// Returns the value of `type`; for a part its name.
fn type_of(shape: &ShapeDefinition) -> &'static str {
    shape.word.unwrap_or(shape.name)
}

fn table(shape: &ShapeDefinition, out: &mut String) {
    let _ = write!(out, "{}\n\n", sentence(shape.doc));
    out.push_str("| member | type | meaning |\n|---|---|---|\n");
    for field in &shape.fields {
        row(field, "", out);
    }
    out.push('\n');
}

/// Writes a row for a member, and one for each member of an object inside it.
fn row(field: &ShapeField, path: &str, out: &mut String) {
    let name = format!("{path}{}", field.name);
    let _ = writeln!(
        out,
        "| `{name}` | {} | {} |",
        type_words(&field.schema),
        sentence(field.doc)
    );
    let (inner, list) = object_in(&field.schema);
    for member in inner.map(|shape| shape.fields.iter()).into_iter().flatten() {
        let path = format!("{name}{}.", if list { "[]" } else { "" });
        row(member, &path, out);
    }
}

/// Returns the object inside a schema, and whether it is in a list.
fn object_in(schema: &Schema) -> (Option<&ShapeDefinition>, bool) {
    match schema {
        Schema::Object(shape) => (Some(shape), false),
        Schema::Nullable(inner) | Schema::Optional(inner) => object_in(inner),
        Schema::List(inner) | Schema::Map(inner) => (object_in(inner).0, true),
        _ => (None, false),
    }
}

fn type_words(schema: &Schema) -> String {
    match schema {
        Schema::Text => "text".to_owned(),
        Schema::Time => "time".to_owned(),
        Schema::Integer => "integer".to_owned(),
        Schema::Number => "number".to_owned(),
        Schema::Bool => "boolean".to_owned(),
        Schema::Any => "any".to_owned(),
        Schema::Nullable(inner) => format!("{} or null", type_words(inner)),
        Schema::Optional(inner) => format!("{}, may be absent", type_words(inner)),
        Schema::List(inner) => format!("list of {}", element_words(inner)),
        Schema::Map(inner) => format!("object of {}", element_words(inner)),
        Schema::Object(_) => "object".to_owned(),
    }
}

/// Adds brackets where the type would be ambiguous.
fn element_words(schema: &Schema) -> String {
    match schema {
        Schema::Nullable(_) => format!("({})", type_words(schema)),
        _ => type_words(schema),
    }
}

/// Joins the lines of a doc comment.
fn sentence(doc: &[&str]) -> String {
    let lines: Vec<&str> = doc.iter().map(|line| line.trim()).collect();
    lines.join(" ").replace('|', "\\|")
}

/// Maximum width of a line of [`pretty`] with a complete value.
const WIDTH: usize = 100;

/// Formats JSON for reading and for diffs: a value on one line if it fits, else one line per member
/// or element.
pub fn pretty(value: &Json) -> String {
    let mut out = String::new();
    write_pretty(value, 0, &mut out);
    out.push('\n');
    out
}

fn write_pretty(value: &Json, depth: usize, out: &mut String) {
    let flat = value.to_string();
    let column = out.len() - out.rfind('\n').map_or(0, |at| at + 1);
    let parts: Vec<(Option<&str>, &Json)> = match value {
        Json::Object(members) => {
            let named = members
                .iter()
                .map(|(key, member)| (Some(key.as_ref()), member));
            named.collect()
        }
        Json::Array(items) => items.iter().map(|item| (None, item)).collect(),
        _ => Vec::new(),
    };
    if parts.is_empty() || column + flat.len() < WIDTH {
        out.push_str(&flat);
        return;
    }
    out.push_str(&flat[..1]);
    for (number, (key, part)) in parts.into_iter().enumerate() {
        out.push_str(if number == 0 { "\n" } else { ",\n" });
        out.push_str(&"  ".repeat(depth + 1));
        if let Some(key) = key {
            let _ = write!(out, "{}: ", Json::from(key));
        }
        write_pretty(part, depth + 1, out);
    }
    let _ = write!(out, "\n{}{}", "  ".repeat(depth), &flat[flat.len() - 1..]);
}

/// Returns the JSON Schema (2020-12) of a line of `--json`.
pub fn json_schema(shapes: &[ShapeDefinition]) -> Json {
    let mut definitions: BTreeMap<&'static str, Json> = BTreeMap::new();
    for shape in shapes {
        define(shape, &mut definitions);
    }
    let lines: Vec<Json> = shapes.iter().map(reference).collect();
    let definitions = definitions
        .into_iter()
        .map(|(name, schema)| (name.into(), schema))
        .collect();
    Json::object()
        .with("$schema", "https://json-schema.org/draft/2020-12/schema")
        .with("title", "A line that boswell prints with --json")
        .with("anyOf", lines)
        .with("$defs", Json::Object(definitions))
}

fn reference(shape: &ShapeDefinition) -> Json {
    Json::object().with("$ref", format!("#/$defs/{}", shape.name))
}

/// Adds a shape and the shapes inside it.
fn define(shape: &ShapeDefinition, definitions: &mut BTreeMap<&'static str, Json>) {
    let mut members: Vec<(Cow<'static, str>, Json)> = Vec::new();
    let mut required: Vec<Json> = Vec::new();
    if let Some(word) = shape.word {
        members.push(("v".into(), Json::object().with("const", 1)));
        members.push(("type".into(), Json::object().with("const", word)));
        required.extend(["v".into(), "type".into()]);
    }
    for field in &shape.fields {
        if !matches!(field.schema, Schema::Optional(_)) {
            required.push(field.name.into());
        }
        let mut schema = of(&field.schema, definitions);
        if !field.doc.is_empty() {
            schema = schema.with("description", sentence(field.doc));
        }
        members.push((field.name.into(), schema));
    }
    if shape.word.is_some() {
        let schema = of(&HOST.schema, definitions).with("description", sentence(HOST.doc));
        members.push((HOST.name.into(), schema));
    }
    // Members may be added later, so unknown ones are allowed.
    let schema = Json::object()
        .with("description", sentence(shape.doc))
        .with("type", "object")
        .with("properties", Json::Object(members))
        .with("required", Json::Array(required));
    definitions.insert(shape.name, schema);
}

fn of(schema: &Schema, definitions: &mut BTreeMap<&'static str, Json>) -> Json {
    let typed = |word: &str| Json::object().with("type", word);
    match schema {
        Schema::Text => typed("string"),
        Schema::Time => typed("string").with("format", "date-time"),
        Schema::Integer => typed("integer"),
        Schema::Number => typed("number"),
        Schema::Bool => typed("boolean"),
        Schema::Any => Json::object(),
        Schema::Optional(inner) => of(inner, definitions),
        Schema::Nullable(inner) => or_null(of(inner, definitions)),
        Schema::List(inner) => typed("array").with("items", of(inner, definitions)),
        Schema::Map(inner) => typed("object").with("additionalProperties", of(inner, definitions)),
        Schema::Object(shape) => {
            define(shape, definitions);
            reference(shape)
        }
    }
}

/// Also accepts `null`: as a second type if there is one already, which is easier to read.
fn or_null(schema: Json) -> Json {
    let Json::Object(mut members) = schema else {
        return schema;
    };
    match members.first_mut() {
        Some((key, word)) if key == "type" => {
            let either = vec![std::mem::replace(word, Json::Null), "null".into()];
            *word = Json::Array(either);
            Json::Object(members)
        }
        // Any value includes `null`.
        None => Json::Object(members),
        Some(_) => {
            let null = Json::object().with("type", "null");
            Json::object().with("anyOf", vec![Json::Object(members), null])
        }
    }
}
