//! The names that a price may be listed under, from what a log calls a model.
//!
//! Providers put their own name and a region before a model's name, and a date, a revision or a
//! window size behind it. Each of them is taken off only where it has its exact form: in
//! `claude-opus-4-5-20251101` the `-5` is part of the name, so the price of `claude-opus-4` is
//! that of another model.

/// Regions of Bedrock's cross-region inference profiles.
const REGIONS: [&str; 9] = [
    "us.", "us-gov.", "eu.", "apac.", "jp.", "au.", "ca.", "sa.", "global.",
];

/// Vendors before a model's name in Bedrock's ids.
const VENDORS: [&str; 9] = [
    "anthropic.",
    "openai.",
    "google.",
    "mistral.",
    "moonshot.",
    "moonshotai.",
    "minimax.",
    "zai.",
    "xai.",
];

/// Words behind a colon that ask the same model, at the same price, to think.
const THINKING: [&str; 8] = [
    "thinking", "off", "minimal", "low", "medium", "high", "xhigh", "max",
];

/// The names of a model, from the one that was written to the shortest that still means the same
/// model; a longer name is meant before a shorter one.
pub(super) fn names(model: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for (name, is_bedrock) in without_providers(model) {
        let mut rest = Some(name);
        while let Some(name) = rest {
            names.push(name);
            rest = without_suffix(name, is_bedrock).filter(|name| !name.is_empty());
        }
    }
    // Stable, so that of two names of one length the one with its provider comes first.
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    names
}

/// A name with and without what providers put before it, and whether that was Bedrock's vendor.
fn without_providers(model: &str) -> Vec<(&str, bool)> {
    let mut names = vec![(model, false)];
    let bare = model.rsplit('/').next().unwrap_or(model);
    let regional = REGIONS.iter().find_map(|region| bare.strip_prefix(region));
    let regional = regional.unwrap_or(bare);
    let vendor = VENDORS.iter().find_map(|v| regional.strip_prefix(v));
    names.push((bare, false));
    names.push((vendor.unwrap_or(regional), vendor.is_some()));
    names
}

/// A name without its last suffix; none where no suffix has a known form.
fn without_suffix(name: &str, is_bedrock: bool) -> Option<&str> {
    if let Some((before, window)) = name.strip_suffix(']').and_then(|n| n.rsplit_once('[')) {
        return is_window(window).then_some(before);
    }
    if let Some((before, version)) = name.rsplit_once('@') {
        let is_version = is_day(version) || matches!(version, "latest" | "default");
        return is_version.then_some(before);
    }
    if let Some((before, word)) = name.rsplit_once(':') {
        return match without_revision(before) {
            Some(before) if is_digits(word) => Some(before),
            _ => THINKING.contains(&word).then_some(before),
        };
    }
    without_date(name).or_else(|| without_revision(name).filter(|_| is_bedrock))
}

/// A name without `-latest`, `-20251101` or `-2025-11-01`.
fn without_date(name: &str) -> Option<&str> {
    let (before, last) = name.rsplit_once('-')?;
    if last == "latest" || is_day(last) {
        return Some(before);
    }
    let at = name.len().checked_sub("-2025-11-01".len())?;
    let (before, date) = (name.get(..at)?, name.get(at..)?.strip_prefix('-')?);
    let mut parts = date.split('-').map(str::len);
    let has_form = parts.by_ref().take(3).eq([4, 2, 2]) && parts.next().is_none();
    (has_form && is_day(&date.replace('-', ""))).then_some(before)
}

/// A name without Bedrock's `-v1`.
fn without_revision(name: &str) -> Option<&str> {
    let (before, revision) = name.rsplit_once("-v")?;
    is_digits(revision).then_some(before)
}

/// Whether a text is a day as `20251101`.
fn is_day(text: &str) -> bool {
    let number = |range: std::ops::Range<usize>| text.get(range).and_then(|n| n.parse().ok());
    text.len() == 8
        && is_digits(text)
        && text.starts_with("20")
        && number(4..6).is_some_and(|month: u8| (1..=12).contains(&month))
        && number(6..8).is_some_and(|day: u8| (1..=31).contains(&day))
}

/// Whether a text is the size of a context window as `1m` or `200k`.
fn is_window(text: &str) -> bool {
    let size = text.strip_suffix(['m', 'k', 'M', 'K']);
    size.is_some_and(is_digits)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_come_off_only_in_their_exact_form() {
        assert_eq!(
            names("us.anthropic.claude-opus-4-5-20251101-v1:0").last(),
            Some(&"claude-opus-4-5")
        );
        assert_eq!(
            names("claude-opus-4-5@20251101[1m]").last(),
            Some(&"claude-opus-4-5")
        );
        for whole in [
            "claude-opus-4-5",
            "gpt-5-1",
            "gpt-5-12345678",
            "gpt-5-20251301",
            "gpt-5-20250100",
            "gpt-5-2025-1-01",
            "gpt-5-2025-08",
            "gpt-5[fast]",
            "gpt-5:free",
            "gpt-5:0",
            "deepseek-v3",
            "claude-opus-4@us",
            "-latest",
            "",
        ] {
            assert_eq!(*names(whole).last().unwrap_or(&""), whole);
        }
    }
}
