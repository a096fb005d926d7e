//! A session of a host as its line of JSON states it.

use std::ops::Range;

use boswell_model::json::{Raw, RawKind};
use boswell_model::{Instant, SessionRef};

/// A longer ref is none of an agent.
const LONGEST_REF: usize = 512;

/// A session of a host.
#[derive(Debug, Clone, PartialEq)]
pub struct HostRow {
    /// Name of the host.
    pub host: String,
    /// The session there.
    pub reference: SessionRef,
    /// As many characters of its id as name it and no other session of the host.
    pub short_id: String,
    /// Agents and the label of the store, in a few characters.
    pub agents: String,
    /// The agent that wrote it.
    pub agent: Option<String>,
    /// Name of the session.
    pub name: String,
    /// Title, summary and first prompt, as far as there are any.
    pub texts: Vec<String>,
    /// Project folder there.
    pub project: Option<String>,
    /// Its status.
    pub status: Option<String>,
    /// Git branch of the project.
    pub branch: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Models that were used.
    pub models: Vec<String>,
    /// When it was created.
    pub created: Option<Instant>,
    /// Time of the last entry.
    pub last_active: Option<Instant>,
    /// Messages of user and model.
    pub messages: Option<u64>,
    /// Size of its log.
    pub bytes: u64,
    /// Cost that the agent recorded.
    pub cost: Option<f64>,
    /// Whether it is pinned.
    pub pinned: bool,
    /// The command that resumes it there.
    pub(crate) resume: Option<CommandThere>,
    /// Its line of JSON, with the name of the host.
    pub line: Vec<u8>,
}

/// A command of a host, as boswell there states it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct CommandThere {
    pub(crate) argv: Vec<String>,
    pub(crate) cwd: Option<String>,
    /// Variables to set; `None` unsets one.
    pub(crate) env: Vec<(String, Option<String>)>,
}

impl HostRow {
    /// Returns the session as other requests name it: `HOST:DIALECT:ID`.
    pub fn full_name(&self) -> String {
        format!("{}:{}", self.host, self.reference)
    }

    /// Parses a line of type `session` that has the name of its host.
    pub(super) fn parse(line: Vec<u8>, host: &str) -> Option<HostRow> {
        let object = Raw::parse(&line).ok()?;
        let text = |key: &str| Some(object.get(key)?.text()?.into_owned());
        let reference = reference(&text("ref")?)?;
        if !object.get("type")?.is("session") || !text("hidden").unwrap_or_default().is_empty() {
            return None;
        }
        let time = |key: &str| Instant::parse(&text(key)?);
        let agent = text("agent");
        let texts = ["title", "summary", "first_prompt"];
        let links = object.get("links").map(|it| links(&it)).unwrap_or_default();
        Some(HostRow {
            host: host.to_owned(),
            short_id: reference.id.clone(),
            agents: agents(&reference, &links, text("store_label").as_deref()),
            agent,
            name: text("name")?,
            texts: texts.iter().filter_map(|key| text(key)).collect(),
            project: text("project"),
            status: text("status"),
            branch: text("git_branch"),
            tags: texts_of(object.get("tags")),
            models: texts_of(object.get("models")),
            created: time("created"),
            last_active: time("last_active"),
            messages: object.get("messages").and_then(|it| it.u64()),
            bytes: object.get("bytes").and_then(|it| it.u64()).unwrap_or(0),
            cost: object.get("cost_usd").and_then(|it| it.f64()),
            pinned: object.get("pinned").and_then(|it| it.bool()) == Some(true),
            resume: object.get("resume").and_then(|it| CommandThere::parse(&it)),
            reference,
            line,
        })
    }

    /// Whether a text in lower case occurs in what names the session.
    pub(super) fn has_text(&self, text: &str) -> bool {
        let has = |it: &str| it.to_lowercase().contains(text);
        has(&self.name)
            || self.texts.iter().chain(&self.tags).any(|it| has(it))
            || self.project.as_deref().is_some_and(has)
            || has(&self.reference.to_string())
    }
}

impl CommandThere {
    /// Parses the members `argv`, `cwd` and `env`.
    pub(super) fn parse(object: &Raw<'_>) -> Option<CommandThere> {
        let argv = texts_of(object.get("argv"));
        let env = object.get("env").map(|env| variables(&env));
        let command = CommandThere {
            argv,
            cwd: object
                .get("cwd")
                .and_then(|it| Some(it.text()?.into_owned())),
            env: env.unwrap_or_default(),
        };
        Some(command).filter(|it| !it.argv.is_empty())
    }
}

fn variables(env: &Raw<'_>) -> Vec<(String, Option<String>)> {
    let members = env.members();
    let members = members.map(|(name, value)| {
        let value = value.text().map(std::borrow::Cow::into_owned);
        (name.to_text().into_owned(), value)
    });
    members.filter(|(name, _)| is_variable(name)).collect()
}

/// Whether a shell can set a variable of this name.
fn is_variable(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(is_plain)
}

fn reference(text: &str) -> Option<SessionRef> {
    let (dialect, id) = text.split_once(':')?;
    let is_sane = !dialect.is_empty()
        && !id.is_empty()
        && text.len() <= LONGEST_REF
        && !text.chars().any(char::is_control);
    is_sane.then(|| SessionRef::new(dialect, id))
}

