//! Replays a log of operations on one document.
//!
//! The first line is the whole document, each other one a change at a path. Values that no
//! operation touches stay as they were written. Requests that an operation removes are kept aside:
//! the user took them back, and they can still be found.

use boswell_model::json::{Json, Raw, RawKind};

/// The document, and the requests that were removed: each with the number of requests before it.
#[derive(Debug, Default)]
pub(super) struct Replayed {
    pub(super) state: Option<Json>,
    pub(super) removed: Vec<(usize, Json)>,
}

/// What a line says of the document.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Applied {
    /// It changed the document.
    Changed,
    /// It is no operation, or its path leads nowhere.
    Nothing,
}

/// A step of a path.
enum Step {
    Key(String),
    Place(usize),
    Other,
}

impl Replayed {
    /// Applies one line.
    pub(super) fn apply(&mut self, line: Raw<'_>) -> Applied {
        let kind = line.get("kind").and_then(|it| it.u64());
        let value = line.get("v");
        let path: Vec<Step> = line
            .get("k")
            .into_iter()
            .flat_map(|it| it.items())
            .map(step)
            .collect();
        match (kind, value) {
            (Some(0), Some(value)) => {
                self.state = Some(Json::from(value));
                Applied::Changed
            }
            (Some(1), Some(value)) => self.set(&path, value),
            (Some(2), _) => {
                let at = line.get("i").and_then(|it| it.u64());
                self.push(&path, value, at.and_then(|at| usize::try_from(at).ok()))
            }
            (Some(3), _) => self.delete(&path),
            _ => Applied::Nothing,
        }
    }

    fn set(&mut self, path: &[Step], value: Raw<'_>) -> Applied {
        if is_requests(path) {
            let kept: Vec<Json> = value.items().map(Json::from).collect();
            self.keep_removed(0, &kept);
        }
        match self.place(path) {
            Some(place) => {
                *place = Json::from(value);
                Applied::Changed
            }
            None => Applied::Nothing,
        }
    }

    fn push(&mut self, path: &[Step], value: Option<Raw<'_>>, at: Option<usize>) -> Applied {
        let new: Vec<Json> = value
            .into_iter()
            .flat_map(|it| it.items())
            .map(Json::from)
            .collect();
        if let Some(at) = at.filter(|_| is_requests(path)) {
            self.keep_removed(at, &new);
        }
        let Some(Json::Array(items)) = self.place(path).map(opened) else {
            return Applied::Nothing;
        };
        if let Some(at) = at {
            items.truncate(at);
        }
        items.extend(new);
        Applied::Changed
    }

    fn delete(&mut self, path: &[Step]) -> Applied {
        let Some((last, parents)) = path.split_last() else {
            return Applied::Nothing;
        };
        let Some(parent) = self.place(parents).map(opened) else {
            return Applied::Nothing;
        };
        match (parent, last) {
            (Json::Object(members), Step::Key(key)) => {
                members.retain(|(name, _)| name != key);
                Applied::Changed
            }
            (Json::Array(items), Step::Place(at)) if *at < items.len() => {
                items.remove(*at);
                Applied::Changed
            }
            _ => Applied::Nothing,
        }
    }

    /// Keeps the requests from a place on, except those that come again.
    fn keep_removed(&mut self, from: usize, again: &[Json]) {
        let ids: Vec<String> = again.iter().filter_map(id_of).collect();
        let Some(Json::Array(items)) = self
            .state
            .as_mut()
            .and_then(|state| member(opened(state), "requests"))
            .map(opened)
        else {
            return;
        };
        let gone = items
            .iter()
            .enumerate()
            .skip(from)
            .filter(|(_, item)| id_of(item).is_some_and(|id| !ids.contains(&id)));
        let gone: Vec<(usize, Json)> = gone.map(|(at, item)| (at, item.clone())).collect();
        self.removed.extend(gone);
    }

