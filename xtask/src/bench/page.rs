//! `docs/BENCHMARKS.md`: each group owns the text between its two markers; all other text is edited
//! by hand.

use std::path::Path;

use crate::Outcome;

const NEW_PAGE: &str = "\
# Benchmarks

Written by `cargo xtask bench`; text outside the markers is kept.
Every ratio is ours divided by a baseline that ran in turn with it on the same machine;
absolute figures say little.
Times are CPU seconds (user and system), medians; appends are wall time, since a sync is waiting.
`cargo xtask bench GROUP` measures one group again.
";

/// Replaces the text between the markers of `group`; missing markers are added at the end.
pub(crate) fn replace(page: &Path, group: &str, text: &str) -> Outcome {
    let old = match std::fs::read_to_string(page) {
        Ok(old) => old,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => NEW_PAGE.to_owned(),
        Err(error) => return Err(format!("{}: {error}", page.display()).into()),
    };
    if let Some(folder) = page.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(page, replaced(&old, group, text)?)?;
    Ok(())
}

fn replaced(page: &str, group: &str, text: &str) -> Outcome<String> {
    let (open, close) = (
        format!("<!-- bench:{group} -->\n"),
        format!("<!-- /bench:{group} -->\n"),
    );
    let part = format!("{open}\n{}\n\n{close}", text.trim());
    match (page.find(&open), page.find(&close)) {
        (Some(start), Some(end)) if start < end => Ok(format!(
            "{}{part}{}",
            &page[..start],
            &page[end + close.len()..]
        )),
        (None, None) => Ok(format!("{}\n\n## {group}\n\n{part}", page.trim_end())),
        _ => Err(format!("the markers of {group} in docs/BENCHMARKS.md do not pair up").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_groups_own_part_changes() {
        let first = replaced("# Page\n\nMine.\n", "a", "one").expect("paired");
        let both = replaced(&first, "b", "two").expect("paired");
        let again = replaced(&both, "a", "three").expect("paired");
        assert_eq!(again, both.replace("one", "three"));
        assert!(again.starts_with("# Page\n\nMine.\n") && again.contains("two"));
    }

    #[test]
    fn writing_the_same_twice_changes_nothing() {
        let once = replaced(NEW_PAGE, "a", "one").expect("paired");
        assert_eq!(replaced(&once, "a", "one").expect("paired"), once);
    }

    #[test]
    fn a_new_page_has_the_form_of_prose() {
        assert!(crate::prose::has_form(NEW_PAGE));
    }

    #[test]
    fn half_a_pair_of_markers_is_an_error() {
        assert!(replaced("<!-- bench:a -->\n", "a", "one").is_err());
        assert!(replaced("<!-- /bench:a -->\n<!-- bench:a -->\n", "a", "one").is_err());
    }
}