fn texts_of(list: Option<Raw<'_>>) -> Vec<String> {
    let Some(list) = list.filter(|it| it.kind() == RawKind::Array) else {
        return Vec::new();
    };
    let items = list.items();
    items
        .filter_map(|it| Some(it.text()?.into_owned()))
        .collect()
}

/// Dialects of the same conversation in other stores.
fn links(list: &Raw<'_>) -> Vec<String> {
    if list.kind() != RawKind::Array {
        return Vec::new();
    }
    let refs = list.items().filter_map(|link| {
        let reference = link.get("ref")?.text()?.into_owned();
        Some(reference.split(':').next()?.to_owned())
    });
    refs.collect()
}

fn agents(reference: &SessionRef, links: &[String], label: Option<&str>) -> String {
    let mut text = reference.dialect.clone();
    for link in links {
        text = format!("{text}+{link}");
    }
    match label {
        Some(label) => format!("{text}@{label}"),
        None => text,
    }
}

/// Shortens the ids of rows of one host, as far as each names no other.
pub(super) fn shorten(rows: &mut [HostRow]) {
    const LEAST: usize = 8;
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let lower = |row: &HostRow| row.reference.id.to_ascii_lowercase();
    order.sort_by_cached_key(|at| rows.get(*at).map(lower));
    let alike = |a: Option<&usize>, b: Option<&usize>| -> usize {
        let (Some(a), Some(b)) = (
            a.and_then(|at| rows.get(*at)),
            b.and_then(|at| rows.get(*at)),
        ) else {
            return 0;
        };
        let pairs = a.reference.id.chars().zip(b.reference.id.chars());
        pairs.take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count()
    };
    let lengths: Vec<(usize, usize)> = (0..order.len())
        .filter_map(|place| {
            let own = order.get(place);
            let before = place.checked_sub(1).and_then(|it| order.get(it));
            let shared = alike(own, before).max(alike(own, order.get(place + 1)));
            Some((*own?, LEAST.max(shared + 1)))
        })
        .collect();
    for (at, length) in lengths {
        if let Some(row) = rows.get_mut(at) {
            row.short_id = row.reference.id.chars().take(length).collect();
        }
    }
}

/// Parses byte ranges of a snippet; those that are not within it are left out.
pub(super) fn ranges(list: Option<Raw<'_>>, snippet: &str) -> Vec<Range<usize>> {
    let Some(list) = list.filter(|it| it.kind() == RawKind::Array) else {
        return Vec::new();
    };
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for pair in list.items().filter(|it| it.kind() == RawKind::Array) {
        let ends: Vec<usize> = pair
            .items()
            .filter_map(|it| usize::try_from(it.u64()?).ok())
            .collect();
        let [start, end] = ends.as_slice() else {
            continue;
        };
        let is_next = ranges.last().is_none_or(|last| last.end <= *start);
        if is_next && start < end && snippet.get(*start..*end).is_some() {
            ranges.push(*start..*end);
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str) -> HostRow {
        let line = format!(
            r#"{{"v":1,"type":"session","ref":"claude:{id}","name":"A","bytes":3,"tags":["x"],"links":[{{"ref":"myagents:1"}}],"resume":{{"argv":["claude","--resume","{id}"],"cwd":"/w","env":{{"CLAUDE_CONFIG_DIR":"/c","X":null,"a b":"c"}}}}}}"#
        );
        HostRow::parse(line.into_bytes(), "box").unwrap()
    }

    #[test]
    fn a_line_becomes_a_row() {
        let row = row("0123456789");
        assert_eq!(row.full_name(), "box:claude:0123456789");
        assert_eq!(row.agents, "claude+myagents");
        let resume = row.resume.unwrap();
        assert_eq!(resume.cwd.as_deref(), Some("/w"));
        let names: Vec<&str> = resume.env.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["CLAUDE_CONFIG_DIR", "X"]);
    }

    #[test]
    fn what_is_no_session_becomes_none() {
        for line in [
            r#"{"type":"page"}"#,
            r#"{"type":"session","ref":"x","name":"A"}"#,
            r#"{"type":"session","ref":"claude:a\u001b[2J","name":"A"}"#,
            r#"{"type":"session","ref":"claude:a","name":"A","hidden":"subagent"}"#,
            "garbage",
        ] {
            let parsed = HostRow::parse(line.as_bytes().to_vec(), "box");
            assert_eq!(parsed, None, "{line}");
        }
    }

    #[test]
    fn short_ids_name_one_session_of_the_host() {
        let mut rows = [row("aaaaaaaa-1"), row("aaaaaaaa-2"), row("bbbbbbbb-1")];
        shorten(&mut rows);
        let ids: Vec<&str> = rows.iter().map(|row| row.short_id.as_str()).collect();
        assert_eq!(ids, ["aaaaaaaa-1", "aaaaaaaa-2", "bbbbbbbb"]);
    }

    #[test]
    fn ranges_outside_of_the_snippet_are_left_out() {
        let list = Raw::parse(b"[[0,2],[1,3],[3,9],[2,3],\"x\",[5]]").unwrap();
        assert_eq!(ranges(Some(list), "abc"), [0..2, 2..3]);
        let list = Raw::parse("[[1,2]]".as_bytes()).unwrap();
        assert!(ranges(Some(list), "é").is_empty());
    }
}
