//! Images and files inside messages, in the shapes that providers and agents share.

use boswell_model::json::Raw;
use boswell_model::{MediaSource, Part};

/// An image whose base64, or the name of a blob, is its member `data`.
pub(crate) fn of_data(image: Raw<'_>) -> Part {
    let text = |key: &str| image.get(key).and_then(|it| it.text());
    let data = text("data").unwrap_or_default().into_owned();
    let source = if data.starts_with("blob:") {
        MediaSource::Reference(data)
    } else {
        MediaSource::Inline(data)
    };
    Part::Media {
        mime: text("mimeType").map(Into::into),
        source,
    }
}

/// An image or document whose member `source` contains its base64 or says where it is.
pub(crate) fn of_source(block: Raw<'_>) -> Part {
    let source = block.get("source");
    let text = |key: &str| {
        let value = source.and_then(|source| source.get(key));
        value
            .and_then(|value| value.text())
            .map(|text| text.into_owned())
    };
    let place = match text("data") {
        Some(data) => MediaSource::Inline(data),
        None => MediaSource::Reference(text("url").or_else(|| text("file_id")).unwrap_or_default()),
    };
    Part::Media {
        mime: text("media_type"),
        source: place,
    }
}

/// An image behind a URL, which may contain its base64.
pub(crate) fn of_url(url: &str) -> Part {
    let inline = url
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"));
    match inline {
        Some((mime, data)) => Part::image(data, mime),
        None => Part::Media {
            mime: None,
            source: MediaSource::Reference(url.to_owned()),
        },
    }
}
