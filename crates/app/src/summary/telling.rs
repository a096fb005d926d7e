//! Sentences that tell a decision, or what is still to be done, and the tokens of a text.

use super::{at_most, is_cjk, sentences};

/// Characters of a text that are one token, outside Chinese, Japanese and Korean.
const CHARACTERS_PER_TOKEN: usize = 4;
/// The longest sentence that is quoted.
const LONGEST: usize = 400;
/// How many of the newest answers are searched for open ends.
const RECENT: usize = 5;

/// Words of a sentence that tells a decision.
const DECIDES: [&str; 16] = [
    "decid",
    "instead of",
    "because",
    "so that",
    "chose",
    "choose",
    "will use",
    "going with",
    "must ",
    "should ",
    "trade-off",
    "决定",
    "因为",
    "改用",
    "选择",
    "应该",
];
/// Words of a sentence that tells what is still to be done.
const OPEN: [&str; 18] = [
    "todo",
    "to do",
    "remaining",
    "remains",
    "not yet",
    "next step",
    "next,",
    "still need",
    "still fail",
    "follow-up",
    "later",
    "unresolved",
    "待办",
    "还需",
    "尚未",
    "下一步",
    "剩下",
    "仍然",
];

/// Returns the sentences that tell a decision or its reason, each once.
pub(crate) fn decisions(answers: &[String]) -> Vec<String> {
    telling(answers, &DECIDES)
}

/// Returns what is still to be done: what the newest answers say, and a prompt without an answer.
pub(crate) fn open_ends(answers: &[String], unanswered: Option<&str>) -> Vec<String> {
    let recent = answers.len().saturating_sub(RECENT);
    let mut open = telling(answers.get(recent..).unwrap_or_default(), &OPEN);
    open.extend(unanswered.map(|prompt| at_most(prompt, LONGEST)));
    open
}

/// Returns the sentences with one of these words, each once.
fn telling(texts: &[String], words: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for sentence in texts.iter().flat_map(|text| sentences(text)) {
        let lower = sentence.to_lowercase();
        if words.iter().any(|word| lower.contains(word)) {
            let sentence = at_most(&sentence, LONGEST);
            if !found.contains(&sentence) {
                found.push(sentence);
            }
        }
    }
    found
}

/// Estimates the tokens of a text: one for each Chinese, Japanese or Korean character, and one for
/// four others.
pub(crate) fn tokens_of(text: &str) -> u64 {
    let wide = text.chars().filter(|c| is_cjk(*c)).count();
    let others = text.chars().count() - wide;
    wide as u64 + others.div_ceil(CHARACTERS_PER_TOKEN) as u64
}
