//! Answers of the object storage that are failures, in the words of boswell.

use boswell_model::{Advice, Error, ErrorKind};

/// Why a call failed, and whether the same call may succeed later.
#[derive(Debug)]
pub(super) struct CallFailure {
    pub(super) error: Error,
    pub(super) passes: bool,
}

impl CallFailure {
    pub(super) fn lasting(error: Error) -> CallFailure {
        CallFailure {
            error,
            passes: false,
        }
    }

    pub(super) fn passing(why: impl Into<String>) -> CallFailure {
        let error = Error::new(ErrorKind::Unavailable, "the object storage does not answer")
            .because(why)
            .advising(Advice::RetryLater);
        CallFailure {
            error,
            passes: true,
        }
    }

    /// Makes a failure of a status and the text that explains it.
    pub(super) fn of_status(status: u16, body: &[u8]) -> CallFailure {
        let said = said(status, body);
        // 409 is a condition that was compared with a call that is not finished yet, and 400 with
        // these words a body that was damaged on its way.
        let damaged = ["BadDigest", "IncompleteBody", "RequestTimeout"];
        if matches!(status, 408 | 409 | 429 | 500..)
            || damaged.iter().any(|code| said.contains(code))
        {
            return CallFailure::passing(said);
        }
        let error = |kind, what: &str| Error::new(kind, what.to_owned()).because(said.clone());
        CallFailure::lasting(match status {
            401 | 403 => error(ErrorKind::Denied, "the object storage denies the access").advising(
                "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and what the key may do in the \
                 bucket: PutObject, GetObject, ListBucket, DeleteObject",
            ),
            404 => error(ErrorKind::NotFound, "there is no such bucket")
                .advising("create the bucket, or name another one"),
            301 | 307 => error(ErrorKind::Invalid, "the bucket is in another region")
                .advising("write its region into the address: ?region=REGION"),
            _ => error(ErrorKind::Internal, "the object storage refused a call"),
        })
    }
}

impl From<ureq::Error> for CallFailure {
    fn from(error: ureq::Error) -> CallFailure {
        let lasts = matches!(
            error,
            ureq::Error::BadUri(_) | ureq::Error::Tls(_) | ureq::Error::Rustls(_)
        );
        let failure = CallFailure::passing(error.to_string());
        if !lasts {
            return failure;
        }
        CallFailure::lasting(
            failure
                .error
                .advising("check the endpoint, and the roots in SSL_CERT_FILE"),
        )
    }
}

/// Returns the status and the code in the answer, without its ids.
fn said(status: u16, body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let part = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        let (value, _) = rest.split_once("</")?;
        Some(value.chars().take(200).collect::<String>())
    };
    match (part("Code"), part("Message")) {
        (Some(code), Some(message)) => format!("{status} {code}: {message}"),
        (Some(code), None) => format!("{status} {code}"),
        _ => format!("status {status}"),
    }
}
