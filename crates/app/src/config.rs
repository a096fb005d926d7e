//! The user's settings: one TOML file in the platform's settings folder.
//!
//! Priority: options, then environment variables, then the file, then the defaults.
//!
//! `place` finds the settings file (`config --path`, `BOSWELL_CONFIG`); an invalid one is an error
//! that names the line. The list of settings is in `config/setting.rs`.

mod setting;

use std::path::{Path, PathBuf};
use std::time::Duration;

use boswell_dialect::Environment;
use boswell_model::json::Json;
use boswell_model::{Advice, Error, ErrorKind, Result};
use boswell_store::store::Exclusion;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

pub(crate) use self::setting::{SETTINGS, Setting};

use self::setting::{Kind, example};
use crate::hosts::setting::{Host, host};
use crate::time::{self, TimeZone};

/// A store that the settings add to the discovered ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedStore {
    /// Name of its dialect.
    pub dialect: String,
    /// Folder of the store; a leading `~` is the user's home.
    pub path: String,
    /// The user's name for the store.
    pub label: Option<String>,
}

/// The settings file, if there is one.
#[derive(Debug, Default)]
pub struct Config {
    /// Path of the file, even if it does not exist.
    pub path: Option<PathBuf>,
    table: Table,
}

impl Config {
    /// Reads the settings file of this environment; a missing file sets nothing.
    pub fn load(env: &Environment) -> Result<Config> {
        let Some(path) = place(env) else {
            return Ok(Config::default());
        };
        match read(&path) {
            Ok(text) => Config::parse(path, &text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Config {
                path: Some(path),
                table: Table::new(),
            }),
            Err(error) => Err(Error::io(path.display(), "read the settings", error)),
        }
    }

