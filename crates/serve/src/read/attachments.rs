//! Images and files of a session.

use axum::body::Body;
use axum::http::{HeaderValue, Response, header};
use boswell_app::attachments::{AttachmentRequest, AttachmentsRequest};
use boswell_app::shape::Shape as _;

use super::session::ended;
use crate::answer::{Plan, Reply, ask, run};
use crate::call::Call;
use crate::lines::Last;
use crate::pool::Lane;
use crate::problem::Problem;

/// Lists the attachments of a session.
pub(crate) async fn attachments(mut call: Call) -> Reply {
    let request = AttachmentsRequest {
        session: call.session()?,
        extract: None,
        entry: None,
    };
    call.no_params()?;
    let plan = Plan::list(&call);
    run(&call, plan, move |app, _, lines| {
        let answer = app.attachments(&request, &mut |shape| lines.object(&shape.object()))?;
        ended(answer, |()| Last::None)
    })
    .await
}

/// Returns the bytes of an attachment. Pictures are shown, everything else is a download: what a
/// session contains must not run as a page of ours.
pub(crate) async fn attachment(mut call: Call) -> Reply {
    let request = AttachmentRequest {
        session: call.session()?,
        number: number(&mut call)?,
        entry: None,
    };
    content(call, request).await
}

/// Returns the bytes of an image or a file inside one entry.
pub(crate) async fn media(mut call: Call) -> Reply {
    let request = AttachmentRequest {
        session: call.session()?,
        number: number(&mut call)?,
        entry: Some(call.entry()?),
    };
    content(call, request).await
}

fn number(call: &mut Call) -> Result<usize, Problem> {
    let number = call.name("number")?.parse();
    number.map_err(|_| Problem::invalid("an attachment is named by its number, from 0"))
}

async fn content(mut call: Call, request: AttachmentRequest) -> Reply {
    call.no_params()?;
    let content = ask(&call, Lane::Read, move |app| app.attachment(&request)).await?;
    let picture = picture(&content.bytes);
    let mut response = Response::new(Body::from(content.bytes));
    let headers = response.headers_mut();
    let kind = picture.unwrap_or("application/octet-stream");
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(
        header::CONTENT_DISPOSITION,
        HeaderValue::from_static(if picture.is_some() {
            "inline"
        } else {
            "attachment"
        }),
    );
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("sandbox; default-src 'none'"),
    );
    Ok(response)
}

/// Returns the media type of a picture, by its first bytes.
fn picture(bytes: &[u8]) -> Option<&'static str> {
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        Some("image/gif")
    } else {
        is_webp.then_some("image/webp")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pictures_without_scripts_are_shown() {
        assert_eq!(picture(b"\x89PNG\r\n\x1a\n...."), Some("image/png"));
        assert_eq!(picture(b"RIFF....WEBPVP8 "), Some("image/webp"));
        assert_eq!(picture(b"<svg xmlns="), None);
        assert_eq!(picture(b"<html>"), None);
        assert_eq!(picture(b""), None);
    }
}
