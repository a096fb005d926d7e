//! The loop: events in, asks out, a frame after each change.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use boswell_app::resume::ResumePlan;
use boswell_app::{App, Clock, SystemClock};
use boswell_model::{Advice, Error, ErrorKind, Result};
use crossterm::event;

use crate::ask::{Ask, Event};
use crate::keys::Keymap;
use crate::line::Line;
use crate::state::{Look, State};
use crate::terminal::Screen;
use crate::theme::Theme;
use crate::update::{settle, update};
use crate::words::{COPIED, Language, fill};
use crate::worker::Workers;

/// How long the first frame waits for the first sessions, so that it does not flicker.
const FIRST_FRAME: Duration = Duration::from_millis(60);

/// After what time a search is said to be slow.
const SLOW: Duration = Duration::from_millis(100);

/// Options of the screen.
#[derive(Debug, Clone, Default)]
pub struct ScreenOptions {
    /// Enter returns the session instead of resuming it.
    pub pick: bool,
    /// The text in the search box at the start.
    pub query: String,
}

/// What is to be done after the screen.
#[derive(Debug, Clone)]
pub enum ScreenExit {
    /// Nothing.
    Quit,
    /// Run this command in place of this process.
    Resume(Arc<ResumePlan>),
    /// Print this session.
    Picked(String),
    /// Print this command.
    Printed(String),
    /// The terminal was closed, or a signal with this number ended the screen.
    Ended(Option<i32>),
    /// A thread panicked. The message was printed when the terminal was restored.
    Broken,
}

impl PartialEq for ScreenExit {
    fn eq(&self, other: &ScreenExit) -> bool {
        match (self, other) {
            (ScreenExit::Quit, ScreenExit::Quit) | (ScreenExit::Broken, ScreenExit::Broken) => true,
            (ScreenExit::Resume(one), ScreenExit::Resume(other)) => {
                one.session == other.session && one.argv == other.argv
            }
            (ScreenExit::Picked(one), ScreenExit::Picked(other))
            | (ScreenExit::Printed(one), ScreenExit::Printed(other)) => one == other,
            (ScreenExit::Ended(one), ScreenExit::Ended(other)) => one == other,
            _ => false,
        }
    }
}

/// Shows the screen until the user leaves.
///
/// # Errors
///
/// Unavailable if the terminal cannot be used.
pub fn run(app: &App, options: &ScreenOptions) -> Result<ScreenExit> {
    let look = look(app, options)?;
    let (events, inbox) = channel();
    let workers = Workers::start(app, &look, &events);
    let mut screen = Screen::open(look.mouse, &events)?;
    listen(&events);
    let size = crossterm::terminal::size().unwrap_or((80, 24));
    let mut state = State::new(look, size, SystemClock.now());
    let mut asks = vec![Ask::Rows(state.finder.wanted.clone())];
    if !options.query.is_empty() {
        state.finder.line = Line::new(options.query.clone());
        state.finder.generation = 1;
        asks.push(crate::update::finder_ask(&state));
    }
    settle(&mut state, &mut asks);
    let mut session = Session {
        workers,
        state,
        inbox,
    };
    let left = session.begin(&mut screen, asks);
    // The search of the last keystroke must not outlive the screen.
    session.workers.stop();
    left
}

struct Session {
    workers: Workers,
    state: State,
    inbox: Receiver<Event>,
}

impl Session {
    fn begin(&mut self, screen: &mut Screen, asks: Vec<Ask>) -> Result<ScreenExit> {
        if let Some(exit) = self.pass_on(screen, asks)? {
            return Ok(exit);
        }
        match self.inbox.recv_timeout(FIRST_FRAME) {
            Ok(event) => {
                if let Some(exit) = self.take(screen, event)? {
                    return Ok(exit);
                }
            }
            Err(RecvTimeoutError::Timeout) => screen.draw(&self.state)?,
            Err(RecvTimeoutError::Disconnected) => return Ok(ScreenExit::Ended(None)),
        }
        while let Some(event) = self.next() {
            if let Some(exit) = self.take(screen, event)? {
                return Ok(exit);
            }
        }
        Ok(ScreenExit::Ended(None))
    }

