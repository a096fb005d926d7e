//! Ids of sessions and entries: two types, so that one is not passed for the other.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use crate::json::Json;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        // As a string: ids appear in messages and in the output of tests.
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                $name(id.into())
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                $name(id.into())
            }
        }

        impl From<&String> for $name {
            fn from(id: &String) -> Self {
                id.as_str().into()
            }
        }

        impl From<Arc<str>> for $name {
            fn from(id: Arc<str>) -> Self {
                $name(id)
            }
        }

        // Methods take `impl Into`, so that an id is passed by reference or as text.
        impl From<&$name> for $name {
            fn from(id: &$name) -> Self {
                id.clone()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.as_str().to_owned()
            }
        }

        impl From<&$name> for Json {
            fn from(id: &$name) -> Self {
                id.as_str().into()
            }
        }

        impl From<$name> for Json {
            fn from(id: $name) -> Self {
                id.as_str().into()
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.as_str() == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.as_str() == *other
            }
        }

        impl PartialEq<String> for $name {
            fn eq(&self, other: &String) -> bool {
                self.as_str() == other
            }
        }

        impl PartialEq<$name> for str {
            fn eq(&self, other: &$name) -> bool {
                self == other.as_str()
            }
        }

        impl PartialEq<$name> for &str {
            fn eq(&self, other: &$name) -> bool {
                *self == other.as_str()
            }
        }

        impl PartialEq<$name> for String {
            fn eq(&self, other: &$name) -> bool {
                self == other.as_str()
            }
        }
    };
}

id!(
    /// The id of a session in its dialect. Cheap to clone.
    ///
    /// ```
    /// use boswell_model::{EntryId, SessionId};
    ///
    /// let session = SessionId::from("2026-01-31");
    /// assert_eq!(session, "2026-01-31");
    /// assert_eq!(format!("{session}"), session.as_str());
    /// let known = std::collections::HashSet::from([session]);
    /// assert!(known.contains("2026-01-31"));
    /// ```
    ///
    /// ```compile_fail
    /// # use boswell_model::{EntryId, SessionId};
    /// let session: SessionId = EntryId::from("a1b2c3d4").into();
    /// ```
    SessionId
);
id!(
    /// The id of an entry in its session, or `#line` where the format gives it none. Cheap to
    /// clone.
    EntryId
);
