//! The package `moto` from PyPI, a server of object storage, in a virtual environment of its own
//! below `target/clients/moto`.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::{Outcome, workspace};

pub(super) const VERSION: &str = "5.2.5";

/// Returns the Python that imports the package.
pub(super) fn python() -> Outcome<PathBuf> {
    if let Some(given) = std::env::var_os("BOSWELL_MOTO_PYTHON") {
        println!("xtask: moto is taken from BOSWELL_MOTO_PYTHON");
        return Ok(PathBuf::from(given));
    }
    let folder = workspace::target()?.join("clients").join("moto");
    let python = folder.join("bin").join("python");
    // Written last, so that an interrupted install is not treated as complete.
    let stamp = folder.join("installed");
    if std::fs::read_to_string(&stamp).is_ok_and(|version| version == VERSION) {
        println!("xtask: moto {VERSION} is already installed");
        return Ok(python);
    }
    let system = workspace::on_path("python3")
        .ok_or("python3 is needed to fetch it; install it and run again")?;
    println!("xtask: installing moto {VERSION} from PyPI into target/clients/moto");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    let mut venv = Command::new(system);
    workspace::must_succeed(venv.args(["-m", "venv"]).arg(&folder).stdin(Stdio::null()))?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet"]);
    pip.arg("--disable-pip-version-check");
    pip.arg(format!("moto[server]=={VERSION}"))
        .stdin(Stdio::null());
    workspace::must_succeed(&mut pip)?;
    let mut import = Command::new(&python);
    workspace::must_succeed(
        import
            .args(["-c", "import moto.server"])
            .stdin(Stdio::null()),
    )?;
    std::fs::write(&stamp, VERSION)?;
    Ok(python)
}
