//! The one error of all crates: what happened, why, and what to do next.

use std::fmt;

/// The result of anything that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Tells the caller what can be done about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no such thing.
    NotFound,
    /// Somebody else holds it; try again.
    Busy,
    /// It changed since you looked.
    Conflict,
    /// The request makes no sense.
    Invalid,
    /// This dialect or store cannot do that.
    Unsupported,
    /// The system does not allow it.
    Denied,
    /// The data needed for it is damaged.
    Damaged,
    /// It was written by a newer version.
    TooNew,
    /// The disk is full.
    NoSpace,
    /// The place cannot be reached; try again.
    Unavailable,
    /// A defect of ours.
    Internal,
}

impl ErrorKind {
    /// The kind as one lower-case word, as it stands in JSON.
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

/// What happened to what, why, and what to do next. The text names the object and
/// never repeats its source.
#[derive(Debug)]
pub struct Error {
    inner: Box<Inner>,
}

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    what: String,
    because: Option<String>,
    hint: Option<String>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error of a kind, with one lower-case sentence about what happened to what.
    pub fn new(kind: ErrorKind, what: impl Into<String>) -> Self {
        Error {
            inner: Box::new(Inner {
                kind,
                what: what.into(),
                because: None,
                hint: None,
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

    /// Adds the next step, as a command to copy where there is one.
    #[must_use]
    pub fn hinting(mut self, hint: impl Into<String>) -> Self {
        self.inner.hint = Some(hint.into());
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

    /// An input or output error at a path; its kind follows from the system's.
    pub fn io(path: impl fmt::Display, doing: &str, source: std::io::Error) -> Self {
        use std::io::ErrorKind as Io;
        let kind = match source.kind() {
            Io::NotFound => ErrorKind::NotFound,
            Io::PermissionDenied | Io::ReadOnlyFilesystem => ErrorKind::Denied,
            Io::StorageFull | Io::QuotaExceeded => ErrorKind::NoSpace,
            Io::WouldBlock | Io::ResourceBusy => ErrorKind::Busy,
            Io::InvalidInput | Io::InvalidFilename | Io::NotADirectory | Io::IsADirectory => {
                ErrorKind::Invalid
            }
            _ => ErrorKind::Unavailable,
        };
        Error::new(kind, format!("cannot {doing} `{path}`")).caused_by(source)
    }

    /// What can be done about it.
    pub fn kind(&self) -> ErrorKind {
        self.inner.kind
    }

    /// Why it happened, beyond its source.
    pub fn reason(&self) -> Option<&str> {
        self.inner.because.as_deref()
    }

    /// The next step.
    pub fn hint(&self) -> Option<&str> {
        self.inner.hint.as_deref()
    }

    /// Whether the thing asked for does not exist.
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
