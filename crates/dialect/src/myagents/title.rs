//! The title that MyAgents gives a session before the user sets one.

use super::reminder::{self, is_blank, trim};

/// The title of a session without messages.
pub const NEW_CHAT: &str = "New Chat";
/// The title that older versions set for a session that began with an image.
pub const IMAGE_ONLY: &str = "图片消息";
/// Maximum number of code points of the first message in a title.
pub const LENGTH: usize = 40;

/// Returns the title for a first message: without envelopes, at most 40 code points and `...`; `New
/// Chat` if nothing is left.
pub fn default_title(first_message: &str) -> String {
    let said = without_wrapper(first_message);
    if said.is_empty() {
        NEW_CHAT.to_owned()
    } else {
        capped(&said, LENGTH)
    }
}

/// Returns the title that versions before 0.2.14 set at creation: 40 UTF-16 units of the raw text,
/// including envelopes.
pub fn older_title(first_message: &str) -> String {
    if trim(first_message).is_empty() {
        return IMAGE_ONLY.to_owned();
    }
    let cut = super::preview::units(first_message, LENGTH);
    if cut.len() < first_message.len() {
        format!("{cut}...")
    } else {
        cut.to_owned()
    }
}

/// Whether the app may still replace the title by a default one.
pub fn is_placeholder(title: &str, source: Option<&str>) -> bool {
    title == NEW_CHAT && source != Some("user")
}

/// Whether the app would ask a model for a title now.
pub fn may_generate(source: Option<&str>, attempts: u64, user_rows: u64) -> bool {
    !matches!(source, Some("auto" | "user")) && attempts < 10 && (2..=20).contains(&user_rows)
}

/// Returns the first `limit` code points, and `...` if there are more.
pub fn capped(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}

/// Returns the text of the user or of a scheduled task: without envelopes and markers, white space
/// collapsed.
fn without_wrapper(raw: &str) -> String {
    let text = trim(raw);
    let (said, is_cron) = match reminder::leading(text) {
        None => (text, false),
        Some(found) if !found.visible.is_empty() => {
            (found.visible, found.kind == Some("CRON_TASK"))
        }
        Some(found) => match found.kind {
            Some("GOAL_CONTINUATION" | "GOAL_CONTEXT" | "FLOATING_BALL_CONTEXT") => {
                return String::new();
            }
            kind => (found.body, kind == Some("CRON_TASK")),
        },
    };
    task(said, is_cron).unwrap_or_else(|| folded(said))
}

/// Returns the name of a scheduled task. Only after the marker, because a user may
/// write `执行任务：` too.
fn task(text: &str, is_cron: bool) -> Option<String> {
    if !is_cron && !text.contains("<CRON_TASK>") {
        return None;
    }
    text.match_indices("执行任务").find_map(|(at, word)| {
        let rest = text.get(at + word.len()..)?;
        let rest = rest.strip_prefix([':', '：'])?.trim_start_matches(is_blank);
        let rest = rest
            .strip_prefix('#')
            .unwrap_or(rest)
            .trim_start_matches(is_blank);
        let name = trim(rest.split(['。', '；', ';', '\n']).next()?);
        (!name.is_empty()).then(|| name.to_owned())
    })
}

fn folded(text: &str) -> String {
    let mut text = text.to_owned();
    for marker in ["CRON_TASK", "HEARTBEAT", "MEMORY_UPDATE"] {
        text = text
            .replace(&format!("<{marker}>"), " ")
            .replace(&format!("</{marker}>"), " ");
    }
    text.split(is_blank)
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_its_own_title_and_long_text_is_cut_by_code_points() {
        assert_eq!(default_title("把发票按月份排好"), "把发票按月份排好");
        assert_eq!(default_title(&"a".repeat(40)), "a".repeat(40));
        assert_eq!(
            default_title(&"a".repeat(41)),
            format!("{}...", "a".repeat(40))
        );
        assert_eq!(
            default_title(&format!("{}🦀 and more", "a".repeat(39))),
            format!("{}🦀...", "a".repeat(39))
        );
        assert_eq!(default_title("  a \n\t b  "), "a b");
    }

    #[test]
    fn a_scheduled_task_is_named_by_its_first_line() {
        let cron = |body: &str| {
            format!("<system-reminder>\n<CRON_TASK>\n{body}\n</CRON_TASK>\n</system-reminder>")
        };
        assert_eq!(
            default_title(&cron("执行任务：# 备份照片\n只要今年的")),
            "备份照片"
        );
        assert_eq!(default_title(&cron("执行任务: 浇花；再关灯")), "浇花");
        let mixed = "<system-reminder>\n<CRON_TASK>\nid: 1\n</CRON_TASK>\n</system-reminder>\n执行任务：# 整理书架\n\n从上到下";
        assert_eq!(default_title(mixed), "整理书架");
        let torn = "<system-reminder>\n<CRON_TASK>\n执行任务：给猫喂食";
        assert_eq!(default_title(torn), "给猫喂食");
    }

    #[test]
    fn a_user_who_speaks_of_tasks_is_not_rewritten() {
        let said = "文档里写着执行任务：#7，这一步是什么意思";
        assert_eq!(default_title(said), said);
    }

    #[test]
    fn envelopes_without_words_of_the_user_give_no_title() {
        for text in [
            "",
            "  \n ",
            "<system-reminder></system-reminder>",
            "<system-reminder>\n<CRON_TASK>\n</CRON_TASK>\n</system-reminder>",
            "<system-reminder><GOAL_CONTINUATION>go on</GOAL_CONTINUATION></system-reminder>",
            "<system-reminder><FLOATING_BALL_CONTEXT>x</FLOATING_BALL_CONTEXT></system-reminder>",
        ] {
            assert_eq!(default_title(text), NEW_CHAT, "{text}");
        }
        assert_eq!(default_title("<HEARTBEAT> still there?"), "still there?");
    }

    #[test]
    fn the_title_of_a_user_is_final_and_generated_ones_need_two_rounds() {
        assert!(is_placeholder(NEW_CHAT, None));
        assert!(is_placeholder(NEW_CHAT, Some("default")));
        assert!(!is_placeholder(NEW_CHAT, Some("user")));
        assert!(!is_placeholder("Mine", None));
        assert!(may_generate(None, 0, 2) && may_generate(Some("default"), 9, 20));
        assert!(
            !may_generate(None, 0, 1) && !may_generate(None, 0, 21) && !may_generate(None, 10, 5)
        );
        assert!(!may_generate(Some("auto"), 0, 5) && !may_generate(Some("user"), 0, 5));
    }

    #[test]
    fn older_versions_cut_forty_units_of_the_raw_text() {
        assert_eq!(
            older_title(&"b".repeat(41)),
            format!("{}...", "b".repeat(40))
        );
        assert_eq!(older_title("<system-reminder>"), "<system-reminder>");
        assert_eq!(older_title(" "), IMAGE_ONLY);
    }
}
