//! The one table of keys: place, key, action and its words in both languages.
//!
//! Dispatch, help, footer, the list of commands and `docs/screen.md` are made from it, so that none
//! of them can promise a key that does something else.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::words::Words;

/// Where a key works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// In every view, unless the view has the key itself.
    Everywhere,
    Finder,
    Reader,
    Tree,
    Health,
    Costs,
    /// In a line of text: the search box, a new name, the filter of a menu.
    Line,
}

impl Place {
    /// All places in the order of the help page.
    pub(crate) const ALL: [Place; 7] = [
        Place::Finder,
        Place::Reader,
        Place::Tree,
        Place::Health,
        Place::Costs,
        Place::Line,
        Place::Everywhere,
    ];

    /// Returns the name of the place.
    pub(crate) fn words(self) -> Words {
        match self {
            Place::Everywhere => ("Everywhere", "任何位置"),
            Place::Finder => ("Finder", "查找"),
            Place::Reader => ("Reader", "阅读"),
            Place::Tree => ("Tree", "树"),
            Place::Health => ("Health", "健康"),
            Place::Costs => ("Costs", "费用"),
            Place::Line => ("Text", "文本"),
        }
    }
}

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Help,
    Commands,
    Quit,
    Suspend,
    Mouse,
    Repaint,
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
    Resume,
    ResumeSame,
    Read,
    Complete,
    Fork,
    Rename,
    Tag,
    Delete,
    Undo,
    CopyCommand,
    NextAgent,
    NextScope,
    Hidden,
    Sort,
    Mark,
    Costs,
    Back,
    PreviousPrompt,
    NextPrompt,
    PreviousFailure,
    NextFailure,
    NextHit,
    PreviousHit,
    Tools,
    Thinking,
    Find,
    CopyEntry,
    CopyLink,
    Tree,
    Check,
    Follow,
    Apply,
    ByDay,
    ByProject,
    ByModel,
    ByAgent,
    Span,
    LineStart,
    LineEnd,
    Left,
    Right,
    EraseBefore,
    EraseAfter,
    EraseWord,
    EraseLine,
}

/// A key with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    code: KeyCode,
    modifiers: KeyModifiers,
}

const fn key(code: KeyCode) -> Key {
    Key {
        code,
        modifiers: KeyModifiers::NONE,
    }
}

const fn char(c: char) -> Key {
    key(KeyCode::Char(c))
}

const fn ctrl(c: char) -> Key {
    Key {
        code: KeyCode::Char(c),
        modifiers: KeyModifiers::CONTROL,
    }
}

const fn alt(code: KeyCode) -> Key {
    Key {
        code,
        modifiers: KeyModifiers::ALT,
    }
}

const fn function(number: u8) -> Key {
    key(KeyCode::F(number))
}

impl Key {
    /// Whether this key was pressed. Shift is part of the character already.
    pub(crate) fn is(self, event: &KeyEvent) -> bool {
        let pressed = event.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT);
        self.code == event.code && self.modifiers == pressed
    }

    /// Returns the key as it is written in help and footer.
    pub(crate) fn name(self) -> String {
        let name = match self.code {
            KeyCode::Char(' ') => "Space".to_owned(),
            KeyCode::Char(c) => c.to_string(),
            KeyCode::F(number) => format!("F{number}"),
            KeyCode::Enter => "Enter".to_owned(),
            KeyCode::Esc => "Esc".to_owned(),
            KeyCode::Tab => "Tab".to_owned(),
            KeyCode::Backspace => "Backspace".to_owned(),
            KeyCode::Delete => "Del".to_owned(),
            KeyCode::Home => "Home".to_owned(),
            KeyCode::End => "End".to_owned(),
            KeyCode::PageUp => "PgUp".to_owned(),
            KeyCode::PageDown => "PgDn".to_owned(),
            KeyCode::Up => "↑".to_owned(),
            KeyCode::Down => "↓".to_owned(),
            KeyCode::Left => "←".to_owned(),
            KeyCode::Right => "→".to_owned(),
            other => other.to_string(),
        };
        if self.modifiers == KeyModifiers::CONTROL {
            format!("^{}", name.to_uppercase())
        } else if self.modifiers == KeyModifiers::ALT {
            format!("Alt-{name}")
        } else {
            name
        }
    }

    #[cfg(test)]
    pub(crate) fn event(self) -> KeyEvent {
        KeyEvent::new(self.code, self.modifiers)
    }
}

