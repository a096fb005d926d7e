//! Large values by their digest.

use axum::body::Body;
use axum::http::{HeaderValue, Response, header};

use crate::answer::{Reply, ask, not_modified};
use crate::call::Call;
use crate::pool::Lane;

/// Returns the bytes of a stored value. They never change, so that a client may keep them.
pub(crate) async fn blob(mut call: Call) -> Reply {
    let digest = call.name("sha256")?;
    call.no_params()?;
    let tag = format!("\"{digest}\"");
    let bytes = ask(&call, Lane::Read, move |app| app.blob(&digest)).await?;
    if call.conditions.has(&tag) {
        return Ok(not_modified(&tag));
    }
    let mut response = Response::new(Body::from(bytes));
    let headers = response.headers_mut();
    let fixed = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::CONTENT_DISPOSITION, "attachment"),
        (
            header::CONTENT_SECURITY_POLICY,
            "sandbox; default-src 'none'",
        ),
        (
            header::CACHE_CONTROL,
            "private, max-age=31536000, immutable",
        ),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    Ok(response)
}
