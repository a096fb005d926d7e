//! A session as one self-contained HTML page: it loads nothing from the network or other files, and
//! nothing of the session runs in it.

use boswell_model::json::Json;
use boswell_model::{EntryKind, MediaSource, Part, Result, Slot, ToolInput, View};
use boswell_store::Session;

use super::output::ExportOutput;
use super::sanitize_markdown::push_text;
use super::{Section, Transcript, sanitize_markdown};
use crate::base64;
use crate::text::{cut, one_line};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Image types that browsers show and that cannot contain scripts.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Writes the page.
pub(super) fn write(transcript: &Transcript, name: &str, out: &mut ExportOutput<'_>) -> Result<()> {
    let title = text(&transcript.label(name));
    // The policy allows only our own script, even if markup gets past the escapes, and no requests.
    let script = base64::encode(&sha256(SCRIPT));
    let style = base64::encode(&sha256(STYLE));
    out.line(&format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'sha256-{style}'; script-src 'sha256-{script}'\">\n\
         <meta name=\"referrer\" content=\"no-referrer\"><link rel=\"icon\" href=\"data:,\">\n<title>{title}</title><style>{STYLE}</style></head><body>"
    ))?;
    out.line(&format!(
        "<header><h1>{title}</h1>{}</header>",
        meta(transcript)
    ))?;
    out.line(&contents(transcript)?)?;
    out.line("<main>")?;
    for (number, section) in transcript.sections.iter().enumerate() {
        write_section(transcript, number, section, out)?;
    }
    out.line(&format!("</main><script>{SCRIPT}</script></body></html>"))
}

fn sha256(text: &str) -> [u8; 32] {
    *boswell_store::vault::Digest::of(text.as_bytes()).as_bytes()
}

fn text(plain: &str) -> String {
    let mut out = String::with_capacity(plain.len() + 16);
    push_text(&mut out, plain);
    out
}

fn meta(transcript: &Transcript) -> String {
    let meta = transcript.session.meta();
    let mut rows = vec![("session", transcript.session.reference().to_string())];
    rows.extend(
        meta.project
            .clone()
            .filter(|it| !it.is_empty())
            .map(|it| ("project", it)),
    );
    rows.extend(meta.agent.clone().map(|it| ("agent", it)));
    rows.extend((!meta.models.is_empty()).then(|| ("models", meta.models.join(", "))));
    rows.extend(meta.created.map(|at| ("begun", transcript.begun(at))));
    rows.extend(totals(meta).map(|it| ("totals", it)));
    let rows: Vec<String> = rows
        .iter()
        .map(|(word, value)| format!("<dt>{word}</dt><dd>{}</dd>", text(&transcript.label(value))))
        .collect();
    format!("<dl>{}</dl>", rows.concat())
}

