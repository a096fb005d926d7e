//! `append`: entries from stdin or the command line, each acknowledged when it is durable.

use std::io::BufRead;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, sync_channel};

use boswell_dialect::{Body, Capability, Draft, EditRequest, Expected, Parent, Part};
use boswell_model::{Error, ErrorKind, Instant, Result, SessionRef};
use boswell_store::disk::{RealDisk, durable};
use boswell_store::{
    Durability, Expect, Outcome, Receipt, Resolved, Runner, SessionWriter, Ticket, Wait,
};
use clap::{Args, ValueEnum};

use super::{planned_change, receipt};
use crate::agent_history::AgentHistory;
use crate::app::App;
use crate::output::Output;
use crate::time;
use boswell_app::base64;

/// Append entries from stdin: JSON Lines in the dialect's own shape, or {"role","text"}
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell append @last --user 'why is the build red?'
  printf '{\"role\":\"user\",\"text\":\"hi\"}\\n' | boswell append 0b7e --json")]
pub(crate) struct AppendArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    session: String,
    /// Hang the first entry below this one
    #[arg(long, value_name = "E")]
    parent: Option<String>,
    /// Only if the log is at this revision
    #[arg(long, value_name = "R", conflicts_with = "expect_leaf")]
    expect_revision: Option<String>,
    /// Only if the conversation stands at this entry
    #[arg(long, value_name = "E")]
    expect_leaf: Option<String>,
    /// What an acknowledged entry survives: the process (os) or the machine (fsync)
    #[arg(long, value_enum, default_value_t = Level::Fsync)]
    durability: Level,
    /// How long to wait for a session that somebody else writes
    #[arg(long, value_name = "TIME", default_value = "0s")]
    wait: String,
    /// Something the user says
    #[arg(long, value_name = "TEXT")]
    user: Option<String>,
    /// A picture or file that goes with what the user says (repeatable)
    #[arg(long, value_name = "FILE", requires = "user")]
    attach: Vec<std::path::PathBuf>,
    /// Something the model says
    #[arg(long, value_name = "TEXT")]
    assistant: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Level {
    Os,
    Fsync,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &AppendArgs) -> Result<ExitCode> {
    let wait = match time::span(&args.wait)? {
        span if span.is_zero() => Wait::No,
        span => Wait::For(span),
    };
    let found = app.resolve_for_writing(&args.session)?;
    let mut out = Output::paged(app);
    if found.store.dialect().powers().plans(Capability::Append) {
        let mut planner = Planner::new(app, args, found, wait)?;
        let result = feed(args, &mut planner, &mut out);
        out.finish()?;
        result?;
        return Ok(ExitCode::SUCCESS);
    }
    let history = AgentHistory::of(app, &found)?;
    let writer = found.store.writer(&found.location.id, wait)?;
    let mut appender = Appender::new(args, writer, history);
    let result = feed(args, &mut appender, &mut out);
    out.finish()?;
    result?;
    appender.writer.close(Outcome::Open)?;
    Ok(ExitCode::SUCCESS)
}

/// Where drafts go.
trait Sink {
    /// Takes a draft.
    fn submit(&mut self, draft: Draft) -> Result<()>;

    /// Acknowledges what was taken.
    fn settle(&mut self, out: &mut Output) -> Result<()>;
}

