//! `keep.json`: whether automatic copies are on, and what was installed for them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use boswell_model::json::{Json, Raw};
use boswell_model::{Advice, Error, ErrorKind, Instant, Result};
use boswell_store::disk::{Disk, RealDisk, durable};
use boswell_store::disk::{IdSource, SystemIds};
use boswell_store::locks::OsLock;
use boswell_store::{Home, Wait};

const NAME: &str = "keep.json";

/// The state of automatic copies while they are on.
#[derive(Debug, Clone)]
pub(super) struct KeepConfig {
    pub(super) since: Instant,
    pub(super) triggers: Vec<Trigger>,
}

/// What starts boswell to make copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trigger {
    /// A hook in an agent's settings: its command, and the bytes that were inserted into the file.
    Hook {
        root: PathBuf,
        command: String,
        inserted: String,
    },
    /// A timer of the user's system: the folder of its files.
    Timer { root: PathBuf, folder: PathBuf },
}

impl Trigger {
    pub(super) fn hook(root: &Path, command: &str, inserted: &str) -> Self {
        Trigger::Hook {
            root: root.to_owned(),
            command: command.to_owned(),
            inserted: inserted.to_owned(),
        }
    }

    pub(super) fn word(&self) -> &'static str {
        match self {
            Trigger::Hook { .. } => "hook",
            Trigger::Timer { .. } => "timer",
        }
    }

    /// Whether it copies the store of this root.
    pub(super) fn serves(&self, store: &Path) -> bool {
        let (Trigger::Hook { root, .. } | Trigger::Timer { root, .. }) = self;
        root == store
    }

    fn to_json(&self) -> Json {
        let (Trigger::Hook { root, .. } | Trigger::Timer { root, .. }) = self;
        let json = Json::object()
            .with("kind", self.word())
            .with("root", root.to_string_lossy());
        match self {
            Trigger::Hook {
                command, inserted, ..
            } => json.with("command", command).with("inserted", inserted),
            Trigger::Timer { folder, .. } => json.with("folder", folder.to_string_lossy()),
        }
    }

    fn from_json(raw: Raw<'_>) -> Option<Self> {
        let text = |key: &str| raw.get(key)?.text().map(std::borrow::Cow::into_owned);
        let root = PathBuf::from(text("root")?);
        match text("kind")?.as_str() {
            "hook" => Some(Trigger::Hook {
                root,
                command: text("command")?,
                inserted: text("inserted")?,
            }),
            "timer" => Some(Trigger::Timer {
                root,
                folder: text("folder")?.into(),
            }),
            _ => None,
        }
    }
}

impl KeepConfig {
    pub(super) fn since(now: Instant) -> Self {
        KeepConfig {
            since: now,
            triggers: Vec::new(),
        }
    }

    /// Returns the state; `None` while automatic copies are off.
    pub(super) fn load(home: &Path) -> Result<Option<Self>> {
        let path = home.join(NAME);
        let Some(bytes) = durable::read(&RealDisk, &path)? else {
            return Ok(None);
        };
        let state = Raw::parse(bytes.trim_ascii()).ok().and_then(|raw| {
            Some(KeepConfig {
                since: Instant::parse(&raw.get("since")?.text()?)?,
                triggers: raw
                    .get("triggers")?
                    .items()
                    .map(Trigger::from_json)
                    .collect::<Option<_>>()?,
            })
        });
        state.map(Some).ok_or_else(|| {
            Error::new(
                ErrorKind::Damaged,
                format!("`{}` cannot be read", path.display()),
            )
            .advising(Advice::from("remove it").then(Advice::KeepCopies))
        })
    }

    pub(super) fn save(&self, home: &Path) -> Result<()> {
        durable::make_folders(&RealDisk, home)?;
        let triggers: Vec<Json> = self.triggers.iter().map(Trigger::to_json).collect();
        let json = Json::object()
            .with("v", 1)
            .with("since", self.since.to_rfc3339())
            .with("triggers", triggers);
        let mut bytes = json.to_bytes();
        bytes.push(b'\n');
        durable::put(&RealDisk, &home.join(NAME), &bytes, &SystemIds.hex16())
    }

    pub(super) fn forget(home: &Path) -> Result<()> {
        let path = home.join(NAME);
        RealDisk
            .remove(&path)
            .map_err(|error| Error::io(path.display(), "remove", error))?;
        // Otherwise the file could exist again after a crash, without its triggers.
        durable::sync_parent(&RealDisk, &path)
    }

    /// Waits until no other process switches automatic copies on or off. The file is read, changed
    /// and written as a whole: without the lock, one of two processes could lose the trigger that
    /// the other one installed, and it could not be removed any more.
    pub(super) fn lock(home: &Path) -> Result<OsLock> {
        Home::at(home)
            .locks()
            .exclusive("keep", Wait::For(Duration::from_secs(30)))
    }
}
