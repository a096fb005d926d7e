//! Folders, for people.

use crate::app::App;

/// A path with the home folder as `~`.
pub(crate) fn short_path(app: &App, path: &str) -> String {
    let home = &app.requests.environment().home;
    let home = home.as_ref().map(|home| home.display().to_string());
    let below = home.filter(|home| home.len() > 1).and_then(|home| {
        path.strip_prefix(&home)
            .filter(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    match below {
        Some(rest) => format!("~{rest}"),
        None => path.to_owned(),
    }
}
