//! The languages of the packages: how members are spelt, and how a call is written.

/// The language of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Python: `stop_reason`, `store.writer(id, wait=10)`.
    Python,
    /// JavaScript: `stopReason`, `store.writer(id, { wait: 10_000 })`.
    JavaScript,
}

impl Language {
    /// Returns a member that is given in snake case as the language spells it.
    pub fn member(self, snake: &str) -> String {
        if self == Language::Python {
            return snake.to_owned();
        }
        let mut words = snake.split('_');
        let mut name = words.next().unwrap_or_default().to_owned();
        for word in words {
            let mut letters = word.chars();
            name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
            name.push_str(letters.as_str());
        }
        name
    }

    /// Returns the page that describes the package.
    pub fn page(self) -> &'static str {
        match self {
            Language::Python => "docs/python.md",
            Language::JavaScript => "docs/node.md",
        }
    }

    /// Returns how the language writes an object with a member.
    pub(crate) fn object(self, members: &[(&str, &str)]) -> String {
        let members: Vec<String> = members
            .iter()
            .map(|(key, value)| match self {
                Language::Python => format!("\"{key}\": {value}"),
                Language::JavaScript => format!("{key}: {value}"),
            })
            .collect();
        match self {
            Language::Python => format!("{{{}}}", members.join(", ")),
            Language::JavaScript => format!("{{ {} }}", members.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_spelt_as_the_language_spells_them() {
        assert_eq!(Language::Python.member("stop_reason"), "stop_reason");
        assert_eq!(Language::JavaScript.member("stop_reason"), "stopReason");
        assert_eq!(Language::JavaScript.member("role"), "role");
        let message = [("role", "\"user\""), ("content", "\"…\"")];
        assert_eq!(
            Language::Python.object(&message),
            "{\"role\": \"user\", \"content\": \"…\"}"
        );
        assert_eq!(
            Language::JavaScript.object(&message),
            "{ role: \"user\", content: \"…\" }"
        );
    }
}
