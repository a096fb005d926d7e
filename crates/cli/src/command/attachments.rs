//! `attachments`: images and files inside a session and next to it.

use std::process::ExitCode;

use boswell_app::attachments::{AttachmentShape, AttachmentsRequest};
use boswell_app::shape::{Maybe, Shape as _};
use boswell_model::Result;
use clap::Args;

use super::host_args::HostArgs;
use super::other_hosts::Elsewhere;
use crate::app::App;
use crate::output::{LateOutput, Output};
use crate::terminal::{fit, one_line};
use crate::words::size;

/// List or extract the images and files of a session
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell attachments @last
  boswell attachments 0b7e --extract ./pictures")]
pub(crate) struct AttachmentsArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    session: String,
    /// Write them into this folder; existing files are not overwritten
    #[arg(long, value_name = "DIR")]
    extract: Option<std::path::PathBuf>,
    #[command(flatten)]
    host: HostArgs,
}

impl AttachmentsArgs {
    /// Where it is to run.
    pub(crate) fn elsewhere(&self) -> Elsewhere<'_> {
        let asked = Elsewhere::about(&self.host, Some(&self.session));
        asked.without("--extract", self.extract.is_some())
    }
}

impl From<&AttachmentsArgs> for AttachmentsRequest {
    fn from(args: &AttachmentsArgs) -> AttachmentsRequest {
        AttachmentsRequest {
            session: args.session.clone(),
            extract: args.extract.clone(),
            ..AttachmentsRequest::default()
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &AttachmentsArgs) -> Result<ExitCode> {
    let mut out = LateOutput::paged(app);
    let shown = app.requests.attachments(&args.into(), &mut |attachment| {
        print(attachment, out.open()?)?;
        // The others are extracted even if the list is not read any more.
        Ok(true)
    });
    out.shown(shown)?;
    Ok(ExitCode::SUCCESS)
}

fn print(attachment: AttachmentShape, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&attachment.object());
    }
    let bytes = attachment.bytes.map_or_else(|| "-".to_owned(), size);
    let place = match &attachment.written {
        Maybe::Given(written) => written,
        Maybe::Absent if attachment.missing => "missing",
        Maybe::Absent => &attachment.place,
    };
    out.line(&format!(
        "{}  {bytes:>10}  {}  {}",
        fit(&one_line(attachment.entry.as_deref().unwrap_or("-")), 36),
        fit(&one_line(attachment.mime.as_deref().unwrap_or("-")), 12),
        one_line(place),
    ))
}