    pub(crate) fn parse(path: PathBuf, text: &str) -> Result<Config> {
        let wrong = |why: String| {
            Error::new(
                ErrorKind::Invalid,
                format!("the settings in `{}` cannot be used", path.display()),
            )
            .because(why)
            .advising(
                Advice::from("fix the file")
                    .or(Advice::IgnoreConfig)
                    .also(Advice::ShowSettings),
            )
        };
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let line = error
                .span()
                .and_then(|span| text.get(..span.start))
                .map(|before| before.lines().count().max(1));
            wrong(format!(
                "{}{}",
                line.map(|n| format!("line {n}: ")).unwrap_or_default(),
                error.message()
            ))
        })?;
        let config = Config {
            path: Some(path.clone()),
            table,
        };
        for key in config.keys() {
            let at = |item: Option<usize>| {
                line_of(text, &key, item)
                    .map(|n| format!("line {n}: "))
                    .unwrap_or_default()
            };
            let Some(setting) = SETTINGS.iter().find(|it| it.key == key) else {
                return Err(wrong(format!(
                    "{}there is no setting `{}`",
                    at(None),
                    key.escape_debug()
                )));
            };
            config
                .fits(setting)
                .map_err(|(item, why)| wrong(format!("{}`{key}` {why}", at(item))))?;
        }
        Ok(config)
    }

    /// Returns the keys that are set, as in [`SETTINGS`].
    fn keys(&self) -> Vec<String> {
        let mut keys = Vec::new();
        for (name, value) in &self.table {
            let whole = SETTINGS.iter().any(|it| it.key == name);
            match value {
                Value::Table(inner) if !whole => {
                    keys.extend(inner.keys().map(|key| format!("{name}.{key}")))
                }
                _ => keys.push(name.clone()),
            }
        }
        keys
    }

    /// Checks a value of the file; the error contains the index of a wrong list item.
    fn fits(&self, setting: &Setting) -> std::result::Result<(), (Option<usize>, String)> {
        let Some(value) = self.get(setting.key) else {
            return Ok(());
        };
        let good = match (setting.kind, value) {
            (Kind::Word(words), Value::String(text)) => {
                return if words.contains(&text.as_str()) {
                    Ok(())
                } else {
                    Err((None, format!("is none of {}", words.join(", "))))
                };
            }
            (Kind::Bool, Value::Boolean(_)) | (Kind::Table, Value::Table(_)) => true,
            (Kind::Span, Value::String(text)) => text == "never" || time::span(text).is_ok(),
            (Kind::Zone, Value::String(text)) => {
                return match text == "local" || TimeZone::named(text).is_some() {
                    true => Ok(()),
                    false => Err((None, "is no time zone that this machine knows".to_owned())),
                };
            }
            (Kind::Words, Value::Array(items)) => items.iter().all(Value::is_str),
            (Kind::Names, Value::Table(table)) => table.values().all(is_names),
            (Kind::Globs, Value::Array(items)) => return each(items, glob_fits),
            (Kind::Hosts, Value::Array(items)) => return crate::hosts::setting::all_fit(items),
            (Kind::Stores, Value::Array(items)) => {
                return each(items, |item| added_store(item).map(drop));
            }
            _ => false,
        };
        if good {
            Ok(())
        } else {
            Err((None, format!("must be like `{}`", example(setting))))
        }
    }

    /// Whether the file sets `key`.
    pub fn is_set(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Returns the value of a setting in the file.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        match key.split_once('.') {
            Some((table, key)) => self.table.get(table)?.get(key),
            None => self.table.get(key),
        }
    }

    /// Returns a string setting.
    pub fn word(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    /// Returns a boolean setting; false if it is not set.
    pub fn is_on(&self, key: &str) -> bool {
        self.get(key).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Returns the user's prices in dollars per million tokens, by model: an object of objects of
    /// numbers. A value that is not a number becomes `null`.
    pub fn prices(&self) -> Option<Json> {
        let number = |value: &Value| {
            let whole = || value.as_integer().map(|whole| whole as f64);
            Json::from(value.as_float().or_else(whole))
        };
        let model = |(name, parts): (&String, &Value)| {
            let parts = parts.as_table().into_iter().flatten();
            let parts = parts.map(|(key, value)| (key.clone().into(), number(value)));
            (name.clone().into(), Json::Object(parts.collect()))
        };
        let set = self.get("prices")?.as_table()?;
        Some(Json::Object(set.iter().map(model).collect()))
    }

    /// Returns a list setting; empty if it is not set.
    pub fn words(&self, key: &str) -> Vec<String> {
        let items = self.get(key).and_then(Value::as_array);
        items
            .into_iter()
            .flatten()
            .filter_map(|item| item.as_str().map(str::to_owned))
            .collect()
    }

    /// Returns the texts of a table, by their names; those of inner tables are `table.name`.
    pub fn names(&self, key: &str) -> Vec<(String, Vec<String>)> {
        let mut out = Vec::new();
        if let Some(table) = self.get(key).and_then(Value::as_table) {
            collect_names("", table, &mut out);
        }
        out
    }

    /// The rules that exclude projects; `None` if the file excludes nothing.
    pub fn exclusion(&self, env: &Environment) -> Result<Option<Exclusion>> {
        let patterns = self.words("exclude");
        if patterns.is_empty() {
            Ok(None)
        } else {
            Exclusion::new(&patterns, env.home.as_deref()).map(Some)
        }
    }

    /// Returns the stores to add to the discovered ones.
    pub fn stores(&self) -> Vec<AddedStore> {
        let items = self.get("stores").and_then(Value::as_array);
        // Invalid items were refused when the file was read.
        items
            .into_iter()
            .flatten()
            .filter_map(|item| added_store(item).ok())
            .collect()
    }

    /// Returns the hosts, in the order of the file.
    pub(crate) fn hosts(&self) -> Vec<Host> {
        let items = self.get("hosts").and_then(Value::as_array);
        let items = items.into_iter().flatten();
        // Invalid items were refused when the file was read.
        items.filter_map(|item| host(item).ok()).collect()
    }

    /// Returns the time zone that the file sets; otherwise that of the variable `TZ`, or of the
    /// machine.
    pub fn zone(&self, env: &Environment) -> TimeZone {
        let set = self.word("timezone").filter(|name| *name != "local");
        let set = set.and_then(TimeZone::named);
        set.unwrap_or_else(|| match env.var("TZ") {
            Some(variable) => TimeZone::of_variable(variable),
            None => TimeZone::system(),
        })
    }

    /// Returns a duration, from the file or the default; `None` for `never`.
    pub fn span(&self, key: &str) -> Option<Duration> {
        let built_in = SETTINGS
            .iter()
            .find(|it| it.key == key)
            .map(|it| it.default);
        time::span(self.word(key).or(built_in)?).ok()
    }

    /// Returns the value of a setting for display, and whether the file sets it.
    pub(crate) fn shown(&self, setting: &Setting) -> (String, bool) {
        match self.get(setting.key) {
            Some(Value::String(text)) => (text.clone(), true),
            Some(value) => (value.to_string(), true),
            None => (setting.default.to_owned(), false),
        }
    }
}

/// The first item of a list that does not fit, with the reason.
fn each(
    items: &[Value],
    fits: fn(&Value) -> std::result::Result<(), String>,
) -> std::result::Result<(), (Option<usize>, String)> {
    for (at, item) in items.iter().enumerate() {
        if let Err(why) = fits(item) {
            return Err((Some(at), format!("has an item that cannot be used: {why}")));
        }
    }
    Ok(())
}

fn glob_fits(item: &Value) -> std::result::Result<(), String> {
    let Some(text) = item.as_str() else {
        return Err("it is not a text".to_owned());
    };
    // It is not known here whether there is a home; the syntax of a pattern can
    // be checked with any.
    match Exclusion::new(&[text.to_owned()], Some(Path::new("/home"))) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("{error}: {}", error.reason().unwrap_or_default())),
    }
}

