//! TypeScript types, generated from the definitions of shapes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{HOST, Schema, ShapeDefinition, ShapeField};

/// Returns an interface per shape, and a union of all lines of `--json`.
pub fn typescript(shapes: &[ShapeDefinition]) -> String {
    let mut interfaces: BTreeMap<&'static str, String> = BTreeMap::new();
    for shape in shapes {
        interface(shape, &mut interfaces);
    }
    let mut out = String::from(
        "// Generated from the shapes of `boswell-app`; see CONTRIBUTING.md.\n\n\
         /** Any JSON value, copied from a session. */\n\
         export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };\n",
    );
    for text in interfaces.values() {
        out.push('\n');
        out.push_str(text);
    }
    out.push_str(
        "\n/** A line of JSON output, and an item of a list of the server. */\nexport type Line =\n",
    );
    for shape in shapes {
        let _ = writeln!(out, "  | {}", shape.name);
    }
    out.push_str("  ;\n");
    out
}

/// Adds a shape and the shapes inside it.
fn interface(shape: &ShapeDefinition, interfaces: &mut BTreeMap<&'static str, String>) {
    let mut out = String::new();
    comment(shape.doc, "", &mut out);
    let _ = writeln!(out, "export interface {} {{", shape.name);
    if let Some(word) = shape.word {
        let _ = writeln!(out, "  v: 1;\n  type: \"{word}\";");
    }
    for field in &shape.fields {
        member(field, &mut out);
        inner(&field.schema, interfaces);
    }
    if shape.word.is_some() {
        comment(HOST.doc, "  ", &mut out);
        let _ = writeln!(out, "  {}?: {};", HOST.name, type_of(&HOST.schema));
    }
    out.push_str("}\n");
    interfaces.insert(shape.name, out);
}

fn member(field: &ShapeField, out: &mut String) {
    comment(field.doc, "  ", out);
    let mark = if matches!(field.schema, Schema::Optional(_)) {
        "?"
    } else {
        ""
    };
    let _ = writeln!(out, "  {}{mark}: {};", field.name, type_of(&field.schema));
}

fn inner(schema: &Schema, interfaces: &mut BTreeMap<&'static str, String>) {
    match schema {
        Schema::Object(shape) => interface(shape, interfaces),
        Schema::Nullable(schema)
        | Schema::Optional(schema)
        | Schema::List(schema)
        | Schema::Map(schema) => inner(schema, interfaces),
        _ => {}
    }
}

fn type_of(schema: &Schema) -> String {
    match schema {
        Schema::Text | Schema::Time => "string".to_owned(),
        Schema::Integer | Schema::Number => "number".to_owned(),
        Schema::Bool => "boolean".to_owned(),
        Schema::Any => "Json".to_owned(),
        Schema::Nullable(inner) => format!("{} | null", type_of(inner)),
        Schema::Optional(inner) => type_of(inner),
        Schema::List(inner) => match **inner {
            Schema::Nullable(_) => format!("({})[]", type_of(inner)),
            _ => format!("{}[]", type_of(inner)),
        },
        Schema::Map(inner) => format!("{{ [key: string]: {} }}", type_of(inner)),
        Schema::Object(shape) => shape.name.to_owned(),
    }
}

fn comment(doc: &[&str], indent: &str, out: &mut String) {
    let lines: Vec<&str> = doc.iter().map(|line| line.trim()).collect();
    if !lines.is_empty() {
        let text = lines.join(" ").replace("*/", "* /");
        let _ = writeln!(out, "{indent}/** {text} */");
    }
}
