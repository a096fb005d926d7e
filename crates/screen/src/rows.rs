//! Sessions and hits as the finder shows them, and the search in names.
//!
//! Text of sessions is made harmless here, once, before any view sees it.

use boswell_app::hosts::HostRow;
use boswell_app::known_sessions::ConversationRow;
use boswell_app::list::SessionRow;
use boswell_app::search::HitShape;
use boswell_app::text::{escape, one_line};
use boswell_app::time::{self, TimeZone};
use boswell_model::Instant;
use memchr::memmem::Finder;

/// A session of the list.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Row {
    /// Reference of the session, by which it is requested.
    pub(crate) session: String,
    /// The host that it is on; `None` for this machine.
    pub(crate) host: Option<String>,
    /// References of the same conversation in other stores.
    pub(crate) linked: Vec<String>,
    /// Agents, in a few characters.
    pub(crate) agent: String,
    pub(crate) name: String,
    /// Project folder as it is; harmless only after `one_line`.
    pub(crate) project: Option<String>,
    pub(crate) branch: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) models: Vec<String>,
    /// Name, prompts, project, tags and id in lower case.
    pub(crate) searched: String,
    pub(crate) active: Option<Instant>,
    pub(crate) messages: Option<u64>,
    pub(crate) cost: Option<f64>,
    pub(crate) bytes: u64,
    pub(crate) pinned: bool,
    pub(crate) archived: bool,
    pub(crate) damaged: bool,
}

impl Row {
    /// Converts a row of the catalog.
    pub(crate) fn known(row: &ConversationRow) -> Row {
        let front = &row.front;
        let mut searched = vec![row.name.clone()];
        for side in row.sides() {
            searched.extend(side.texts().cloned());
            searched.extend(side.tags.iter().cloned());
            searched.push(side.reference.to_string());
        }
        Row {
            session: front.reference.to_string(),
            host: None,
            linked: row
                .linked
                .iter()
                .map(|it| it.reference.to_string())
                .collect(),
            agent: one_line(&row.agents),
            name: one_line(&row.name),
            project: front.project.clone(),
            branch: front.git_branch.as_deref().map(one_line),
            tags: front.tags.clone(),
            models: row.sides().flat_map(|it| it.models.clone()).collect(),
            searched: searched.join("\n").to_lowercase(),
            active: row.last_active,
            messages: row.messages,
            cost: row.cost,
            bytes: row.bytes,
            pinned: row.pinned,
            archived: row.archived,
            damaged: row.damaged,
        }
    }

    /// Converts a row of a host.
    pub(crate) fn there(row: &HostRow) -> Row {
        let mut searched = vec![row.name.clone(), row.full_name()];
        searched.extend(row.texts.iter().chain(&row.tags).cloned());
        searched.extend(row.project.clone());
        Row {
            session: row.full_name(),
            host: Some(one_line(&row.host)),
            agent: one_line(&format!("{}:{}", row.host, row.agents)),
            name: one_line(&row.name),
            project: row.project.clone(),
            branch: row.branch.as_deref().map(one_line),
            tags: row.tags.clone(),
            models: row.models.clone(),
            searched: searched.join("\n").to_lowercase(),
            active: row.last_active,
            messages: row.messages,
            cost: row.cost,
            bytes: row.bytes,
            pinned: row.pinned,
            ..Row::default()
        }
    }

    /// Converts a row of a list, for a home without a catalog.
    pub(crate) fn listed(row: &SessionRow) -> Row {
        let conversation = &row.conversation;
        let summary = &conversation.front.1;
        let meta = &summary.meta;
        let name = summary.name();
        let linked = conversation.linked.iter();
        let mut searched = vec![name.clone(), summary.reference.to_string()];
        searched.extend(
            [&meta.first_prompt, &meta.last_prompt, &meta.project]
                .into_iter()
                .flatten()
                .cloned(),
        );
        searched.extend(meta.tags.iter().cloned());
        Row {
            session: summary.reference.to_string(),
            linked: linked.map(|(_, it)| it.reference.to_string()).collect(),
            agent: one_line(&row.agents),
            name: one_line(&name),
            project: meta.project.clone(),
            branch: meta.git_branch.as_deref().map(one_line),
            tags: meta.tags.clone(),
            models: meta.models.clone(),
            searched: searched.join("\n").to_lowercase(),
            active: conversation.last_active(),
            messages: summary.complete.then_some(meta.messages),
            bytes: summary.location.size,
            pinned: meta.is_pinned(),
            ..Row::default()
        }
    }
}

