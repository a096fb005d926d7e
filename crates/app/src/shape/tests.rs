#![expect(unreachable_pub, reason = "the macro makes public structs")]

use super::*;

shape! {
    /// A thing
    /// of two lines.
    Thing: "thing" {
        /// its name | in bars
        reference as "ref": String,
        count: Option<u64>,
        parts: Vec<Part>,
        extra: Maybe<bool>,
        /// keys are data
        sizes: Map<u64>,
    }

    /// A part of it.
    Part {
        at: Instant,
    }
}

fn thing() -> Thing {
    Thing {
        reference: "a:b".to_owned(),
        count: None,
        parts: vec![Part {
            at: Instant::from_millis(0),
        }],
        extra: Maybe::Absent,
        sizes: [("x".to_owned(), 1)].into_iter().collect(),
    }
}

#[test]
fn members_are_written_in_order_and_absent_ones_left_out() {
    assert_eq!(
        thing().object().to_string(),
        r#"{"v":1,"type":"thing","ref":"a:b","count":null,"parts":[{"at":"1970-01-01T00:00:00.000Z"}],"sizes":{"x":1}}"#
    );
    let with_extra = Thing {
        extra: Maybe::Given(true),
        ..thing()
    };
    assert!(with_extra.object().to_string().contains(r#""extra":true"#));
}

#[test]
fn documentation_and_schema_come_from_the_same_definition() {
    let page = markdown(&[Thing::definition()]);
    assert!(
        page.starts_with("### `thing`\n\nA thing of two lines.\n"),
        "{page}"
    );
    assert!(
        page.contains("| `ref` | text | its name \\| in bars |"),
        "{page}"
    );
    assert!(page.contains("| `parts[].at` | time |"), "{page}");
    let schema = json_schema(&[Thing::definition()]).to_string();
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    let thing = &schema["$defs"]["Thing"];
    assert_eq!(thing["properties"]["type"]["const"], "thing");
    assert_eq!(
        thing["required"],
        serde_json::json!(["v", "type", "ref", "count", "parts", "sizes"])
    );
    assert_eq!(
        schema["$defs"]["Part"]["properties"]["at"]["format"],
        "date-time"
    );
    assert_eq!(
        thing["properties"]["count"]["type"],
        serde_json::json!(["integer", "null"])
    );
}

#[test]
fn shapes_of_one_type_share_a_heading() {
    let other = ShapeDefinition {
        name: "OtherThing",
        doc: &["Another thing."],
        ..Thing::definition()
    };
    let page = markdown(&[Thing::definition(), Part::definition(), other]);
    assert_eq!(page.matches("### `thing`").count(), 1, "{page}");
    let place = |text: &str| page.find(text).unwrap();
    assert!(place("A thing of") < place("Another thing."), "{page}");
    assert!(place("Another thing.") < place("### `Part`"), "{page}");
}

#[test]
fn a_list_of_what_may_be_null_is_not_a_list_that_may_be() {
    let words = |schema: Schema| {
        let field = ShapeField {
            name: "it",
            doc: &[],
            schema,
        };
        let shape = ShapeDefinition {
            fields: vec![field],
            ..Part::definition()
        };
        markdown(&[shape])
    };
    assert!(words(<Option<Vec<u64>>>::schema()).contains("| list of integer or null |"));
    assert!(words(<Vec<Option<u64>>>::schema()).contains("| list of (integer or null) |"));
}

#[test]
fn long_values_are_broken_into_lines_and_short_ones_are_not() {
    let long = "x".repeat(100);
    let value = Json::object()
        .with("short", vec![Json::Int(1), Json::Int(2)])
        .with("long", vec![Json::from(long.as_str())])
        .with("none", Vec::<Json>::new());
    assert_eq!(
        pretty(&value),
        format!(
            "{{\n  \"short\": [1,2],\n  \"long\": [\n    \"{long}\"\n  ],\n  \"none\": []\n}}\n"
        )
    );
}