/// A row of the table.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) place: Place,
    pub(crate) keys: &'static [Key],
    pub(crate) action: Action,
    /// What it does, for help.
    pub(crate) does: Words,
    /// The word in the footer, for the few keys that are shown there.
    pub(crate) short: Option<Words>,
    /// Whether it changes sessions: absent when nothing may be written.
    pub(crate) writes: bool,
}

impl Binding {
    /// Returns the keys as they are written.
    pub(crate) fn names(&self) -> String {
        let names: Vec<String> = self.keys.iter().map(|key| key.name()).collect();
        names.join(" ")
    }
}

const fn bind(
    place: Place,
    keys: &'static [Key],
    action: Action,
    does: Words,
    short: Option<Words>,
) -> Binding {
    Binding {
        place,
        keys,
        action,
        does,
        short,
        writes: false,
    }
}

const fn writing(binding: Binding) -> Binding {
    Binding {
        writes: true,
        ..binding
    }
}

use Action as A;
use Place as P;

/// The table.
#[rustfmt::skip]
pub(crate) const BINDINGS: &[Binding] = &[
    bind(P::Finder, &[key(KeyCode::Enter)], A::Resume, ("resume the session with its agent, in its folder", "用其智能体在其文件夹中恢复会话"), Some(("resume", "恢复"))),
    bind(P::Finder, &[key(KeyCode::Right), ctrl('o')], A::Read, ("read the session, at the hit (→ at the end of the text)", "在命中处阅读会话（→ 在文本末尾时）"), Some(("read", "阅读"))),
    writing(bind(P::Finder, &[ctrl('f')], A::Fork, ("fork: a new session from its current branch", "分叉：从当前分支创建新会话"), Some(("fork", "分叉")))),
    bind(P::Finder, &[ctrl('y')], A::CopyCommand, ("copy the resume command", "复制恢复命令"), Some(("copy command", "复制命令"))),
    bind(P::Finder, &[alt(KeyCode::Enter)], A::ResumeSame, ("resume with the permissions it last had, after a question", "确认后以上次的权限恢复"), None),
    bind(P::Finder, &[key(KeyCode::Tab)], A::Complete, ("complete a filter such as agent:cl", "补全筛选，如 agent:cl"), None),
    bind(P::Finder, &[key(KeyCode::Up), ctrl('p')], A::Up, ("previous session", "上一个会话"), None),
    bind(P::Finder, &[key(KeyCode::Down), ctrl('n')], A::Down, ("next session", "下一个会话"), None),
    bind(P::Finder, &[key(KeyCode::PageUp)], A::PageUp, ("a page up", "上一页"), None),
    bind(P::Finder, &[key(KeyCode::PageDown)], A::PageDown, ("a page down", "下一页"), None),
    bind(P::Finder, &[alt(KeyCode::Char('<'))], A::First, ("the first session (Home while there is no text)", "第一个会话（无文本时按 Home）"), None),
    bind(P::Finder, &[alt(KeyCode::Char('>'))], A::Last, ("the last session (End while there is no text)", "最后一个会话（无文本时按 End）"), None),
    bind(P::Finder, &[ctrl('s')], A::NextScope, ("search here → in the repository and its worktrees → everywhere", "搜索范围：此文件夹 → 仓库及其工作树 → 全部"), None),
    bind(P::Finder, &[ctrl('g')], A::NextAgent, ("only one agent, then the next", "仅一个智能体，再按切换"), None),
    bind(P::Finder, &[alt(KeyCode::Char('s'))], A::Sort, ("order by activity → cost → size → messages", "排序：活动时间 → 费用 → 大小 → 消息数"), None),
    bind(P::Finder, &[alt(KeyCode::Char('h'))], A::Hidden, ("also hidden and archived sessions", "同时显示隐藏和已归档的会话"), None),
    bind(P::Finder, &[alt(KeyCode::Char('m'))], A::Mark, ("mark the session, for tag and delete", "标记会话，用于标签和删除"), None),
    writing(bind(P::Finder, &[function(2)], A::Rename, ("rename the session", "重命名会话"), None)),
    writing(bind(P::Finder, &[ctrl('t')], A::Tag, ("add or remove a tag", "添加或移除标签"), None)),
    writing(bind(P::Finder, &[ctrl('x')], A::Delete, ("delete: the vault keeps a copy, after a question", "确认后删除：保险库保留副本"), None)),
    writing(bind(P::Finder, &[alt(KeyCode::Char('u'))], A::Undo, ("undo the last change of boswell, after a question", "确认后撤销 boswell 的上一次更改"), None)),
    bind(P::Finder, &[function(3)], A::Tree, ("the tree of branches", "分支树"), None),
    bind(P::Finder, &[function(4)], A::Check, ("check the session, show its repair", "检查会话并显示修复方案"), None),
    bind(P::Finder, &[key(KeyCode::Esc)], A::Back, ("clear the text, then quit", "清除文本，再按退出"), Some(("quit", "退出"))),

    bind(P::Reader, &[char('j'), key(KeyCode::Down)], A::Down, ("a line down", "下一行"), Some(("down", "下"))),
    bind(P::Reader, &[char('k'), key(KeyCode::Up)], A::Up, ("a line up", "上一行"), Some(("up", "上"))),
    bind(P::Reader, &[char(' '), ctrl('d'), key(KeyCode::PageDown)], A::PageDown, ("a page down", "下一页"), None),
    bind(P::Reader, &[ctrl('u'), key(KeyCode::PageUp)], A::PageUp, ("a page up", "上一页"), None),
    bind(P::Reader, &[char('g'), key(KeyCode::Home)], A::First, ("the start", "开头"), None),
    bind(P::Reader, &[char('G'), key(KeyCode::End)], A::Last, ("the end", "末尾"), None),
    bind(P::Reader, &[char('[')], A::PreviousPrompt, ("previous prompt", "上一个提示"), Some(("prompt up", "上个提示"))),
    bind(P::Reader, &[char(']')], A::NextPrompt, ("next prompt", "下一个提示"), Some(("prompt down", "下个提示"))),
    bind(P::Reader, &[char('{')], A::PreviousFailure, ("previous failed call", "上一个失败的调用"), None),
    bind(P::Reader, &[char('}')], A::NextFailure, ("next failed call", "下一个失败的调用"), None),
    bind(P::Reader, &[char('t')], A::Tools, ("tools: summary → full → off", "工具：摘要 → 完整 → 隐藏"), Some(("tools", "工具"))),
    bind(P::Reader, &[char('T')], A::Thinking, ("show or hide thinking", "显示或隐藏思考"), None),
    bind(P::Reader, &[char('/')], A::Find, ("find in this session", "在此会话中查找"), Some(("find", "查找"))),
    bind(P::Reader, &[char('n')], A::NextHit, ("next hit", "下一个命中"), None),
    bind(P::Reader, &[char('N')], A::PreviousHit, ("previous hit", "上一个命中"), None),
    bind(P::Reader, &[char('y')], A::CopyEntry, ("copy the entry", "复制条目"), None),
    bind(P::Reader, &[char('Y')], A::CopyLink, ("copy the link SESSION#ENTRY", "复制链接 会话#条目"), None),
    bind(P::Reader, &[char('b')], A::Tree, ("the tree of branches", "分支树"), Some(("tree", "树"))),
    bind(P::Reader, &[char('r')], A::Resume, ("resume the session with its agent", "用其智能体恢复会话"), Some(("resume", "恢复"))),
    writing(bind(P::Reader, &[char('f')], A::Fork, ("fork at this entry", "在此条目分叉"), None)),
    bind(P::Reader, &[char('c')], A::Check, ("check the session, show its repair", "检查会话并显示修复方案"), None),
    bind(P::Reader, &[char('L')], A::Follow, ("follow new entries, or stop", "跟随新条目，或停止"), None),
    bind(P::Reader, &[char('?')], A::Help, ("keys of this place", "此处的按键"), None),
    bind(P::Reader, &[char('q'), key(KeyCode::Left), key(KeyCode::Esc)], A::Back, ("back to the list", "返回列表"), Some(("back", "返回"))),

    bind(P::Tree, &[char('j'), key(KeyCode::Down)], A::Down, ("next node", "下一个节点"), Some(("down", "下"))),
    bind(P::Tree, &[char('k'), key(KeyCode::Up)], A::Up, ("previous node", "上一个节点"), Some(("up", "上"))),
    bind(P::Tree, &[key(KeyCode::PageDown)], A::PageDown, ("a page down", "下一页"), None),
    bind(P::Tree, &[key(KeyCode::PageUp)], A::PageUp, ("a page up", "上一页"), None),
    bind(P::Tree, &[key(KeyCode::Enter)], A::Read, ("read at this node", "在此节点阅读"), Some(("read", "阅读"))),
    writing(bind(P::Tree, &[char('f')], A::Fork, ("fork at this node", "在此节点分叉"), Some(("fork", "分叉")))),
    bind(P::Tree, &[char('?')], A::Help, ("keys of this place", "此处的按键"), None),
    bind(P::Tree, &[char('q'), key(KeyCode::Left), key(KeyCode::Esc)], A::Back, ("back", "返回"), Some(("back", "返回"))),

    bind(P::Health, &[char('j'), key(KeyCode::Down)], A::Down, ("a line down", "下一行"), None),
    bind(P::Health, &[char('k'), key(KeyCode::Up)], A::Up, ("a line up", "上一行"), None),
    writing(bind(P::Health, &[char('a')], A::Apply, ("apply the repair, after a question", "确认后应用修复"), Some(("apply", "应用")))),
    writing(bind(P::Health, &[char('u')], A::Undo, ("undo the last change of boswell, after a question", "确认后撤销 boswell 的上一次更改"), Some(("undo", "撤销")))),
    bind(P::Health, &[char('?')], A::Help, ("keys of this place", "此处的按键"), None),
    bind(P::Health, &[char('q'), key(KeyCode::Left), key(KeyCode::Esc)], A::Back, ("back", "返回"), Some(("back", "返回"))),

    bind(P::Costs, &[char('j'), key(KeyCode::Down)], A::Down, ("a line down", "下一行"), None),
    bind(P::Costs, &[char('k'), key(KeyCode::Up)], A::Up, ("a line up", "上一行"), None),
    bind(P::Costs, &[char('d')], A::ByDay, ("by day", "按日"), Some(("day", "日"))),
    bind(P::Costs, &[char('p')], A::ByProject, ("by project", "按项目"), Some(("project", "项目"))),
    bind(P::Costs, &[char('m')], A::ByModel, ("by model", "按模型"), Some(("model", "模型"))),
    bind(P::Costs, &[char('a')], A::ByAgent, ("by agent", "按智能体"), Some(("agent", "智能体"))),
    bind(P::Costs, &[char('w')], A::Span, ("last 7 days → last 30 days → all time", "最近 7 天 → 最近 30 天 → 全部时间"), Some(("span", "时段"))),
    bind(P::Costs, &[char('?')], A::Help, ("keys of this place", "此处的按键"), None),
    bind(P::Costs, &[char('q'), key(KeyCode::Left), key(KeyCode::Esc)], A::Back, ("back", "返回"), Some(("back", "返回"))),

    bind(P::Line, &[ctrl('a'), key(KeyCode::Home)], A::LineStart, ("start of the text", "文本开头"), None),
    bind(P::Line, &[ctrl('e'), key(KeyCode::End)], A::LineEnd, ("end of the text", "文本末尾"), None),
    bind(P::Line, &[ctrl('b'), key(KeyCode::Left)], A::Left, ("a character left", "左移一个字符"), None),
    bind(P::Line, &[key(KeyCode::Right)], A::Right, ("a character right", "右移一个字符"), None),
    bind(P::Line, &[key(KeyCode::Backspace)], A::EraseBefore, ("erase the character before", "删除前一个字符"), None),
    bind(P::Line, &[ctrl('d'), key(KeyCode::Delete)], A::EraseAfter, ("erase the character after", "删除后一个字符"), None),
    bind(P::Line, &[ctrl('w')], A::EraseWord, ("erase the word before", "删除前一个词"), None),
    bind(P::Line, &[ctrl('u')], A::EraseLine, ("erase everything before", "删除之前的全部文本"), None),

    bind(P::Everywhere, &[ctrl('k')], A::Commands, ("commands: everything that can be done here", "命令：此处可执行的一切"), Some(("commands", "命令"))),
    bind(P::Everywhere, &[function(1)], A::Help, ("keys of this place", "此处的按键"), Some(("keys", "按键"))),
    bind(P::Everywhere, &[function(5)], A::Costs, ("costs by day, project, model and agent", "按日、项目、模型和智能体统计费用"), None),
    bind(P::Everywhere, &[function(8)], A::Mouse, ("mouse on or off", "启用或关闭鼠标"), None),
    bind(P::Everywhere, &[ctrl('l')], A::Repaint, ("repaint, and examine all files again", "重绘并重新检查所有文件"), None),
    bind(P::Everywhere, &[ctrl('z')], A::Suspend, ("suspend; fg continues", "挂起；fg 继续"), None),
    bind(P::Everywhere, &[ctrl('c'), ctrl('q')], A::Quit, ("quit", "退出"), None),
];

