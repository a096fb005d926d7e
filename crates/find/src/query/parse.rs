//! Parses the query language: words, `"phrases"`, `prefix*`, `!negation` and `key:value` filters.
//!
//! Text with a colon that does not look like a filter (`std::fs`, `http://x`, `12:30`) is a word; a
//! misspelt filter is an error instead of a search without results.

use boswell_model::{Advice, Error, ErrorKind, Instant, Result};

use super::{Clause, Filters, Query};
use crate::normalize::fold;
use crate::time_zone::TimeZone;

const FILTERS: [&str; 9] = [
    "agent", "project", "role", "tool", "file", "tag", "model", "since", "until",
];
const ROLES: [&str; 6] = ["user", "assistant", "tool", "shell", "system", "context"];

/// The time of the request, and the zone of the user.
type Now<'n> = (Instant, &'n TimeZone);

pub(super) fn query(text: &str, now: Option<Now<'_>>) -> Result<Query> {
    let mut clauses: Vec<Clause> = Vec::new();
    let mut filters = Filters::default();
    for part in parts(text)? {
        if let Part::Bare(word) = &part
            && let Some((key, value)) = filter(word)?
        {
            set(&mut filters, key, value, now)?;
            continue;
        }
        let clause = match part {
            Part::Filter(key, value) => {
                set(&mut filters, &key, &value, now)?;
                continue;
            }
            Part::Bare(word) => word_clause(&word),
            Part::Quoted { text, negated } => {
                phrase(&text).map(|clause| if negated { clause.negated() } else { clause })
            }
        };
        clauses.extend(clause.filter(|clause| !clauses.contains(clause)));
    }
    if clauses.is_empty() && filters == Filters::default() {
        return Err(empty());
    }
    Ok(Query::of(clauses, filters))
}

pub(super) fn substring(text: &str) -> Result<Query> {
    let folded = fold(text);
    if folded.is_empty() {
        return Err(empty());
    }
    Ok(Query::of(vec![Clause::text(folded)], Filters::default()))
}

fn empty() -> Error {
    Error::new(ErrorKind::Invalid, "the query is empty").advising(Advice::SearchWord)
}

enum Part {
    Bare(String),
    Quoted { text: String, negated: bool },
    Filter(String, String),
}

/// Splits at white space outside of quotes. A quote may follow `!` or the colon of a filter; inside
/// quotes `\"` is a literal quote.
fn parts(text: &str) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or(rest);
        let opening = match word.find('"') {
            Some(at) if quote_may_follow(word.get(..at).unwrap_or("")) => at,
            _ => {
                parts.push(Part::Bare(word.to_owned()));
                rest = rest.get(end..).unwrap_or("").trim_start();
                continue;
            }
        };
        let (quoted, after) = quoted(rest, opening)?;
        match word.get(..opening).unwrap_or("") {
            "" => parts.push(Part::Quoted {
                text: quoted,
                negated: false,
            }),
            "!" => parts.push(Part::Quoted {
                text: quoted,
                negated: true,
            }),
            key => parts.push(Part::Filter(key.trim_end_matches(':').to_owned(), quoted)),
        }
        rest = rest.get(after..).unwrap_or("").trim_start();
    }
    Ok(parts)
}

fn quote_may_follow(before: &str) -> bool {
    before.is_empty()
        || before == "!"
        || before
            .strip_suffix(':')
            .is_some_and(|key| FILTERS.contains(&key))
}

/// Returns the text between the quote at `opening` and the next one, and the position after it.
fn quoted(text: &str, opening: usize) -> Result<(String, usize)> {
    let mut out = String::new();
    let mut chars = text
        .get(opening + 1..)
        .unwrap_or("")
        .char_indices()
        .peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((out, opening + 1 + at + 1)),
            '\\' if chars.peek().is_some_and(|(_, next)| *next == '"') => {
                chars.next();
                out.push('"');
            }
            _ => out.push(c),
        }
    }
    Err(Error::new(
        ErrorKind::Invalid,
        "the query has a quote that is not closed",
    )
    .advising(Advice::from("close it").or(Advice::SearchSubstring)))
}

