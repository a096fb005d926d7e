//! Parameters of a query: each is known, given once and well formed.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use boswell_app::list::SessionFilter;

use crate::problem::Problem;

/// The parameters of a request. A parameter that no handler asked for is an error: a misspelt
/// filter must not select everything.
#[derive(Debug, Default)]
pub(crate) struct Params {
    given: BTreeMap<String, String>,
    asked: Mutex<Vec<&'static str>>,
}

type Parsed<T> = std::result::Result<T, Problem>;

impl Params {
    /// Parses a query.
    pub(crate) fn parse(query: &str) -> Parsed<Params> {
        let mut given = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            if value.contains('\0') {
                return Err(Problem::invalid(format!(
                    "`{}` contains NUL",
                    name.escape_debug()
                )));
            }
            let name = name.into_owned();
            if given.insert(name.clone(), value.into_owned()).is_some() {
                let what = format!("the parameter `{}` is there twice", name.escape_debug());
                return Err(Problem::invalid(what));
            }
        }
        Ok(Params {
            given,
            asked: Mutex::default(),
        })
    }

    fn ask(&self, name: &'static str) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.push(name);
    }

    /// Returns a text.
    pub(crate) fn text(&self, name: &'static str) -> Option<String> {
        self.ask(name);
        self.given.get(name).cloned().filter(|it| !it.is_empty())
    }

    /// Returns a list of words, separated by commas.
    pub(crate) fn words(&self, name: &'static str) -> Vec<String> {
        let text = self.text(name).unwrap_or_default();
        let words = text.split(',').map(str::trim);
        words
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// Returns a number.
    pub(crate) fn number(&self, name: &'static str) -> Parsed<Option<usize>> {
        let wrong = |text: &str| {
            Problem::invalid(format!("`{name}={}` is not a number", text.escape_debug()))
        };
        let text = self.text(name);
        text.map(|text| text.parse().map_err(|_| wrong(&text)))
            .transpose()
    }

    /// Returns a number with a default and a maximum.
    pub(crate) fn limit(&self, name: &'static str, default: usize, most: usize) -> Parsed<usize> {
        match self.number(name)? {
            Some(number) if number > most => Err(Problem::invalid(format!(
                "`{name}={number}` is more than {most}"
            ))
            .hinting(format!("use at most {most}, and the cursor of each page"))),
            number => Ok(number.unwrap_or(default)),
        }
    }

    /// Returns whether a switch is on: `1`, `true`, or the name alone.
    pub(crate) fn switch(&self, name: &'static str) -> Parsed<bool> {
        self.ask(name);
        match self.given.get(name).map(String::as_str) {
            None | Some("0" | "false") => Ok(false),
            Some("" | "1" | "true") => Ok(true),
            Some(other) => {
                let what = format!("`{name}={}` is neither 1 nor 0", other.escape_debug());
                Err(Problem::invalid(what))
            }
        }
    }

    /// Returns one of some words; the first is the default.
    pub(crate) fn one_of<T: Copy>(
        &self,
        name: &'static str,
        words: &[(&'static str, T)],
        default: T,
    ) -> Parsed<T> {
        let Some(text) = self.text(name) else {
            return Ok(default);
        };
        let found = words.iter().find(|(word, _)| *word == text);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            Problem::invalid(format!("`{name}={}` is not known", text.escape_debug()))
                .hinting(format!("use one of: {}", known.join(", ")))
        })
    }

    /// Returns the filters that lists, searches and statistics share.
    pub(crate) fn filter(&self) -> SessionFilter {
        SessionFilter {
            agent: self.text("agent"),
            project: self.text("project"),
            here: false,
            status: self.text("status"),
            tag: self.text("tag"),
            branch: self.text("branch"),
            model: self.text("model"),
            since: self.text("since"),
            until: self.text("until"),
        }
    }

    /// Fails if there is a parameter that was not asked for.
    pub(crate) fn end(&self) -> Parsed<()> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let unknown = self.given.keys().find(|it| !asked.contains(&it.as_str()));
        match unknown {
            None => Ok(()),
            Some(name) => {
                let what = format!("there is no parameter `{}` here", name.escape_debug());
                let hint = match asked.is_empty() {
                    true => "this address takes no parameters".to_owned(),
                    false => format!("known are: {}", asked.join(", ")),
                };
                Err(Problem::invalid(what).hinting(hint))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_or_doubled_parameter_is_refused() {
        let params = Params::parse("limit=5&agnet=claude").unwrap();
        assert_eq!(params.limit("limit", 50, 500).unwrap(), 5);
        assert!(params.end().is_err(), "agnet");
        assert!(Params::parse("limit=5&limit=6").is_err());
        assert!(Params::parse("q=a%00b").is_err());
        let params = Params::parse("limit=501").unwrap();
        assert!(params.limit("limit", 50, 500).is_err());
    }

    #[test]
    fn a_switch_is_on_by_its_name_alone() {
        let params = Params::parse("hidden&raw=0").unwrap();
        assert!(params.switch("hidden").unwrap());
        assert!(!params.switch("raw").unwrap());
        assert!(params.end().is_ok());
    }
}
