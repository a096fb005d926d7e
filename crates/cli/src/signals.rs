//! Signals that must not end a command without a word.

use boswell_app::Cancel;

/// Lets a write beyond the limit of file sizes (`ulimit -f`) fail with an error. Without a handler,
/// SIGXFSZ ends the process.
pub(crate) fn survive_file_size_limit() {
    #[cfg(unix)]
    {
        let signal = rustix::process::Signal::XFSZ.as_raw();
        // The flag is not needed: the failed write reports itself.
        let _ = signal_hook::flag::register(signal, std::sync::Arc::default());
    }
}

/// Lets Ctrl-C cancel a request instead of ending the process; a second one ends it.
pub(crate) fn cancel_on_interrupt(cancel: &Cancel) {
    #[cfg(unix)]
    {
        use signal_hook::consts::SIGINT;
        let code = i32::from(INTERRUPTED);
        // Handlers run in the order of registration: at the first signal the flag is not set yet.
        let _ = signal_hook::flag::register_conditional_shutdown(SIGINT, code, cancel.flag());
        let _ = signal_hook::flag::register(SIGINT, cancel.flag());
    }
    #[cfg(not(unix))]
    let _ = cancel;
}

/// The exit code after Ctrl-C.
pub(crate) const INTERRUPTED: u8 = 130;