/// What the command line says, else what comes in: whatever is there is written at once, then
/// acknowledged together.
fn feed(args: &AppendArgs, sink: &mut dyn Sink, out: &mut Output) -> Result<()> {
    let user = args
        .user
        .as_ref()
        .map(|text| said(text, &args.attach))
        .transpose()?;
    let typed: Vec<Draft> = user
        .into_iter()
        .chain(args.assistant.as_ref().map(Draft::assistant))
        .collect();
    if !typed.is_empty() {
        typed.into_iter().try_for_each(|draft| sink.submit(draft))?;
        return sink.settle(out);
    }
    let lines = lines_of_stdin();
    let mut number = 0;
    while let Ok(first) = lines.recv() {
        for line in std::iter::once(first).chain(lines.try_iter().take(1024)) {
            number += 1;
            let bytes = line.map_err(|error| {
                Error::new(ErrorKind::Unavailable, "cannot read standard input").caused_by(error)
            })?;
            let done = parse(&bytes, number)
                .and_then(|draft| draft.map_or(Ok(()), |draft| sink.submit(draft)));
            if let Err(error) = done {
                // What came before is written: it is acknowledged before the error is told.
                sink.settle(out)?;
                return Err(error);
            }
        }
        sink.settle(out)?;
    }
    Ok(())
}

/// What the user says, with files.
fn said(text: &str, files: &[std::path::PathBuf]) -> Result<Draft> {
    let mut parts = vec![Part::Text(text.to_owned())];
    for path in files {
        let bytes = durable::read(&RealDisk, path)?.ok_or_else(|| {
            Error::new(
                ErrorKind::NotFound,
                format!("there is no file `{}`", path.display()),
            )
        })?;
        parts.push(Part::Image {
            base64: base64::encode(&bytes),
            mime: mime(path).to_owned(),
        });
    }
    Ok(Draft::new(Body::User(parts)))
}

/// What a file is, by its ending.
fn mime(path: &std::path::Path) -> &'static str {
    let ending = path
        .extension()
        .map(|ending| ending.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    match ending.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "pdf" => "application/pdf",
        "txt" | "md" => "text/plain",
        _ => "application/octet-stream",
    }
}

/// What the user says in a draft.
fn prompt(draft: &Draft) -> Option<String> {
    let Body::User(parts) = &draft.body else {
        return None;
    };
    let text = |part: &Part| {
        if let Part::Text(text) = part {
            Some(text.clone())
        } else {
            None
        }
    };
    Some(parts.iter().filter_map(text).collect::<Vec<_>>().join("\n"))
}

/// Appends through the session's writer.
struct Appender<'m> {
    writer: SessionWriter,
    durability: Durability,
    parent: Option<Parent>,
    expect: Expect,
    open: Vec<(Ticket, Option<String>)>,
    history: Option<AgentHistory<'m>>,
}

impl<'m> Appender<'m> {
    fn new(
        args: &AppendArgs,
        writer: SessionWriter,
        history: Option<AgentHistory<'m>>,
    ) -> Appender<'m> {
        let expect = match (&args.expect_revision, &args.expect_leaf) {
            (Some(revision), _) => Expect::Revision(revision.clone()),
            (None, Some(leaf)) => Expect::Leaf(leaf.clone()),
            (None, None) => Expect::Any,
        };
        let durability = match args.durability {
            Level::Os => Durability::Os,
            Level::Fsync => Durability::Fsync,
        };
        let parent = args.parent.clone().map(Parent::Entry);
        Appender {
            writer,
            durability,
            parent,
            expect,
            open: Vec::new(),
            history,
        }
    }
}

impl Sink for Appender<'_> {
    fn submit(&mut self, draft: Draft) -> Result<()> {
        let draft = match self.parent.take() {
            Some(parent) => draft.below(parent),
            None => draft,
        };
        let expect = std::mem::take(&mut self.expect);
        let asked = self.history.as_ref().and_then(|_| prompt(&draft));
        self.open.push((
            self.writer
                .submit_all(vec![draft], expect, self.durability)?,
            asked,
        ));
        Ok(())
    }

    /// All tickets share the sync of the first that waits.
    fn settle(&mut self, out: &mut Output) -> Result<()> {
        let mut prompts = Vec::new();
        for (ticket, asked) in self.open.drain(..) {
            for receipt in ticket.wait_all()? {
                prompts.extend(asked.clone().filter(|_| !receipt.deduplicated));
                receipt::print(&receipt, out)?;
            }
        }
        out.flush()?;
        if let Some(history) = self.history.as_ref().filter(|_| !prompts.is_empty()) {
            history.remember(&prompts);
        }
        Ok(())
    }
}

