//! Output to stdout, through a pager where it helps.
//!
//! A closed pipe is not an error; a file named with `-o` must not exist.

use std::io::{self, Write};
use std::process::Command;

use boswell_app::text::harmless;
pub(crate) use boswell_app::text::json_line;
use boswell_app::time::{self, TimeZone};
use boswell_model::json::{Json, is_printable};
use boswell_model::{Error, ErrorKind, Instant, Result};

use crate::app::App;
use crate::pager::Pager;
use crate::terminal::Style;

/// The answer of a command. A closed pipe ends it quietly: see [`Output::gone`].
pub(crate) struct Output {
    // Dropped before the pager, which waits for its input to end.
    writer: Box<dyn Write>,
    pager: Pager,
    pub(crate) json: bool,
    color: bool,
    gone: bool,
    line: Vec<u8>,
    zone: TimeZone,
}

impl Output {
    /// An answer that a person may page through: only of commands that read and come to an end.
    pub(crate) fn paged(app: &App) -> Output {
        Output::through(
            app,
            if app.pages {
                Pager::start()
            } else {
                Pager::none()
            },
        )
    }

    /// An answer that is printed as it comes: of commands that write, ask or never end.
    pub(crate) fn plain(app: &App) -> Output {
        Output::through(app, Pager::none())
    }

    /// An answer that a program shows; `None` if there is no such program.
    pub(crate) fn to_program(app: &App, command: &mut Command) -> Option<Output> {
        Some(Output::through(app, Pager::through(command)?))
    }

    fn through(app: &App, mut pager: Pager) -> Output {
        Output {
            writer: pager.writer(),
            pager,
            json: app.json,
            color: app.color,
            gone: false,
            line: Vec::new(),
            zone: app.requests.zone().clone(),
        }
    }

    /// An answer that goes to a new file of the owner's alone.
    pub(crate) fn to_file(app: &App, path: &std::path::Path) -> Result<Output> {
        let file = crate::app::new_file(path)?;
        Ok(Output {
            writer: Box::new(io::BufWriter::new(file)),
            pager: Pager::none(),
            json: app.json,
            color: false,
            gone: false,
            line: Vec::new(),
            zone: app.requests.zone().clone(),
        })
    }

    /// Whether the reader closed the pipe, so that further output is useless.
    pub(crate) fn gone(&self) -> bool {
        self.gone || self.pager.is_interrupted()
    }

    /// One JSON line.
    pub(crate) fn object(&mut self, value: &Json) -> Result<()> {
        self.written(|line| value.write(line))
    }

    /// One JSON line, by who writes it.
    pub(crate) fn written(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        // A buffer that is kept, and nothing copied that is fine as it is: a record may be
        // many megabytes long.
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        write(&mut line);
        if !is_printable(&line) {
            line = harmless(line).into_bytes();
        }
        line.push(b'\n');
        let written = self.bytes(&line);
        self.line = line;
        written
    }

    /// One line of text that is harmless already.
    pub(crate) fn line(&mut self, text: &str) -> Result<()> {
        self.bytes(text.as_bytes())?;
        self.bytes(b"\n")
    }

    /// Day and minute of a moment, local unless UTC is wanted.
    pub(crate) fn minute(&self, at: Instant) -> String {
        self.zone.minute(at)
    }

    /// How long ago a moment was.
    pub(crate) fn ago(&self, then: Instant, now: Instant) -> String {
        time::ago(then, now, &self.zone)
    }

    /// Text in a style, where colour is wanted.
    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        style.paint(text, self.color)
    }

    /// Bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        if self.gone() {
            return Ok(());
        }
        let result = self.writer.write_all(bytes);
        self.settle(result)
    }

    /// Writes the buffered output, and continues.
    pub(crate) fn flush(&mut self) -> Result<()> {
        if self.gone {
            return Ok(());
        }
        let result = self.writer.flush();
        self.settle(result)
    }

    /// Writes the buffered output.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.flush()
    }

    fn settle(&mut self, result: io::Result<()>) -> Result<()> {
        match result {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.gone = true;
                Ok(())
            }
            Err(error) => Err(Error::new(
                ErrorKind::Unavailable,
                "cannot write the answer to standard output",
            )
            .caused_by(error)),
        }
    }
}

/// An answer that is opened when there is something to write: a request that is refused starts no
/// pager and leaves no file.
pub(crate) struct LateOutput<'a> {
    app: &'a App,
    file: Option<&'a std::path::Path>,
    opened: Option<Output>,
}

impl<'a> LateOutput<'a> {
    /// An answer that a person may page through.
    pub(crate) fn paged(app: &'a App) -> LateOutput<'a> {
        LateOutput::to(app, None)
    }

    /// An answer that goes to a new file, or else may be paged through.
    pub(crate) fn to(app: &'a App, file: Option<&'a std::path::Path>) -> LateOutput<'a> {
        LateOutput {
            app,
            file,
            opened: None,
        }
    }

    /// The answer, ready to be written.
    pub(crate) fn open(&mut self) -> Result<&mut Output> {
        let opened = match (self.opened.take(), self.file) {
            (Some(opened), _) => opened,
            (None, Some(path)) => Output::to_file(self.app, path)?,
            (None, None) => Output::paged(self.app),
        };
        Ok(self.opened.insert(opened))
    }

    /// Ends it.
    pub(crate) fn close(mut self) -> Result<()> {
        match &mut self.opened {
            Some(opened) => opened.flush(),
            None => Ok(()),
        }
    }

    /// Ends it, and then shows what was noticed: a pager would hide that.
    pub(crate) fn shown<T>(mut self, answer: boswell_app::AppResult<T>) -> Result<T> {
        if answer.is_ok() {
            self.open()?.flush()?;
        }
        drop(self.opened);
        self.app.shown(answer)
    }
}
