//! The terminal: raw mode and alternate screen, and how they end.
//!
//! The terminal is restored on every way out: a normal end, an error, a panic (by a hook, because
//! the message must appear on the normal screen), a signal, and `^Z`. Nothing is asked of the
//! terminal at the start: under tmux an answer takes a tenth of a second.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use boswell_model::{Error, Result};

use crate::state::State;
use crate::view;

/// Whether the terminal is ours now. A panic on any thread reads it.
static OWNED: AtomicBool = AtomicBool::new(false);

/// Where the screen is drawn: stdout, or stderr if stdout is a pipe for the session that is picked.
fn out() -> Box<dyn Write> {
    if std::io::stdout().is_terminal() {
        Box::new(std::io::stdout())
    } else {
        Box::new(std::io::stderr())
    }
}

/// The terminal while the screen is shown.
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<Box<dyn Write>>>,
    mouse: bool,
}

impl Screen {
    /// Takes the terminal.
    pub(crate) fn open(mouse: bool) -> Result<Screen> {
        restore_on_panic();
        let backend = CrosstermBackend::new(out());
        let terminal = Terminal::new(backend).map_err(failed)?;
        let mut screen = Screen { terminal, mouse };
        screen.take()?;
        Ok(screen)
    }

    fn take(&mut self) -> Result<()> {
        enable_raw_mode().map_err(failed)?;
        OWNED.store(true, Ordering::SeqCst);
        let mut out = out();
        execute!(out, EnterAlternateScreen, EnableBracketedPaste).map_err(failed)?;
        self.set_mouse(self.mouse)?;
        self.repaint()
    }

    /// Takes the terminal again after the process was stopped. Raw mode is left first, because it
    /// is entered only if it is not on already.
    pub(crate) fn retake(&mut self) -> Result<()> {
        disable_raw_mode().map_err(failed)?;
        self.take()
    }

    /// Draws the state. Only what changed is written.
    pub(crate) fn draw(&mut self, state: &State) -> Result<()> {
        let drawn = self.terminal.draw(|frame| view::draw(state, frame));
        drawn.map(|_| ()).map_err(failed)
    }

    /// Clears the terminal, so that the next draw writes everything. `Terminal::clear` would ask
    /// the terminal where its cursor is.
    pub(crate) fn repaint(&mut self) -> Result<()> {
        let size = self.terminal.size().map_err(failed)?;
        self.terminal.resize(size.into()).map_err(failed)
    }

    pub(crate) fn set_mouse(&mut self, on: bool) -> Result<()> {
        self.mouse = on;
        let mut out = out();
        let done = if on {
            execute!(out, EnableMouseCapture)
        } else {
            execute!(out, DisableMouseCapture)
        };
        done.map_err(failed)
    }

    /// Puts a text into the clipboard by OSC 52, which also works over ssh.
    pub(crate) fn copy(&mut self, text: &str) -> Result<()> {
        let mut out = out();
        let encoded = boswell_app::text::base64(text.as_bytes());
        write!(out, "\x1b]52;c;{encoded}\x07")
            .and_then(|()| out.flush())
            .map_err(failed)
    }

    /// Restores the terminal, stops the process as the shell does, and takes the terminal again.
    pub(crate) fn suspend(&mut self) -> Result<()> {
        restore();
        stop();
        self.take()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Restores the terminal, once. Errors are ignored: after a hang-up there is no terminal.
fn restore() {
    if !OWNED.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = out();
    let _ = queue!(
        out,
        DisableMouseCapture,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        Show
    );
    let _ = out.flush();
    let _ = disable_raw_mode();
}

/// Restores the terminal before the message of a panic is printed.
fn restore_on_panic() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            restore();
            report(info);
        }));
    });
}

#[cfg(unix)]
fn stop() {
    // The default action of SIGTSTP; the shell's `fg` continues here.
    let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP);
}

#[cfg(not(unix))]
fn stop() {}

fn failed(error: std::io::Error) -> Error {
    Error::io("the terminal", "draw", error)
}
