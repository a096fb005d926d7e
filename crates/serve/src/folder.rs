//! The files of the server in boswell's home: tokens, the port, and which server runs.
//!
//! `HOME/serve` is readable by its owner alone. A token is made once and stays, so that programs
//! that were given it go on working.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use boswell_app::system::{make_folders, new_file, read_text, runs_since};
use boswell_model::json::{Json, Raw};
use boswell_model::{Error, ErrorKind, Result};

use crate::random::secret;

/// The folder of the server's files.
#[derive(Debug, Clone)]
pub struct ServeFolder(PathBuf);

/// A server that runs, according to its home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningServer {
    /// Process id.
    pub pid: u32,
    /// Address of the page.
    pub url: String,
}

/// The tokens that programs use.
#[derive(Debug, Clone)]
pub(crate) struct ProgramTokens {
    pub(crate) mcp: String,
    pub(crate) read: String,
    pub(crate) write: String,
}

impl ServeFolder {
    /// Opens the folder in boswell's home, and makes it if it is missing.
    ///
    /// # Errors
    ///
    /// An error of the disk.
    pub fn open(home: &Path) -> Result<ServeFolder> {
        let folder = home.join("serve");
        make_folders(&folder)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::Permissions::from_mode(0o700);
            std::fs::set_permissions(&folder, mode)
                .map_err(|error| Error::io(folder.display(), "protect the folder", error))?;
        }
        Ok(ServeFolder(folder))
    }

    /// Returns the path of a token that a program may use: `read`, `write` or `mcp`.
    pub fn token_path(&self, scope: &str) -> PathBuf {
        self.0.join(format!("{scope}.token"))
    }

    /// Returns the tokens; they are made if they are missing.
    pub(crate) fn tokens(&self) -> Result<ProgramTokens> {
        Ok(ProgramTokens {
            mcp: self.token("mcp")?,
            read: self.token("read")?,
            write: self.token("write")?,
        })
    }

    fn token(&self, scope: &str) -> Result<String> {
        let path = self.token_path(scope);
        if !path.exists() {
            // Another server may make it at the same time: then its token is read below.
            let _ = put_new(&path, &secret()?);
        }
        let text =
            read_text(&path).map_err(|error| Error::io(path.display(), "read the token", error))?;
        let token = text.trim().to_owned();
        if token.len() < 32 {
            return Err(Error::new(
                ErrorKind::Damaged,
                format!("`{}` is not a token", path.display()),
            )
            .because("it has fewer than 32 characters")
            .advising("remove the file; the next start makes a new token"));
        }
        Ok(token)
    }

    /// Returns the port that was used last.
    pub(crate) fn port(&self) -> Option<u16> {
        let text = read_text(&self.0.join("port")).ok()?;
        text.trim().parse().ok()
    }

    /// Remembers the port for the next start. Without it another one may be chosen.
    pub(crate) fn remember_port(&self, port: u16) {
        let path = self.0.join("port");
        if self.port() != Some(port) {
            let _ = std::fs::remove_file(&path);
            let _ = put_new(&path, &port.to_string());
        }
    }

    /// Returns the server of this home, if one runs.
    pub fn running(&self) -> Option<RunningServer> {
        let text = read_text(&self.0.join("running.json")).ok()?;
        let raw = Raw::parse(text.trim().as_bytes()).ok()?;
        let pid = u32::try_from(raw.get("pid")?.u64()?).ok()?;
        let url = raw.get("url")?.text()?.into_owned();
        (pid != std::process::id() && runs_since(pid, None)).then_some(RunningServer { pid, url })
    }

    /// Notes that this process serves, until the note is dropped.
    pub(crate) fn note_running(&self, address: SocketAddr, url: &str) -> RunningNote {
        let path = self.0.join("running.json");
        let note = Json::object()
            .with("pid", std::process::id())
            .with("address", address.to_string())
            .with("url", url);
        let _ = std::fs::remove_file(&path);
        // Without the note a second server does not know of this one; both work.
        let _ = put_new(&path, &note.to_string());
        RunningNote(path)
    }

    /// Writes a page that only its owner can read and that leads to the address, so that the code
    /// in it is in no argument list.
    ///
    /// # Errors
    ///
    /// An error of the disk.
    pub fn redirect(&self, url: &str) -> Result<PathBuf> {
        let path = self.0.join(format!("open-{}.html", secret()?));
        let page = format!(
            "<!doctype html><meta charset=\"utf-8\"><title>boswell</title>\
             <meta http-equiv=\"refresh\" content=\"0;url={url}\">\
             <a href=\"{url}\">boswell</a>\n"
        );
        put_new(&path, &page)?;
        Ok(path)
    }

    /// Removes redirect pages of earlier runs, whose codes are not valid any more.
    pub(crate) fn remove_redirects(&self) {
        #[expect(
            clippy::disallowed_methods,
            reason = "these are files of the server, not of a session"
        )]
        let files = std::fs::read_dir(&self.0);
        for file in files.into_iter().flatten().flatten() {
            let name = file.file_name();
            let name = name.to_string_lossy();
            if name.starts_with("open-") && name.ends_with(".html") {
                let _ = std::fs::remove_file(file.path());
            }
        }
    }
}

/// Removes the note about a running server when it is dropped.
#[derive(Debug)]
pub(crate) struct RunningNote(PathBuf);

impl Drop for RunningNote {
    fn drop(&mut self) {
        // A note that stays names a process that does not run.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Writes a new file that only its owner can read.
fn put_new(path: &Path, text: &str) -> Result<()> {
    use std::io::Write as _;
    let mut file = new_file(path)?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(|error| Error::io(path.display(), "write", error))
}
