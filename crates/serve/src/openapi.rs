//! The description of the server as OpenAPI 3.1, generated from the shapes of `boswell-app`.

use std::borrow::Cow;

use axum::body::Body;
use axum::http::{HeaderValue, Response, header};
use boswell_app::shape::{self, pretty};
use boswell_model::json::Json;

mod addresses;
mod client;

use addresses::{Address, Answered, addresses, parameters as known_parameters};
pub use client::typescript_client;

/// Returns the description as JSON.
pub fn openapi() -> String {
    pretty(&description())
}

/// `GET /openapi.json`.
pub(crate) async fn document() -> Response<Body> {
    let mut response = Response::new(Body::from(openapi()));
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

fn description() -> Json {
    let mut paths: Vec<(Cow<'static, str>, Json)> = Vec::new();
    for address in &addresses() {
        let operation = (Cow::Owned(address.method.to_owned()), operation(address));
        match paths.iter_mut().find(|(path, _)| path == address.path) {
            Some((_, Json::Object(methods))) => methods.push(operation),
            _ => paths.push((
                address.path.to_owned().into(),
                Json::Object(vec![operation]),
            )),
        }
    }
    Json::object()
        .with("openapi", "3.1.0")
        .with(
            "info",
            Json::object()
                .with("title", "boswell")
                .with("version", "1")
                .with(
                    "summary",
                    "Sessions of coding agents: the JSON contract over HTTP.",
                ),
        )
        .with(
            "jsonSchemaDialect",
            "https://json-schema.org/draft/2020-12/schema",
        )
        .with(
            "security",
            vec![Json::object().with("token", Json::Array(vec![]))],
        )
        .with("paths", Json::Object(paths))
        .with("components", components())
}

fn components() -> Json {
    let bearer = Json::object().with("type", "http").with("scheme", "bearer");
    Json::object()
        .with("securitySchemes", Json::object().with("token", bearer))
        .with("schemas", Json::Object(schemas()))
}

/// The schemas of all shapes, with references that fit into this document.
fn schemas() -> Vec<(Cow<'static, str>, Json)> {
    let Json::Object(members) = shape::json_schema(&shape::all()) else {
        return Vec::new();
    };
    let definitions = members.into_iter().find(|(name, _)| name == "$defs");
    let Some((_, Json::Object(mut definitions))) = definitions else {
        return Vec::new();
    };
    for (_, schema) in &mut definitions {
        relink(schema);
    }
    definitions.push(("Problem".into(), problem()));
    definitions
}

/// Replaces references to `$defs` by references to components.
fn relink(schema: &mut Json) {
    match schema {
        Json::Object(members) => {
            for (name, value) in members {
                match value {
                    Json::Text(text) if name == "$ref" => {
                        *text = text.replace("#/$defs/", "#/components/schemas/");
                    }
                    value => relink(value),
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(relink),
        _ => {}
    }
}

fn problem() -> Json {
    let text = || Json::object().with("type", "string");
    let nullable = Json::object().with("type", vec![Json::from("string"), "null".into()]);
    let required = ["type", "title", "status", "detail", "kind", "hint"];
    Json::object()
        .with(
            "description",
            "An error (RFC 9457), with the kind and the hint of the CLI.",
        )
        .with("type", "object")
        .with(
            "properties",
            Json::object()
                .with("type", text())
                .with("title", text())
                .with("status", Json::object().with("type", "integer"))
                .with("detail", text())
                .with("kind", text())
                .with("hint", nullable),
        )
        .with("required", required.map(Json::from).to_vec())
}

fn reference(name: &str) -> Json {
    Json::object().with("$ref", format!("#/components/schemas/{name}"))
}

fn operation(address: &Address) -> Json {
    let mut operation = Json::object()
        .with("operationId", address.name)
        .with("summary", address.summary);
    let parameters = parameters(address);
    if !parameters.is_empty() {
        operation = operation.with("parameters", parameters);
    }
    if !address.body.is_empty() {
        let schema = Json::object().with("description", address.body);
        let content =
            Json::object().with("application/json", Json::object().with("schema", schema));
        operation = operation.with("requestBody", Json::object().with("content", content));
    }
    if address.is_open {
        operation = operation.with("security", Json::Array(vec![]));
    }
    operation.with("responses", responses(address))
}

fn parameters(address: &Address) -> Vec<Json> {
    let names = address.path.split('/');
    let names = names.filter_map(|it| it.strip_prefix('{')?.strip_suffix('}'));
    let all = known_parameters();
    let parameter = |name: &str, place: &str| {
        let about = all.iter().find(|[known, ..]| *known == name);
        let (kind, text) = about.map_or(("string", ""), |[_, kind, text]| (*kind, *text));
        Json::object()
            .with("name", name)
            .with("in", place)
            .with("required", place == "path")
            .with("description", text)
            .with("schema", Json::object().with("type", kind))
    };
    let in_path = names.map(|name| parameter(name, "path"));
    let in_query = address
        .parameters
        .iter()
        .map(|name| parameter(name, "query"));
    in_path.chain(in_query).collect()
}

fn responses(address: &Address) -> Json {
    let content =
        |kind: &str, schema: Json| Json::object().with(kind, Json::object().with("schema", schema));
    let error = Json::object().with("description", "An error").with(
        "content",
        content("application/problem+json", reference("Problem")),
    );
    let (kind, schema) = match &address.answer {
        Answered::One(shape) => ("application/json", reference(shape)),
        Answered::List(shapes, page) => ("application/json", list(shapes, *page)),
        Answered::Object(text) => {
            let schema = Json::object()
                .with("type", "object")
                .with("description", *text);
            ("application/json", schema)
        }
        Answered::Events => ("text/event-stream", Json::object().with("type", "string")),
        Answered::Bytes => ("*/*", Json::object()),
    };
    let mut content = content(kind, schema);
    if matches!(address.answer, Answered::List(..) | Answered::One(_)) {
        let lines = Json::object().with("description", "exactly the lines of `--json`");
        content = content.with("application/x-ndjson", Json::object().with("schema", lines));
    }
    let success = Json::object()
        .with("description", address.summary)
        .with("content", content);
    Json::object()
        .with(address.status, success)
        .with("default", error)
}

/// The document of a list.
fn list(shapes: &[&str], page: Option<&str>) -> Json {
    let item = match shapes {
        [shape] => reference(shape),
        shapes => {
            let any: Vec<Json> = shapes.iter().map(|it| reference(it)).collect();
            Json::object().with("anyOf", any)
        }
    };
    let array = |items: Json| Json::object().with("type", "array").with("items", items);
    let page = match page {
        Some(page) => reference(page),
        None => Json::object().with("type", "null"),
    };
    Json::object()
        .with("type", "object")
        .with(
            "properties",
            Json::object()
                .with("items", array(item))
                .with("page", page)
                .with("warnings", array(reference("NoticeShape"))),
        )
        .with(
            "required",
            ["items", "page", "warnings"].map(Json::from).to_vec(),
        )
}