fn added_store_of_table(table: &Table) -> std::result::Result<AddedStore, String> {
    if let Some(key) = table
        .keys()
        .find(|key| !matches!(key.as_str(), "dialect" | "path" | "label"))
    {
        return Err(format!(
            "there is no `{}`; known are dialect, path and label",
            key.escape_debug()
        ));
    }
    let text = |key: &str| match table.get(key) {
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("`{key}` must be a text")),
        None => Ok(None),
    };
    let needed = |key: &str| text(key)?.ok_or_else(|| format!("`{key}` is missing"));
    Ok(AddedStore {
        dialect: needed("dialect")?,
        path: needed("path")?,
        label: text("label")?,
    })
}

/// Parses an item of `stores`: a table, or the older form DIALECT=PATH.
fn added_store(item: &Value) -> std::result::Result<AddedStore, String> {
    let store = match item {
        Value::String(text) => match text.split_once('=') {
            Some((dialect, path)) => AddedStore {
                dialect: dialect.to_owned(),
                path: path.to_owned(),
                label: None,
            },
            None => return Err("a text must be like `claude=/path/to/.claude`".to_owned()),
        },
        Value::Table(table) => added_store_of_table(table)?,
        _ => return Err("it is neither a table nor a text".to_owned()),
    };
    if boswell_dialect::by_name(&store.dialect).is_none() {
        let known: Vec<&str> = boswell_dialect::all()
            .iter()
            .map(|dialect| dialect.name())
            .collect();
        return Err(format!(
            "there is no dialect `{}`; known are {}",
            store.dialect.escape_debug(),
            known.join(", ")
        ));
    }
    if !(Path::new(&store.path).is_absolute() || store.path == "~" || store.path.starts_with("~/"))
    {
        return Err(format!(
            "the path `{}` must begin with `/` or `~/`",
            store.path.escape_debug()
        ));
    }
    if store
        .label
        .as_deref()
        .is_some_and(|label| label.trim().is_empty() || label.chars().count() > 32)
    {
        return Err("a label has 1 to 32 characters".to_owned());
    }
    Ok(store)
}

/// Returns the line of a setting, or of an item of it.
fn line_of(text: &str, key: &str, item: Option<usize>) -> Option<usize> {
    let table = DeTable::parse(text).ok()?;
    let (mut at, mut value) = (0, None);
    let mut here = Some(table.get_ref());
    for name in key.split('.') {
        let (key, found) = here?.iter().find(|(key, _)| key.get_ref() == name)?;
        (at, value) = (key.span().start, Some(found.get_ref()));
        here = match found.get_ref() {
            DeValue::Table(inner) => Some(inner),
            _ => None,
        };
    }
    if let (Some(item), Some(DeValue::Array(items))) = (item, value) {
        at = items.get(item)?.span().start;
    }
    Some(text.get(..at)?.matches('\n').count() + 1)
}

/// Expands the `~` in a path of the settings.
pub(crate) fn expanded(path: &str, env: &Environment) -> PathBuf {
    match (path.strip_prefix("~/"), path, &env.home) {
        (Some(rest), _, Some(home)) => home.join(rest),
        (None, "~", Some(home)) => home.clone(),
        _ => PathBuf::from(path),
    }
}

/// Returns the path of the settings file for this environment.
fn place(env: &Environment) -> Option<PathBuf> {
    if let Some(path) = env.var("BOSWELL_CONFIG").filter(|path| !path.is_empty()) {
        return Some(env.cwd.join(path));
    }
    if cfg!(target_os = "macos") {
        return env.in_home("Library/Application Support/boswell/config.toml");
    }
    if cfg!(windows) {
        return env
            .path_var("APPDATA")
            .map(|data| data.join("boswell").join("config.toml"));
    }
    let folder = env
        .path_var("XDG_CONFIG_HOME")
        .or_else(|| env.in_home(".config"));
    folder.map(|folder| folder.join("boswell").join("config.toml"))
}

fn read(path: &Path) -> std::io::Result<String> {
    crate::system::read_text(path)
}

/// Whether a value is a text, a list of texts, or a table of such values.
fn is_names(value: &Value) -> bool {
    match value {
        Value::String(_) => true,
        Value::Array(items) => items.iter().all(Value::is_str),
        Value::Table(table) => table.values().all(is_names),
        _ => false,
    }
}

fn collect_names(lead: &str, table: &Table, out: &mut Vec<(String, Vec<String>)>) {
    for (name, value) in table {
        let name = format!("{lead}{name}");
        let text = |it: &Value| it.as_str().map(str::to_owned);
        match value {
            Value::Table(inner) => collect_names(&format!("{name}."), inner, out),
            Value::Array(items) => out.push((name, items.iter().filter_map(text).collect())),
            other => out.push((name, text(other).into_iter().collect())),
        }
    }
}

#[cfg(test)]
mod tests;
