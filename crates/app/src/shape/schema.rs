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
    /// Any JSON value, copied from a session.
    Any,
    /// The value, or `null` if it is unknown.
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

/// The member of every line that another host sent, besides those of its shape.
pub const HOST: ShapeField = ShapeField {
    name: "host",
    doc: &["the host that the line is of; absent for this machine"],
    schema: Schema::Text,
};

/// One shape.
#[derive(Debug, Clone, PartialEq)]
pub struct ShapeDefinition {
    /// Name in generated types.
    pub name: &'static str,
    /// The value of `type`; `None` for a part of another shape.
    pub word: Option<&'static str>,
    /// Description, one item per line.
    pub doc: &'static [&'static str],
    /// The members, after `v` and `type`.
    pub fields: Vec<ShapeField>,
}

/// One member of a shape.
#[derive(Debug, Clone, PartialEq)]
pub struct ShapeField {
    /// Name in the JSON object.
    pub name: &'static str,
    /// Description, one item per line; empty if the name is sufficient.
    pub doc: &'static [&'static str],
    /// Type of the value.
    pub schema: Schema,
}
