//! Every address of the server as data: the description is generated from it.

/// One address.
#[derive(Debug)]
pub(super) struct Address {
    /// Method in lower case.
    pub(super) method: &'static str,
    /// Path with names in braces.
    pub(super) path: &'static str,
    /// Name of the operation.
    pub(super) name: &'static str,
    /// What it does.
    pub(super) summary: &'static str,
    /// Parameters of its query.
    pub(super) parameters: Vec<&'static str>,
    /// Members of its body; empty if it has none.
    pub(super) body: &'static str,
    /// Status of success.
    pub(super) status: &'static str,
    /// What it answers.
    pub(super) answer: Answered,
    /// Whether it needs no token.
    pub(super) is_open: bool,
}

/// What an address answers.
#[derive(Debug)]
pub(super) enum Answered {
    /// One shape.
    One(&'static str),
    /// A list of shapes, and the shape of its `page`.
    List(Vec<&'static str>, Option<&'static str>),
    /// An object without a shape, with these members.
    Object(&'static str),
    /// Server-sent events.
    Events,
    /// Bytes that are no JSON.
    Bytes,
}

fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split(" |").map(str::trim).collect())
}

/// Returns every address.
pub(super) fn addresses() -> Vec<Address> {
    rows(include_str!("addresses.txt"))
        .filter_map(|row| address(&row))
        .collect()
}

fn address(row: &[&'static str]) -> Option<Address> {
    let [
        place,
        name,
        summary,
        parameters,
        body,
        status,
        answer,
        rest @ ..,
    ] = row
    else {
        return None;
    };
    let (method, path) = place.split_once(' ')?;
    Some(Address {
        method,
        path,
        name,
        summary,
        parameters: parameters.split_whitespace().collect(),
        body,
        status,
        answer: answered(answer),
        is_open: rest.contains(&"open"),
    })
}

fn answered(text: &'static str) -> Answered {
    let (kind, rest) = text.split_once(' ').unwrap_or((text, ""));
    match kind {
        "one" => Answered::One(rest),
        "list" => {
            let (shapes, page) = rest.split_once(" + ").unwrap_or((rest, ""));
            let page = Some(page).filter(|page| !page.is_empty());
            Answered::List(shapes.split_whitespace().collect(), page)
        }
        "object" => Answered::Object(rest),
        "events" => Answered::Events,
        _ => Answered::Bytes,
    }
}

/// Returns name, type and meaning of every parameter.
pub(super) fn parameters() -> Vec<[&'static str; 3]> {
    rows(include_str!("parameters.txt"))
        .filter_map(|row| row.try_into().ok())
        .collect()
}
