//! Keeps the rows of hosts up to date, on a thread that may wait for the network.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use boswell_app::App;
use boswell_app::hosts::Host;

use super::Answers;
use super::shown::warning;
use crate::ask::Answer;

/// Time between two looks at the hosts.
const BETWEEN: Duration = Duration::from_secs(300);

/// Asks the hosts that lists show, until the process ends. `changed` says that rows may differ.
pub(super) fn run(app: &App, answers: &Answers, changed: &AtomicBool) {
    let mut last = None;
    loop {
        let hosts: Vec<Host> = app.hosts().into_iter().filter(|host| host.shown).collect();
        let notices = app.update_hosts(&hosts);
        let text = warning(&notices);
        // A host that stays away is reported once.
        if let Some(text) = text.clone().filter(|_| text != last) {
            answers.send(Answer::Warning(text));
        }
        last = text;
        changed.store(true, Ordering::Relaxed);
        std::thread::sleep(BETWEEN);
    }
}
