//! A screen on a demo home, with the real workers and without a terminal.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use boswell_app::demo::DemoRequest;
use boswell_app::{App, AppConfig, Config, Environment};
use boswell_model::Instant;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use crate::ScreenExit;
use crate::ask::{Ask, Event};
use crate::state::{Look, State};
use crate::update::{settle, update};
use crate::view;
use crate::worker::Workers;

/// How long a worker may take before a test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// A screen that is driven by a test.
pub(crate) struct Demo {
    pub(crate) state: State,
    pub(crate) root: PathBuf,
    workers: Workers,
    inbox: Receiver<Event>,
    /// What was asked of the terminal.
    pub(crate) terminal_asks: Vec<Ask>,
    _folder: tempfile::TempDir,
}

/// The time at which the demo is looked at.
pub(crate) fn now() -> Instant {
    Instant::parse("2026-11-01T12:00:00Z").unwrap()
}

/// Settings and files of boswell's home.
#[derive(Debug, Default)]
pub(crate) struct Prepared<'p> {
    pub(crate) settings: &'p str,
    pub(crate) files: &'p [(&'p str, &'p str)],
}

/// Creates a demo home; returns its folder and an application for it.
fn demo_app(folder: &Path, prepared: &Prepared<'_>) -> (PathBuf, App) {
    let mut env = Environment {
        home: Some(folder.to_path_buf()),
        cwd: folder.to_path_buf(),
        tmp: folder.to_path_buf(),
        ..Environment::default()
    };
    let maker = App::open(AppConfig::new(env.clone(), Some(folder.join("maker")))).unwrap();
    let request = DemoRequest {
        folder: Some(folder.join("demo")),
        program: PathBuf::from("boswell"),
    };
    let made = maker.demo(&request).unwrap().value;
    let root = PathBuf::from(&made.path);
    for (name, text) in prepared.files {
        boswell_testkit::disk::write(&root.join("own").join(name), text.as_bytes());
    }
    let settings = folder.join("config.toml");
    boswell_testkit::disk::write(&settings, prepared.settings.as_bytes());
    let place = settings.display().to_string();
    env.vars.insert("BOSWELL_CONFIG".to_owned(), place);
    let settings = Config::load(&env).unwrap();
    let mut config = AppConfig::new(env, Some(root.join("own")));
    config.settings = settings;
    for option in &made.options {
        if let Some((dialect, path)) = option.split_once('=') {
            config
                .stores
                .push((dialect.to_owned(), PathBuf::from(path)));
        }
    }
    (root, App::open(config).unwrap())
}

impl Demo {
    /// Opens the screen and waits for all sessions.
    pub(crate) fn open(size: (u16, u16)) -> Demo {
        Demo::with(size, Look::default())
    }

    pub(crate) fn with(size: (u16, u16), look: Look) -> Demo {
        Demo::prepared(size, look, &Prepared::default())
    }

    pub(crate) fn prepared(size: (u16, u16), look: Look, prepared: &Prepared<'_>) -> Demo {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (root, app) = demo_app(&base, prepared);
        let look = Look {
            // Paths of the temporary folder would differ in every run.
            home: Some(root.display().to_string()),
            ..look
        };
        let (events, inbox) = channel();
        let workers = Workers::start(&app, &look, &events);
        // The events of the terminal come from the test.
        drop(events);
        let mut demo = Demo {
            state: State::new(look, size, now()),
            root,
            workers,
            inbox,
            terminal_asks: Vec::new(),
            _folder: folder,
        };
        let mut asks = vec![Ask::Rows(demo.state.finder.wanted.clone())];
        settle(&mut demo.state, &mut asks);
        demo.pass_on(asks);
        demo.wait("all sessions", |state| state.finder.refreshed.is_some());
        demo.settle();
        demo
    }

    fn pass_on(&mut self, asks: Vec<Ask>) {
        for ask in asks {
            match ask {
                Ask::Leave(_)
                | Ask::Copy(_)
                | Ask::Mouse(_)
                | Ask::Repaint
                | Ask::Retake
                | Ask::Suspend => {
                    self.terminal_asks.push(ask);
                }
                other => self.workers.ask(other),
            }
        }
    }

