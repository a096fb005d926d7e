//! What the user set once for all: one TOML file in the platform's folder for settings.
//!
//! Options come before variables of the environment, these before the file, and the file before what is built in.

use std::path::{Path, PathBuf};
use std::time::Duration;

use boswell_dialect::Environment;
use boswell_model::{Error, ErrorKind, Result};
use toml::{Table, Value};

use crate::when;

/// A setting that there is.
#[derive(Debug)]
pub(crate) struct Setting {
    /// Its name, tables before it separated by dots.
    pub(crate) key: &'static str,
    /// What holds without it.
    pub(crate) default: &'static str,
    /// What it is for.
    pub(crate) what: &'static str,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word(&'static [&'static str]),
    Bool,
    /// A span of time such as `30d`, or `never`.
    Span,
    Words,
    Table,
}

const fn setting(key: &'static str, default: &'static str, what: &'static str, kind: Kind) -> Setting {
    Setting { key, default, what, kind }
}

/// Every setting.
pub(crate) const SETTINGS: &[Setting] = &[
    setting("color", "auto", "when to use colour", Kind::Word(&["auto", "always", "never"])),
    setting("stores", "", "stores beside those that are found, as DIALECT=PATH", Kind::Words),
    setting("read_only", "false", "write nothing outside boswell's own folder", Kind::Bool),
    setting("idle", "1h", "how long a session of ours is idle before it is shown as paused", Kind::Span),
    setting("retention.before", "90d", "how long the vault keeps files as they were before a change", Kind::Span),
    setting("retention.deleted", "90d", "how long it keeps deleted sessions", Kind::Span),
    setting("retention.archived", "never", "after what time archived sessions are forgotten", Kind::Span),
    setting("retention.kept", "never", "after what time kept copies are forgotten", Kind::Span),
    setting(
        "summary.command",
        "",
        "program and arguments that summarise: text on stdin, answer on stdout",
        Kind::Words,
    ),
    setting("summary.at_close", "false", "summarise a session when it is closed", Kind::Bool),
    setting("summary.timeout", "30s", "how long that program may take", Kind::Span),
    setting(
        "prices",
        "",
        "dollars for a million tokens, by model: input, output, cache_read, cache_write, cache_write_1h",
        Kind::Table,
    ),
];

/// The file, as far as there is one.
#[derive(Debug, Default)]
pub(crate) struct Config {
    /// Where it is, or would be.
    pub(crate) path: Option<PathBuf>,
    table: Table,
}

impl Config {
    /// Reads the file of this environment; one that is not there holds nothing.
    pub(crate) fn load(env: &Environment) -> Result<Config> {
        let Some(path) = place(env) else { return Ok(Config::default()) };
        match read(&path) {
            Ok(text) => Config::parse(path, &text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Ok(Config { path: Some(path), table: Table::new() })
            }
            Err(error) => Err(Error::io(path.display(), "read the settings", error)),
        }
    }

