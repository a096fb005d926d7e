//! `GET /v1/sessions/{session}`, and what is known about one session besides its entries.

use axum::http::header;
use boswell_app::context::{ContextPart, ContextRequest};
use boswell_app::export::{ExportFormat, ExportRequest};
use boswell_app::files::FilesRequest;
use boswell_app::resume::{Permissions, ResumeRequest};
use boswell_app::session_info::SessionRequest;
use boswell_app::shape::Shape as _;
use boswell_app::tree::TreeRequest;
use boswell_app::{Answer, App, AppResult};

use crate::answer::{Plan, Reply, ask, not_modified, run};
use crate::call::Call;
use crate::lines::{Form, Last, Lines};
use crate::pool::Lane;

/// Runs a request about the entries of a session. The ETag of its answer is the revision of the
/// session, and a client that has it gets nothing else.
pub(super) fn run_by_revision<'c, F>(
    call: &'c Call,
    plan: Plan,
    session: String,
    work: F,
) -> impl Future<Output = Reply> + 'c
where
    F: FnOnce(&App, &mut Lines) -> AppResult<Last> + Send + 'static,
{
    let conditions = call.conditions.clone();
    // Both on one thread: a change of threads takes a tenth of the time of a page.
    run(call, plan, move |app, _, lines| {
        let revision = app.revision(&SessionRequest { session })?.value;
        let tag = format!("W/\"{revision}\"");
        let is_known = conditions.has(&tag);
        lines.set_tag(tag);
        if is_known {
            return Ok(Answer {
                value: Last::None,
                notices: Vec::new(),
            });
        }
        work(app, lines)
    })
}

/// Marks the end of an answer whose items were passed on already.
pub(super) fn ended<T>(answer: Answer<T>, last: impl FnOnce(T) -> Last) -> AppResult<Last> {
    Ok(Answer {
        value: last(answer.value),
        notices: answer.notices,
    })
}

/// Returns one session.
pub(crate) async fn session(mut call: Call) -> Reply {
    let request = SessionRequest {
        session: call.session()?,
    };
    call.no_params()?;
    let shape = ask(&call, Lane::Read, move |app| app.session(&request)).await?;
    let tag = shape.revision.as_ref().map(|it| format!("\"{it}\""));
    if let Some(tag) = tag.as_ref().filter(|tag| call.conditions.has(tag)) {
        return Ok(not_modified(tag));
    }
    let mut plan = Plan::one(&call);
    if let Some(tag) = tag {
        plan = plan.with_header(header::ETAG, tag);
    }
    let value = shape.object();
    run(&call, plan, move |_, _, lines| {
        lines.object(&value)?;
        Ok(Answer {
            value: Last::None,
            notices: Vec::new(),
        })
    })
    .await
}

/// Returns the branches of a session.
pub(crate) async fn tree(mut call: Call) -> Reply {
    let request = TreeRequest {
        session: call.session()?,
    };
    call.no_params()?;
    let session = request.session.clone();
    run_by_revision(&call, Plan::list(&call), session, move |app, lines| {
        let answer = app.tree(&request, &mut |node| lines.object(&node.shape.object()))?;
        ended(answer, |()| Last::None)
    })
    .await
}

/// Returns the messages that a model would be sent next.
pub(crate) async fn context(mut call: Call) -> Reply {
    let params = call.params()?;
    let request = ContextRequest {
        session: call.session()?,
        leaf: params.text("leaf"),
        sent: params.switch("sent")?,
    };
    params.end()?;
    let plan = Plan::list(&call);
    run(&call, plan, move |app, _, lines| {
        let answer = app.context(&request, &mut |part| match part {
            ContextPart::Settings(settings) => lines.object(&settings.object()),
            ContextPart::Message(message) => lines.object(&message.object()),
        })?;
        ended(answer, |()| Last::None)
    })
    .await
}

/// Returns the files that a session touched.
pub(crate) async fn files(mut call: Call) -> Reply {
    let request = FilesRequest {
        session: call.session()?,
    };
    call.no_params()?;
    let plan = Plan::list(&call);
    run(&call, plan, move |app, _, lines| {
        let Answer { value, notices } = app.files(&request)?;
        let touched = value.touched.into_iter().map(|it| it.object());
        let checkpoints = value.checkpoints.into_iter().map(|it| it.object());
        for shape in touched.chain(checkpoints) {
            if !lines.object(&shape)? {
                break;
            }
        }
        let value = Last::None;
        Ok(Answer { value, notices })
    })
    .await
}

/// Returns the command that resumes a session. Nothing is started.
pub(crate) async fn resume(mut call: Call) -> Reply {
    let params = call.params()?;
    let is_same = params.switch("same_permissions")?;
    let request = ResumeRequest {
        session: call.session()?,
        permissions: if is_same {
            Permissions::Same
        } else {
            Permissions::Asked
        },
    };
    params.end()?;
    let plan = Plan::one(&call);
    run(&call, plan, move |app, _, lines| {
        let answer = app.resume(&request)?;
        lines.object(&answer.value.shape().object())?;
        ended(answer, |_| Last::None)
    })
    .await
}

/// The formats of an export: word, format, media type and file extension.
const FORMATS: [(&str, (ExportFormat, &str, &str)); 5] = [
    (
        "jsonl",
        (ExportFormat::Jsonl, "application/x-ndjson", "jsonl"),
    ),
    ("json", (ExportFormat::Json, "application/json", "json")),
    (
        "md",
        (ExportFormat::Markdown, "text/markdown; charset=utf-8", "md"),
    ),
    (
        "html",
        (ExportFormat::Html, "text/html; charset=utf-8", "html"),
    ),
    (
        "atif",
        (ExportFormat::Atif, "application/json", "atif.json"),
    ),
];

/// Exports a session as a file. Secrets are replaced unless `redact=0`.
pub(crate) async fn export(mut call: Call) -> Reply {
    let params = call.params()?;
    let default = (ExportFormat::Jsonl, "application/x-ndjson", "jsonl");
    let (format, media, extension) = params.one_of("format", &FORMATS, default)?;
    let request = ExportRequest {
        session: call.session()?,
        format,
        keep_secrets: params.text("redact").is_some_and(|it| it == "0"),
    };
    params.end()?;
    let name = file_name(&request.session);
    let mut plan = Plan::one(&call)
        .with_header(header::CONTENT_TYPE, media.to_owned())
        .with_header(
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}.{extension}\""),
        )
        // A page that was exported runs in no origin.
        .with_header(header::CONTENT_SECURITY_POLICY, "sandbox".to_owned());
    plan.form = Form::Ndjson;
    run(&call, plan, move |app, cancel, lines| {
        let answer = app.export(&request, cancel, &mut |piece| lines.bytes(piece))?;
        ended(answer, |_| Last::None)
    })
    .await
}

/// Returns the name of a file for a session, of characters that are safe everywhere.
fn file_name(session: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    session.chars().map(safe).take(80).collect()
}
