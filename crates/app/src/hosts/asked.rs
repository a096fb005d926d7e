//! Which machines a request asks.

use boswell_model::{Error, ErrorKind, Result};

use super::setting::{ALL, HERE, Host};
use crate::App;

/// The machines that a request asks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostSelection {
    /// Whether this machine is one of them.
    pub here: bool,
    /// The others.
    pub hosts: Vec<Host>,
}

impl HostSelection {
    /// Whether only this machine is asked.
    pub fn is_here_only(&self) -> bool {
        self.hosts.is_empty()
    }
}

impl App {
    /// Returns the machines that names stand for: hosts of the settings, destinations of ssh,
    /// `local` for this machine, `all` for it and every host of the settings. No names stand for
    /// this machine.
    ///
    /// # Errors
    ///
    /// Invalid for a name that cannot be a destination, and for `all` without any host.
    pub fn host_selection(&self, names: &[String]) -> Result<HostSelection> {
        let mut selection = HostSelection {
            here: names.is_empty(),
            hosts: Vec::new(),
        };
        let known = self.hosts();
        for name in names {
            match name.as_str() {
                HERE => selection.here = true,
                ALL if known.is_empty() => return Err(no_hosts()),
                ALL => {
                    selection.here = true;
                    known.iter().for_each(|host| selection.add(host.clone()));
                }
                name => selection.add(named(&known, name)?),
            }
        }
        Ok(selection)
    }

    /// As [`host_selection`](App::host_selection), for a list: without names also the hosts that
    /// the settings show.
    ///
    /// # Errors
    ///
    /// As [`host_selection`](App::host_selection).
    pub fn listed_hosts(&self, names: &[String]) -> Result<HostSelection> {
        let mut selection = self.host_selection(names)?;
        if names.is_empty() {
            let shown = self.hosts().into_iter().filter(|host| host.shown);
            selection.hosts.extend(shown);
        }
        Ok(selection)
    }
}

impl HostSelection {
    fn add(&mut self, host: Host) {
        if !self.hosts.iter().any(|it| it.name == host.name) {
            self.hosts.push(host);
        }
    }
}

fn named(known: &[Host], name: &str) -> Result<Host> {
    if let Some(host) = known.iter().find(|host| host.name == name) {
        return Ok(host.clone());
    }
    Host::of_destination(name).map_err(|why| {
        Error::new(ErrorKind::Invalid, why)
            .advising("name a host of the settings, or a destination as for ssh")
    })
}

fn no_hosts() -> Error {
    Error::new(ErrorKind::Invalid, "the settings have no hosts")
        .because("`all` means the hosts of the settings")
        .advising("add a table [[hosts]] with name and ssh to the settings, or name a destination")
}