    /// Waits for an event. While a search runs it does not wait for ever, so that the header can
    /// say that it is slow; an idle screen sleeps.
    fn next(&self) -> Option<Event> {
        let finder = &self.state.finder;
        if finder.answered == finder.generation || finder.is_slow {
            return self.inbox.recv().ok();
        }
        match self.inbox.recv_timeout(SLOW) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => Some(Event::Slow),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Takes an event and everything that waits behind it, then draws once: a fast typist or a
    /// pasted text costs one frame.
    fn take(&mut self, screen: &mut Screen, event: Event) -> Result<Option<ScreenExit>> {
        update(&mut self.state, Event::Tick(SystemClock.now()));
        let mut next = Some(event);
        let mut later = Vec::new();
        while let Some(event) = next {
            let mut asks = update(&mut self.state, event);
            // A search and a preview keep every core busy: names are shown before they begin.
            later.extend(asks.extract_if(.., |ask| ask.is_find() || ask.is_preview()));
            if asks.contains(&Ask::StopFinding) {
                later.retain(|ask| !ask.is_find());
            }
            if later.iter().any(Ask::is_find) {
                self.workers.stop();
            }
            if let Some(exit) = self.pass_on(screen, asks)? {
                return Ok(Some(exit));
            }
            next = self.inbox.try_recv().ok();
        }
        screen.draw(&self.state)?;
        self.pass_on(screen, later)
    }

    fn pass_on(&mut self, screen: &mut Screen, asks: Vec<Ask>) -> Result<Option<ScreenExit>> {
        for ask in asks {
            match ask {
                Ask::Leave(exit) => return Ok(Some(exit)),
                Ask::Suspend => {
                    screen.suspend()?;
                    let size = crossterm::terminal::size().unwrap_or(self.state.size);
                    self.state.size = size;
                }
                Ask::Retake => screen.retake()?,
                Ask::Repaint => screen.repaint()?,
                Ask::Mouse(on) => screen.set_mouse(on)?,
                Ask::Copy(text) => {
                    screen.copy(&text);
                    let shown = boswell_app::text::one_line(&text);
                    let say = self.state.look.say(COPIED);
                    self.state.message = Some(fill(say, &[&shown]));
                }
                other => self.workers.ask(other),
            }
        }
        Ok(None)
    }
}

fn look(app: &App, options: &ScreenOptions) -> Result<Look> {
    let settings = app.settings();
    let env = app.environment();
    let wrong = |why: String| {
        Error::new(
            ErrorKind::Invalid,
            "the settings of the screen cannot be used",
        )
        .because(why)
        .advising(Advice::from("fix the file").or(Advice::IgnoreConfig))
    };
    Ok(Look {
        keys: Keymap::of(&settings.names("screen.keys")).map_err(wrong)?,
        theme: Theme::of(&settings.names("screen.theme")).map_err(wrong)?,
        cwd: env.cwd.display().to_string(),
        tmp: env.tmp.display().to_string(),
        language: Language::of(settings.word("screen.language"), env),
        ascii: settings.word("screen.marks") == Some("ascii"),
        mouse: settings.word("screen.mouse") != Some("off"),
        read_only: app.is_read_only(),
        pick: options.pick,
        enter_reads: settings.word("screen.enter") == Some("read"),
        first_time: !app.has_resumed(),
        home: env.home.as_ref().map(|home| home.display().to_string()),
        zone: app.zone().clone(),
    })
}

/// Starts the threads that wait for the terminal and for signals. They end with the process.
fn listen(events: &Sender<Event>) {
    let input = events.clone();
    std::thread::spawn(move || {
        loop {
            let event = match event::read() {
                Ok(event::Event::Key(key)) => Event::Key(key),
                Ok(event::Event::Mouse(mouse)) => Event::Mouse(mouse),
                Ok(event::Event::Paste(text)) => Event::Paste(text),
                Ok(event::Event::Resize(width, height)) => Event::Resize(width, height),
                Ok(_) => continue,
                Err(_) => Event::Ended(None),
            };
            let is_end = matches!(event, Event::Ended(_));
            if input.send(event).is_err() || is_end {
                return;
            }
        }
    });
    listen_for_signals(events.clone());
}

#[cfg(unix)]
fn listen_for_signals(events: Sender<Event>) {
    use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
    let wanted = [SIGTERM, SIGHUP, SIGINT, SIGTSTP, SIGCONT];
    // Without the handler a signal ends the process as before; the terminal is then restored by
    // nothing, so it is worth no error.
    let Ok(mut signals) = signal_hook::iterator::Signals::new(wanted) else {
        return;
    };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            let event = match signal {
                SIGCONT => Event::Continued,
                SIGTSTP => Event::Stopped,
                other => Event::Ended(Some(other)),
            };
            if events.send(event).is_err() {
                return;
            }
        }
    });
}

#[cfg(not(unix))]
fn listen_for_signals(_: Sender<Event>) {}
