//! `PUT /v1/blobs/{sha256}`.

use axum::body::Body;
use axum::http::{Response, StatusCode};

use crate::answer::{Reply, ask};
use crate::call::Call;
use crate::entity::{self, LARGEST_APPEND};
use crate::pool::Lane;

/// Stores bytes under their digest. The same bytes again change nothing.
pub(crate) async fn put_blob(mut call: Call, body: Body) -> Reply {
    call.no_params()?;
    let digest = call.name("sha256")?;
    let bytes = entity::read(&call, body, LARGEST_APPEND).await?;
    let is_new = ask(&call, Lane::Change, move |app| {
        app.put_blob(&digest, &bytes)
    })
    .await?;
    let mut response = Response::new(Body::empty());
    if is_new {
        *response.status_mut() = StatusCode::CREATED;
    }
    Ok(response)
}
