//! Every line of `--json` that a test reads has the members of its shape, and no others.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use boswell_app::shape::{self, Schema, ShapeDefinition};
use serde_json::{Map, Value};

/// Types to which an agent may add members of its own settings.
const OPEN: [&str; 1] = ["context"];

type Shapes = BTreeMap<&'static str, Vec<ShapeDefinition>>;

/// Returns all shapes by the value of `type`.
fn shapes() -> &'static Shapes {
    static SHAPES: OnceLock<Shapes> = OnceLock::new();
    SHAPES.get_or_init(|| {
        let mut shapes = Shapes::new();
        for shape in shape::all() {
            shapes.entry(shape.word.unwrap()).or_default().push(shape);
        }
        shapes
    })
}

/// Panics if a line matches none of the shapes of its type.
#[track_caller]
pub(crate) fn assert_follows(line: &Value) {
    let kind = line["type"].as_str().unwrap_or_default();
    let shapes = shapes().get(kind).map(Vec::as_slice).unwrap_or_default();
    let wrong: Vec<String> = shapes
        .iter()
        .filter_map(|shape| object(line, shape, "").err())
        .collect();
    assert!(
        wrong.len() < shapes.len(),
        "{kind} is none of its shapes: {wrong:?}: {line}"
    );
}

fn object(value: &Value, shape: &ShapeDefinition, path: &str) -> Result<(), String> {
    let Some(members) = value.as_object() else {
        return Err(format!("{path} of {} is not an object", shape.name));
    };
    for field in &shape.fields {
        let path = format!("{path}.{}", field.name);
        match (members.get(field.name), &field.schema) {
            (Some(value), schema) => check(value, schema, &path)?,
            (None, Schema::Optional(_)) => {}
            (None, _) => return Err(format!("{path} of {} is missing", shape.name)),
        }
    }
    match unknown(members, shape) {
        Some(name) => Err(format!("{path}.{name} is not in {}", shape.name)),
        None => Ok(()),
    }
}

/// Returns a member that the shape does not have.
fn unknown<'v>(members: &'v Map<String, Value>, shape: &ShapeDefinition) -> Option<&'v str> {
    let is_head = |name: &str| shape.word.is_some() && matches!(name, "v" | "type" | "host");
    let is_open = shape.word.is_some_and(|word| OPEN.contains(&word));
    members
        .keys()
        .map(String::as_str)
        .filter(|_| !is_open)
        .find(|name| !is_head(name) && shape.fields.iter().all(|field| field.name != *name))
}

fn check(value: &Value, schema: &Schema, path: &str) -> Result<(), String> {
    let is_right = match schema {
        Schema::Text => value.is_string(),
        Schema::Time => value.as_str().is_some_and(is_time),
        Schema::Integer => value.is_i64() || value.is_u64(),
        Schema::Number => value.is_number(),
        Schema::Bool => value.is_boolean(),
        Schema::Any => true,
        Schema::Nullable(_) if value.is_null() => true,
        Schema::Nullable(inner) | Schema::Optional(inner) => return check(value, inner, path),
        Schema::Object(shape) => return object(value, shape, path),
        Schema::List(inner) => {
            let Some(items) = value.as_array() else {
                return Err(format!("{path} is not a list"));
            };
            let path = format!("{path}[]");
            return items.iter().try_for_each(|item| check(item, inner, &path));
        }
        Schema::Map(inner) => {
            let Some(members) = value.as_object() else {
                return Err(format!("{path} is not an object"));
            };
            let mut members = members.iter();
            return members.try_for_each(|(key, it)| check(it, inner, &format!("{path}.{key}")));
        }
    };
    is_right
        .then_some(())
        .ok_or_else(|| format!("{path} is not {schema:?}: {value}"))
}

/// Whether a text is RFC 3339 in UTC with milliseconds: `2026-01-31T08:00:00.000Z`.
fn is_time(text: &str) -> bool {
    let form = text.bytes().map(|byte| match byte {
        b'0'..=b'9' => b'0',
        other => other,
    });
    form.eq(b"0000-00-00T00:00:00.000Z".iter().copied())
}

#[test]
fn a_line_that_breaks_its_shape_is_noticed() {
    let follows = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        std::panic::catch_unwind(|| assert_follows(&line)).is_ok()
    };
    let page = r#"{"v":1,"type":"page","shown":1,"total":1,"cursor":null,"complete":true,"as_of":"2026-01-31T08:00:00.000Z"}"#;
    assert!(follows(page));
    assert!(follows(
        &page.replace(r#""shown":1,"#, r#""shown":1,"sessions":2,"#)
    ));
    for (from, to) in [
        (r#""shown":1,"#, ""),
        (r#""shown":1,"#, r#""shown":1,"other":2,"#),
        (r#""shown":1,"#, r#""shown":null,"#),
        (r#""shown":1,"#, r#""shown":1.5,"#),
        ("null", "7"),
        (".000Z", "Z"),
        (".000Z", ".000+01:00"),
    ] {
        assert!(!follows(&page.replace(from, to)), "{from} {to}");
    }
}