/// Returns key and value of a filter; `None` for ordinary text, and an error for a key that does
/// not exist.
fn filter(word: &str) -> Result<Option<(&str, &str)>> {
    let Some((key, value)) = word.split_once(':') else {
        return Ok(None);
    };
    if FILTERS.contains(&key) && !value.is_empty() {
        return Ok(Some((key, value)));
    }
    // Only a lower-case key with a value that begins with a letter or digit is taken as a misspelt
    // filter; ports (`localhost:8080`) and times are text.
    let like_a_filter = !key.is_empty()
        && key.len() <= 20
        && key.bytes().all(|b| b.is_ascii_lowercase())
        && value.starts_with(|c: char| c.is_alphanumeric())
        && !value.bytes().all(|b| b.is_ascii_digit() || b == b':');
    if !like_a_filter {
        return Ok(None);
    }
    Err(
        Error::new(ErrorKind::Invalid, format!("there is no filter `{key}:`"))
            .because(format!(
                "the filters are {}",
                FILTERS.map(|name| format!("{name}:")).join(" ")
            ))
            .advising(format!(
                "to search for the text itself put it in quotes: `\"{word}\"`"
            )),
    )
}

fn set(filters: &mut Filters, key: &str, value: &str, now: Option<Now<'_>>) -> Result<()> {
    let folded = fold(value);
    match key {
        "agent" => filters.agents.push(folded),
        "project" => filters.projects.push(folded),
        "tool" => filters.tools.push(folded),
        "file" => filters.files.push(folded),
        "tag" => filters.tags.push(folded),
        "model" => filters.models.push(folded),
        "role" if ROLES.contains(&folded.as_str()) => filters.roles.push(folded),
        "role" => {
            return Err(
                Error::new(ErrorKind::Invalid, format!("there is no role `{value}`"))
                    .because(format!("the roles are {}", ROLES.join(" "))),
            );
        }
        "since" => filters.since = Some(date(value, now, Bound::Start)?),
        _ => filters.until = Some(date(value, now, Bound::End)?),
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq)]
enum Bound {
    Start,
    End,
}

const DAY: i64 = 86_400_000;

/// Parses a date, an instant, `today`, `yesterday`, or a number of `h`, `d`, `w` before `now`. A
/// day as an end bound means its last millisecond.
fn date(text: &str, now: Option<Now<'_>>, bound: Bound) -> Result<Instant> {
    let utc = TimeZone::utc();
    let zone = now.map_or(&utc, |(_, zone)| zone);
    let whole_day = |at: Instant| match bound {
        Bound::Start => zone.midnight(at, 0),
        Bound::End => Instant::from_millis(zone.midnight(at, 1).millis() - 1),
    };
    let found = match (text, now) {
        ("today", Some((now, _))) => Some(whole_day(now)),
        ("yesterday", Some((now, _))) => Some(whole_day(zone.midnight(now, -1))),
        _ => back(text, now),
    };
    let stated = || {
        zone.parse(text).map(|at| {
            if text.trim().len() == 10 {
                whole_day(at)
            } else {
                at
            }
        })
    };
    found.or_else(stated).ok_or_else(|| {
        Error::new(
            ErrorKind::Invalid,
            format!("`{}` is not a valid date", text.escape_debug()),
        )
        .advising("write 2026-01-31, 2026-01-31T12:00:00Z, today, yesterday, 12h, 7d or 2w")
    })
}

fn back(text: &str, now: Option<Now<'_>>) -> Option<Instant> {
    let unit = match text.chars().last()? {
        'h' => DAY / 24,
        'd' => DAY,
        'w' => 7 * DAY,
        _ => return None,
    };
    let count: i64 = text
        .get(..text.len() - 1)?
        .parse()
        .ok()
        .filter(|count| (0..1_000_000).contains(count))?;
    now.map(|(now, _)| Instant::from_millis(now.millis() - count * unit))
}

