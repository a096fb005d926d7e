//! The program as it was called, so that a printed command works as printed.
//!
//! `boswell` alone finds the stores of the machine. A call that named other stores, or a script
//! that does so, must be named in hints likewise.

use std::sync::OnceLock;

use boswell_model::shell_quote;

use crate::args::Global;

/// The name to print instead of `boswell`; `None` if that is how it was called.
static CALLED: OnceLock<Option<String>> = OnceLock::new();

/// Remembers how the program was called.
pub(crate) fn remember(global: &Global) {
    // Set once, at the start; a second call would be by a test.
    let _ = CALLED.set(name(global));
}

/// The name to print, unless it is the plain one.
fn name(global: &Global) -> Option<String> {
    if let Some(script) = &global.called_as {
        return Some(shell_quote(script));
    }
    let mut options = String::new();
    // A folder of the environment is there for the next command too.
    if let Some(home) = global
        .home
        .as_ref()
        .filter(|_| !global.home_is_of_environment())
    {
        options = format!(" --home {}", shell_quote(&home.display().to_string()));
    }
    for store in &global.stores {
        options = format!("{options} --store {}", shell_quote(store));
    }
    (!options.is_empty()).then(|| format!("boswell{options}"))
}

/// A text of ours with each command in backticks as it must be typed.
pub(crate) fn as_called(text: &str) -> String {
    match CALLED.get() {
        None | Some(None) => text.to_owned(),
        Some(Some(name)) => text.replace("`boswell ", &format!("`{name} ")),
    }
}
