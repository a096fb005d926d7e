//! The JSON contract: the documentation matches the definitions, and no promised member is missing.
//!
//! `BOSWELL_BLESS=1 cargo test -p boswell-app --test contract` writes the page and the schema.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking, read sources and have no command line"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use boswell_app::shape::{self, Schema, ShapeDefinition, ShapeField};

const BEGIN: &str = "<!-- generated: shapes -->\n";
const END: &str = "<!-- /generated: shapes -->\n";

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(name)
}

fn is_blessed() -> bool {
    std::env::var_os("BOSWELL_BLESS").is_some_and(|value| value == "1")
}

/// Compares a file with its expected contents, or writes it.
#[track_caller]
fn assert_is(name: &str, wanted: &str) {
    let path = docs(name);
    if is_blessed() {
        std::fs::write(&path, wanted).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = found.lines().zip(wanted.lines()).find(|(a, b)| a != b);
    assert!(
        found == wanted,
        "docs/{name} is not what the shapes say; run with BOSWELL_BLESS=1. First difference: {differs:?}"
    );
}

#[test]
fn the_page_shows_the_shapes_as_they_are_defined() {
    let page = std::fs::read_to_string(docs("cli.md")).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let tables = shape::markdown(&shape::all());
    assert_is("cli.md", &format!("{before}{BEGIN}\n{tables}{END}{after}"));
}

#[test]
fn the_schema_describes_the_shapes_as_they_are_defined() {
    let schema = shape::json_schema(&shape::all());
    assert_is("schema.json", &shape::pretty(&schema));
}

#[test]
fn the_types_of_the_page_are_those_of_the_shapes() {
    assert_is("../web/src/shapes.ts", &shape::typescript(&shape::all()));
}

/// Collects every Rust file below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

/// Returns the names of the shapes that a file defines: lines such as `PlanStep: "step" {` inside
/// `shape!`.
fn defined_in(source: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut inside = false;
    for line in source.lines() {
        match line {
            "shape! {" => inside = true,
            "}" => inside = false,
            _ if inside => {
                let named = line.trim().strip_suffix("\" {");
                names.extend(named.and_then(|it| Some(it.split_once(": \"")?.0.to_owned())));
            }
            _ => {}
        }
    }
    names
}

#[test]
fn every_shape_that_the_source_defines_is_documented() {
    let mut files = Vec::new();
    sources(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut files,
    );
    let mut documented = BTreeSet::new();
    for shape in shape::all() {
        assert!(
            documented.insert(shape.name),
            "{} is there twice",
            shape.name
        );
    }
    let mut defined = BTreeSet::new();
    for file in files.iter().filter(|file| !file.ends_with("tests.rs")) {
        let source = std::fs::read_to_string(file).unwrap();
        for name in defined_in(&source) {
            assert!(
                documented.contains(name.as_str()),
                "{name} of {} is not in shape::all()",
                file.display()
            );
            assert!(defined.insert(name.clone()), "{name} is defined twice");
        }
    }
    let missed: Vec<&&str> = documented
        .iter()
        .filter(|name| !defined.contains(**name))
        .collect();
    assert!(missed.is_empty(), "the search missed {missed:?}");
}

/// Returns the object in a schema, and the suffix of its member's name: `[]` for a list.
fn object_in(schema: &Schema) -> Option<(&ShapeDefinition, &'static str)> {
    match schema {
        Schema::Object(shape) => Some((shape, "")),
        Schema::Nullable(inner) | Schema::Optional(inner) => object_in(inner),
        Schema::List(inner) | Schema::Map(inner) => Some((object_in(inner)?.0, "[]")),
        _ => None,
    }
}

/// Visits every member of a shape, including nested ones: `links`, `links[].ref`.
fn members(shape: &ShapeDefinition, above: &str, visit: &mut dyn FnMut(String, &ShapeField)) {
    for field in &shape.fields {
        let name = format!("{above}{}", field.name);
        visit(name.clone(), field);
        if let Some((inner, list)) = object_in(&field.schema) {
            members(inner, &format!("{name}{list}."), visit);
        }
    }
}

#[test]
fn every_member_says_what_it_means() {
    let mut silent = Vec::new();
    for shape in shape::all() {
        members(&shape, "", &mut |name, field| {
            if field.doc.is_empty() {
                silent.push(format!("{}.{name}", shape.name));
            }
        });
    }
    assert!(silent.is_empty(), "without a doc line: {silent:?}");
}

/// Returns the members of version 1 by type, as `members.txt` lists them.
fn promised() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let mut types: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut last = "";
    for word in include_str!("members.txt").split_whitespace() {
        match word.strip_suffix(':') {
            Some(kind) => last = kind,
            None => {
                types.entry(last).or_default().insert(word);
            }
        }
    }
    types
}

#[test]
fn no_member_of_version_1_is_gone() {
    let mut defined: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for shape in shape::all() {
        let of_type = defined.entry(shape.word.unwrap()).or_default();
        members(&shape, "", &mut |name, _| {
            of_type.insert(name);
        });
    }
    let mut gone = Vec::new();
    for (kind, promised) in promised() {
        let defined = &defined[kind];
        let missing = promised.iter().filter(|name| !defined.contains(**name));
        gone.extend(missing.map(|name| format!("{kind}.{name}")));
    }
    assert!(gone.is_empty(), "{gone:?}");
}