/// Returns the action of a key in a place: its own bindings first, then those of every place.
pub(crate) fn action(place: Place, event: &KeyEvent) -> Option<&'static Binding> {
    let of = |place: Place| {
        BINDINGS
            .iter()
            .find(|it| it.place == place && it.keys.iter().any(|key| key.is(event)))
    };
    of(place).or_else(|| of(Place::Everywhere))
}

/// Returns the bindings that help lists in a place.
pub(crate) fn of_place(place: Place) -> impl Iterator<Item = &'static Binding> {
    let own = BINDINGS.iter().filter(move |it| it.place == place);
    let text = BINDINGS
        .iter()
        .filter(move |it| it.place == Place::Line && place == Place::Finder);
    let all = BINDINGS.iter().filter(|it| it.place == Place::Everywhere);
    own.chain(text).chain(all)
}

/// Returns the table as a page of Markdown, for `docs/screen.md`.
pub fn key_table() -> String {
    let mut out = String::new();
    for place in Place::ALL {
        let (english, chinese) = place.words();
        out.push_str(&format!(
            "### {english} · {chinese}\n\n| key | does | 作用 |\n|---|---|---|\n"
        ));
        for binding in BINDINGS.iter().filter(|it| it.place == place) {
            let keys: Vec<String> = (binding.keys.iter())
                .map(|key| format!("`{}`", key.name()))
                .collect();
            let (english, chinese) = binding.does;
            out.push_str(&format!("| {} | {english} | {chinese} |\n", keys.join(" ")));
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_key_has_two_meanings_in_one_place() {
        for place in Place::ALL {
            let mut seen = BTreeSet::new();
            for key in BINDINGS
                .iter()
                .filter(|it| it.place == place)
                .flat_map(|it| it.keys)
            {
                assert!(seen.insert(key.name()), "{} in {place:?}", key.name());
            }
        }
    }

    #[test]
    fn keys_that_terminals_send_for_others_are_not_bound() {
        for key in BINDINGS.iter().flat_map(|it| it.keys) {
            for taken in ['h', 'i', 'm', '[', 'j'] {
                assert_ne!(*key, ctrl(taken), "{}", key.name());
            }
        }
    }

    #[test]
    fn letters_in_the_finder_are_text() {
        let plain = |key: &&Key| {
            matches!(key.code, KeyCode::Char(_)) && key.modifiers == KeyModifiers::NONE
        };
        let letters = BINDINGS
            .iter()
            .filter(|it| matches!(it.place, Place::Finder | Place::Line | Place::Everywhere));
        assert_eq!(letters.flat_map(|it| it.keys).filter(plain).count(), 0);
    }

    #[test]
    fn every_binding_has_words_in_both_languages() {
        for binding in BINDINGS {
            let short = binding.short.unwrap_or(("-", "-"));
            for text in [binding.does.0, binding.does.1, short.0, short.1] {
                assert!(!text.is_empty(), "{:?}", binding.action);
            }
        }
    }

    #[test]
    fn shift_is_part_of_the_character() {
        let event = KeyEvent::new(KeyCode::Char('T'), KeyModifiers::SHIFT);
        let found = action(Place::Reader, &event).map(|it| it.action);
        assert_eq!(found, Some(Action::Thinking));
        let event = KeyEvent::new(KeyCode::Char('t'), KeyModifiers::NONE);
        let found = action(Place::Reader, &event).map(|it| it.action);
        assert_eq!(found, Some(Action::Tools));
    }
}