    /// Takes an event.
    pub(crate) fn event(&mut self, event: Event) {
        let asks = update(&mut self.state, event);
        self.pass_on(asks);
    }

    /// Takes answers until a condition holds.
    pub(crate) fn wait(&mut self, what: &str, holds: impl Fn(&State) -> bool) {
        while !holds(&self.state) {
            match self.inbox.recv_timeout(PATIENCE) {
                Ok(event) => self.event(event),
                Err(_) => panic!("waited in vain for {what}"),
            }
        }
    }

    /// Waits for one answer.
    pub(crate) fn take_one(&mut self) {
        match self.inbox.recv_timeout(PATIENCE) {
            Ok(event) => self.event(event),
            Err(_) => panic!("waited in vain"),
        }
    }

    /// Takes the answers that are there, without waiting.
    pub(crate) fn take_waiting(&mut self) {
        while let Ok(event) = self.inbox.try_recv() {
            self.event(event);
        }
    }

    /// Waits until search and preview of the selection were answered.
    pub(crate) fn settle(&mut self) {
        self.wait("search and preview", |state| {
            let finder = &state.finder;
            let previewed = match (&finder.asked, &finder.preview) {
                (None, _) => finder.row().is_none(),
                (Some(asked), Some(preview)) => {
                    asked.0 == preview.session
                        && asked.1 == preview.entry
                        && preview.resume.is_some()
                }
                (Some(_), None) => false,
            };
            finder.answered == finder.generation && previewed
        });
    }

    pub(crate) fn press(&mut self, code: KeyCode) {
        self.event(Event::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    }

    pub(crate) fn ctrl(&mut self, c: char) {
        let key = KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL);
        self.event(Event::Key(key));
    }

    pub(crate) fn alt(&mut self, code: KeyCode) {
        self.event(Event::Key(KeyEvent::new(code, KeyModifiers::ALT)));
    }

    pub(crate) fn text(&mut self, text: &str) {
        for c in text.chars() {
            self.press(KeyCode::Char(c));
        }
    }

    /// Types a query and waits for its hits.
    pub(crate) fn search(&mut self, query: &str) {
        self.text(query);
        self.settle();
    }

    pub(crate) fn resize(&mut self, size: (u16, u16)) {
        self.event(Event::Resize(size.0, size.1));
    }

    /// Selects the session whose name begins with a text.
    pub(crate) fn select(&mut self, name: &str) {
        let finder = &self.state.finder;
        let at = (0..finder.shown.len()).find(|at| {
            finder
                .row_at(*at)
                .is_some_and(|row| row.name.starts_with(name))
        });
        let at = at.unwrap_or_else(|| panic!("no session {name}"));
        while self.state.finder.selected != at {
            let down = self.state.finder.selected < at;
            self.press(if down { KeyCode::Down } else { KeyCode::Up });
        }
        self.settle();
    }

    /// Returns what was asked when the screen was left.
    pub(crate) fn left(&self) -> Option<ScreenExit> {
        self.terminal_asks.iter().find_map(|ask| match ask {
            Ask::Leave(exit) => Some(exit.clone()),
            _ => None,
        })
    }

    pub(crate) fn screen(&self) -> String {
        drawn(&self.state)
    }
}

/// Draws a state and returns its text. A cell behind a wide character is no cell of its own.
pub(crate) fn drawn(state: &State) -> String {
    let (width, height) = state.size;
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| view::draw(state, frame)).unwrap();
    let buffer = terminal.backend().buffer();
    let mut text = String::new();
    for y in 0..height {
        let mut line = String::new();
        let mut x = 0;
        while x < width {
            let symbol = buffer[(x, y)].symbol();
            line.push_str(symbol);
            x += u16::try_from(boswell_app::text::columns(symbol).max(1)).unwrap();
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
