//! The model provider that is current in Codex's configuration.
//!
//! Codex lists only sessions of the current provider, and resumes no other.

use boswell_model::{Advice, Problem, ProblemKind, Result, SessionMeta};

use super::dialect::PROVIDER;
use super::layout;
use crate::{Files, SessionLocation};

const CONFIG: &str = "config.toml";
/// A larger file is not a configuration.
const LIMIT: u64 = 4 << 20;
/// The provider if the configuration names none.
const DEFAULT: &str = "openai";

/// Returns the name of the current provider. A configuration that cannot be read names none.
pub(super) fn current(files: &dyn Files) -> Result<String> {
    let text = files.settings(CONFIG, LIMIT)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let profile = setting(&text, "", "profile");
    let of_profile = profile
        .and_then(|profile| setting(&text, &format!("profiles.{profile}"), "model_provider"));
    Ok(of_profile
        .or_else(|| setting(&text, "", "model_provider"))
        .unwrap_or_else(|| DEFAULT.to_owned()))
}

/// Returns the problem of a session that Codex hides because it belongs to another provider.
pub(super) fn hides(
    files: &dyn Files,
    location: &SessionLocation,
    meta: &SessionMeta,
) -> Result<Option<Problem>> {
    // A copy of a log outside Codex's home has no settings around it.
    let is_listed = (location.key.as_deref()).is_some_and(|key| key.starts_with("sessions/"))
        && !layout::is_archived(location)
        && location.hidden.or(meta.hidden).is_none();
    let Some(own) = meta.metadata.get(PROVIDER).filter(|_| is_listed) else {
        return Ok(None);
    };
    let now = current(files)?;
    if *own == now {
        return Ok(None);
    }
    let detail = format!(
        "it belongs to the provider `{}`, and the current one is `{}`: \
         Codex neither lists nor resumes it",
        own.escape_debug(),
        now.escape_debug()
    );
    let advice = Advice::ChangeProvider {
        session: format!("codex:{}", location.id),
    };
    Ok(Some(
        Problem::of_file(ProblemKind::OtherProvider, detail).advising(advice),
    ))
}

/// Returns a string of a table in TOML; `""` is the part before the first table.
///
/// Not a whole parser: a string on one line is all that these settings can be.
fn setting(text: &str, table: &str, key: &str) -> Option<String> {
    let mut at = String::new();
    let mut found = None;
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            let name = name.split(']').next().unwrap_or_default();
            at = name.replace(['"', '\'', ' '], "");
        } else if at == table
            && let Some((name, value)) = line.split_once('=')
            && name.trim() == key
        {
            found = quoted(value.trim());
        }
    }
    found
}

fn quoted(value: &str) -> Option<String> {
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (inner, _) = value.get(1..)?.split_once(quote)?;
    Some(inner.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryFiles;

    #[test]
    fn the_provider_of_the_profile_counts_before_the_general_one() {
        for (text, provider) in [
            ("", "openai"),
            ("model = \"x\"\n", "openai"),
            ("model_provider = \"cpa\" # mine\n", "cpa"),
            (
                "model_provider='a'\n[model_providers.b]\nmodel_provider = \"b\"\n",
                "a",
            ),
            (
                "profile = \"w\"\nmodel_provider = \"a\"\n[profiles.w]\nmodel_provider = \"c\"\n",
                "c",
            ),
            (
                "profile = \"w\"\nmodel_provider = \"a\"\n[profiles.v]\n",
                "a",
            ),
        ] {
            let mut files = MemoryFiles::default();
            files.put(CONFIG, text, None);
            assert_eq!(current(&files).unwrap(), provider, "{text}");
        }
        assert_eq!(current(&MemoryFiles::default()).unwrap(), "openai");
    }
}