/// Prompts and tokens of the session, as far as its log says.
fn totals(meta: &boswell_model::SessionMeta) -> Option<String> {
    let usage = meta.usage.total();
    let mut parts = Vec::new();
    parts.extend((meta.turns > 0).then(|| format!("{} prompts", meta.turns)));
    parts.extend(usage.input.map(|tokens| format!("{tokens} tokens in")));
    parts.extend(usage.output.map(|tokens| format!("{tokens} out")));
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Links to every prompt of the conversation.
fn prompts(transcript: &Transcript) -> Result<String> {
    let mut links = String::new();
    let Some(section) = transcript.sections.first() else {
        return Ok(links);
    };
    let session = transcript.session_of(section);
    for slot in &section.slots {
        if session.log().kind(*slot) != EntryKind::User {
            continue;
        }
        let Some(view) = transcript.visible(session, *slot)? else {
            continue;
        };
        let line = cut(&first_line(&transcript.text(&view.text())), 60);
        if !line.is_empty() {
            let line = text(&transcript.label(&line));
            links.push_str(&format!("<li><a href=\"#{}\">{line}</a>", anchor(0, *slot)));
        }
    }
    Ok(match links.is_empty() {
        true => links,
        false => format!("<ol>{links}</ol>"),
    })
}

/// The search box, and links to every section and every prompt.
fn contents(transcript: &Transcript) -> Result<String> {
    let links: Vec<String> = transcript
        .sections
        .iter()
        .enumerate()
        .filter(|_| transcript.sections.len() > 1)
        .map(|(number, section)| {
            format!(
                "<a href=\"#part-{number}\">{} <small>{}</small></a>",
                text(&transcript.label(&section.title)),
                section.slots.len()
            )
        })
        .collect();
    Ok(format!(
        "<nav><input id=\"find\" type=\"search\" placeholder=\"search this page\" aria-label=\"search this page\"><output id=\"found\"></output>\
         <button id=\"open\" type=\"button\">open all</button>{}{}</nav>",
        links.concat(),
        prompts(transcript)?
    ))
}

fn write_section(
    transcript: &Transcript,
    number: usize,
    section: &Section,
    out: &mut ExportOutput<'_>,
) -> Result<()> {
    let session = transcript.session_of(section);
    let mut model = None;
    out.line(&format!(
        "<section id=\"part-{number}\"><h2>{}</h2>",
        text(&transcript.label(&section.title))
    ))?;
    if let Some(from) = section.from {
        out.line(&format!(
            "<p class=\"from\">leaves the conversation <a href=\"#{}\">here</a></p>",
            anchor(0, from)
        ))?;
    }
    for slot in &section.slots {
        if out.is_ended() {
            return Ok(());
        }
        if let Some(view) = transcript.visible(session, *slot)? {
            write_entry(
                transcript,
                session,
                (number, *slot),
                (&view, &mut model),
                out,
            )?;
        }
        if section.subagent.is_none() {
            for (other, it) in transcript.diverging_at(*slot) {
                out.line(&format!(
                    "<p class=\"from\"><a href=\"#part-{other}\">{} leaves here</a></p>",
                    text(&transcript.label(&it.title))
                ))?;
            }
        }
    }
    out.line("</section>")
}

fn anchor(section: usize, slot: Slot) -> String {
    format!("e-{section}-{}", slot.index())
}

fn write_entry(
    transcript: &Transcript,
    session: &Session,
    (section, slot): (usize, Slot),
    (view, last_model): (&View, &mut Option<String>),
    out: &mut ExportOutput<'_>,
) -> Result<()> {
    let who = transcript.who(session, slot);
    let at = session
        .log()
        .head(slot)
        .and_then(|head| head.instant())
        .map(|at| transcript.zone.minute(at))
        .unwrap_or_default();
    let class = match who.as_str() {
        "User" => "user",
        "Assistant" => "assistant",
        "Tool" => "tool",
        _ if session.log().kind(slot) == EntryKind::Compaction => "fold",
        _ => "other",
    };
    // Prompts and answers are told apart by their form; the model is named where it changes.
    let heading = match class {
        "user" => format!("<h3>{at}</h3>"),
        "assistant" if view.model.is_some() && view.model != *last_model => {
            last_model.clone_from(&view.model);
            let model = view.model.as_deref().unwrap_or_default();
            format!("<h3>{} {at}</h3>", text(&transcript.label(model)))
        }
        "assistant" | "tool" => String::new(),
        _ => format!("<h3>{} {at}</h3>", text(&who)),
    };
    out.line(&format!(
        "<article class=\"{class}\" id=\"{}\">{heading}",
        anchor(section, slot),
    ))?;
    if let Some(remark) = &view.remark {
        out.line(&format!(
            "<p class=\"remark\">{}</p>",
            text(&one_line(&transcript.text(remark)))
        ))?;
    }
    for part in &view.parts {
        out.line(&part_html(transcript, part))?;
    }
    out.line("</article>")
}

fn part_html(transcript: &Transcript, part: &Part) -> String {
    let folded = |class: &str, lead: &str, body: &str| {
        let lead = text(&transcript.label(lead));
        format!(
            "<details class=\"{class}\"><summary>{lead}</summary><pre>{}</pre></details>",
            text(&transcript.text(body))
        )
    };
    match part {
        Part::Text(it) => format!(
            "<div class=\"text\">{}</div>",
            sanitize_markdown::html(&transcript.text(it))
        ),
        Part::Thinking { text: it, .. } => folded("thinking", "thinking", it),
        Part::Call { name, input, .. } => {
            let lead = format!("→ {name}  {}", first_line(&transcript.text(input.text())));
            match replaced(input) {
                Some(lines) => diff(transcript, &lead, &lines),
                None => folded("call", &lead, &pretty(input)),
            }
        }
        Part::Result {
            text: it, is_error, ..
        } => {
            let lead = if *is_error { "← failed: " } else { "← " };
            folded(
                if *is_error { "result failed" } else { "result" },
                &format!("{lead}{}", first_line(&transcript.text(it))),
                it,
            )
        }
        Part::Media { mime, source } => picture(transcript, mime.as_deref(), source),
        Part::Other { word, json } => folded("other", word, json),
        _ => String::new(),
    }
}

/// Lines that a call replaces in a file, marked as removed or added; `None` if it edits nothing.
fn replaced(input: &ToolInput) -> Option<Vec<(bool, String)>> {
    let raw = input.json()?;
    let member = |names: [&str; 3]| {
        let found = names.iter().find_map(|name| raw.get(name));
        found?.text().map(std::borrow::Cow::into_owned)
    };
    let before = member(["old_string", "oldText", "old_str"])?;
    let after = member(["new_string", "newText", "new_str"])?;
    let lines = |text: &str, is_added: bool| -> Vec<(bool, String)> {
        text.lines()
            .map(|line| (is_added, line.to_owned()))
            .collect()
    };
    Some([lines(&before, false), lines(&after, true)].concat())
}

fn diff(transcript: &Transcript, lead: &str, lines: &[(bool, String)]) -> String {
    let mut body = String::new();
    for (is_added, line) in lines {
        let line = text(&transcript.text(line));
        body.push_str(&match is_added {
            true => format!("<ins>+{line}</ins>"),
            false => format!("<del>-{line}</del>"),
        });
    }
    let lead = text(&transcript.label(lead));
    format!("<details class=\"call\"><summary>{lead}</summary><pre>{body}</pre></details>")
}

fn first_line(text: &str) -> String {
    let line = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("");
    let some: String = line.chars().take(200).collect();
    crate::text::cut(&one_line(&some), 100)
}

/// Arguments with a line for each, where they are an object.
fn pretty(input: &ToolInput) -> String {
    let Some(raw) = input.json() else {
        return input.to_string();
    };
    if raw.kind() != boswell_model::json::RawKind::Object {
        return input.to_string();
    }
    let line = |(key, value): (boswell_model::json::Str<'_>, boswell_model::json::Raw<'_>)| {
        let shown = value.text().map_or_else(
            || String::from_utf8_lossy(&Json::from(value).to_bytes()).into_owned(),
            std::borrow::Cow::into_owned,
        );
        format!("{}: {shown}", key.to_text())
    };
    raw.members().map(line).collect::<Vec<_>>().join("\n")
}

fn picture(transcript: &Transcript, mime: Option<&str>, source: &MediaSource) -> String {
    let is_base64 = |data: &str| {
        data.bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'\n' | b'\r'))
    };
    match (mime.filter(|mime| PICTURES.contains(mime)), source) {
        (Some(mime), MediaSource::Inline(data)) if is_base64(data) => {
            format!("<img alt=\"picture\" src=\"data:{mime};base64,{data}\">")
        }
        (_, MediaSource::Reference(name)) => format!(
            "<p class=\"remark\">[{}]</p>",
            text(&transcript.label(name))
        ),
        _ => format!(
            "<p class=\"remark\">[{}]</p>",
            text(&transcript.label(mime.unwrap_or("media")))
        ),
    }
}
