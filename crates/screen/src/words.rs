//! The words of the screen in English and Chinese.
//!
//! Words of keys are in `keys.rs`, next to what the keys do. Text of sessions is never translated.

use boswell_app::Environment;

/// A text in English and in Chinese.
pub(crate) type Words = (&'static str, &'static str);

/// The language of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Language {
    #[default]
    English,
    Chinese,
}

impl Language {
    /// Returns the language of a setting, else that of the environment. Locale variables count in
    /// the order that POSIX gives them.
    pub(crate) fn of(setting: Option<&str>, env: &Environment) -> Language {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"]
            .into_iter()
            .find_map(|name| env.var(name).filter(|value| !value.is_empty()));
        match setting.filter(|word| *word != "auto").or(locale) {
            Some(name) if name.starts_with("zh") => Language::Chinese,
            _ => Language::English,
        }
    }

    /// Returns the text in this language.
    pub(crate) fn say(self, words: Words) -> &'static str {
        match self {
            Language::English => words.0,
            Language::Chinese => words.1,
        }
    }
}

/// Replaces `{}` in a text by the values in order.
pub(crate) fn fill(text: &str, values: &[&str]) -> String {
    let mut values = values.iter();
    let mut pieces = text.split("{}");
    let mut out = pieces.next().unwrap_or("").to_owned();
    for piece in pieces {
        out.push_str(values.next().unwrap_or(&""));
        out.push_str(piece);
    }
    out
}

macro_rules! catalogue {
    ($($name:ident = $english:literal, $chinese:literal;)*) => {
        $(pub(crate) const $name: Words = ($english, $chinese);)*
        /// Every text, for the tests of the catalogue.
        #[cfg(test)]
        pub(crate) const ALL: &[Words] = &[$($name),*];
    };
}

