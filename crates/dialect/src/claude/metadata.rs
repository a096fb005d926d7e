//! Title and tag lines: each is valid until the next line of its kind.

use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Result, Unseen, unseen};

use super::plan::{log_key, side_folder};
use crate::{Plan, PlanInput, Planned, Step, unsupported};

/// Sets the title: in the log, which has priority, and in the side file that the client's session
/// picker falls back to.
pub(super) fn title(asked: &PlanInput<'_>, title: &str) -> Result<Planned> {
    let title = clean_title(title)?;
    let key = log_key(asked.location)?;
    let plan = Plan::new("rename", format!("call it {title}"))
        .step(Step::append(key, title_lines(&title, &asked.location.id)))
        .step(sidecar(&side_folder(key), &title));
    Ok(Planned::of(plan))
}

/// Writes the side file that contains the title.
pub(super) fn sidecar(folder: &str, title: &str) -> Step {
    Step::put(
        format!("{folder}/custom-title.json"),
        Json::object().with("customTitle", title).to_bytes(),
    )
}

/// Returns the two lines that the client writes for a title.
pub(super) fn title_lines(title: &str, id: &str) -> Vec<u8> {
    let lines = [("custom-title", "customTitle"), ("agent-name", "agentName")];
    lines
        .iter()
        .flat_map(|(word, key)| line(word, key, title, id))
        .collect()
}

fn line(word: &str, key: &str, value: &str, id: &str) -> Vec<u8> {
    let mut line = Json::object()
        .with("type", word)
        .with(key, value)
        .with("sessionId", id)
        .to_bytes();
    line.push(b'\n');
    line
}

/// Returns the title on one line, without invisible characters.
pub(super) fn clean_title(title: &str) -> Result<String> {
    let spaced: String = title
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let clean = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    if clean.is_empty() {
        Err(Error::new(ErrorKind::Invalid, "a title must not be empty"))
    } else {
        Ok(clean)
    }
}

/// Sets the tag of the session. The client supports one tag; further tags are stored in notes.
pub(super) fn tags(asked: &PlanInput<'_>, tags: &[String]) -> Result<Planned> {
    let tag = match tags {
        [] => String::new(),
        [tag] => clean_tag(tag)?,
        _ => {
            return Err(unsupported(
                "claude",
                "have more than one tag of its own",
                "the others are kept as notes",
            ));
        }
    };
    let title = if tag.is_empty() {
        "take its tag away".to_owned()
    } else {
        format!("tag it {tag}")
    };
    // The client's own readers search for lines that begin with exactly these bytes.
    let plan = Plan::new("tag", title).step(Step::append(
        log_key(asked.location)?,
        line("tag", "tag", &tag, &asked.location.id),
    ));
    Ok(Planned::of(plan))
}

/// Returns the tag without invisible characters, cleaned as the client does it.
fn clean_tag(tag: &str) -> Result<String> {
    // The client also drops private-use characters and joiners, including those inside emoji.
    let hidden = |c: char| {
        unseen(c).is_some_and(|why| why != Unseen::Sign) || matches!(c, '\u{e000}'..='\u{f8ff}')
    };
    let clean: String = tag.chars().filter(|c| !hidden(*c)).collect();
    let clean = clean.trim();
    if clean.is_empty() {
        Err(Error::new(ErrorKind::Invalid, "a tag must not be empty"))
    } else {
        Ok(clean.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_loses_what_cannot_be_seen_and_must_leave_something() {
        assert_eq!(
            clean_tag(" re\u{200b}lease\u{202e}\u{61c}\u{e0041} ").unwrap(),
            "release"
        );
        assert!(clean_tag("\u{feff} ").is_err());
        assert!(line("tag", "tag", "x", "s").starts_with(br#"{"type":"tag""#));
    }
}
