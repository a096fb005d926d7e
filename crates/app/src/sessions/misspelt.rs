//! Values of filters that no session has, and that almost equal one that some session has.
//!
//! Only an answer without sessions asks this: then every session is looked at again, once. A value
//! that resembles nothing may be right, for a session that will have it.

use std::collections::BTreeSet;

use boswell_find::edit_distance;
use boswell_model::{Error, ErrorKind, Result};
use boswell_store::links::Conversation;
use boswell_store::store::Summary;

use super::filter::SessionFilter;
use crate::RequestContext;
use crate::annotate::SessionStatus;

/// A value of a filter, and how the values that sessions have are read.
struct Asked<'f> {
    what: &'static str,
    value: Option<&'f String>,
    read: fn(&Summary) -> Vec<String>,
    /// Whether a part of a value is enough.
    by_part: bool,
}

/// Refuses a filter that selected nothing because of a value that is misspelt.
pub(crate) fn refuse_misspelt(cx: &RequestContext, filter: &SessionFilter) -> Result<()> {
    let asked = |what, value, read| Asked {
        what,
        value,
        read,
        by_part: false,
    };
    let asked = [
        asked("status", filter.status.as_ref(), statuses),
        asked("tag", filter.tag.as_ref(), tags),
        asked("branch", filter.branch.as_ref(), branches),
        Asked {
            by_part: true,
            ..asked("model", filter.model.as_ref(), models)
        },
    ];
    if asked.iter().all(|it| it.value.is_none()) && filter.project.is_none() {
        return Ok(());
    }
    let (conversations, _) = cx.conversations()?;
    for asked in &asked {
        asked.refuse(&conversations)?;
    }
    match &filter.project {
        Some(project) if !cx.env.cwd.join(project).is_dir() => {
            refuse_project(project, &values(&conversations, projects))
        }
        // A folder that exists may have no session yet.
        _ => Ok(()),
    }
}

fn statuses(side: &Summary) -> Vec<String> {
    side.meta.status.iter().cloned().collect()
}

fn tags(side: &Summary) -> Vec<String> {
    side.meta.tags.clone()
}

fn branches(side: &Summary) -> Vec<String> {
    side.meta.git_branch.iter().cloned().collect()
}

fn models(side: &Summary) -> Vec<String> {
    side.meta.models.clone()
}

fn projects(side: &Summary) -> Vec<String> {
    side.meta.project.iter().cloned().collect()
}

/// Returns what all sessions have.
fn values(all: &[Conversation], read: fn(&Summary) -> Vec<String>) -> BTreeSet<String> {
    let sides = all.iter().flat_map(Conversation::sides);
    sides.flat_map(read).collect()
}

impl Asked<'_> {
    /// Refuses a value that no session has and that resembles one that some session has.
    fn refuse(&self, all: &[Conversation]) -> Result<()> {
        let Some(value) = self.value else {
            return Ok(());
        };
        let mut known = values(all, self.read);
        if self.what == "status" {
            known.extend(SessionStatus::ALL.map(|status| status.word().to_owned()));
        }
        let is_known = match self.by_part {
            true => known.iter().any(|it| it.contains(value.as_str())),
            false => known.contains(value),
        };
        match nearest(value, known.iter().map(String::as_str)) {
            Some(near) if !is_known => Err(misspelt(self.what, value, near)),
            _ => Ok(()),
        }
    }
}

/// A project may be named by a path that is almost right, or by its last part alone.
fn refuse_project(project: &str, known: &BTreeSet<String>) -> Result<()> {
    let project = project.trim_end_matches('/');
    if known.contains(project) {
        return Ok(());
    }
    let below = format!("/{project}");
    let near = match known.iter().find(|it| it.ends_with(&below)) {
        Some(path) => Some(path),
        None => {
            let name = nearest(last_part(project), known.iter().map(|it| last_part(it)));
            known.iter().find(|path| name == Some(last_part(path)))
        }
    };
    match near {
        Some(near) => Err(misspelt("project", project, near)),
        None => Ok(()),
    }
}

fn last_part(path: &str) -> &str {
    path.rsplit('/')
        .find(|part| !part.is_empty())
        .unwrap_or(path)
}

/// Returns the error that names the right value.
pub(crate) fn misspelt(what: &str, value: &str, near: &str) -> Error {
    Error::new(
        ErrorKind::Invalid,
        format!("there is no {what} `{}`", value.escape_debug()),
    )
    .advising(format!("did you mean `{near}`?"))
}

/// Returns the known value that a word resembles most: as a whole, or in one of its parts, so that
/// `opsu` leads to `claude-opus-5`.
pub(crate) fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let word = word.to_lowercase();
    let distance = |known: &str| {
        let known = known.to_lowercase();
        let parts = known.split(|c: char| !c.is_alphanumeric());
        let edits = |part: &str| {
            let most = (word.len().min(part.len()) / 3).min(2);
            edit_distance(&word, part, most)
        };
        std::iter::once(known.as_str())
            .chain(parts)
            .filter_map(edits)
            .min()
    };
    known
        .filter_map(|known| Some((distance(known)?, known)))
        .min()
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_leads_to_the_known_one_that_it_resembles_and_to_no_other() {
        let known = ["claude-opus-5", "claude-sonnet-5", "gpt-5.2-codex"];
        let near = |word| nearest(word, known.into_iter());
        assert_eq!(near("opsu"), Some("claude-opus-5"));
        assert_eq!(near("Claude-Sonet-5"), Some("claude-sonnet-5"));
        assert_eq!(near("codexx"), Some("gpt-5.2-codex"));
        assert_eq!(near("gemini"), None);
        // Two letters resemble half of all words.
        assert_eq!(near("xy"), None);
    }

    #[test]
    fn a_project_is_known_by_its_last_part() {
        let known: BTreeSet<String> = ["/home/me/shop".to_owned()].into();
        let hint = |project: &str| {
            let error = refuse_project(project, &known).unwrap_err();
            error.to_string()
        };
        assert!(hint("shop").contains("`shop`"));
        assert!(hint("/home/me/shpo").contains("`/home/me/shpo`"));
        assert!(refuse_project("/home/me/other", &known).is_ok());
        assert!(refuse_project("/home/me/shop", &known).is_ok());
    }
}
