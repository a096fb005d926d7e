//! Arguments of a tool call.

use boswell_model::{Error, ErrorKind, Result};
use rmcp::model::JsonObject;
use serde_json::Value;

/// The longest text of an argument.
const LONGEST: usize = 4_096;

/// The arguments of a call, with messages that say what is wrong with them.
#[derive(Debug, Default)]
pub(crate) struct Arguments(JsonObject);

impl From<Option<JsonObject>> for Arguments {
    fn from(members: Option<JsonObject>) -> Arguments {
        Arguments(members.unwrap_or_default())
    }
}

impl Arguments {
    /// Fails for a name that the tool does not have: a misspelt filter would be ignored.
    pub(crate) fn only(&self, known: &[&str]) -> Result<()> {
        match self.0.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(_) => Err(wrong(&format!(
                "there is an argument that is none of: {}",
                known.join(", ")
            ))),
        }
    }

    /// A text, if it is there. Empty texts and `null` are not.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.len() > LONGEST => {
                Err(wrong(&format!("`{name}` is longer than {LONGEST} bytes")))
            }
            Some(Value::String(text)) => Ok(Some(text.clone()).filter(|it| !it.trim().is_empty())),
            Some(_) => Err(wrong(&format!("`{name}` is not a string"))),
        }
    }

    /// A text that must be there.
    pub(crate) fn needed(&self, name: &str) -> Result<String> {
        let text = self.text(name)?;
        text.ok_or_else(|| wrong(&format!("`{name}` is missing")))
    }

    /// A number between two bounds; `default` if it is not there.
    pub(crate) fn number(
        &self,
        name: &str,
        default: usize,
        (least, most): (usize, usize),
    ) -> Result<usize> {
        let number = match self.0.get(name) {
            None | Some(Value::Null) => return Ok(default),
            Some(Value::String(text)) => text.trim().parse::<u64>().ok(),
            Some(value) => value.as_u64(),
        };
        let number = number.and_then(|number| usize::try_from(number).ok());
        // A model that asks for too much gets the most there is.
        number
            .map(|number| number.clamp(least, most))
            .ok_or_else(|| wrong(&format!("`{name}` is not a number from {least} to {most}")))
    }

    /// One of some words; the first if it is not there.
    pub(crate) fn word<'w>(&self, name: &str, known: &[&'w str]) -> Result<&'w str> {
        let first = known.first().copied().unwrap_or_default();
        let Some(text) = self.text(name)? else {
            return Ok(first);
        };
        let found = known.iter().copied().find(|word| *word == text.trim());
        found.ok_or_else(|| wrong(&format!("`{name}` is none of: {}", known.join(", "))))
    }
}

/// The error of an argument. Its text is our own.
pub(crate) fn wrong(what: &str) -> Error {
    Error::new(ErrorKind::Invalid, what.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arguments(value: Value) -> Arguments {
        Arguments::from(value.as_object().cloned())
    }

    #[test]
    fn numbers_are_clamped_and_other_values_refused() {
        let it = arguments(json!({"a": 5, "b": "7", "c": 900, "d": -1, "e": "x", "f": null}));
        assert_eq!(it.number("a", 3, (1, 20)).unwrap(), 5);
        assert_eq!(it.number("b", 3, (1, 20)).unwrap(), 7);
        assert_eq!(it.number("c", 3, (1, 20)).unwrap(), 20);
        assert_eq!(it.number("f", 3, (1, 20)).unwrap(), 3);
        assert!(it.number("d", 3, (1, 20)).is_err());
        assert!(it.number("e", 3, (1, 20)).is_err());
    }

    #[test]
    fn unknown_names_and_missing_texts_are_refused() {
        let it = arguments(json!({"query": " ", "other": 1}));
        assert!(it.only(&["query"]).is_err());
        assert!(it.only(&["query", "other"]).is_ok());
        assert!(it.needed("query").is_err());
        assert!(it.text("other").is_err());
        assert_eq!(it.word("tools", &["summary", "off"]).unwrap(), "summary");
    }
}