/// A hit of the search in the text of sessions.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct TextHit {
    pub(crate) session: String,
    pub(crate) entry: Option<String>,
    /// The part of the entry: `prompts`, `answers`…
    pub(crate) field: &'static str,
    /// Pieces of the snippet, and whether each is a match.
    pub(crate) snippet: Vec<(String, bool)>,
    pub(crate) agent: String,
    pub(crate) name: String,
    pub(crate) project: Option<String>,
    pub(crate) at: Option<Instant>,
}

impl TextHit {
    pub(crate) fn new(hit: &HitShape) -> TextHit {
        let flat = |text: Option<&str>| {
            let blanks = |c: char| if c.is_whitespace() { ' ' } else { c };
            escape(&text.unwrap_or("").chars().map(blanks).collect::<String>())
        };
        let mut snippet = Vec::new();
        let mut end = 0;
        for range in &hit.ranges {
            snippet.push((flat(hit.snippet.get(end..range.start)), false));
            snippet.push((flat(hit.snippet.get(range.clone())), true));
            end = range.end;
        }
        snippet.push((flat(hit.snippet.get(end..)), false));
        snippet.retain(|(text, _)| !text.is_empty());
        TextHit {
            session: hit.session.clone(),
            entry: hit.entry.clone(),
            field: hit.field,
            snippet,
            agent: one_line(&hit.agent),
            name: one_line(&hit.name),
            project: hit.project.clone(),
            at: hit.at,
        }
    }

    /// Returns the row of a hit whose session is not in the list, such as a subagent.
    pub(crate) fn row(&self) -> Row {
        Row {
            session: self.session.clone(),
            agent: self.agent.clone(),
            name: self.name.clone(),
            project: self.project.clone(),
            active: self.at,
            ..Row::default()
        }
    }
}

/// Filters of the query language that Tab completes.
pub(crate) const FILTERS: [&str; 9] = [
    "agent:", "project:", "model:", "tag:", "since:", "until:", "tool:", "file:", "role:",
];

/// A query, as far as it can be answered from names.
#[derive(Debug, Default)]
pub(crate) struct NameQuery {
    /// Each word is looked for in the names of all sessions at every keystroke.
    words: Vec<Finder<'static>>,
    agents: Vec<String>,
    projects: Vec<String>,
    models: Vec<String>,
    tags: Vec<String>,
    since: Option<Instant>,
    until: Option<Instant>,
    /// Whether it asks for something that only the text of sessions can answer.
    only_text: bool,
}

impl NameQuery {
    /// Parses the box. The search itself reports what is not valid.
    pub(crate) fn parse(text: &str, now: Instant, zone: &TimeZone) -> NameQuery {
        let mut query = NameQuery::default();
        for word in text.to_lowercase().split_whitespace() {
            let bare = |value: &str| value.trim_matches('"').to_owned();
            match word.split_once(':').filter(|(_, value)| !value.is_empty()) {
                Some(("agent", value)) => query.agents.push(bare(value)),
                Some(("project", value)) => query.projects.push(bare(value)),
                Some(("model", value)) => query.models.push(bare(value)),
                Some(("tag", value)) => query.tags.push(bare(value)),
                Some(("since", value)) => query.since = time::parse(value, now, zone).ok(),
                Some(("until", value)) => query.until = time::parse(value, now, zone).ok(),
                Some(("tool" | "file" | "role", _)) => query.only_text = true,
                _ if word.starts_with('!') => query.only_text = true,
                _ => {
                    let word = bare(word.trim_end_matches('*'));
                    query.words.push(Finder::new(&word).into_owned());
                }
            }
        }
        query
    }

    /// Whether it has no filters, so that more letters behind it can only match fewer sessions.
    pub(crate) fn has_words_only(&self) -> bool {
        let filters = [&self.agents, &self.projects, &self.models, &self.tags];
        filters.iter().all(|it| it.is_empty())
            && self.since.is_none()
            && self.until.is_none()
            && !self.only_text
    }

