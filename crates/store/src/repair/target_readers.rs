//! Selects the readers (agent versions and SDKs) that a repair serves.

use boswell_dialect::{Dialect, KnownReader};
use boswell_model::{Advice, Error, ErrorKind, RequestInput, Result};

use super::RepairRequest;

/// Returns the readers that a plan serves: the version that wrote the file, everything newer, the
/// installed one, and those that the request names.
pub(super) fn goals(
    dialect: &dyn Dialect,
    written_by: Option<&str>,
    request: &RepairRequest,
) -> Result<Vec<&'static str>> {
    let asked = &request.goals;
    let readers = dialect.facts().readers;
    let versions: Vec<[u32; 3]> = readers.iter().filter_map(|reader| reader.version).collect();
    let wrote = written_by.and_then(version);
    // An unknown writer is taken for the newest.
    let from = match wrote {
        Some(wrote) => nearest(&versions, wrote),
        None => versions.last(),
    };
    let installed = request.installed.as_deref().and_then(version);
    let installed = installed.and_then(|installed| nearest(&versions, installed));
    let is_own = |reader: &KnownReader| match (reader.version, from) {
        (Some(version), Some(from)) => version >= *from || installed == Some(&version),
        (None, None) => true,
        _ => false,
    };
    for name in asked {
        if !readers.iter().any(|reader| reader.name == name) {
            return Err(unknown_reader(dialect, name));
        }
    }
    let wanted =
        |reader: &&KnownReader| is_own(reader) || asked.iter().any(|name| name == reader.name);
    Ok(readers
        .iter()
        .filter(wanted)
        .map(|reader| reader.name)
        .collect())
}

/// Returns the newest known version that is not newer than `to`, else the oldest.
fn nearest(versions: &[[u32; 3]], to: [u32; 3]) -> Option<&[u32; 3]> {
    let mut newest_first = versions.iter().rev();
    newest_first
        .find(|version| **version <= to)
        .or(versions.first())
}

fn unknown_reader(dialect: &dyn Dialect, name: &str) -> Error {
    let readers = dialect.facts().readers;
    let known: Vec<&str> = readers.iter().map(|reader| reader.name).collect();
    let error = Error::new(
        ErrorKind::Invalid,
        format!(
            "`{}` is not a known reader of {}",
            name.escape_debug(),
            dialect.facts().title
        ),
    );
    match known.as_slice() {
        [] => error.advising(Advice::Omit(RequestInput::TargetReader)),
        known => error.advising(format!("known are {}", known.join(", "))),
    }
}

fn version(text: &str) -> Option<[u32; 3]> {
    let mut parts = text.split('.').map(|part| {
        part.chars()
            .take_while(char::is_ascii_digit)
            .collect::<String>()
    });
    let mut next = || parts.next().and_then(|part| part.parse().ok());
    Some([next()?, next()?, next().unwrap_or(0)])
}

#[cfg(test)]
mod tests {
    use boswell_dialect::claude::Claude;

    use super::*;

    fn names(written_by: Option<&str>, asked: &[&str]) -> Vec<&'static str> {
        let asked: Vec<String> = asked.iter().map(|name| (*name).to_owned()).collect();
        goals(
            &Claude,
            written_by,
            &RepairRequest {
                goals: asked,
                ..RepairRequest::default()
            },
        )
        .unwrap()
    }

    #[test]
    fn an_older_client_that_is_installed_is_a_goal_too() {
        let with = |installed: &str| {
            let request = RepairRequest {
                installed: Some(installed.to_owned()),
                ..RepairRequest::default()
            };
            goals(&Claude, Some("2.1.325"), &request).unwrap()
        };
        assert_eq!(with("2.1.64"), ["2.1.50", "2.1.325"]);
        assert_eq!(with("2.1.400"), ["2.1.325"]);
        assert_eq!(with("nightly"), ["2.1.325"]);
    }

    #[test]
    fn the_writer_and_everything_newer_are_goals_and_others_on_request() {
        assert_eq!(names(Some("2.1.325"), &[]), ["2.1.325"]);
        assert_eq!(names(Some("2.1.400"), &[]), ["2.1.325"]);
        assert_eq!(names(Some("2.1.60"), &[]), ["2.1.50", "2.1.150", "2.1.325"]);
        assert_eq!(
            names(Some("1.0.128"), &[]),
            ["2.1.17", "2.1.50", "2.1.150", "2.1.325"]
        );
        assert_eq!(names(None, &["sdk-py"]), ["2.1.325", "sdk-py"]);
        assert_eq!(names(Some("dev"), &[]), ["2.1.325"]);
    }

    #[test]
    fn an_unknown_goal_is_an_error_that_names_the_known_ones() {
        let error = goals(
            &Claude,
            None,
            &RepairRequest {
                goals: vec!["netscape".to_owned()],
                ..RepairRequest::default()
            },
        )
        .unwrap_err();
        assert!(
            matches!(error.advice(), Some(Advice::Plain(known)) if known.contains("2.1.50, ")),
            "{error}"
        );
    }
}
