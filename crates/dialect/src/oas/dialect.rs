//! The implementation of [`Dialect`] and its powers for open-agent-sdk.

use std::borrow::Cow;
use std::path::PathBuf;

use boswell_model::json::{Json, Object, Raw, RawKind};
use boswell_model::{
    Context, ContextItem, EntryKind, Head, Interner, Log, Message, Problem, ProblemKind, Result,
    SessionMeta, SessionView, Settings, Slot, Tip, View,
};

use crate::DialectFacts;
use crate::uuid::is_uuid;
use crate::{
    Capabilities, Capability, Dialect, Discovered, EditRequest, Environment, Files, IdSource,
    Match, PlanEdits, PlanInput, Planned, Powers, Refine, Repairer, Sample, SharedFiles,
    StoreRequest, Support,
};

use super::{header, index, layout, plan, row};

/// The dialect of open-agent-sdk.
#[derive(Debug)]
pub struct OpenAgentSdk;

const CAN: Capabilities = Capabilities::new(&[
    (Capability::Read, Support::Native),
    (Capability::Context, Support::Native),
    (Capability::Append, Support::Native),
    (Capability::Rewind, Support::Rewrites),
    (Capability::Fork, Support::Native),
    (Capability::Title, Support::Note),
    (Capability::Tag, Support::Note),
    (Capability::Label, Support::Note),
    (Capability::Status, Support::Note),
    (Capability::Delete, Support::Native),
]);

/// Facts about the dialect that do not depend on a session.
static FACTS: DialectFacts = DialectFacts {
    capabilities: CAN,
    creates_by_plan: true,
    ..DialectFacts::new("oas", "open-agent-sdk")
};

impl Dialect for OpenAgentSdk {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        let home = env
            .home
            .clone()
            .or_else(|| env.var("USERPROFILE").map(PathBuf::from));
        // Without a home folder, the SDK stores sessions in its working folder.
        vec![home.unwrap_or_else(|| env.cwd.clone()).join(".open-agent")]
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        layout::discover(files)
    }

    fn id_is_valid(&self, id: &str) -> bool {
        is_uuid(id)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        let named = sample.name.strip_suffix(".jsonl").is_some_and(is_uuid);
        let at_home = sample
            .folders
            .iter()
            .take(3)
            .any(|folder| folder == ".open-agent");
        match sample.records.first() {
            Some(first) if header::is_header(first) => Match::Certain,
            Some(first) if named && at_home && self.is_record(first) => Match::Likely,
            _ => Match::No,
        }
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        let is = |words: &[&str]| {
            object
                .get("type")
                .is_some_and(|t| words.iter().any(|word| t.is(word)))
        };
        header::is_header(object)
            || (is(&["user", "assistant", "tool_result", "system", "result"])
                && object.get("session_id").is_some())
    }

    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Interner) {
        row::head(object, head, names);
    }

    fn collect_meta(
        &self,
        object: &Object<'_>,
        head: &Head,
        names: &mut Interner,
        meta: &mut SessionMeta,
    ) {
        row::collect_meta(object, head, names, meta);
    }

    /// Rows are a list: each follows the one before it. The header is not part of it.
    fn link(&self, log: &Log) -> Vec<Option<Slot>> {
        let mut last = None;
        let mut out = Vec::with_capacity(log.heads.len());
        for (slot, head) in log.entries() {
            let is_row = head.kind != EntryKind::Header;
            out.push(last.filter(|_| is_row));
            if is_row {
                last = Some(slot);
            }
        }
        out
    }

    fn tip(&self, view: &SessionView<'_>) -> Result<Tip> {
        let last = view
            .log
            .entries()
            .rev()
            .find(|(_, head)| head.kind != EntryKind::Header);
        Ok(last.map_or(Tip::Root, |(slot, _)| Tip::At(slot)))
    }

    fn view(&self, object: &Object<'_>) -> View {
        row::view(object)
    }

    /// Returns the messages after the last compaction. The SDK removes the summarised messages from
    /// the file too.
    fn context(&self, view: &SessionView<'_>, tip: Tip) -> Result<Context> {
        let path = tip
            .slot()
            .map(|slot| view.tree.path(slot))
            .unwrap_or_default();
        let cut = path
            .iter()
            .rposition(|slot| view.log.kind(*slot) == EntryKind::Compaction)
            .map_or(0, |at| at + 1);
        let sent = |slot: &&Slot| {
            use EntryKind::{Assistant, CustomMessage, ToolResult, User};
            matches!(
                view.log.kind(**slot),
                User | Assistant | ToolResult | CustomMessage
            )
        };
        let items = path
            .iter()
            .skip(cut)
            .filter(sent)
            .map(|slot| ContextItem::stored(*slot))
            .collect();
        Ok(Context {
            tip,
            items,
            settings: settings(view, &path)?,
        })
    }

    fn render(&self, _item: &ContextItem, records: &[Object<'_>]) -> Message {
        let Some(record) = records.first() else {
            return Message {
                role: String::new(),
                content: Vec::new(),
                native: None,
            };
        };
        let kind = record.text("type").unwrap_or_default().into_owned();
        let stated = record
            .get("message")
            .and_then(|m| m.get("role"))
            .and_then(|r| r.text())
            .map(Cow::into_owned);
        let content = match kind.as_str() {
            "tool_result" => vec![Json::from(record.raw())],
            "system" => vec![text_part(record.text("skill_content").unwrap_or_default())],
            _ => parts(record),
        };
        let native = record
            .get("message")
            .filter(|m| m.get("tool_calls").is_some())
            .map(Json::from);
        Message {
            role: stated.unwrap_or(kind),
            content,
            native,
        }
    }

    fn powers(&self) -> Powers<'_> {
        Powers {
            edits: Some(self),
            shared_files: Some(self),
            repair: Some(self),
            refine: self,
            ..Powers::default()
        }
    }
}

