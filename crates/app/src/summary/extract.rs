//! A summary extracted from the text of the session.

use super::sentence::{at_most, first_words, is_chinese, sentences};
use super::{SENTENCES, SummaryInput, Summed, TITLE_WORDS};

/// Longest sentence that is used completely.
const LONGEST: usize = 200;
/// Maximum number of files and commands that are named; the others are counted.
const NAMED: usize = 3;

/// Summarises: the first prompt, the operations, the result.
pub(crate) fn extract(summary_input: &SummaryInput) -> Summed {
    let asked = summary_input
        .prompts
        .first()
        .map(|prompt| sentences(prompt))
        .unwrap_or_default();
    let answered = summary_input
        .answer
        .as_deref()
        .map(sentences)
        .unwrap_or_default();
    let first = asked
        .first()
        .or_else(|| answered.first())
        .cloned()
        .unwrap_or_default();
    let chinese = is_chinese(&first);
    let mut said = Vec::new();
    said.extend(asked.first().map(|sentence| at_most(sentence, LONGEST)));
    said.extend(done(summary_input, chinese));
    said.extend(answered.first().map(|sentence| at_most(sentence, LONGEST)));
    said.truncate(SENTENCES);
    Summed {
        title: title(&first),
        summary: joined(&said, chinese),
    }
}

/// Limits the output of an external program in the same way.
pub(super) fn limited(title: &str, summary: &str) -> Summed {
    let mut said: Vec<String> = sentences(summary)
        .iter()
        .map(|sentence| at_most(sentence, LONGEST))
        .collect();
    said.truncate(SENTENCES);
    Summed {
        title: self::title(title),
        summary: joined(&said, is_chinese(summary)),
    }
}

fn title(sentence: &str) -> String {
    let cut = first_words(sentence, TITLE_WORDS);
    at_most(
        cut.trim_end_matches(|c: char| c.is_ascii_punctuation() || "。，！？；：、…".contains(c)),
        80,
    )
}

fn joined(said: &[String], chinese: bool) -> String {
    let end = if chinese { "。" } else { "." };
    let ended = said.iter().map(|sentence| {
        let closed = sentence.ends_with(['.', '!', '?', '。', '！', '？', '…']);
        if closed {
            sentence.clone()
        } else {
            format!("{sentence}{end}")
        }
    });
    ended
        .collect::<Vec<_>>()
        .join(if chinese { "" } else { " " })
}

/// Returns the main operations as one sentence, in the language of the prompt.
fn done(summary_input: &SummaryInput, chinese: bool) -> Option<String> {
    let quoted: Vec<String> = summary_input
        .ran
        .iter()
        .map(|command| format!("`{}`", at_most(command, 60)))
        .collect();
    let edited = named(&summary_input.edited, chinese);
    let ran = named(&quoted, chinese);
    Some(match (edited, ran, chinese) {
        (Some(edited), Some(ran), true) => format!("修改了 {edited}，运行了 {ran}。"),
        (Some(edited), None, true) => format!("修改了 {edited}。"),
        (None, Some(ran), true) => format!("运行了 {ran}。"),
        (Some(edited), Some(ran), false) => format!("Changed {edited} and ran {ran}."),
        (Some(edited), None, false) => format!("Changed {edited}."),
        (None, Some(ran), false) => format!("Ran {ran}."),
        (None, None, _) => return None,
    })
}

fn named(all: &[String], chinese: bool) -> Option<String> {
    let shown = all.get(..all.len().min(NAMED))?;
    if shown.is_empty() {
        return None;
    }
    let list = shown.join(if chinese { "、" } else { ", " });
    let rest = all.len() - shown.len();
    Some(match (rest, chinese) {
        (0, _) => list,
        (rest, true) => format!("{list} 等另外 {rest} 个"),
        (rest, false) => format!("{list} and {rest} more"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary_input(prompt: &str, edited: &[&str], ran: &[&str], answer: &str) -> SummaryInput {
        let owned = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect();
        SummaryInput {
            prompts: vec![prompt.to_owned()],
            edited: owned(edited),
            ran: owned(ran),
            answer: Some(answer.to_owned()),
            ..SummaryInput::default()
        }
    }

    #[test]
    fn a_summary_is_the_first_prompt_what_was_done_and_the_last_answer() {
        let summary_input = summary_input(
            "The coupon takes 10.01 off a basket of one hundred. Fix it.",
            &["a.rs", "b.rs", "c.rs", "d.rs"],
            &["cargo test"],
            "It was rounded up. Now it is not.",
        );
        let summed = extract(&summary_input);
        assert_eq!(summed.title, "The coupon takes 10.01 off a basket of");
        assert_eq!(
            summed.summary,
            "The coupon takes 10.01 off a basket of one hundred. Changed a.rs, b.rs, c.rs and 1 more and ran `cargo test`. It was rounded up."
        );
    }

    #[test]
    fn chinese_sessions_are_summed_up_in_chinese() {
        let summed = extract(&summary_input(
            "给博客加全文搜索，要支持中文。",
            &["index.rs"],
            &[],
            "可以用二元分词建立倒排索引。",
        ));
        assert_eq!(summed.title, "给博客加全文搜索，要支持中文");
        assert_eq!(
            summed.summary,
            "给博客加全文搜索，要支持中文。修改了 index.rs。可以用二元分词建立倒排索引。"
        );
    }

    #[test]
    fn a_programs_answer_is_held_to_the_same_limits() {
        let summed = limited(
            "one two three four five six seven eight nine",
            "A. B. C. D.",
        );
        assert_eq!(summed.title, "one two three four five six seven eight");
        assert_eq!(summed.summary, "A. B. C.");
    }
}