/// Appends by plans, where an agent keeps more than a log: whatever is there goes into one plan.
struct Planner<'m> {
    app: &'m App,
    runner: Runner,
    found: Resolved,
    parent: Option<Parent>,
    expect: Option<Expected>,
    drafts: Vec<Draft>,
}

impl<'m> Planner<'m> {
    fn new(app: &'m App, args: &AppendArgs, found: Resolved, wait: Wait) -> Result<Planner<'m>> {
        let expect = match (&args.expect_revision, &args.expect_leaf) {
            (Some(revision), _) => Some(Expected::Revision(revision.clone())),
            (None, leaf) => leaf.clone().map(Expected::Leaf),
        };
        let runner = app.runner()?;
        // An agent holds its own locks for moments: those are waited for unasked.
        let runner = if wait == Wait::No {
            runner
        } else {
            runner.waiting(wait)
        };
        let parent = args.parent.clone().map(Parent::Entry);
        Ok(Planner {
            app,
            runner,
            found,
            parent,
            expect,
            drafts: Vec::new(),
        })
    }
}

impl Sink for Planner<'_> {
    fn submit(&mut self, draft: Draft) -> Result<()> {
        let draft = match self.parent.take() {
            Some(parent) => draft.below(parent),
            None => draft,
        };
        self.drafts.push(draft);
        Ok(())
    }

    fn settle(&mut self, out: &mut Output) -> Result<()> {
        let drafts = std::mem::take(&mut self.drafts);
        if drafts.is_empty() {
            return Ok(());
        }
        let request = match self.expect.take() {
            Some(expect) => EditRequest::AppendAfter { expect, drafts },
            None => EditRequest::Append(drafts),
        };
        let done = self
            .runner
            .execute(&self.found.store, &self.found.location, &request)?;
        planned_change::remark(self.app, &done.planned);
        let id = self.found.location.id.clone();
        self.found.location = self.found.store.find(&id)?;
        for (number, entry) in done.planned.entries.iter().enumerate() {
            let receipt = Receipt {
                session: SessionRef::new(self.found.store.dialect().name(), &id).into(),
                entry: entry.clone(),
                revision: self.found.location.size.to_string(),
                deduplicated: number < done.planned.already,
                durable: Durability::Fsync,
            };
            receipt::print(&receipt, out)?;
        }
        out.flush()
    }
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

/// One line: nothing if it is blank, `{"role","text"}`, or a record in the dialect's own shape.
fn parse(bytes: &[u8], number: usize) -> Result<Option<Draft>> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let wrong = |why: String| {
        Error::new(
            ErrorKind::Invalid,
            format!("line {number} of the input is no entry"),
        )
        .because(why)
        .hinting(r#"write one JSON object a line, such as {"role":"user","text":"…"}"#)
    };
    let raw = boswell_dialect::one_object(bytes)
        .map_err(|error| wrong(error.reason().unwrap_or("it is no JSON object").to_owned()))?;
    let text = |key: &str| {
        raw.get(key)
            .and_then(|value| value.text())
            .map(|text| text.into_owned())
    };
    let mut draft = match (text("role"), text("text"), raw.get("type")) {
        (Some(role), Some(said), None) => match role.as_str() {
            "user" => Draft::user(said),
            "assistant" => Draft::assistant(said),
            other => {
                return Err(wrong(format!(
                    "the role `{}` is neither `user` nor `assistant`",
                    other.escape_debug()
                )));
            }
        },
        _ => Draft::new(Body::Native(bytes.trim_ascii().to_vec())),
    };
    draft.id = text("id");
    if let Some(parent) = text("parent").or_else(|| text("parentId")) {
        draft.parent = Parent::Entry(parent);
    }
    draft.at = text("timestamp").and_then(|time| Instant::parse(&time));
    Ok(Some(draft))
}
