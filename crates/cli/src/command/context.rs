//! `context`: what a model would be sent.

use std::process::ExitCode;

use boswell_dialect::ProviderMessage;
use boswell_model::json::{Json, Raw, write_string};
use boswell_model::{Context, Message, Result};
use boswell_store::Session;
use clap::Args;

use super::show::warn_about_gaps;
use crate::app::App;
use crate::linked_transcript;
use crate::output::Output;
use crate::terminal::{Style, escape};

/// Show the messages that a model would be sent, and the recorded settings
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell context @last
  boswell context 0b7e --leaf a1b2c3d4 --json")]
pub(crate) struct ContextArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    session: String,
    /// As it was at this entry
    #[arg(long, value_name = "E")]
    leaf: Option<String>,
    /// As it goes to a provider: in the roles that it knows, every call followed by its answer
    #[arg(long)]
    sent: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ContextArgs) -> Result<ExitCode> {
    let found = linked_transcript::followed(app, app.resolve(&args.session)?)?;
    let (session, tip) = found
        .store
        .read_for_context(&found.location, args.leaf.as_deref())?;
    let context = session.context(tip)?;
    let mut out = Output::paged(app);
    if out.json {
        out.object(&shape(&session, &context))?;
    } else {
        heading(&context, &mut out)?;
    }
    if args.sent {
        let messages = context
            .items
            .iter()
            .map(|item| Ok(session.render(item)?.message))
            .collect::<Result<Vec<_>>>()?;
        let label = |at: usize| {
            context
                .items
                .get(at)
                .map(|item| session.log().label(item.slot).into_owned())
        };
        for ProviderMessage {
            from,
            joined,
            message,
        } in session
            .dialect()
            .powers()
            .refine
            .provider_messages(messages)
        {
            print(
                message,
                from.and_then(label),
                joined.into_iter().filter_map(label).collect(),
                &mut out,
            )?;
        }
    } else {
        for item in &context.items {
            if out.gone() {
                break;
            }
            let entry = session.log().label(item.slot).into_owned();
            print(
                session.render(item)?.message,
                Some(entry),
                Vec::new(),
                &mut out,
            )?;
        }
    }
    out.finish()?;
    warn_about_gaps(app, &session);
    Ok(ExitCode::SUCCESS)
}

fn print(
    message: Message,
    entry: Option<String>,
    joined: Vec<String>,
    out: &mut Output,
) -> Result<()> {
    if out.json {
        return out.written(|line| write_message(&message, entry.as_deref(), &joined, line));
    }
    out.line(&out.paint(Style::Strong, &escape(&message.role)))?;
    for part in &message.content {
        out.line(&escape(&plain(part)))?;
    }
    out.line("")
}

/// The line of a message. Written piece by piece: there may be thousands of
/// them, and most are long.
fn write_message(message: &Message, entry: Option<&str>, joined: &[String], line: &mut Vec<u8>) {
    line.extend_from_slice(b"{\"v\":1,\"type\":\"message\",\"role\":");
    write_string(message.role.as_bytes(), line);
    line.extend_from_slice(b",\"content\":[");
    for (at, part) in message.content.iter().enumerate() {
        if at > 0 {
            line.push(b',');
        }
        part.write(line);
    }
    line.extend_from_slice(b"],\"entry\":");
    match entry {
        Some(entry) => write_string(entry.as_bytes(), line),
        None => line.extend_from_slice(b"null"),
    }
    if !joined.is_empty() {
        line.extend_from_slice(b",\"joined\":");
        Json::from(joined.to_vec()).write(line);
    }
    if let Some(native) = &message.native {
        line.extend_from_slice(b",\"native\":");
        native.write(line);
    }
    line.push(b'}');
}

/// The text of a part, or its JSON if it is something else.
fn plain(part: &Json) -> String {
    let bytes = part.to_bytes();
    let raw = Raw::trusted(&bytes);
    match raw.get("text").and_then(|text| text.text()) {
        Some(text) => text.into_owned(),
        None => String::from_utf8_lossy(&bytes).into_owned(),
    }
}

fn shape(session: &Session, context: &Context) -> Json {
    let settings = &context.settings;
    let raw = |json: &String| Json::Raw(json.clone().into_bytes());
    let view = session.view();
    let leaf = session.dialect().leaf(&view, context.tip);
    let mut shape = Json::object()
        .with("v", 1)
        .with("type", "context")
        .with("session", session.reference().to_string())
        .with(
            "leaf",
            leaf.map(|slot| session.log().label(slot).into_owned()),
        )
        .with("revision", session.revision())
        .with("model", settings.model.as_deref())
        .with(
            "models",
            Json::Object(
                settings
                    .models
                    .iter()
                    .map(|(role, model)| (role.clone(), Json::from(model)))
                    .collect(),
            ),
        )
        .with("thinking_level", settings.thinking_level.as_deref())
        .with("mode", settings.mode.as_deref())
        .with(
            "mode_data",
            settings.mode_data.as_ref().map_or(Json::Null, raw),
        )
        .with("rules", settings.rules.clone())
        .with("permission_mode", settings.permission_mode.as_deref())
        .with("memory", Json::Null)
        .with("messages", context.items.len())
        .with("tokens_estimate", estimate(session, context));
    for (name, json) in &settings.other {
        shape = shape.with(name, raw(json));
    }
    shape
}

/// Four bytes a token, as the agents themselves estimate; from lengths alone, so that
/// nothing is read for it.
fn estimate(session: &Session, context: &Context) -> u64 {
    let bytes: u64 = context
        .items
        .iter()
        .flat_map(|item| item.slots())
        .filter_map(|slot| session.log().head(slot))
        .map(|h| h.len)
        .sum();
    bytes / 4
}

fn heading(context: &Context, out: &mut Output) -> Result<()> {
    let settings = &context.settings;
    let mut parts = vec![format!("{} messages", context.items.len())];
    parts.extend(settings.model.as_ref().map(|m| format!("model {m}")));
    parts.extend(
        settings
            .thinking_level
            .as_ref()
            .map(|t| format!("thinking {t}")),
    );
    parts.extend(settings.mode.as_ref().map(|m| format!("mode {m}")));
    parts.extend(
        settings
            .permission_mode
            .as_ref()
            .map(|p| format!("permissions {p}")),
    );
    out.line(&out.paint(Style::Faint, &escape(&parts.join(" · "))))?;
    out.line("")
}
