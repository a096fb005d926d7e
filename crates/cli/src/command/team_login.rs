//! The files of a team in boswell's home: which server, and the token.
//!
//! `HOME/team` is readable by its owner alone. `login.json` has the address and the person,
//! `token` the token, and `incoming/` parts of a session that is being fetched.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use boswell_app::system::{make_folders, new_file, read_text};
use boswell_model::json::{Json, Raw};
use boswell_model::{Error, ErrorKind, Result};
use boswell_team::{TeamClient, TeamToken};

use crate::app::App;

/// A person that has logged in.
#[derive(Debug)]
pub(crate) struct TeamLogin {
    pub(crate) client: TeamClient,
    pub(crate) person: String,
    folder: PathBuf,
}

impl TeamLogin {
    /// Reads who has logged in.
    pub(crate) fn open(app: &App) -> Result<TeamLogin> {
        let folder = folder(app)?;
        let none = || {
            Error::new(ErrorKind::NotFound, "you have not logged in to a team").advising(
                "run `boswell team login https://HOST` with a token on its standard input",
            )
        };
        let about = read_text(&folder.join("login.json")).map_err(|_| none())?;
        let raw = Raw::parse(about.trim().as_bytes()).map_err(|_| none())?;
        let text = |key: &str| raw.get(key).and_then(|it| Some(it.text()?.into_owned()));
        let (Some(url), Some(person)) = (text("url"), text("person")) else {
            return Err(none());
        };
        let token = read_text(&folder.join("token")).map_err(|_| none())?;
        Ok(TeamLogin {
            client: TeamClient::new(&url, TeamToken::parse(&token)?)?,
            person,
            folder,
        })
    }

    /// Asks the server who a token is of, and remembers both.
    pub(crate) fn make(app: &App, url: &str, token: TeamToken) -> Result<TeamLogin> {
        let folder = folder(app)?;
        let secret = token.reveal().to_owned();
        let client = TeamClient::new(url, token)?;
        let (person, _) = client.me()?;
        make_folders(&folder)?;
        protect(&folder)?;
        replace(&folder.join("token"), secret.as_bytes())?;
        let about = Json::object()
            .with("url", client.url())
            .with("person", person.as_str());
        replace(&folder.join("login.json"), &about.to_bytes())?;
        Ok(TeamLogin {
            client,
            person,
            folder,
        })
    }

    /// Forgets the token.
    pub(crate) fn forget(app: &App) -> Result<()> {
        let folder = folder(app)?;
        for name in ["token", "login.json"] {
            // What is not there is forgotten already.
            let _ = std::fs::remove_file(folder.join(name));
        }
        Ok(())
    }

    /// Returns a part of a session: from an earlier try, or from the server.
    pub(crate) fn part(&self, owner: &str, session: &str, name: &str) -> Result<Vec<u8>> {
        let path = self.incoming().join(name);
        #[expect(
            clippy::disallowed_methods,
            reason = "a part of a session that is not one yet, and checked by its hash"
        )]
        let kept = std::fs::read(&path).ok();
        if let Some(kept) = kept.filter(|kept| boswell_team::part_name(kept) == name) {
            return Ok(kept);
        }
        let bytes = self.client.part(owner, session, name)?;
        make_folders(&self.incoming())?;
        // Without it, the next try asks for it again.
        let _ = replace(&path, &bytes);
        Ok(bytes)
    }

    /// Removes parts that are not needed any more.
    pub(crate) fn clear_incoming(&self) {
        let _ = std::fs::remove_dir_all(self.incoming());
    }

    fn incoming(&self) -> PathBuf {
        self.folder.join("incoming")
    }
}

fn folder(app: &App) -> Result<PathBuf> {
    let home = app.requests.home().ok_or_else(|| {
        let what = "a team's token needs boswell's home";
        Error::new(ErrorKind::Invalid, what).advising("name a folder with `--home`")
    })?;
    Ok(home.join("team"))
}

fn protect(folder: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(folder, mode)
            .map_err(|error| Error::io(folder.display(), "protect the folder", error))?;
    }
    Ok(())
}

/// Writes a file that only its owner can read, in place of an older one.
fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let new = path.with_extension("new");
    // Left over by a try that was interrupted.
    let _ = std::fs::remove_file(&new);
    let failed = |error| Error::io(path.display(), "write", error);
    let mut file = new_file(&new)?;
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(failed)?;
    std::fs::rename(&new, path).map_err(failed)
}