    /// Returns the value at a path. A member that is missing is made, an item is not.
    fn place(&mut self, path: &[Step]) -> Option<&mut Json> {
        let mut value = self.state.as_mut()?;
        for step in path {
            value = match (opened(value), step) {
                (Json::Object(members), Step::Key(key)) => {
                    let at = members.iter().position(|(name, _)| name == key);
                    let at = at.unwrap_or_else(|| {
                        members.push((key.clone().into(), Json::Null));
                        members.len() - 1
                    });
                    members.get_mut(at).map(|(_, value)| value)?
                }
                (Json::Array(items), Step::Place(at)) => {
                    if *at == items.len() {
                        items.push(Json::Null);
                    }
                    items.get_mut(*at)?
                }
                _ => return None,
            };
        }
        Some(value)
    }
}

fn step(step: Raw<'_>) -> Step {
    match (step.text(), step.u64()) {
        (Some(key), _) => Step::Key(key.into_owned()),
        (None, Some(at)) => usize::try_from(at).map_or(Step::Other, Step::Place),
        (None, None) => Step::Other,
    }
}

fn is_requests(path: &[Step]) -> bool {
    matches!(path, [Step::Key(key)] if key == "requests")
}

/// Opens one level of a value that is still as it was written.
pub(super) fn opened(value: &mut Json) -> &mut Json {
    if let Json::Raw(bytes) = value {
        let raw = Raw::trusted(bytes);
        let open = match raw.kind() {
            RawKind::Object => Some(Json::Object(
                raw.members()
                    .map(|(key, value)| (key.to_text().into_owned().into(), Json::from(value)))
                    .collect(),
            )),
            RawKind::Array => Some(Json::Array(raw.items().map(Json::from).collect())),
            _ => None,
        };
        if let Some(open) = open {
            *value = open;
        }
    }
    value
}

/// Returns a member of an object.
pub(super) fn member<'v>(value: &'v mut Json, key: &str) -> Option<&'v mut Json> {
    match value {
        Json::Object(members) => members
            .iter_mut()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value),
        _ => None,
    }
}

fn id_of(request: &Json) -> Option<String> {
    let bytes = request.to_bytes();
    crate::members::text(Raw::trusted(&bytes), "requestId")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replayed(lines: &[&str]) -> Replayed {
        let mut out = Replayed::default();
        for line in lines {
            out.apply(Raw::parse(line.as_bytes()).unwrap());
        }
        out
    }

    #[test]
    fn operations_change_the_document_and_removed_requests_are_kept() {
        let out = replayed(&[
            r#"{"kind":0,"v":{"version":3,"requests":[{"requestId":"a","n":1.0}]}}"#,
            r#"{"kind":1,"k":["customTitle"],"v":"T"}"#,
            r#"{"kind":2,"k":["requests"],"v":[{"requestId":"b","response":[]}]}"#,
            r#"{"kind":2,"k":["requests",1,"response"],"v":[{"value":"x"}]}"#,
            r#"{"kind":2,"k":["requests"],"i":1,"v":[{"requestId":"c"}]}"#,
            r#"{"kind":3,"k":["version"]}"#,
        ]);
        assert_eq!(
            out.state.unwrap().to_string(),
            r#"{"requests":[{"requestId":"a","n":1.0},{"requestId":"c"}],"customTitle":"T"}"#
        );
        assert_eq!(out.removed.len(), 1);
        assert_eq!(
            (out.removed[0].0, out.removed[0].1.to_string()),
            (
                1,
                r#"{"requestId":"b","response":[{"value":"x"}]}"#.to_owned()
            )
        );
    }

    #[test]
    fn operations_that_lead_nowhere_change_nothing() {
        let mut out = replayed(&[r#"{"kind":0,"v":{"a":[1]}}"#]);
        for line in [
            r#"{"kind":1,"k":["a",7],"v":1}"#,
            r#"{"kind":2,"k":["a",0],"v":[1]}"#,
            r#"{"kind":1,"k":["a",0,"b"],"v":1}"#,
            r#"{"kind":9}"#,
            r#"{"kind":3,"k":[]}"#,
            r#"{"kind":1,"k":["a",99999999999],"v":1}"#,
        ] {
            let applied = out.apply(Raw::parse(line.as_bytes()).unwrap());
            assert_eq!(applied, Applied::Nothing, "{line}");
        }
        assert_eq!(out.state.unwrap().to_string(), r#"{"a":[1]}"#);
    }
}
