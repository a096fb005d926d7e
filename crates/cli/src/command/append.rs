//! `append`: entries from stdin or the command line, each acknowledged when it is durable.

use std::io::BufRead;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, sync_channel};

use boswell_app::append::{
    AppendRequest, Appender, AttachedFile, Draft, Durability, Expect, Wait, draft_of_line,
    draft_of_user,
};
use boswell_model::{Error, ErrorKind, Result};
use clap::{Args, ValueEnum};

use crate::app::App;
use crate::output::Output;
use crate::time;
use crate::words::acknowledgement::print_receipt;

/// Append entries to a session, from stdin or from options
///
/// Reads JSON Lines from stdin, in the dialect's own format or as {"role","text"}, unless --user or
/// --assistant gives the text. Prints a receipt for each entry once it is durable.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell append @last --user 'why is the build red?'
  printf '{\"role\":\"user\",\"text\":\"hi\"}\\n' | boswell append 0b7e --json")]
pub(crate) struct AppendArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    session: String,
    /// Parent of the first entry [default: the current leaf]
    #[arg(long, value_name = "E")]
    parent: Option<String>,
    /// Fail unless the log is at this revision
    #[arg(long, value_name = "R", conflicts_with = "expect_leaf")]
    expect_revision: Option<String>,
    /// Fail unless this entry is the current leaf
    #[arg(long, value_name = "E")]
    expect_leaf: Option<String>,
    /// What an acknowledged entry survives: the end of the process (os) or of the machine (fsync)
    #[arg(long, value_enum, default_value_t = DurabilityArg::Fsync)]
    durability: DurabilityArg,
    /// How long to wait while another process writes the session
    #[arg(long, value_name = "TIME", default_value = "0s")]
    wait: String,
    /// Append this user message
    #[arg(long, value_name = "TEXT")]
    user: Option<String>,
    /// Attach this image or file to the user message (repeatable)
    #[arg(long, value_name = "FILE", requires = "user")]
    attach: Vec<std::path::PathBuf>,
    /// Append this assistant message
    #[arg(long, value_name = "TEXT")]
    assistant: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum DurabilityArg {
    Os,
    Fsync,
}

impl AppendArgs {
    fn request(&self) -> Result<AppendRequest> {
        Ok(AppendRequest {
            session: self.session.clone(),
            parent: self.parent.clone(),
            expect: match (&self.expect_revision, &self.expect_leaf) {
                (Some(revision), _) => Expect::Revision(revision.parse()?),
                (None, Some(leaf)) => Expect::Leaf(leaf.as_str().into()),
                (None, None) => Expect::Any,
            },
            durability: match self.durability {
                DurabilityArg::Os => Durability::Os,
                DurabilityArg::Fsync => Durability::Fsync,
            },
            wait: match time::span(&self.wait)? {
                span if span.is_zero() => Wait::No,
                span => Wait::For(span),
            },
        })
    }

    /// What the command line itself says.
    fn typed(&self) -> Result<Vec<Draft>> {
        let mut typed = Vec::new();
        if let Some(text) = &self.user {
            let files = self.attach.iter().map(|path| AttachedFile::read(path));
            let files: Vec<_> = files.collect::<Result<_>>()?;
            typed.push(draft_of_user(text, &files));
        }
        typed.extend(self.assistant.as_ref().map(Draft::assistant));
        Ok(typed)
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &AppendArgs) -> Result<ExitCode> {
    let mut appender = app.shown(app.requests.append(&args.request()?))?;
    let mut out = Output::plain(app);
    let result = feed(app, args, &mut appender, &mut out);
    out.finish()?;
    result?;
    appender.close()?;
    Ok(ExitCode::SUCCESS)
}

/// What the command line says, else what comes in: whatever is there is written at once, then
/// acknowledged together.
fn feed(app: &App, args: &AppendArgs, appender: &mut Appender, out: &mut Output) -> Result<()> {
    let typed = args.typed()?;
    if !typed.is_empty() {
        let mut typed = typed.into_iter();
        typed.try_for_each(|draft| appender.submit(draft))?;
        return settle(app, appender, out);
    }
    let lines = lines_of_stdin();
    let mut number = 0;
    while let Ok(first) = lines.recv() {
        for line in std::iter::once(first).chain(lines.try_iter().take(1024)) {
            number += 1;
            let bytes = line.map_err(|error| {
                Error::new(ErrorKind::Unavailable, "cannot read standard input").caused_by(error)
            })?;
            let done = draft_of_line(&bytes, number)
                .and_then(|draft| draft.map_or(Ok(()), |draft| appender.submit(draft)));
            if let Err(error) = done {
                // What came before is written: it is acknowledged before the error is reported.
                settle(app, appender, out)?;
                return Err(error);
            }
        }
        settle(app, appender, out)?;
    }
    Ok(())
}

/// Prints receipts as soon as their entries are durable.
fn settle(app: &App, appender: &mut Appender, out: &mut Output) -> Result<()> {
    app.shown(appender.settle(&mut |receipts| {
        let mut receipts = receipts.into_iter();
        receipts.try_for_each(|receipt| print_receipt(receipt, out))?;
        out.flush()
    }))
}

fn lines_of_stdin() -> Receiver<std::io::Result<Vec<u8>>> {
    let (send, receive) = sync_channel(1024);
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        loop {
            let mut line = Vec::new();
            match input.read_until(b'\n', &mut line) {
                Ok(0) => return,
                Ok(_) if send.send(Ok(line)).is_ok() => {}
                Ok(_) => return,
                Err(error) => {
                    let _ = send.send(Err(error));
                    return;
                }
            }
        }
    });
    receive
}