    /// Whether a session matches by its name, prompts, project or tags.
    pub(crate) fn matches(&self, row: &Row) -> bool {
        // Most queries have words only, and this runs for every session at every keystroke.
        let searched = row.searched.as_bytes();
        if !self.words.iter().all(|word| word.find(searched).is_some()) {
            return false;
        }
        let project = || row.project.as_deref().unwrap_or("").to_lowercase();
        !self.only_text
            && is_wanted(&self.agents, |it| row.agent.contains(it))
            && is_wanted(&self.projects, |it| project().contains(it))
            && is_wanted(&self.models, |it| is_within(&row.models, it))
            && is_wanted(&self.tags, |it| is_within(&row.tags, it))
            && self.since.is_none_or(|since| row.active >= Some(since))
            && self.until.is_none_or(|until| row.active < Some(until))
    }
}

/// Whether one of the values of a filter fits; without values everything does.
fn is_wanted(values: &[String], fits: impl Fn(&str) -> bool) -> bool {
    values.is_empty() || values.iter().any(|it| fits(it))
}

/// Whether one of the texts contains a part, which is in lower case.
fn is_within(texts: &[String], part: &str) -> bool {
    texts.iter().any(|it| it.to_lowercase().contains(part))
}

/// Completes the filter before the cursor: first its name, then its value from the rows.
pub(crate) fn completed(word: &str, rows: &[Row]) -> Option<String> {
    let Some((key, start)) = word.split_once(':') else {
        let name = FILTERS.iter().find(|it| it.starts_with(word))?;
        return (!word.is_empty()).then(|| (*name).to_owned());
    };
    let mut values: Vec<String> = Vec::new();
    for row in rows {
        match key {
            "agent" => values.extend(row.agent.split(['+', '/', '@']).map(str::to_owned)),
            "project" => values.extend(row.project.as_deref().and_then(base_name)),
            "model" => values.extend(row.models.iter().cloned()),
            "tag" => values.extend(row.tags.iter().cloned()),
            _ => {}
        }
    }
    values.sort();
    values.dedup();
    let value = values
        .iter()
        .find(|it| it.starts_with(start) && *it != start)?;
    let quoted = value.contains(char::is_whitespace);
    Some(if quoted {
        format!("{key}:\"{value}\"")
    } else {
        format!("{key}:{value}")
    })
}

/// Returns the last folder of a path.
fn base_name(path: &str) -> Option<String> {
    path.rsplit(['/', '\\'])
        .find(|it| !it.is_empty())
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(agent: &str, name: &str, project: &str) -> Row {
        Row {
            session: format!("{agent}:{name}"),
            agent: agent.to_owned(),
            name: name.to_owned(),
            project: Some(project.to_owned()),
            searched: format!("{name}\n{project}").to_lowercase(),
            active: Instant::parse("2026-03-09T00:00:00Z"),
            tags: vec!["release train".to_owned()],
            ..Row::default()
        }
    }

    #[test]
    fn names_answer_words_and_filters() {
        let now = Instant::parse("2026-03-10T12:00:00Z").unwrap();
        let row = row("claude", "Lease survives a Crash 二元组", "/w/boswell");
        let fits = |text| NameQuery::parse(text, now, &TimeZone::utc()).matches(&row);
        for yes in [
            "",
            "lease crash",
            "LEASE",
            "元组",
            "agent:claude lea",
            "project:boswell",
            "since:3d",
            "tag:release",
            "surviv*",
            "\"lease",
        ] {
            assert!(fits(yes), "{yes}");
        }
        for no in [
            "lease unlink",
            "agent:codex",
            "project:shop",
            "since:1h",
            "until:3d",
            "!lease",
            "tool:Edit",
            "tag:x",
        ] {
            assert!(!fits(no), "{no}");
        }
    }

    #[test]
    fn tab_completes_filters_and_their_values() {
        let rows = [row("claude", "a", "/w/shop"), row("codex", "b", "/w/blog/")];
        let tab = |word: &str| completed(word, &rows);
        assert_eq!(tab("ag").as_deref(), Some("agent:"));
        assert_eq!(tab("agent:cl").as_deref(), Some("agent:claude"));
        assert_eq!(tab("project:b").as_deref(), Some("project:blog"));
        assert_eq!(tab("tag:rel").as_deref(), Some("tag:\"release train\""));
        assert_eq!(tab("agent:claude"), None);
        assert_eq!(tab(""), None);
        assert_eq!(tab("zebra"), None);
    }
}
