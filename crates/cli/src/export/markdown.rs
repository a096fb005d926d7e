//! A session as Markdown: for reading, and for pasting elsewhere.

use boswell_model::{Block, Result, Slot};
use boswell_store::Session;

use super::{Part, Transcript, prose};
use crate::output::Output;
use crate::terminal::one_line;
use crate::when;

/// Writes the page.
pub(crate) fn write(transcript: &Transcript, name: &str, out: &mut Output) -> Result<()> {
    let facts = transcript.session.facts();
    out.line(&format!("# {}\n", prose::markdown(&transcript.label(name))))?;
    out.line(&format!(
        "- session: `{}`",
        transcript.label(&transcript.session.reference().to_string()).replace('`', "'")
    ))?;
    for (word, value) in [("project", facts.project.as_deref()), ("agent", facts.agent.as_deref())] {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            out.line(&format!("- {word}: `{}`", transcript.label(value).replace('`', "'")))?;
        }
    }
    if let Some(created) = facts.created {
        out.line(&format!("- begun: {}", when::minute(created)))?;
    }
    out.line("")?;
    for part in &transcript.parts {
        write_part(transcript, part, out)?;
    }
    Ok(())
}

fn write_part(transcript: &Transcript, part: &Part, out: &mut Output) -> Result<()> {
    let session = transcript.session_of(part);
    let leaves = part
        .from
        .map(|slot| format!(" (leaves the conversation after `{}`)", transcript.label(&session.log().label(slot))));
    out.line(&format!("## {}{}\n", transcript.label(&part.title), leaves.unwrap_or_default()))?;
    for slot in &part.slots {
        if out.gone() {
            return Ok(());
        }
        if let Some(view) = transcript.visible(session, *slot)? {
            write_entry(transcript, session, *slot, &view, out)?;
        }
    }
    Ok(())
}

fn write_entry(
    transcript: &Transcript,
    session: &Session,
    slot: Slot,
    view: &boswell_model::View,
    out: &mut Output,
) -> Result<()> {
    let at = session.log().head(slot).and_then(|head| head.instant()).map(when::minute).unwrap_or_default();
    out.line(&format!("### {} {at}\n", transcript.who(session, slot)))?;
    if let Some(remark) = &view.remark {
        out.line(&format!("*{}*\n", prose::markdown(&one_line(&transcript.text(remark)))))?;
    }
    for block in &view.blocks {
        match block {
            Block::Text(text) => out.line(&format!("{}\n", prose::markdown(&transcript.text(text))))?,
            Block::Thinking(text) => {
                let text = prose::markdown(&transcript.text(text));
                text.lines().try_for_each(|line| out.line(&format!("> {line}")))?;
                out.line("")?;
            }
            Block::Call { name, input, .. } => {
                fenced(&format!("calls {}", transcript.label(name)), &transcript.text(input), out)?
            }
            Block::Result { text, is_error, .. } => {
                fenced(if *is_error { "failed" } else { "answer" }, &transcript.text(text), out)?;
            }
            Block::Media { mime, .. } => {
                out.line(&format!("*[{}]*\n", transcript.label(mime.as_deref().unwrap_or("media"))))?;
            }
            Block::Other { word, json } => fenced(&transcript.label(word), &transcript.text(json), out)?,
            _ => {}
        }
    }
    Ok(())
}

/// A text that is shown as it is, behind a fence that it does not hold itself.
fn fenced(lead: &str, text: &str, out: &mut Output) -> Result<()> {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    out.line(&format!("**{}**\n\n{fence}\n{}\n{fence}\n", prose::markdown(lead), text.trim_end_matches('\n')))
}
