//! The JSON contract: the output of every face for programs, each shape defined once.
//!
//! A shape is a struct made by `shape!`: its members are the members of the JSON object, in that
//! order. The value, the table in `docs/cli.md` and the JSON Schema in `docs/schema.json` all come
//! from that one definition. Answers are written as [`Json`] and never through a general value
//! tree, so that number tokens, duplicate keys and lone surrogates of a session survive.

mod all;
mod entry;
mod error;
mod page;
mod render;
mod schema;
mod serving;
mod session;
mod typescript;

pub use all::all;
pub use entry::{
    BranchesPlace, EntryParts, EntryPlace, EntryShape, GapPlace, StartedSubagent, ToolShape,
    content,
};
pub use error::{ErrorShape, NoticeShape, reasons};
pub use page::{EntryRange, Page};
pub use render::{json_schema, markdown, pretty};
pub use schema::{HOST, Schema, ShapeDefinition, ShapeField};
pub use serving::{ProgressShape, ServingShape};
pub use session::{
    ImportedFile, LeftFile, LinkShape, ResumeShape, SessionShape, TokensShape, session,
};
pub(crate) use session::{conversation, usage_of};
pub use typescript::typescript;

use boswell_model::json::Json;
use boswell_model::{Instant, Remark};

/// A value of the contract, with a schema and a conversion to JSON.
pub trait ToJson {
    /// Returns the schema.
    fn schema() -> Schema;

    /// Converts the value; `None` if the member is omitted.
    fn to_json(self) -> Option<Json>;
}

/// A shape of the contract: an object with a fixed list of members.
pub trait Shape: ToJson + Sized {
    /// Returns the definition of the shape.
    fn definition() -> ShapeDefinition;

    /// Returns the object, for a line of `--json` or a part of another shape.
    fn object(self) -> Json {
        self.to_json().unwrap_or(Json::Null)
    }
}

/// A member that some answers have and others omit, because `null` would mean something else.
#[derive(Debug, Clone, Default)]
pub enum Maybe<T> {
    /// The member is present.
    Given(T),
    /// The member is omitted.
    #[default]
    Absent,
}

impl<T> From<Option<T>> for Maybe<T> {
    fn from(value: Option<T>) -> Maybe<T> {
        value.map_or(Maybe::Absent, Maybe::Given)
    }
}

/// Defines shapes: structs whose members are those of a JSON object.
///
/// `Name: "word"` is a shape that is written as a line, with `v` and `type` before its members, and
/// `host` behind them if another host sent it;
/// `Name` alone is a part of another shape. `member as "name"` sets a member name that is a keyword
/// of Rust.
macro_rules! shape {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident $(: $word:literal)? {
            $(
                $(#[doc = $member_doc:literal])*
                $member:ident $(as $renamed:literal)? : $type:ty,
            )*
        }
    )+) => {$(
        $(#[doc = $doc])+
        #[derive(Debug, Clone)]
        pub struct $name {
            $(
                $(#[doc = $member_doc])*
                pub $member: $type,
            )*
        }

        impl $crate::shape::Shape for $name {
            fn definition() -> $crate::shape::ShapeDefinition {
                $crate::shape::ShapeDefinition {
                    name: stringify!($name),
                    word: $crate::shape::first(&[$($word)?]),
                    doc: &[$($doc),+],
                    fields: vec![$($crate::shape::ShapeField {
                        name: $crate::shape::first(&[$($renamed,)? stringify!($member)])
                            .unwrap_or_default(),
                        doc: &[$($member_doc),*],
                        schema: <$type as $crate::shape::ToJson>::schema(),
                    }),*],
                }
            }
        }

        impl $crate::shape::ToJson for $name {
            fn schema() -> $crate::shape::Schema {
                $crate::shape::Schema::Object(Box::new(
                    <$name as $crate::shape::Shape>::definition(),
                ))
            }

            fn to_json(self) -> Option<boswell_model::json::Json> {
                let word: Option<&str> = $crate::shape::first(&[$($word)?]);
                let count = [$(stringify!($member)),*].len() + 2;
                let mut members = Vec::with_capacity(count);
                if let Some(word) = word {
                    members.push(("v".into(), boswell_model::json::Json::Int(1)));
                    members.push(("type".into(), word.into()));
                }
                $(
                    if let Some(value) = $crate::shape::ToJson::to_json(self.$member) {
                        let name = $crate::shape::first(&[$($renamed,)? stringify!($member)]);
                        members.push((name.unwrap_or_default().into(), value));
                    }
                )*
                Some(boswell_model::json::Json::Object(members))
            }
        }
    )+};
}
pub(crate) use shape;

/// Returns the first of some words, for use in macros.
pub(crate) fn first(words: &[&'static str]) -> Option<&'static str> {
    words.first().copied()
}

macro_rules! plain {
    ($($type:ty => $schema:expr;)*) => {$(
        impl ToJson for $type {
            fn schema() -> Schema {
                $schema
            }

            fn to_json(self) -> Option<Json> {
                Some(self.into())
            }
        }
    )*};
}

plain! {
    String => Schema::Text;
    &'static str => Schema::Text;
    bool => Schema::Bool;
    u32 => Schema::Integer;
    u64 => Schema::Integer;
    usize => Schema::Integer;
    i64 => Schema::Integer;
    f64 => Schema::Number;
    Json => Schema::Any;
}

/// A face first phrases the next step of the remark, with [`Remark::phrased`].
impl ToJson for Remark {
    fn schema() -> Schema {
        Schema::Text
    }

    fn to_json(self) -> Option<Json> {
        Some(self.text.into())
    }
}

impl ToJson for Instant {
    fn schema() -> Schema {
        Schema::Time
    }

    fn to_json(self) -> Option<Json> {
        Some(self.to_rfc3339().into())
    }
}

impl<T: ToJson> ToJson for Option<T> {
    fn schema() -> Schema {
        Schema::Nullable(Box::new(T::schema()))
    }

    fn to_json(self) -> Option<Json> {
        Some(self.and_then(T::to_json).unwrap_or(Json::Null))
    }
}

impl<T: ToJson> ToJson for Maybe<T> {
    fn schema() -> Schema {
        Schema::Optional(Box::new(T::schema()))
    }

    fn to_json(self) -> Option<Json> {
        match self {
            Maybe::Given(value) => value.to_json(),
            Maybe::Absent => None,
        }
    }
}

impl<T: ToJson> ToJson for Vec<T> {
    fn schema() -> Schema {
        Schema::List(Box::new(T::schema()))
    }

    fn to_json(self) -> Option<Json> {
        Some(Json::Array(
            self.into_iter().filter_map(T::to_json).collect(),
        ))
    }
}

/// An object whose keys are data, in insertion order.
#[derive(Debug, Clone, Default)]
pub struct Map<T>(pub Vec<(String, T)>);

impl<T> FromIterator<(String, T)> for Map<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(members: I) -> Map<T> {
        Map(members.into_iter().collect())
    }
}

impl<T: ToJson> ToJson for Map<T> {
    fn schema() -> Schema {
        Schema::Map(Box::new(T::schema()))
    }

    fn to_json(self) -> Option<Json> {
        let members = self.0.into_iter();
        Some(Json::Object(
            members
                .filter_map(|(key, value)| Some((key.into(), value.to_json()?)))
                .collect(),
        ))
    }
}

#[cfg(test)]
mod tests;
