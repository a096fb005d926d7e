//! Names of sessions on hosts: `HOST:SESSION`.

use boswell_model::{Advice, Error, ErrorKind, Result};

use super::setting::Host;
use crate::app::AppState;
use crate::{App, RequestContext};

impl AppState {
    /// Splits `HOST:SESSION`; `None` if no host of the settings has that name.
    pub(crate) fn on_host(&self, session: &str) -> Option<(Host, String)> {
        let (name, rest) = session.split_once(':')?;
        let hosts = self.config.hosts();
        let host = hosts.into_iter().find(|host| host.name == name)?;
        Some((host, rest.to_owned())).filter(|(_, rest)| !rest.is_empty())
    }

    /// As [`on_host`](AppState::on_host), also for a number of the last list.
    pub(crate) fn named_on_host(&self, session: &str) -> Option<(Host, String)> {
        let is_number = session.len() < 6 && session.bytes().all(|byte| byte.is_ascii_digit());
        let number = session.parse().ok().filter(|_| is_number);
        let listed = number.and_then(|number| self.listed(number));
        self.on_host(listed.as_deref().unwrap_or(session))
    }
}

impl App {
    /// Returns the hosts of the settings.
    pub fn hosts(&self) -> Vec<Host> {
        self.settings().hosts()
    }

    /// Returns the host and the session there of a name such as `box:claude:0b7e`, or of a number
    /// of the last list; `None` for a session of this machine.
    pub fn session_on_host(&self, session: &str) -> Option<(Host, String)> {
        self.state().named_on_host(session)
    }
}

/// Fails for a session of a host: requests about sessions are answered from files of this machine.
pub(crate) fn refuse_host(cx: &RequestContext, session: &str) -> Result<()> {
    let Some((host, rest)) = cx.on_host(session) else {
        return Ok(());
    };
    let what = format!(
        "`{}` is a session on the host {}",
        session.escape_debug(),
        host.name
    );
    Err(Error::new(ErrorKind::Unsupported, what)
        .because("this is only possible with sessions of this machine")
        .advising(
            Advice::CopySession {
                session: format!("{}:{rest}", host.name),
            }
            .or(format!("do it on {} itself", host.name)),
        ))
}