impl PlanEdits for OpenAgentSdk {
    fn plans(&self, operation: Capability) -> bool {
        use Capability::{Append, Delete, Fork, Rewind};
        matches!(operation, Append | Rewind | Fork | Delete)
    }

    fn plan(&self, asked: &PlanInput<'_>, request: &EditRequest) -> Result<Planned> {
        plan::of_session(asked, request)
    }

    fn plan_store(
        &self,
        files: &dyn Files,
        request: &StoreRequest,
        id_source: &dyn IdSource,
    ) -> Result<Planned> {
        plan::of_store(files, request, id_source)
    }
}

impl SharedFiles for OpenAgentSdk {
    fn is_shared(&self, key: &str) -> bool {
        index::is_index(key)
    }

    fn shared_files(&self, files: &dyn Files) -> Result<Vec<String>> {
        let mut folders: Vec<String> = files
            .list("projects")?
            .into_iter()
            .map(|info| info.key)
            .collect();
        folders.push("sessions".to_owned());
        let mut found = Vec::new();
        for folder in folders {
            found.extend(
                files
                    .stat(&index::key(&folder))?
                    .filter(crate::FileInfo::is_file)
                    .map(|info| info.key),
            );
        }
        Ok(found)
    }

    fn without(&self, key: &str, bytes: &[u8], ids: &[String]) -> Option<Vec<u8>> {
        let speaks = |row: Raw<'_>| {
            let id = row.get("id").and_then(|id| id.text());
            id.is_some_and(|id| ids.iter().any(|gone| id.eq_ignore_ascii_case(gone)))
        };
        index::is_index(key)
            .then(|| crate::without_sessions::items(bytes, &["sessions"], speaks))?
    }
}

impl Repairer for OpenAgentSdk {
    fn check(
        &self,
        view: &SessionView<'_>,
        _meta: &SessionMeta,
        problems: &mut Vec<Problem>,
    ) -> Result<()> {
        if view
            .log
            .heads
            .first()
            .is_some_and(|head| head.kind != EntryKind::Header)
        {
            let detail =
                "the first record is not a session header, so the SDK does not find this session";
            problems.push(Problem::of_file(ProblemKind::BadHeader, detail));
        }
        Ok(())
    }
}

