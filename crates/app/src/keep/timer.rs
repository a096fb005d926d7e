//! A systemd user timer that copies sessions every hour, for agents without hooks.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use boswell_model::{Advice, Error, ErrorKind, Result};
use boswell_store::Store;
use boswell_store::disk::{Disk, RealDisk, durable};
use boswell_store::disk::{IdSource, SystemIds};

use super::config::Trigger;
use super::{StepSink, step};
use crate::RequestContext;

/// File name of the timer.
pub(super) const TIMER: &str = "boswell-keep.timer";
const SERVICE: &str = "boswell-keep.service";

/// Writes the timer and starts it.
pub(super) fn install(
    cx: &RequestContext,
    store: &Store,
    command: &str,
    plan_only: bool,
    sink: StepSink<'_>,
) -> Result<Trigger> {
    let folder = folder(cx)?;
    // systemd interprets `%` and `$` unless they are doubled.
    let command = command.replace('%', "%%").replace('$', "$$");
    let service = format!(
        "[Unit]\nDescription=Keep copies of agents' sessions\n\n[Service]\nType=oneshot\nExecStart={command}\n"
    );
    let timer = "[Unit]\nDescription=Keep copies of agents' sessions every hour\n\n[Timer]\nOnStartupSec=5min\nOnUnitActiveSec=1h\n\n[Install]\nWantedBy=timers.target\n";
    for (name, text) in [(SERVICE, service.as_str()), (TIMER, timer)] {
        let path = folder.join(name);
        let shown = text.trim().replace('\n', "; ");
        step(sink, format!("write {}: {shown}", path.display()))?;
        if !plan_only {
            durable::make_folders(&RealDisk, &folder)?;
            durable::put(&RealDisk, &path, text.as_bytes(), &SystemIds.hex16())?;
        }
    }
    if !plan_only {
        systemctl(cx, &["enable", "--now", TIMER]);
    }
    Ok(Trigger::Timer {
        root: store.root().to_owned(),
        folder,
    })
}

/// Stops the timer and removes its files.
pub(super) fn remove(cx: &RequestContext, folder: &Path, sink: StepSink<'_>) -> Result<()> {
    systemctl(cx, &["disable", "--now", TIMER]);
    for name in [TIMER, SERVICE] {
        let path = folder.join(name);
        match RealDisk.remove(&path) {
            Ok(()) => {
                // Otherwise the timer could exist again after a crash, unknown to `keep.json`.
                durable::sync_parent(&RealDisk, &path)?;
                step(sink, format!("removed {}", path.display()))?;
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io(path.display(), "remove", error)),
        }
    }
    Ok(())
}

fn folder(cx: &RequestContext) -> Result<PathBuf> {
    if !cfg!(target_os = "linux") {
        return Err(
            Error::new(ErrorKind::Unsupported, "timers are known on Linux only").advising(
                Advice::from("start that from a timer of your own").also(Advice::KeepNow),
            ),
        );
    }
    let config = cx
        .env
        .path_var("XDG_CONFIG_HOME")
        .or_else(|| cx.env.in_home(".config"));
    config
        .map(|config| config.join("systemd/user"))
        .ok_or_else(|| {
            Error::new(ErrorKind::Invalid, "there is no folder for a timer")
                .because("neither HOME nor XDG_CONFIG_HOME is set")
        })
}

fn systemctl(cx: &RequestContext, words: &[&str]) {
    let quiet = |command: &mut Command| {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|s| s.success())
    };
    if !quiet(Command::new("systemctl").arg("--user").args(words)) {
        cx.remark(format!(
            "systemd did not answer; run `systemctl --user {}` yourself",
            words.join(" ")
        ));
    }
}
