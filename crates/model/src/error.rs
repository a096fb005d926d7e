//! The error type of all crates: what happened, why, and what to do next.

use std::fmt;

use crate::{Advice, ErrorDetails};

/// The result of anything that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// The class of an error, which decides what the caller can do about it and the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The requested object does not exist.
    NotFound,
    /// Another process holds the lock or lease; a retry may succeed.
    Busy,
    /// The object changed since it was read.
    Conflict,
    /// The request is not valid.
    Invalid,
    /// The dialect or store does not support the operation.
    Unsupported,
    /// The operating system denies access.
    Denied,
    /// The data needed for the operation is damaged.
    Damaged,
    /// The data was written by a newer version.
    TooNew,
    /// The disk is full.
    NoSpace,
    /// The storage cannot be reached; a retry may succeed.
    Unavailable,
    /// A bug in this program.
    Internal,
}

impl ErrorKind {
    /// The kind as one lower-case word, as used in JSON output.
    pub fn word(self) -> &'static str {
        match self {
            ErrorKind::NotFound => "not_found",
            ErrorKind::Busy => "busy",
            ErrorKind::Conflict => "conflict",
            ErrorKind::Invalid => "invalid",
            ErrorKind::Unsupported => "unsupported",
            ErrorKind::Denied => "denied",
            ErrorKind::Damaged => "damaged",
            ErrorKind::TooNew => "too_new",
            ErrorKind::NoSpace => "no_space",
            ErrorKind::Unavailable => "unavailable",
            ErrorKind::Internal => "internal",
        }
    }
}

/// What happened to which object, why, and what to do next. The text names the object and does not
/// repeat its source.
#[derive(Debug)]
pub struct Error {
    inner: Box<Inner>,
}

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    what: String,
    because: Option<String>,
    advice: Option<Advice>,
    details: Option<ErrorDetails>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Creates an error with one lower-case clause about what happened to which object.
    pub fn new(kind: ErrorKind, what: impl Into<String>) -> Self {
        Error {
            inner: Box::new(Inner {
                kind,
                what: what.into(),
                because: None,
                advice: None,
                details: None,
                source: None,
            }),
        }
    }

    /// Adds the reason.
    #[must_use]
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.inner.because = Some(reason.into());
        self
    }

    /// Adds the next step. A step that is added later replaces it.
    #[must_use]
    pub fn advising(mut self, advice: impl Into<Advice>) -> Self {
        self.inner.advice = Some(advice.into());
        self
    }

    /// Adds the values that a program needs to decide what to do.
    #[must_use]
    pub fn detailing(mut self, details: ErrorDetails) -> Self {
        self.inner.details = Some(details);
        self
    }

    /// Adds the error that caused it.
    #[must_use]
    pub fn caused_by(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.inner.source = Some(source.into());
        self
    }

    /// Creates an I/O error at a path; its kind follows from that of `source`.
    pub fn io(path: impl fmt::Display, doing: &str, source: std::io::Error) -> Self {
        use std::io::ErrorKind as Io;
        let kind = match source.kind() {
            Io::NotFound => ErrorKind::NotFound,
            Io::PermissionDenied | Io::ReadOnlyFilesystem => ErrorKind::Denied,
            Io::StorageFull | Io::QuotaExceeded | Io::FileTooLarge => ErrorKind::NoSpace,
            Io::WouldBlock | Io::ResourceBusy => ErrorKind::Busy,
            Io::InvalidInput | Io::InvalidFilename | Io::NotADirectory | Io::IsADirectory => {
                ErrorKind::Invalid
            }
            _ => ErrorKind::Unavailable,
        };
        let error = Error::new(kind, format!("cannot {doing} `{path}`"));
        match source.kind() {
            Io::FileTooLarge => {
                error.because("the limit of file sizes of this process (`ulimit -f`) is reached")
            }
            _ => error,
        }
        .caused_by(source)
    }

    /// Returns the class of the error.
    pub fn kind(&self) -> ErrorKind {
        self.inner.kind
    }

    /// Returns the reason, as far as `source` does not contain it.
    pub fn reason(&self) -> Option<&str> {
        self.inner.because.as_deref()
    }

    /// Returns the suggested next step, which the face has to phrase.
    pub fn advice(&self) -> Option<&Advice> {
        self.inner.advice.as_ref()
    }

    /// Returns the values behind the error, where a program needs them.
    pub fn details(&self) -> Option<&ErrorDetails> {
        self.inner.details.as_ref()
    }

    /// Whether the kind is [`ErrorKind::NotFound`].
    pub fn is_not_found(&self) -> bool {
        self.kind() == ErrorKind::NotFound
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.inner.what)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.inner
            .source
            .as_deref()
            .map(|s| s as &(dyn std::error::Error + 'static))
    }
}
