//! Derives the folder name of a project's memory from its path.

use std::path::{Component, Path};

use crate::blobs::BlobId;

const READABLE: usize = 80;

/// The folder name for a project: its path made readable, and a hash.
///
/// The readable part follows the rule that Claude Code uses (every UTF-16 unit outside `A-Za-z0-9`
/// becomes `-`), cut from the left because the end of a path says most. That rule alone gives `a-b`
/// and `a/b` one folder, and every two projects whose names are not Latin and equally long: the
/// hash keeps the memories of different projects apart.
pub fn project_key(project: &str) -> String {
    let path = normal(project);
    let slug: Vec<char> = path
        .encode_utf16()
        .map(|unit| {
            char::from_u32(u32::from(unit))
                .filter(char::is_ascii_alphanumeric)
                .unwrap_or('-')
        })
        .collect();
    let readable: String = slug
        .iter()
        .skip(slug.len().saturating_sub(READABLE))
        .collect();
    let hash: String = BlobId::of(path.as_bytes())
        .to_string()
        .chars()
        .take(16)
        .collect();
    // A name that starts with `-` would be an option to some program.
    format!("{}-{hash}", readable.trim_start_matches('-'))
        .trim_start_matches('-')
        .to_owned()
}

/// The path without what does not change where it leads: `.`, doubled and trailing separators. `..`
/// stays: it may cross a link.
fn normal(project: &str) -> String {
    let parts = Path::new(project)
        .components()
        .filter(|part| *part != Component::CurDir);
    parts
        .collect::<std::path::PathBuf>()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_projects_never_share_a_key() {
        let projects = [
            "/a/b",
            "/a-b",
            "/a.b",
            "/项目一",
            "/项目二",
            "/p🚀q",
            "/",
            "relative",
            "",
        ];
        let mut keys: Vec<String> = projects
            .iter()
            .map(|project| project_key(project))
            .collect();
        assert!(
            keys.iter()
                .all(|key| key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')),
            "{keys:?}"
        );
        assert!(
            keys.iter()
                .all(|key| !key.starts_with('-') && key.len() <= 97),
            "{keys:?}"
        );
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), projects.len());
    }

    #[test]
    fn the_same_project_has_one_key_however_it_is_written() {
        assert_eq!(project_key("/srv//demo/./x/"), project_key("/srv/demo/x"));
        assert!(project_key("/srv/demo/x").starts_with("srv-demo-x-"));
        let long = format!("/{}/tail", "d".repeat(400));
        assert!(project_key(&long).contains("d-tail-"));
    }
}