impl Refine for OpenAgentSdk {
    fn redact<'a>(&self, record: &'a [u8]) -> Cow<'a, [u8]> {
        header::redact_header(record)
    }
}

/// Returns the settings of the header, and the model of the last assistant message.
fn settings(view: &SessionView<'_>, path: &[Slot]) -> Result<Settings> {
    let mut settings = Settings::default();
    if let Some((slot, _)) = view
        .log
        .entries()
        .find(|(_, head)| head.kind == EntryKind::Header)
    {
        view.with_object(slot, |object| header::settings(object, &mut settings))?;
    }
    for slot in path
        .iter()
        .rev()
        .filter(|slot| view.log.kind(**slot) == EntryKind::Assistant)
    {
        let model = view
            .with_object(*slot, |object| object.text("model").map(Cow::into_owned))?
            .flatten();
        if let Some(model) = model {
            settings.set_model("default", &model);
            break;
        }
    }
    Ok(settings)
}

/// Returns the parts of a message, including calls that are only in `tool_calls`.
fn parts(record: &Object<'_>) -> Vec<Json> {
    let Some(message) = record.get("message") else {
        return Vec::new();
    };
    let mut parts: Vec<Json> = match message.get("content") {
        Some(content) if content.kind() == RawKind::Array => {
            content.items().map(Json::from).collect()
        }
        // A message with calls only has a `content` of null.
        Some(content) if !content.is_null() => content
            .text()
            .map_or_else(|| vec![Json::from(content)], |text| vec![text_part(text)]),
        _ => Vec::new(),
    };
    let apart = row::calls_apart(message);
    parts.extend(apart.iter().map(row::CallApart::to_part));
    parts
}

fn text_part(text: Cow<'_, str>) -> Json {
    Json::object().with("type", "text").with("text", text)
}

#[cfg(test)]
mod tests {
    use boswell_model::json::scan_object;

    use super::*;

    #[test]
    fn calls_that_only_tool_calls_has_are_sent_and_no_call_is_sent_twice() {
        let record = br#"{"type":"assistant","session_id":"s","message":{"role":"assistant","content":[{"type":"text","text":"look"},{"type":"tool_use","id":"a","name":"Read","input":{}}],"tool_calls":[{"id":"a","type":"function","function":{"name":"Read","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"Grep","arguments":"{\"pattern\":\"x\"}"}},{"id":"c","type":"function","function":{"name":"Bash","arguments":"{\"torn"}}]}}"#;
        let mut members = Vec::new();
        scan_object(record, &mut members).unwrap();
        let object = Object::new(record, &members);
        let sent = OpenAgentSdk.render(&ContextItem::stored(Slot(0)), &[object]);
        let parts: Vec<String> = sent.content.iter().map(Json::to_string).collect();
        assert_eq!(
            parts,
            [
                r#"{"type":"text","text":"look"}"#,
                r#"{"type":"tool_use","id":"a","name":"Read","input":{}}"#,
                r#"{"type":"tool_use","id":"b","name":"Grep","input":{"pattern":"x"}}"#,
                r#"{"type":"tool_use","id":"c","name":"Bash","input":"{\"torn"}"#,
            ]
        );
        let only = br#"{"type":"assistant","session_id":"s","message":{"role":"assistant","content":null,"tool_calls":[{"id":"b","function":{"name":"Grep","arguments":"{}"}}]}}"#;
        let mut members = Vec::new();
        scan_object(only, &mut members).unwrap();
        let object = Object::new(only, &members);
        let sent = OpenAgentSdk.render(&ContextItem::stored(Slot(0)), &[object]);
        assert_eq!(sent.content.len(), 1, "{:?}", sent.content);
    }
}
