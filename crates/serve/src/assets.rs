//! The page: files that are part of the program.
//!
//! `web/` is the source; `cargo xtask web` writes `dist`, which is committed, so that cargo alone
//! builds the program.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use boswell_model::ErrorKind;
use sha2::{Digest as _, Sha256};

use crate::answer::{Reply, not_modified};
use crate::call::Call;
use crate::problem::Problem;

/// Name, media type and content of every file.
const FILES: [(&str, &str, &[u8]); 4] = [
    (
        "index.html",
        "text/html; charset=utf-8",
        include_bytes!("../dist/index.html"),
    ),
    (
        "app.js",
        "text/javascript; charset=utf-8",
        include_bytes!("../dist/app.js"),
    ),
    (
        "app.css",
        "text/css; charset=utf-8",
        include_bytes!("../dist/app.css"),
    ),
    (
        "icon.svg",
        "image/svg+xml",
        include_bytes!("../dist/icon.svg"),
    ),
];

/// The page.
pub(crate) async fn index(call: Call) -> Reply {
    file(&call, "index.html")
}

/// The icon, where browsers look for it.
pub(crate) async fn icon(call: Call) -> Reply {
    file(&call, "icon.svg")
}

/// A file of the page.
pub(crate) async fn asset(mut call: Call) -> Reply {
    let name = call.name("name")?;
    file(&call, &name)
}

fn file(call: &Call, name: &str) -> Reply {
    let found = FILES.iter().find(|(known, ..)| *known == name);
    let Some((_, kind, bytes)) = found else {
        let what = "the page has no such file";
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            ErrorKind::NotFound,
            what,
        ));
    };
    let digest = Sha256::digest(bytes);
    let beginning = digest.get(..16).unwrap_or_default();
    // Weak, because the file may be compressed on the way.
    let tag = format!("W/\"{}\"", boswell_app::base64::encode_url(beginning));
    if call.conditions.has(&tag) {
        return Ok(not_modified(&tag));
    }
    let mut response = Response::new(Body::from(*bytes));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    Ok(response)
}
