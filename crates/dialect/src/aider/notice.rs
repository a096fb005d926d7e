//! What Aider's notices state: its version, the model, and tokens.

use boswell_model::Usage;

/// Returns the version in a notice.
pub(super) fn version(notice: &str) -> Option<String> {
    let lines = notice.lines().map(str::trim);
    lines
        .filter_map(|line| line.strip_prefix("Aider v"))
        .next()
        .map(str::to_owned)
}

/// Returns the model in a notice.
pub(super) fn model(notice: &str) -> Option<String> {
    let mut newest_first = notice.lines().rev().map(str::trim);
    let stated = newest_first.find_map(|line| {
        let rest = line.strip_prefix("Main model: ");
        rest.or_else(|| line.strip_prefix("Model: "))
    });
    let model = stated?.split(" with ").next()?.trim();
    (!model.is_empty()).then(|| model.to_owned())
}

/// Returns the tokens and the cost of one answer. Large numbers are rounded by Aider.
pub(super) fn usage(notice: &str) -> Option<Usage> {
    let lines = notice.lines().map(str::trim);
    let stated = lines
        .filter_map(|line| line.strip_prefix("Tokens: "))
        .next()?;
    let (tokens, costs) = stated.split_once("Cost:").unwrap_or((stated, ""));
    let mut usage = Usage::default();
    for piece in tokens.trim().trim_end_matches('.').split(", ") {
        let Some((count, what)) = piece.split_once(' ') else {
            continue;
        };
        let count = count_of(count);
        match what.trim().trim_end_matches('.') {
            "sent" => usage.input = count,
            "received" => usage.output = count,
            "cache hit" => usage.cache_read = count,
            "cache write" => usage.cache_write = count,
            _ => {}
        }
    }
    // Of the two costs, the first is that of the message.
    let cost = costs
        .trim()
        .strip_prefix('$')
        .and_then(|it| it.split(' ').next());
    usage.cost = cost.and_then(|it| it.parse().ok());
    (!usage.is_unknown()).then_some(usage)
}

fn count_of(text: &str) -> Option<u64> {
    let (number, unit) = match text.strip_suffix('k') {
        Some(number) => (number, 1e3),
        None => match text.strip_suffix('M') {
            Some(number) => (number, 1e6),
            None => (text, 1.0),
        },
    };
    let number: f64 = number.replace(',', "").parse().ok()?;
    (number.is_finite() && number >= 0.0).then(|| (number * unit).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_costs_are_read_from_a_notice() {
        let usage = usage(
            "Tokens: 7.6k sent, 1k cache write, 2,500 cache hit, 79 received. Cost: $0.02 message, $0.05 session.",
        );
        let expected = Usage {
            input: Some(7600),
            output: Some(79),
            cache_read: Some(2500),
            cache_write: Some(1000),
            cost: Some(0.02),
            ..Usage::default()
        };
        assert_eq!(usage, Some(expected));
        assert_eq!(super::usage("Tokens: many"), None);
        let notice = "Aider v0.86.2\nModel: openai/x with whole edit format";
        assert_eq!(model(notice).as_deref(), Some("openai/x"));
        assert_eq!(version(notice).as_deref(), Some("0.86.2"));
    }
}
