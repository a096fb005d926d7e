//! Documentation and JSON Schema, generated from the definitions of shapes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use boswell_model::json::Json;

use super::{Field, Schema, ShapeDefinition};

/// A table for each shape, for `docs/cli.md`.
pub fn markdown(shapes: &[ShapeDefinition]) -> String {
    let mut out = String::new();
    for shape in shapes {
        let word = shape.word.unwrap_or(shape.name);
        let _ = write!(out, "### `{word}`\n\n{}\n\n", sentence(shape.doc));
        out.push_str("| member | type | meaning |\n|---|---|---|\n");
        for field in &shape.fields {
            row(field, "", &mut out);
        }
        out.push('\n');
    }
    out
}

/// A row for a member, and below it one for each member of an object inside it.
fn row(field: &Field, path: &str, out: &mut String) {
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

/// The object that a schema leads to, and whether a list is around it.
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
        Schema::List(inner) => format!("list of {}", type_words(inner)),
        Schema::Map(inner) => format!("object of {}", type_words(inner)),
        Schema::Object(_) => "object".to_owned(),
    }
}

/// Lines of a doc comment as one.
fn sentence(doc: &[&str]) -> String {
    let lines: Vec<&str> = doc.iter().map(|line| line.trim()).collect();
    lines.join(" ").replace('|', "\\|")
}

/// The JSON Schema (2020-12) of a line of `--json`.
pub fn json_schema(shapes: &[ShapeDefinition]) -> Json {
    let mut definitions: BTreeMap<&'static str, Json> = BTreeMap::new();
    for shape in shapes {
        define(shape, &mut definitions);
    }
    let lines: Vec<Json> = shapes.iter().map(reference).collect();
    let definitions = definitions
        .into_iter()
        .map(|(name, schema)| (name.to_owned(), schema))
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

/// Adds a shape and those inside it.
fn define(shape: &ShapeDefinition, definitions: &mut BTreeMap<&'static str, Json>) {
    let mut members: Vec<(String, Json)> = Vec::new();
    let mut required: Vec<Json> = Vec::new();
    if let Some(word) = shape.word {
        members.push(("v".to_owned(), Json::object().with("const", 1)));
        members.push(("type".to_owned(), Json::object().with("const", word)));
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
        members.push((field.name.to_owned(), schema));
    }
    // Members may be added later, so others are allowed.
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
        Schema::Nullable(inner) => {
            let either = vec![of(inner, definitions), typed("null")];
            Json::object().with("anyOf", either)
        }
        Schema::List(inner) => typed("array").with("items", of(inner, definitions)),
        Schema::Map(inner) => typed("object").with("additionalProperties", of(inner, definitions)),
        Schema::Object(shape) => {
            define(shape, definitions);
            reference(shape)
        }
    }
}
