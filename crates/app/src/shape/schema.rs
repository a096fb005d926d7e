//! Definitions of shapes as data, from which documentation and schemas are generated.

/// The type of a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Schema {
    /// A string.
    Text,
    /// A time, RFC 3339 in UTC with milliseconds.
    Time,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// `true` or `false`.
    Bool,
    /// Any value, as a session has it.
    Any,
    /// The value, or `null` where it is not known.
    Nullable(Box<Schema>),
    /// The value; the member may be absent.
    Optional(Box<Schema>),
    /// An array.
    List(Box<Schema>),
    /// An object whose keys are data.
    Map(Box<Schema>),
    /// An object with a fixed list of members.
    Object(Box<ShapeDefinition>),
}

/// One shape.
#[derive(Debug, Clone, PartialEq)]
pub struct ShapeDefinition {
    /// Its name in generated types.
    pub name: &'static str,
    /// The value of `type`; none for a part of another shape.
    pub word: Option<&'static str>,
    /// What it is, a line each.
    pub doc: &'static [&'static str],
    /// Its members, after `v` and `type`.
    pub fields: Vec<ShapeField>,
}

/// One member of a shape.
#[derive(Debug, Clone, PartialEq)]
pub struct ShapeField {
    /// Its name in the JSON object.
    pub name: &'static str,
    /// What it means, a line each; nothing where its name says it.
    pub doc: &'static [&'static str],
    /// Its type.
    pub schema: Schema,
}