catalogue! {
    TYPE_TO_SEARCH = "type to search", "输入即可搜索";
    SESSIONS = "{} sessions", "{} 个会话";
    SESSION = "1 session", "1 个会话";
    FOUND = "{} of {}", "{} / {}";
    OTHER_HITS = "{} in memory or subagents", "{} 在记忆或子智能体中";
    ALL_COVERED = "everything covered", "已全部覆盖";
    SCANNED = "scanned {}", "扫描了 {}";
    READING = "reading sessions…", "正在读取会话…";
    READING_OF = "reading {} of {} · {} s", "正在读取 {} / {} · {} 秒";
    READ_ONLY = "read-only", "只读";
    HERE = "here", "此文件夹";
    REPOSITORY = "repository", "此仓库";
    HIDDEN_TOO = "with hidden", "含隐藏";
    BY_COST = "by cost", "按费用";
    BY_SIZE = "by size", "按大小";
    BY_MESSAGES = "by messages", "按消息数";
    ONLY_AGENT = "only {}", "仅 {}";
    MARKED = "{} marked", "已标记 {}";
    TODAY = "TODAY", "今天";
    YESTERDAY = "YESTERDAY", "昨天";
    THIS_WEEK = "LAST 7 DAYS", "最近 7 天";
    THIS_MONTH = "LAST 30 DAYS", "最近 30 天";
    OLDER = "OLDER", "更早";
    NO_TIME = "NO DATE", "无日期";
    NOTHING_FOUND = "No sessions found. These folders were examined:", "没有找到会话。已检查以下文件夹：";
    FOLDER_EMPTY = "empty", "空";
    FOLDER_MISSING = "does not exist", "不存在";
    TRY_DEMO = "Try `boswell demo`, or name a store with `--store claude=/path/to/.claude`.", "可运行 `boswell demo`，或用 `--store claude=/path/to/.claude` 指定存储。";
    NO_HIT = "No session matches.", "没有匹配的会话。";
    ONE_ENTRY = "All words must occur in one entry; try fewer words.", "所有词必须出现在同一条目中；请减少词数。";
    SIMILAR = "`{}` does not occur; similar words: {}", "“{}”没有出现；相近的词：{}";
    WIDEN = "^S searches in more folders.", "^S 扩大搜索范围。";
    TOO_SMALL = "too small", "太小";
    LOADING = "loading…", "载入中…";
    NO_ANSWER = "nothing to show", "没有内容";
    LIVE = "live: pid {}", "运行中：pid {}";
    DAMAGED = "damaged", "有损坏";
    ARCHIVED = "archived", "已归档";
    PINNED = "PINNED", "已置顶";
    LOST_SOON = "its agent deletes it soon", "智能体即将删除";
    RESUME_IN = "resume {} in {}", "用 {} 恢复，位于 {}";
    RESUME_ON = "resume on {} by ssh", "通过 ssh 在 {} 上恢复";
    RESUME_WITH = "resume {}", "用 {} 恢复";
    CHOOSE = "choose", "选择";
    CANNOT_RESUME = "read (no agent can resume it)", "阅读（没有智能体能恢复）";
    FOLDER_GONE = "the folder {} does not exist; tell boswell where it is now: boswell move {} NEW", "文件夹 {} 不存在；请告诉 boswell 新位置：boswell move {} 新路径";
    ASK_LIVE = "{} (pid {}) has it open.", "{}（pid {}）正在使用它。";
    ASK_DAMAGED = "This session is damaged; its agent may not see all of it.", "此会话有损坏，智能体可能看不到全部内容。";
    ASK_RESUME = "Run `{}`?", "运行“{}”？";
    ASK_SAME = "Resume with the permissions it last had, even to do everything without asking?", "以上次的权限恢复（可能无需询问即可执行一切）？";
    ASK_DELETE = "Delete {}? The vault keeps a copy, and undo restores it.", "删除 {}？保险库会保留副本，可撤销。";
    ASK_REPAIR = "Apply the repair? Undo takes it back.", "应用修复？可撤销。";
    ASK_UNDO = "Undo the last change of boswell?", "撤销 boswell 的上一次更改？";
    YES_RESUME = "resume", "恢复";
    YES_DELETE = "delete", "删除";
    YES_APPLY = "apply", "应用";
    YES_UNDO = "undo", "撤销";
    OR_FORK = "fork", "分叉";
    OR_CHECK = "show the repair", "查看修复";
    NO = "no", "否";
    NEW_NAME = "New name", "新名称";
    NEW_TAG = "Add a tag (-tag removes one)", "添加标签（-标签 为移除）";
    FIND_WORDS = "Find in this session", "在此会话中查找";
    COPIED = "copied: {}", "已复制：{}";
    DONE_RENAMED = "renamed", "已重命名";
    DONE_TAGGED = "tags changed", "标签已更改";
    DONE_DELETED = "deleted {}; Alt-u undoes it", "已删除 {}；Alt-u 撤销";
    DONE_FORKED = "forked: {}", "已分叉：{}";
    DONE_UNDONE = "undone: {}", "已撤销：{}";
    DONE_REPAIRED = "repaired; {} steps", "已修复；{} 个步骤";
    TOOLS_ARE_SUMMARY = "tools:summary", "工具:摘要";
    TOOLS_ARE_FULL = "tools:full", "工具:完整";
    TOOLS_ARE_OFF = "tools:off", "工具:隐藏";
    NOTHING_IN_SPAN = "nothing in this time · w shows more", "此时段内没有内容 · 按 w 查看更多";
    NOT_HERE = "not found in what is loaded", "已载入的部分中没有";
    MORE_ABOVE = "… more above", "… 上面还有";
    CALL_FAILED = "failed", "失败";
    LINES_MORE = "(+{} lines)", "（+{} 行）";
    SUBAGENT = "subagent {}", "子智能体 {}";
    OTHER_BRANCH_SUMMARY = "summary of a branch that was left", "已离开的分支的摘要";
    COMPACTED = "compacted; what is above is no longer sent", "已压缩；以上内容不再发送";
    NEW_SINCE = "new since you looked", "上次查看后新增";
    KEYS_OF = "Keys", "按键";
    COMMANDS = "Commands", "命令";
    HEALTH = "Health", "健康";
    NO_DAMAGE = "no problem found", "没有发现问题";
    STEP_TAKEN = "will be done", "将执行";
    STEP_LEFT = "left alone", "不执行";
    REACHES = "the agent reaches {} of {} entries, after the repair {}", "智能体可读取 {} / {} 个条目，修复后 {}";
    COSTS = "Costs", "费用";
    TOTAL = "total", "合计";
    NO_PRICE = "no price", "无价格";
    LAST_WEEK = "last 7 days", "最近 7 天";
    LAST_MONTH = "last 30 days", "最近 30 天";
    ALL_TIME = "all time", "全部时间";
    BY_DAY = "by day", "按日";
    BY_PROJECT = "by project", "按项目";
    BY_MODEL = "by model", "按模型";
    BY_AGENT = "by agent", "按智能体";
    PRICES_AS_OF = "prices as of {}", "价格截至 {}";
    TREE = "Tree", "树";
    BLAME = "Blame", "追溯";
    UNEXPLAINED_OF = "{} of {} lines unexplained", "{} / {} 行来源不明";
    UNEXPLAINED = "no session explains this line", "没有会话能解释此行";
    NO_CALLED_FILE = "no call here names a file that is there", "此处没有调用涉及现有文件";
    ENTRIES_BETWEEN = "{} entries", "{} 个条目";
    MOUSE_ON = "mouse on", "鼠标已启用";
    MOUSE_OFF = "mouse off", "鼠标已关闭";
    TOOLS_OFF = "tools: off", "工具：隐藏";
    TOOLS_SUMMARY = "tools: summary", "工具：摘要";
    TOOLS_FULL = "tools: full", "工具：完整";
    THINKING_ON = "thinking is shown", "已显示思考";
    THINKING_OFF = "thinking is hidden", "已隐藏思考";
    FOLLOWING = "following: new entries are shown as they are written", "跟随中：新条目写入后立即显示";
    NOT_FOLLOWING = "not following any more", "已停止跟随";
    SEARCHING = "searching the rest of the session…", "正在搜索会话的其余部分…";
    NOT_IN_SESSION = "not found in this session", "此会话中没有";
    NO_SUBAGENT = "no subagent from here on", "此后没有子智能体";
    NO_PARENT = "this session was not opened from another one", "此会话不是从其他会话打开的";
    NO_BRANCH = "there is only one branch", "只有一个分支";
    NO_PICTURE = "no picture from here on", "此后没有图片";
    PICTURE_FOLDER = "Write the picture to the folder", "将图片写入文件夹";
    PICTURE_KEY = "o writes it to a folder", "o 写入文件夹";
    GAP_KEY = "c checks this session", "c 检查此会话";
    GAP = "line {} is no record: {}, kept as it is", "第 {} 行不是记录：{}，原样保留";
    BRANCH_POINT = "continued here more than once · branch {} of {}", "此处有多个后续 · 分支 {} / {}";
    BRANCH_KEYS = "( ) other branches", "( ) 其他分支";
    SUBAGENT_KEY = "Enter reads it", "Enter 阅读";
    CALLS = "{} calls", "{} 次调用";
    FAILED_CALLS = "{} failed", "{} 次失败";
    LINE_MORE = "(+{} line)", "（+{} 行）";
    WRITING = "● {} is writing · pid {}", "● {} 正在写入 · pid {}";
    FIRST_LOOK = "reading the rest…", "正在读取其余部分…";
    WAYS_TO_RESUME = "Resume", "恢复";
    WAY_PLAIN = "{} in {}", "{}，位于 {}";
    WAY_SAME = "with the permissions it last had: {} in {}", "以上次的权限：{}，位于 {}";
    WAY_FORK = "fork, then resume the fork", "分叉，然后恢复分叉";
    WAY_OTHER = "the same conversation in another store: {} in {}", "另一存储中的同一对话：{}，位于 {}";
    WAY_PRINT = "leave, and print the command", "退出并打印命令";
    WAY_COPY = "copy the command", "复制命令";
    WAY_NONE = "not possible for {}: {}", "{} 无法恢复：{}";
    WAY_CONVERT = "with another agent, which gets a copy", "用其他智能体，为其生成副本";
    NO_OTHER_AGENT = "no other agent with sessions is on this machine", "本机没有其他有会话的智能体";
    ASK_CONVERT = "Make a session for {}? {}. Undo removes it.", "为 {} 生成会话？{}。可撤销。";
    NOTHING_LACKS = "nothing is lost", "没有丢失";
    YES_CONVERT = "make and resume", "生成并恢复";
    NEW_FOLDER = "Where is {} now?", "{} 现在在哪里？";
    ASK_MOVE = "Tell the agents' stores that {} is now {}? {}. Undo takes it back.", "告知各存储 {} 现为 {}？{}。可撤销。";
    NOTHING_MOVES = "no session is of {}", "没有会话属于 {}";
    YES_MOVE = "move", "移动";
    DONE_MOVED = "moved; Enter resumes there", "已移动；Enter 在新位置恢复";
    ASK_ARCHIVE = "Archive {}? It moves into the vault, can still be read, and undo restores it.", "归档 {}？将移入保险库，仍可阅读，可撤销。";
    YES_ARCHIVE = "archive", "归档";
    DONE_ARCHIVED = "archived {}; Alt-u undoes it", "已归档 {}；Alt-u 撤销";
    ASK_KEEP = "Copy every session that its agent deletes into the vault?", "将智能体会删除的所有会话复制到保险库？";
    YES_KEEP = "keep", "保留";
    DONE_KEPT = "{} sessions kept", "已保留 {} 个会话";
    EXPORT_FILE = "Export to the file", "导出到文件";
    DONE_EXPORTED = "written: {}; {} secrets removed, review before sharing", "已写入：{}；移除 {} 个密钥，分享前请检查";
    DONE_PICTURE = "written: {}", "已写入：{}";
    NO_FILE = "that picture is not in the session", "会话中没有该图片";
    UNREAD = "Could not be read", "未能读取";
    ALL_READ = "everything could be read", "全部已读取";
    SEE_UNREAD = "{} · F6 lists what could not be read", "{} · F6 列出未能读取的内容";
    UNKEPT = "not kept", "未保存";
    NO_BYTES = "no bytes to show", "没有可显示的字节";
    CHOOSE_STEPS = "no step is chosen; Space chooses one", "未选择步骤；按空格选择";
    PREPARING = "reading how to resume it…", "正在确定恢复方式…";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn both_languages_have_every_text_with_the_same_gaps() {
        for (english, chinese) in ALL {
            assert!(!english.is_empty() && !chinese.is_empty());
            let gaps = |text: &str| text.matches("{}").count();
            assert_eq!(gaps(english), gaps(chinese), "{english}");
        }
    }

    #[test]
    fn values_fill_the_gaps_in_order() {
        assert_eq!(fill("{} of {}", &["3", "9"]), "3 of 9");
        assert_eq!(fill("{}, {}", &["a"]), "a, ");
        assert_eq!(fill("none", &["a"]), "none");
    }

    #[test]
    fn the_setting_decides_before_the_locale() {
        let env = |name: &str, value: &str| Environment {
            vars: BTreeMap::from([(name.to_owned(), value.to_owned())]),
            ..Environment::default()
        };
        let chinese = env("LANG", "zh_CN.UTF-8");
        assert_eq!(Language::of(None, &chinese), Language::Chinese);
        assert_eq!(Language::of(Some("auto"), &chinese), Language::Chinese);
        assert_eq!(Language::of(Some("en"), &chinese), Language::English);
        assert_eq!(
            Language::of(Some("zh"), &env("LANG", "C")),
            Language::Chinese
        );
        assert_eq!(
            Language::of(None, &env("LANG", "de_DE.UTF-8")),
            Language::English
        );
    }
}
