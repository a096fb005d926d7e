//! Edits the settings file; everything else in it stays unchanged.

use std::path::Path;
use std::time::Duration;

use boswell_model::{Advice, Error, ErrorKind, Result};
use boswell_store::Wait;
use boswell_store::disk::{IdSource, SystemIds};
use boswell_store::disk::{RealDisk, durable};
use toml::Value;
use toml::de::DeTable;

use crate::RequestContext;
use crate::config::Config;
use crate::system::read_text;

/// The patterns `before` without those of `remove`, and with those of `add`.
fn changed(before: &[String], add: &[String], remove: &[String]) -> Result<Vec<String>> {
    if let Some(unknown) = remove.iter().find(|pattern| !before.contains(pattern)) {
        return Err(Error::new(
            ErrorKind::NotFound,
            format!("`{}` is not excluded", unknown.escape_debug()),
        )
        .advising(Advice::ShowSettings));
    }
    let mut patterns = before.to_vec();
    patterns.retain(|pattern| !remove.contains(pattern));
    for pattern in add {
        if !patterns.contains(pattern) {
            patterns.push(pattern.clone());
        }
    }
    Ok(patterns)
}

/// Adds patterns to `exclude` and removes others. Returns the new settings.
pub(crate) fn exclude(cx: &RequestContext, add: &[String], remove: &[String]) -> Result<Config> {
    cx.may_write()?;
    let Some(path) = cx.config.path.clone() else {
        return Err(
            Error::new(ErrorKind::Invalid, "there is no place for the settings")
                .because("neither HOME nor XDG_CONFIG_HOME is set")
                .advising(Advice::NameConfig),
        );
    };
    // A symbolic link, as dotfile managers create it, stays: its target is written.
    let path = path.canonicalize().unwrap_or(path);
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    durable::make_folders(&RealDisk, &folder)?;
    // Without the lock, a concurrent process could lose the patterns that the first one added.
    let locks = cx.home()?.join("locks");
    durable::make_folders(&RealDisk, &locks)?;
    let locks = cx.own_home()?.locks();
    let _turn = locks.exclusive("settings", Wait::For(Duration::from_secs(10)))?;
    let text = match read_text(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read.map_err(|error| Error::io(path.display(), "read the settings", error))?,
    };
    let before = Config::parse(path.clone(), &text)?.words("exclude");
    let patterns = changed(&before, add, remove)?;
    let new = with_patterns(&path, &text, &patterns)?;
    // The new file is parsed before it is written.
    let config = Config::parse(path.clone(), &new)?;
    if patterns != before {
        durable::put(&RealDisk, &path, new.as_bytes(), &SystemIds.hex16())?;
    }
    Ok(config)
}

/// Returns the text with another list of patterns.
fn with_patterns(path: &Path, text: &str, patterns: &[String]) -> Result<String> {
    let list = Value::Array(
        patterns
            .iter()
            .map(|pattern| Value::String(pattern.clone()))
            .collect(),
    )
    .to_string();
    let table = DeTable::parse(text)
        .map_err(|error| Error::new(ErrorKind::Invalid, error.message().to_owned()))?;
    let place = table
        .get_ref()
        .iter()
        .find(|(key, _)| key.get_ref() == "exclude")
        .map(|(_, value)| value.span());
    let Some(place) = place else {
        // A top-level key must come before the first table.
        return Ok(format!("exclude = {list}\n{text}"));
    };
    let old = text.get(place.clone()).unwrap_or_default();
    if old.contains('#') {
        return Err(Error::new(
            ErrorKind::Conflict,
            format!("`exclude` in `{}` is left as it is", path.display()),
        )
        .because("there may be comments in its list, which would be lost")
        .advising("change the list in the file itself"));
    }
    let (head, tail) = (
        text.get(..place.start).unwrap_or_default(),
        text.get(place.end..).unwrap_or_default(),
    );
    Ok(format!("{head}{list}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str, patterns: &[&str]) -> Result<String> {
        let patterns: Vec<String> = patterns.iter().map(|it| (*it).to_owned()).collect();
        with_patterns(Path::new("c.toml"), text, &patterns)
    }

    #[test]
    fn what_else_is_in_the_file_stays_as_it_is() {
        let text = "# mine\ncolor = \"never\"  # quiet\n\n[retention]\nkept = \"1d\"\n";
        assert_eq!(
            changed(text, &["/a"]).unwrap(),
            format!("exclude = [\"/a\"]\n{text}")
        );
        let text = "a = 1\nexclude = [\n  \"/a\",\n]\n[t]\n";
        assert_eq!(
            changed(text, &["/a", "~/b\"c"]).unwrap(),
            "a = 1\nexclude = [\"/a\", '~/b\"c']\n[t]\n"
        );
        assert!(
            changed("exclude = [\"/a\", # why\n]", &["/b"]).is_err(),
            "comments are not thrown away"
        );
    }
}
