//! A session as Markdown, for reading and for pasting elsewhere.

use boswell_model::{Part, Result, Slot};
use boswell_store::Session;

use super::output::ExportOutput;
use super::sanitize_markdown::Tail;
use super::{Section, Transcript, sanitize_markdown};

/// Writes the page.
pub(super) fn write(transcript: &Transcript, name: &str, out: &mut ExportOutput<'_>) -> Result<()> {
    let meta = transcript.session.meta();
    out.line(&format!(
        "# {}\n",
        sanitize_markdown::plain(&transcript.label(name))
    ))?;
    out.line(&format!(
        "- session: {}",
        sanitize_markdown::code(&transcript.label(&transcript.session.reference().to_string()))
    ))?;
    for (word, value) in [
        ("project", meta.project.as_deref()),
        ("agent", meta.agent.as_deref()),
    ] {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            out.line(&format!(
                "- {word}: {}",
                sanitize_markdown::code(&transcript.label(value))
            ))?;
        }
    }
    if let Some(created) = meta.created {
        out.line(&format!("- begun: {}", transcript.begun(created)))?;
    }
    out.line("")?;
    for section in &transcript.sections {
        write_section(transcript, section, out)?;
    }
    Ok(())
}

fn write_section(
    transcript: &Transcript,
    section: &Section,
    out: &mut ExportOutput<'_>,
) -> Result<()> {
    let session = transcript.session_of(section);
    let leaves = section.from.map(|slot| {
        format!(
            " (leaves the conversation after {})",
            sanitize_markdown::code(&transcript.label(&session.log().label(slot)))
        )
    });
    out.line(&format!(
        "## {}{}\n",
        sanitize_markdown::plain(&transcript.label(&section.title)),
        leaves.unwrap_or_default()
    ))?;
    for slot in &section.slots {
        if out.is_ended() {
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
    out: &mut ExportOutput<'_>,
) -> Result<()> {
    let at = session
        .log()
        .head(slot)
        .and_then(|head| head.instant())
        .map(|at| transcript.zone.minute(at))
        .unwrap_or_default();
    out.line(&format!(
        "### {} {at}\n",
        sanitize_markdown::plain(&transcript.who(session, slot))
    ))?;
    if let Some(remark) = &view.remark {
        marked("*", &transcript.text(remark), out)?;
    }
    let mut tail = Tail::default();
    for part in &view.parts {
        // Only lists that follow each other at once could become one.
        let before = std::mem::take(&mut tail);
        match part {
            Part::Text(text) => {
                tail = before;
                out.line(&format!(
                    "{}\n",
                    sanitize_markdown::markdown(&transcript.text(text), &mut tail)
                ))?;
            }
            Part::Thinking { text, .. } => {
                let text =
                    sanitize_markdown::markdown(&transcript.text(text), &mut Tail::default());
                text.lines().try_for_each(|line| {
                    out.line(&if line.is_empty() {
                        ">".to_owned()
                    } else {
                        format!("> {line}")
                    })
                })?;
                out.line("")?;
            }
            Part::Call { name, input, .. } => fenced(
                &format!("calls {}", transcript.label(name)),
                &transcript.text(input.text()),
                out,
            )?,
            Part::Result { text, is_error, .. } => {
                fenced(
                    if *is_error { "failed" } else { "answer" },
                    &transcript.text(text),
                    out,
                )?;
            }
            Part::Media { mime, .. } => marked(
                "*",
                &format!("[{}]", transcript.label(mime.as_deref().unwrap_or("media"))),
                out,
            )?,
            Part::Other { word, json } => {
                fenced(&transcript.label(word), &transcript.text(json), out)?
            }
            _ => {}
        }
    }
    Ok(())
}

/// Writes a short text between marks, as a paragraph.
fn marked(marks: &str, text: &str, out: &mut ExportOutput<'_>) -> Result<()> {
    match sanitize_markdown::plain(text) {
        words if words.is_empty() => Ok(()),
        words => out.line(&format!("{marks}{words}{marks}\n")),
    }
}

/// Writes a text unchanged in a fence, below a lead.
fn fenced(lead: &str, text: &str, out: &mut ExportOutput<'_>) -> Result<()> {
    marked("**", lead, out)?;
    out.line(&format!("{}\n", sanitize_markdown::fenced("", text)))
}
