//! The list of settings.

/// A setting.
#[derive(Debug)]
pub(crate) struct Setting {
    /// Key, with the tables before it separated by dots.
    pub(crate) key: &'static str,
    /// The default value.
    pub(crate) default: &'static str,
    /// Purpose of the setting.
    pub(crate) what: &'static str,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word(&'static [&'static str]),
    Bool,
    /// A duration such as `30d`, or `never`.
    Span,
    /// `local`, or the name of a time zone.
    Zone,
    Words,
    Globs,
    Stores,
    Hosts,
    Table,
    /// A table of texts, of lists of texts, or of such tables.
    Names,
}

const fn setting(
    key: &'static str,
    default: &'static str,
    what: &'static str,
    kind: Kind,
) -> Setting {
    Setting {
        key,
        default,
        what,
        kind,
    }
}

impl Setting {
    /// Which projects are excluded.
    pub(crate) const EXCLUDE: Setting = setting(
        "exclude",
        "",
        "project folders that are never listed, searched, copied or exported; `*` and `**` are wildcards",
        Kind::Globs,
    );
}

/// All settings.
pub(crate) const SETTINGS: &[Setting] = &[
    setting(
        "color",
        "auto",
        "when to color the output",
        Kind::Word(&["auto", "always", "never"]),
    ),
    setting(
        "timezone",
        "local",
        "time zone of what is shown and typed: local, UTC, or a name such as Europe/Paris",
        Kind::Zone,
    ),
    setting(
        "stores",
        "",
        "additional stores: one table [[stores]] each, with dialect, path and label",
        Kind::Stores,
    ),
    setting(
        "hosts",
        "",
        "other machines by ssh: one table [[hosts]] each, with name, ssh, program, options and shown",
        Kind::Hosts,
    ),
    Setting::EXCLUDE,
    setting(
        "read_only",
        "false",
        "write nothing outside boswell's own folder",
        Kind::Bool,
    ),
    setting(
        "idle",
        "1h",
        "after what time without activity a boswell session is shown as paused",
        Kind::Span,
    ),
    setting(
        "retention.before",
        "90d",
        "how long the vault keeps the files that a change replaced",
        Kind::Span,
    ),
    setting(
        "retention.deleted",
        "90d",
        "how long the vault keeps deleted sessions",
        Kind::Span,
    ),
    setting(
        "retention.archived",
        "never",
        "how long the vault keeps archived sessions",
        Kind::Span,
    ),
    setting(
        "retention.kept",
        "never",
        "how long the vault keeps copies that `keep` made",
        Kind::Span,
    ),
    setting(
        "summary.command",
        "",
        "program and arguments that summarize: session on stdin, title and summary on stdout",
        Kind::Words,
    ),
    setting(
        "summary.at_close",
        "false",
        "summarize a session when it is closed",
        Kind::Bool,
    ),
    setting(
        "summary.timeout",
        "30s",
        "how long summary.command may run",
        Kind::Span,
    ),
    setting(
        "screen.enter",
        "resume",
        "what Enter does in the screen",
        Kind::Word(&["resume", "read"]),
    ),
    setting(
        "screen.language",
        "auto",
        "language of the screen; auto follows LC_ALL and LANG",
        Kind::Word(&["auto", "en", "zh"]),
    ),
    setting(
        "screen.marks",
        "unicode",
        "marks and lines of the screen; ascii for terminals that draw them too wide",
        Kind::Word(&["unicode", "ascii"]),
    ),
    setting(
        "screen.mouse",
        "on",
        "whether the screen uses the mouse",
        Kind::Word(&["on", "off"]),
    ),
    setting(
        "screen.keys",
        "",
        "own keys of the screen, by place and action: [screen.keys.finder] fork = \"F7\"",
        Kind::Names,
    ),
    setting(
        "screen.theme",
        "",
        "colors of the screen, by what they mark: user, tool, match, warning, good, code, heading",
        Kind::Names,
    ),
    setting(
        "prices",
        "",
        "dollars per million tokens, by model: input, output, cache_read, cache_write, cache_write_1h",
        Kind::Table,
    ),
];

/// Returns an example line that sets it.
pub(super) fn example(setting: &Setting) -> String {
    match setting.kind {
        Kind::Word(words) => format!("{} = \"{}\"", setting.key, words.first().unwrap_or(&"")),
        Kind::Bool => format!("{} = true", setting.key),
        Kind::Span => format!("{} = \"30d\"", setting.key),
        Kind::Zone => format!("{} = \"Europe/Paris\"", setting.key),
        Kind::Words => format!("{} = [\"a\", \"b\"]", setting.key),
        Kind::Globs => format!("{} = [\"/srv/secret\", \"~/private/*\"]", setting.key),
        Kind::Stores => format!(
            "[[{}]] with dialect = \"claude\", path = \"~/.claude-work\"",
            setting.key
        ),
        Kind::Hosts => format!(
            "[[{}]] with name = \"box\", ssh = \"me@box.example\"",
            setting.key
        ),
        Kind::Table => format!("[{}.\"name\"]", setting.key),
        Kind::Names => format!("[{}] with name = \"value\"", setting.key),
    }
}
