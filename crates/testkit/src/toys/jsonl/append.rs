//! Appending to a log of jot.

use boswell_dialect::{
    Append, Body, Draft, EntryStamp, NewLog, NewSession, SessionFacts, unsupported,
};
use boswell_model::json::Json;
use boswell_model::{Instant, Part, Result, SessionMeta};

impl Append for super::Jot {
    fn can_append(&self, _meta: &SessionMeta) -> Result<()> {
        Ok(())
    }

    fn encode(
        &self,
        draft: &Draft,
        stamp: EntryStamp<'_>,
        _session: Option<SessionFacts<'_>>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let is_title = matches!(draft.body, Body::Title(_));
        let record = Json::object().with("jot", if is_title { "title" } else { "say" });
        let record = record.with("id", stamp.id).with("parent", stamp.parent);
        let record = record.with("at", stamp.at.to_rfc3339());
        let record = match &draft.body {
            Body::User(parts) => said(record, "user", parts)?,
            Body::Assistant(answer) => said(record, "assistant", &answer.content)?,
            Body::ToolResult { call, content, .. } => {
                said(record, "tool", content)?.with("call", call.as_str())
            }
            Body::Title(title) => record.with("title", title.as_str()),
            _ => return Err(unsupported("jot", "hold such an entry", "say it as text")),
        };
        let failed = matches!(draft.body, Body::ToolResult { is_error: true, .. });
        record.with("failed", failed).write(out);
        Ok(())
    }

    fn new_log(&self, new: &NewSession, id: &str, now: Instant) -> Result<NewLog> {
        let header = Json::object().with("jot", 1).with("id", id);
        let header = header.with("cwd", new.project.as_str());
        let mut bytes = header.with("at", now.to_rfc3339()).to_bytes();
        bytes.push(b'\n');
        let key = format!("sessions/{id}.jsonl");
        Ok(NewLog { key, bytes })
    }
}

fn said(record: Json, role: &str, parts: &[Part]) -> Result<Json> {
    let (mut texts, mut calls) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Part::Text(text) => texts.push(text.as_str()),
            Part::Call { id, name, input } => {
                let call = Json::object().with("id", &**id).with("name", &**name);
                calls.push(call.with("args", input.to_object()));
            }
            // Refused, never dropped: jot does not support thinking and images.
            _ => return Err(unsupported("jot", "hold such a part", "say it as text")),
        }
    }
    let said = record.with("role", role).with("text", texts.join("\n"));
    Ok(said.with("calls", calls))
}
