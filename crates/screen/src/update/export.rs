//! Exports: the file is asked for, with a name from the session's title.

use crate::line::Line;
use crate::state::{Input, InputPurpose, Overlay, State};
use crate::words;

/// Asks for the file of an export.
pub(super) fn ask_file(state: &mut State) {
    let Some(session) = state.session() else {
        return;
    };
    let row = state.finder.index.get(&session);
    let row = row.and_then(|at| state.finder.rows.get(*at));
    let name = row.map_or("session", |it| it.name.as_str());
    let path = format!("{}/{}.html", state.look.cwd, file_name(name));
    state.overlay = Some(Overlay::Input(Input {
        title: state.look.say(words::EXPORT_FILE).to_owned(),
        line: Line::new(path),
        purpose: InputPurpose::Export(session),
    }));
}

/// Returns a name that every file system takes: letters and digits, the rest as `-`.
fn file_name(title: &str) -> String {
    let safe = |c: char| if c.is_alphanumeric() { c } else { '-' };
    let name: String = title.chars().take(40).map(safe).collect();
    let pieces: Vec<&str> = name.split('-').filter(|it| !it.is_empty()).collect();
    if pieces.is_empty() {
        return "session".to_owned();
    }
    pieces.join("-").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_names_of_files() {
        assert_eq!(file_name("Coupon rounding / 2"), "coupon-rounding-2");
        assert_eq!(file_name("../../etc"), "etc");
        assert_eq!(file_name("发布说明"), "发布说明");
        assert_eq!(file_name("///"), "session");
    }
}
