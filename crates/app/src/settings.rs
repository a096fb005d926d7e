//! The effective settings and their origin, and the exclusion of projects.
//!
//! `config` lists them; `config --exclude` and `--include` change the file (`config_edit.rs`) and
//! remove derived data of an excluded project at once (`exclusion_purge.rs`). The settings file is
//! found and read by `config.rs`.

use std::path::PathBuf;
use std::sync::Arc;

use boswell_model::Result;

use crate::config::{Config, SETTINGS, Setting};
use crate::exclusion_purge::Purge;
use crate::shape::shape;
use crate::{App, AppResult, RequestContext, config_edit};

shape! {
    /// A setting and where its value comes from.
    SettingShape: "setting" {
        /// its name
        key: &'static str,
        /// its value
        value: String,
        /// where the value comes from: a file, `built in`, or an option
        origin: String,
        /// purpose of the setting
        what: &'static str,
    }
}

/// The effective value of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingValue {
    /// Key, with the tables before it separated by dots.
    pub key: &'static str,
    /// Value from the file or the default.
    pub value: String,
    /// Origin of the value.
    pub origin: SettingOrigin,
    /// Purpose of the setting.
    pub what: &'static str,
}

/// Origin of the value of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingOrigin {
    /// The default.
    BuiltIn,
    /// The settings file.
    File,
    /// An option of the caller.
    Caller,
}

/// A request to change the excluded projects.
#[derive(Debug, Clone, Default)]
pub struct ExcludeRequest {
    /// Folders to exclude, `*` and `**` allowed.
    pub add: Vec<String>,
    /// Folders that are no longer excluded, by the same patterns.
    pub remove: Vec<String>,
}

/// The excluded projects.
#[derive(Debug)]
pub struct Excluded {
    /// The setting after the change.
    pub setting: SettingValue,
    /// The file that it was written to.
    pub file: Option<PathBuf>,
    /// Number of excluded sessions.
    pub sessions: usize,
}

impl App {
    /// Returns every setting with its value.
    pub fn list_settings(&self) -> Vec<SettingValue> {
        SETTINGS.iter().map(|it| self.value_of(it)).collect()
    }

    /// Returns one setting by its key.
    pub fn setting(&self, key: &str) -> Option<SettingValue> {
        let setting = SETTINGS.iter().find(|it| it.key == key)?;
        Some(self.value_of(setting))
    }

    fn value_of(&self, setting: &Setting) -> SettingValue {
        let config = self.settings();
        if setting.key == "read_only" && self.is_read_only() && !config.is_on("read_only") {
            return SettingValue {
                value: "true".to_owned(),
                origin: SettingOrigin::Caller,
                ..value_in(config, setting)
            };
        }
        value_in(config, setting)
    }

    /// Changes which projects are excluded, and removes data derived from them.
    ///
    /// This application itself continues with the settings that it was opened with.
    ///
    /// # Errors
    ///
    /// Denied if nothing may be written, Invalid for a pattern that is not valid, NotFound for one
    /// to remove that is not set, Conflict if the list has comments that would be lost.
    pub fn exclude(&self, request: &ExcludeRequest) -> AppResult<Excluded> {
        self.answer(|cx| exclude(cx, request))
    }
}

fn value_in(config: &Config, setting: &Setting) -> SettingValue {
    let (value, is_set) = config.shown(setting);
    SettingValue {
        key: setting.key,
        value,
        origin: match is_set {
            true => SettingOrigin::File,
            false => SettingOrigin::BuiltIn,
        },
        what: setting.what,
    }
}

fn exclude(cx: &RequestContext, request: &ExcludeRequest) -> Result<Excluded> {
    let config = config_edit::exclude(cx, &request.add, &request.remove)?;
    let exclusion = config.exclusion(&cx.env)?.map(Arc::new);
    let mut sessions = 0;
    if let Some(exclusion) = &exclusion {
        let stores = cx.stores.whole().excluding(Some(exclusion));
        let purge = Purge {
            cx,
            exclusion,
            stores: &stores,
        };
        purge.run(&config.words("exclude"))?;
        sessions = stores.excluded().len();
    }
    Ok(Excluded {
        setting: value_in(&config, &Setting::EXCLUDE),
        file: config.path.clone(),
        sessions,
    })
}
