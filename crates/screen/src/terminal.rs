//! The terminal: raw mode and alternate screen, and how they end.
//!
//! The terminal is restored on every way out: a normal end, an error, a panic (by a hook, because
//! the message must appear on the normal screen), a signal, and `^Z`. Nothing is asked of the
//! terminal at the start: under tmux an answer takes a tenth of a second.

use std::cell::RefCell;
use std::io::{IsTerminal, Write};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::queue;
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use boswell_model::{Error, Result};

use crate::ask::Event;
use crate::output::{Output, Written};
use crate::state::State;
use crate::view;

/// Whether the terminal is ours now. A panic on any thread reads it.
static OWNED: AtomicBool = AtomicBool::new(false);

/// Where the terminal is restored, also by a panic on any thread.
static OUTPUT: Mutex<Option<Output>> = Mutex::new(None);

/// How long a terminal that reads nothing is waited for before it is left as it is.
const PATIENCE: Duration = Duration::from_secs(2);

/// Returns where the screen is drawn: stdout, or stderr if stdout is a pipe for the session that is
/// picked. It is a descriptor of its own: the lock of stdout would be held while a slow terminal
/// reads.
#[cfg(unix)]
fn out() -> Result<Box<dyn Write + Send>> {
    use std::os::fd::AsFd;
    let fd = if std::io::stdout().is_terminal() {
        std::io::stdout().as_fd().try_clone_to_owned()
    } else {
        std::io::stderr().as_fd().try_clone_to_owned()
    };
    Ok(Box::new(std::fs::File::from(fd.map_err(failed)?)))
}

#[cfg(not(unix))]
fn out() -> Result<Box<dyn Write + Send>> {
    if std::io::stdout().is_terminal() {
        Ok(Box::new(std::io::stdout()))
    } else {
        Ok(Box::new(std::io::stderr()))
    }
}

/// The bytes of a frame while it is drawn.
#[derive(Debug, Clone, Default)]
struct Frame(Rc<RefCell<Vec<u8>>>);

impl Write for Frame {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The terminal while the screen is shown.
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<Frame>>,
    frame: Frame,
    output: Output,
    mouse: bool,
}

impl Screen {
    /// Takes the terminal. The loop is told through `events` when a slow terminal has room again.
    pub(crate) fn open(mouse: bool, events: &Sender<Event>) -> Result<Screen> {
        restore_on_panic();
        let events = events.clone();
        let output = Output::start(out()?, move |written| {
            let event = match written {
                Written::All => Event::Drawn,
                Written::Failed => Event::Ended(None),
            };
            // Without a receiver the screen has ended.
            let _ = events.send(event);
        });
        *OUTPUT.lock().unwrap_or_else(PoisonError::into_inner) = Some(output.clone());
        let frame = Frame::default();
        let terminal = Terminal::new(CrosstermBackend::new(frame.clone())).map_err(failed)?;
        let mut screen = Screen {
            terminal,
            frame,
            output,
            mouse,
        };
        screen.take()?;
        Ok(screen)
    }

    fn take(&mut self) -> Result<()> {
        enable_raw_mode().map_err(failed)?;
        OWNED.store(true, Ordering::SeqCst);
        queue!(self.frame, EnterAlternateScreen, EnableBracketedPaste).map_err(failed)?;
        self.set_mouse(self.mouse)?;
        self.repaint()
    }

    /// Takes the terminal again after the process was stopped. Raw mode is left first, because it
    /// is entered only if it is not on already.
    pub(crate) fn retake(&mut self) -> Result<()> {
        disable_raw_mode().map_err(failed)?;
        self.take()
    }

    /// Draws the state, unless the frame before is still on its way to a slow terminal: then
    /// [`Event::Drawn`] follows. Only what changed is written.
    pub(crate) fn draw(&mut self, state: &State) -> Result<()> {
        // After a panic on another thread the terminal shows its message.
        if !OWNED.load(Ordering::SeqCst) || !self.output.has_room() {
            return Ok(());
        }
        let drawn = self.terminal.draw(|frame| view::draw(state, frame));
        drawn.map_err(failed)?;
        self.send();
        Ok(())
    }

    /// Clears the terminal, so that the next draw writes everything. `Terminal::clear` would ask
    /// the terminal where its cursor is.
    pub(crate) fn repaint(&mut self) -> Result<()> {
        let size = self.terminal.size().map_err(failed)?;
        self.terminal.resize(size.into()).map_err(failed)?;
        self.send();
        Ok(())
    }

    pub(crate) fn set_mouse(&mut self, on: bool) -> Result<()> {
        self.mouse = on;
        let done = if on {
            queue!(self.frame, EnableMouseCapture)
        } else {
            queue!(self.frame, DisableMouseCapture)
        };
        done.map_err(failed)?;
        self.send();
        Ok(())
    }

    /// Puts a text into the clipboard by OSC 52, which also works over ssh.
    pub(crate) fn copy(&mut self, text: &str) {
        let encoded = boswell_app::text::base64(text.as_bytes());
        self.output
            .send(format!("\x1b]52;c;{encoded}\x07").as_bytes());
    }

    /// Restores the terminal, stops the process as the shell does, and takes the terminal again.
    pub(crate) fn suspend(&mut self) -> Result<()> {
        restore();
        stop();
        self.take()
    }

    /// Passes on what was drawn.
    fn send(&self) {
        let bytes = std::mem::take(&mut *self.frame.0.borrow_mut());
        self.output.send(&bytes);
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Restores the terminal, once. A frame that is on its way is finished first, as long as the
/// terminal reads it; after a hang-up there is no terminal, and errors are ignored.
fn restore() {
    if !OWNED.swap(false, Ordering::SeqCst) {
        return;
    }
    let output = OUTPUT
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    let mut bytes = Vec::new();
    let _ = queue!(
        bytes,
        DisableMouseCapture,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        Show
    );
    if let Some(output) = output {
        output.send(&bytes);
        output.drain(PATIENCE);
    }
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