    fn parse(path: PathBuf, text: &str) -> Result<Config> {
        let wrong = |why: String| {
            Error::new(ErrorKind::Invalid, format!("the settings in `{}` cannot be used", path.display()))
                .because(why)
                .hinting("mend the file, or leave it out with `BOSWELL_CONFIG=/dev/null`; `boswell config` lists what can be set")
        };
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let line = error.span().and_then(|span| text.get(..span.start)).map(|before| before.lines().count().max(1));
            wrong(format!("{}{}", line.map(|n| format!("line {n}: ")).unwrap_or_default(), error.message()))
        })?;
        let config = Config { path: Some(path.clone()), table };
        for key in config.keys() {
            let Some(setting) = SETTINGS.iter().find(|it| it.key == key) else {
                return Err(wrong(format!("there is no setting `{}`", key.escape_debug())));
            };
            config.fits(setting).map_err(|why| wrong(format!("`{key}` {why}")))?;
        }
        Ok(config)
    }

    /// Names of what is set, as [`SETTINGS`] has them.
    fn keys(&self) -> Vec<String> {
        let mut keys = Vec::new();
        for (name, value) in &self.table {
            let whole = SETTINGS.iter().any(|it| it.key == name);
            match value {
                Value::Table(inner) if !whole => keys.extend(inner.keys().map(|key| format!("{name}.{key}"))),
                _ => keys.push(name.clone()),
            }
        }
        keys
    }

    fn fits(&self, setting: &Setting) -> std::result::Result<(), String> {
        let Some(value) = self.get(setting.key) else { return Ok(()) };
        let good = match (setting.kind, value) {
            (Kind::Word(words), Value::String(text)) => {
                return if words.contains(&text.as_str()) {
                    Ok(())
                } else {
                    Err(format!("is none of {}", words.join(", ")))
                };
            }
            (Kind::Bool, Value::Boolean(_)) | (Kind::Table, Value::Table(_)) => true,
            (Kind::Span, Value::String(text)) => text == "never" || when::span(text).is_ok(),
            (Kind::Words, Value::Array(items)) => items.iter().all(Value::is_str),
            _ => false,
        };
        if good { Ok(()) } else { Err(format!("must be like `{}`", example(setting))) }
    }

    /// What the file says of a setting.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        match key.split_once('.') {
            Some((table, key)) => self.table.get(table)?.get(key),
            None => self.table.get(key),
        }
    }

    /// A word.
    pub(crate) fn word(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    /// Yes or no; no if nothing is said.
    pub(crate) fn is_on(&self, key: &str) -> bool {
        self.get(key).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Several words; none if nothing is said.
    pub(crate) fn words(&self, key: &str) -> Vec<String> {
        let items = self.get(key).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
    }

    /// A span of time, from the file or built in; none for `never`.
    pub(crate) fn span(&self, key: &str) -> Option<Duration> {
        let built_in = SETTINGS.iter().find(|it| it.key == key).map(|it| it.default);
        when::span(self.word(key).or(built_in)?).ok()
    }

    /// A setting as it is shown, and whether the file sets it.
    pub(crate) fn shown(&self, setting: &Setting) -> (String, bool) {
        match self.get(setting.key) {
            Some(Value::String(text)) => (text.clone(), true),
            Some(value) => (value.to_string(), true),
            None => (setting.default.to_owned(), false),
        }
    }
}

fn example(setting: &Setting) -> String {
    match setting.kind {
        Kind::Word(words) => format!("{} = \"{}\"", setting.key, words.first().unwrap_or(&"")),
        Kind::Bool => format!("{} = true", setting.key),
        Kind::Span => format!("{} = \"30d\"", setting.key),
        Kind::Words => format!("{} = [\"a\", \"b\"]", setting.key),
        Kind::Table => format!("[{}.\"name\"]", setting.key),
    }
}

/// Where the settings of this environment are.
fn place(env: &Environment) -> Option<PathBuf> {
    if let Some(path) = env.var("BOSWELL_CONFIG").filter(|path| !path.is_empty()) {
        return Some(env.cwd.join(path));
    }
    if cfg!(target_os = "macos") {
        return env.in_home("Library/Application Support/boswell/config.toml");
    }
    if cfg!(windows) {
        return env.path_var("APPDATA").map(|data| data.join("boswell").join("config.toml"));
    }
    let folder = env.path_var("XDG_CONFIG_HOME").or_else(|| env.in_home(".config"));
    folder.map(|folder| folder.join("boswell").join("config.toml"))
}

fn read(path: &Path) -> std::io::Result<String> {
    crate::machine::read_text(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config> {
        Config::parse(PathBuf::from("c.toml"), text)
    }

    #[test]
    fn settings_are_read_by_name() {
        let config =
            parse("idle = \"2h\"\nstores = [\"pi=/x\"]\n[retention]\ndeleted = \"never\"\n[prices.\"m-1\"]\ninput = 3")
                .unwrap();
        assert_eq!(config.span("idle"), Some(Duration::from_secs(7200)));
        assert_eq!(config.words("stores"), ["pi=/x"]);
        assert_eq!(config.span("retention.deleted"), None);
        assert_eq!(config.span("retention.before"), Some(Duration::from_secs(90 * 86400)));
        assert!(config.get("prices").is_some());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let why = |text: &str| parse(text).unwrap_err().reason().unwrap_or_default().to_owned();
        assert!(why("a = 1\nidle = [").starts_with("line 2"), "{}", why("a = 1\nidle = ["));
        assert_eq!(why("idel = \"1h\""), "there is no setting `idel`");
        assert_eq!(why("[retention]\nold = \"1d\""), "there is no setting `retention.old`");
        assert!(why("idle = 5").contains("must be like `idle = \"30d\"`"));
        assert!(why("color = \"red\"").contains("is none of auto, always, never"));
    }

    #[test]
    fn every_default_fits_its_own_setting() {
        for setting in SETTINGS.iter().filter(|it| it.kind == Kind::Span && it.default != "never") {
            assert!(when::span(setting.default).is_ok(), "{}", setting.key);
        }
    }
}