fn word_clause(word: &str) -> Option<Clause> {
    let (word, negated) = match word.strip_prefix('!') {
        Some(rest) if !rest.is_empty() => (rest, true),
        _ => (word, false),
    };
    let clause = match word.strip_suffix('*') {
        Some(prefix) if prefix.chars().any(char::is_alphanumeric) => Clause::prefix(fold(prefix)),
        _ => {
            let folded = fold(word);
            (!folded.is_empty()).then(|| Clause::text(folded))?
        }
    };
    Some(if negated { clause.negated() } else { clause })
}

fn phrase(text: &str) -> Option<Clause> {
    let folded = fold(text);
    let parts: Vec<String> = folded.split_whitespace().map(str::to_owned).collect();
    match parts.len() {
        0 => None,
        1 => parts.into_iter().next().map(Clause::text),
        _ => Some(Clause::phrase(parts)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fault(text: &str) -> Error {
        query(text, None).unwrap_err()
    }

    #[test]
    fn words_phrases_prefixes_and_negations_become_clauses() {
        let query = query(
            r#"Dead lock* !"not  this" "one two" "single" !gone std::fs "#,
            None,
        )
        .unwrap();
        let shown: Vec<String> = query.clauses.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "dead",
                "lock*",
                "!\"not this\"",
                "\"one two\"",
                "single",
                "!gone",
                "std::fs"
            ]
        );
    }

    #[test]
    fn filters_are_read_and_everything_else_with_a_colon_is_text() {
        let parsed = query(
            r#"agent:Claude project:"my app" role:user tool:Bash file:main.rs tag:x model:opus"#,
            None,
        )
        .unwrap();
        assert!(parsed.clauses.is_empty());
        assert_eq!(parsed.filters.agents, ["claude"]);
        assert_eq!(parsed.filters.projects, ["my app"]);
        for text in [
            "error:",
            "http://x",
            "std::fs",
            "TypeError:x",
            "localhost:8080",
            "a:",
            ":b",
            "12:30",
        ] {
            assert_eq!(query(text, None).unwrap().clauses.len(), 1, "{text}");
        }
    }

    #[test]
    fn dates_are_read_in_every_form() {
        let utc = TimeZone::utc();
        let now = Instant::parse("2026-11-15T12:00:00Z").map(|now| (now, &utc));
        for (text, at) in [
            ("since:2026-01-31", "2026-01-31T00:00:00.000Z"),
            ("since:7d", "2026-11-08T12:00:00.000Z"),
            ("since:yesterday", "2026-11-14T00:00:00.000Z"),
            ("since:2026-01-31T10:00:00Z", "2026-01-31T10:00:00.000Z"),
        ] {
            assert_eq!(
                query(text, now)
                    .unwrap()
                    .filters
                    .since
                    .unwrap()
                    .to_rfc3339(),
                at,
                "{text}"
            );
        }
        let until = query("until:2026-01-31", now)
            .unwrap()
            .filters
            .until
            .unwrap();
        assert_eq!(until.to_rfc3339(), "2026-01-31T23:59:59.999Z");
    }

    #[test]
    fn wrong_queries_say_what_is_wrong_and_what_to_do() {
        for (text, words) in [
            ("", "the query is empty"),
            ("   ", "the query is empty"),
            ("\"open", "quote that is not closed"),
            ("agnt:claude", "no filter `agnt:`"),
            ("since:tomorrow", "`tomorrow` is not a valid date"),
            ("until:2026-02-30", "is not a valid date"),
            ("role:boss", "no role `boss`"),
        ] {
            let error = fault(text);
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert!(error.to_string().contains(words), "{text}: {error}");
            assert!(
                error.advice().is_some() || error.reason().is_some(),
                "{text}"
            );
        }
    }

    #[test]
    fn long_queries_are_read() {
        let long = "lorem \"ip sum\" !dolor* ".repeat(500);
        assert!(long.len() > 10_000);
        assert_eq!(query(&long, None).unwrap().clauses.len(), 3);
    }

    proptest! {
        #[test]
        fn no_query_panics(text in "[\"!*:a-z会\\\\ \\PC]{0,60}") {
            let _ = query(&text, Some((Instant::from_millis(0), &TimeZone::utc())));
        }
    }
}
