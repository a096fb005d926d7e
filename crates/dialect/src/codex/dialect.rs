//! The implementation of [`Dialect`] and its powers for Codex.

use std::path::{Path, PathBuf};

use boswell_model::json::{Json, Object, Raw, RawKind};
use boswell_model::{
    Context, ContextItem, EntryKind, Framing, Head, Interner, Log, Message, Problem, Result,
    SessionMeta, SessionView, Slot, Tip, View,
};

use crate::uuid::is_uuid;
use crate::{
    Capabilities, Capability, Dialect, Discovered, EditRequest, Environment, Files, HistoryBase,
    IdSource, ImageIntake, InheritHistory, Intake, Match, Permissions, PlanEdits, PlanInput,
    Planned, Powers, Refine, ResumeCommand, Runtime, Sample, SessionLocation, SharedFiles,
    StoreRequest, Support, tool_paths,
};
use crate::{DialectFacts, HistoryKind, UntiedFile};

use super::record::Record;
use super::{
    context, delete, event_messages, history_base, injected, item, layout, meta, plan, provider,
    record, rollback, view,
};

/// The member of headers and rows that names the model provider.
pub(super) const PROVIDER: &str = "model_provider";

/// The dialect of OpenAI Codex CLI.
#[derive(Debug)]
pub struct Codex;

/// Facts about the dialect that do not depend on a session.
static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
        (Capability::Append, Support::Native),
        (Capability::Fork, Support::Native),
        (Capability::Title, Support::Native),
        (Capability::Resume, Support::Native),
        (Capability::Delete, Support::Native),
    ]),
    creates_by_plan: true,
    intake: Some(Intake {
        images: ImageIntake::PromptsAndResults,
        // An output has no member for it.
        marks_failed_results: false,
        ..Intake::PLAIN
    }),
    sessions_folder: Some("sessions"),
    prompt_history: HistoryKind::Lines,
    untied_files: &[
        UntiedFile {
            path: "state_5.sqlite",
            what: "what Codex keeps in its databases",
            is_database: true,
        },
        UntiedFile {
            path: "logs_2.sqlite",
            what: "logs of Codex",
            is_database: true,
        },
    ],
    ..DialectFacts::new("codex", "Codex CLI")
};

impl Dialect for Codex {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        env.path_var("CODEX_HOME")
            .or_else(|| env.in_home(".codex"))
            .into_iter()
            .collect()
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        layout::discover(files)
    }

    fn id_is_valid(&self, id: &str) -> bool {
        is_uuid(id)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        let mut likeness = sample
            .records
            .iter()
            .map(|object| likeness(object))
            .max()
            .unwrap_or(Match::No);
        if likeness == Match::Maybe && sample.name.starts_with("rollout-") {
            likeness = Match::Likely;
        }
        likeness
    }

    fn framing(&self, key: &str) -> Framing {
        layout::framing(key)
    }

    /// Only envelopes count: the payload of a torn envelope looks exactly like a line of the old
    /// format.
    fn is_record(&self, object: &Object<'_>) -> bool {
        is_envelope(object)
    }

    fn begin(&self, location: &SessionLocation) -> SessionMeta {
        let mut meta = SessionMeta {
            archived: layout::is_archived(location),
            ..SessionMeta::default()
        };
        let row = location.row.as_deref().and_then(|row| Raw::parse(row).ok());
        let stated = |key: &str| row.and_then(|row| meta::text(row, key));
        meta.title = stated("thread_name").filter(|title| !title.trim().is_empty());
        if let Some(provider) = stated(PROVIDER) {
            meta.metadata.insert(PROVIDER.to_owned(), provider);
        }
        meta
    }

    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Interner) {
        record::head(object, head, names);
    }

    fn collect_meta(
        &self,
        object: &Object<'_>,
        head: &Head,
        names: &mut Interner,
        meta: &mut SessionMeta,
    ) {
        meta::collect_meta(Record::of(object), head, names, meta);
    }

    fn link(&self, log: &Log) -> Vec<Option<Slot>> {
        rollback::link(log)
    }

    fn tip(&self, view: &SessionView<'_>) -> Result<Tip> {
        let mut entries = view
            .log
            .entries()
            .rev()
            .filter(|(_, head)| head.kind != EntryKind::Header);
        Ok(entries.next().map_or(Tip::Root, |(slot, _)| Tip::At(slot)))
    }

    fn view(&self, object: &Object<'_>) -> View {
        view::view(Record::of(object))
    }

    fn context(&self, view: &SessionView<'_>, tip: Tip) -> Result<Context> {
        context::context(view, tip)
    }

    fn render(&self, item: &ContextItem, records: &[Object<'_>]) -> Message {
        context::render(item, records)
    }

    fn powers(&self) -> Powers<'_> {
        Powers {
            edits: Some(self),
            shared_files: Some(self),
            inherit_history: Some(self),
            runtime: Some(self),
            refine: self,
            ..Powers::default()
        }
    }
}

impl InheritHistory for Codex {
    fn history_base(&self, first: &Object<'_>) -> Option<HistoryBase> {
        history_base::history_base(first)
    }

    fn base_key(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
        id: &str,
    ) -> Result<Option<String>> {
        history_base::base_key(files, location, id)
    }

    fn continued_by(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
    ) -> Result<Option<String>> {
        let own: Vec<String> = location.key.iter().cloned().collect();
        let ids = own.iter().filter_map(|key| layout::log_ids(key).pop());
        let ids: Vec<String> = ids.map(str::to_owned).collect();
        history_base::continued_by(files, &ids, &own)
    }
}

impl PlanEdits for Codex {
    fn plans(&self, operation: Capability) -> bool {
        matches!(
            operation,
            Capability::Append | Capability::Fork | Capability::Title | Capability::Delete
        )
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

impl SharedFiles for Codex {
    fn merge(&self, key: &str, base: &[u8], ours: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
        (key == layout::INDEX)
            .then(|| delete::merge(base, ours, theirs))
            .flatten()
    }

    fn is_shared(&self, key: &str) -> bool {
        delete::is_shared(key)
    }

    fn shared_files(&self, files: &dyn Files) -> Result<Vec<String>> {
        delete::shared_files(files)
    }

    fn without(&self, key: &str, bytes: &[u8], ids: &[String]) -> Option<Vec<u8>> {
        delete::without(key, bytes, ids)
    }
}

impl Runtime for Codex {
    fn store_variables(&self, root: &Path, _key: Option<&str>) -> Vec<(&'static str, PathBuf)> {
        vec![("CODEX_HOME", root.to_owned())]
    }

    fn hides(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
        meta: &SessionMeta,
    ) -> Result<Option<Problem>> {
        provider::hides(files, location, meta)
    }

    /// Returns the resume command. Permissions are not passed on: Codex starts with those of its
    /// own configuration. It does not search its archive for ids.
    fn resume(
        &self,
        meta: &SessionMeta,
        location: &SessionLocation,
        _permissions: Permissions,
    ) -> Option<ResumeCommand> {
        let id = meta.id.as_ref().unwrap_or(&location.id);
        let usable = self.id_is_valid(id) && !layout::is_archived(location) && !meta.archived;
        usable.then(|| ResumeCommand {
            argv: vec!["codex".to_owned(), "resume".to_owned(), id.clone()],
            cwd: meta.project.clone(),
        })
    }
}

impl Refine for Codex {
    fn settle(&self, log: &mut Log, meta: Option<&mut SessionMeta>) {
        event_messages::settle(log, meta);
    }

    fn is_injected(&self, message: &Message) -> bool {
        let is_fragment = |part: &Json| {
            let bytes = part.to_bytes();
            let text = Raw::trusted(&bytes).get("text");
            text.and_then(|text| text.text())
                .is_some_and(|text| injected::is_fragment(&text))
        };
        message.role == "user" && message.content.iter().any(is_fragment)
    }

    /// Patches name their files on separate lines, in plain text or escaped in JSON.
    fn touched_files(&self, view: &View) -> Vec<(String, String)> {
        let mut touched = Vec::new();
        for (_, name, input) in view.calls() {
            touched.extend(tool_paths(name, input));
            for line in input.text().split('\n').flat_map(|line| line.split("\\n")) {
                let path = [
                    "*** Add File: ",
                    "*** Update File: ",
                    "*** Delete File: ",
                    "*** Move to: ",
                ]
                .iter()
                .find_map(|marker| line.strip_prefix(marker));
                touched.extend(path.map(|path| (path.trim().to_owned(), name.to_owned())));
            }
        }
        touched
    }
}

fn is_envelope(object: &Object<'_>) -> bool {
    let known = [
        "session_meta",
        "response_item",
        "event_msg",
        "turn_context",
        "compacted",
        "world_state",
    ];
    object
        .get("payload")
        .is_some_and(|payload| payload.kind() == RawKind::Object)
        && object
            .get("type")
            .is_some_and(|word| known.iter().any(|k| word.is(k)))
}

fn likeness(object: &Object<'_>) -> Match {
    if is_envelope(object) {
        return Match::Certain;
    }
    let word = object.text("type");
    let parts = object.get("content").into_iter().flat_map(|c| c.items());
    let provider_parts = parts
        .filter_map(|part| part.get("type"))
        .any(|t| t.is("input_text") || t.is("output_text"));
    match word.as_deref() {
        Some("message") if object.get("role").is_some() && provider_parts => Match::Likely,
        Some(word) if item::is_known(word) && object.get("call_id").is_some() => Match::Likely,
        None if object.get("record_type").is_some_and(|t| t.is("state")) => Match::Maybe,
        None if object.get("id").is_some()
            && object.get("timestamp").is_some()
            && object.get("instructions").is_some() =>
        {
            Match::Maybe
        }
        _ => Match::No,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{location, view_of, with};
    use super::*;

    fn likeness_of(name: &str, record: &str) -> Match {
        with(record, |object| {
            Codex.recognises(&Sample {
                name,
                folders: &[],
                records: &[*object],
            })
        })
    }

    #[test]
    fn home_is_a_variable_or_a_folder() {
        let mut env = Environment {
            home: Some("/home/u".into()),
            ..Environment::default()
        };
        assert_eq!(Codex.roots(&env), [PathBuf::from("/home/u/.codex")]);
        env.vars.insert("CODEX_HOME".to_owned(), "/c".to_owned());
        assert_eq!(Codex.roots(&env), [PathBuf::from("/c")]);
    }

    #[test]
    fn files_are_known_by_their_records() {
        use Match::{Certain, Likely, Maybe, No};
        for (expected, name, record) in [
            (
                Certain,
                "x",
                r#"{"type":"event_msg","payload":{"type":"token_count"}}"#,
            ),
            (
                Likely,
                "x",
                r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}"#,
            ),
            (
                Likely,
                "x",
                r#"{"type":"function_call_output","call_id":"c","output":"x"}"#,
            ),
            (
                Maybe,
                "x",
                r#"{"id":"a","timestamp":"2025-01-01T00:00:00Z","instructions":null}"#,
            ),
            (
                Likely,
                "rollout-x.jsonl",
                r#"{"id":"a","timestamp":"2025-01-01T00:00:00Z","instructions":null}"#,
            ),
            (
                No,
                "x",
                r#"{"type":"message","id":"1","message":{"role":"user","content":"a"}}"#,
            ),
            (No, "x", r#"{"type":"session_meta","data":{}}"#),
            (No, "x", r#"{"role":"user","content":"a"}"#),
        ] {
            assert_eq!(likeness_of(name, record), expected, "{record}");
        }
    }

    #[test]
    fn resuming_names_a_checked_id_and_no_permissions() {
        let meta = SessionMeta {
            project: Some("/p".to_owned()),
            ..SessionMeta::default()
        };
        let command = Codex
            .resume(&meta, &location(), Permissions::Asked)
            .unwrap();
        assert_eq!(
            command.argv,
            ["codex", "resume", "019d7e3d-0164-79d1-af76-e4ee6689b94f"]
        );
        assert_eq!(command.cwd.as_deref(), Some("/p"));
        let planted = SessionMeta {
            id: Some("--dangerously-bypass".to_owned()),
            ..SessionMeta::default()
        };
        assert_eq!(
            Codex.resume(&planted, &location(), Permissions::Asked),
            None
        );
        let archived = SessionLocation {
            hidden: Some("archived"),
            ..location()
        };
        assert_eq!(Codex.resume(&meta, &archived, Permissions::Asked), None);
    }

    #[test]
    fn a_patch_names_the_files_it_touches() {
        let call = |input: &str| {
            format!(
                r#"{{"type":"custom_tool_call","name":"apply_patch","call_id":"c","input":"{input}"}}"#
            )
        };
        let plain = view_of(&call(
            r"*** Begin Patch\n*** Update File: src/a.rs\n@@\n*** Add File: b.rs\n+x",
        ));
        let paths: Vec<_> = Codex
            .touched_files(&plain)
            .into_iter()
            .map(|(path, _)| path)
            .collect();
        assert_eq!(paths, ["src/a.rs", "b.rs"]);
        let escaped = view_of(&call(
            r#"{\"cmd\":\"*** Begin Patch\\n*** Delete File: c.rs\\n\"}"#,
        ));
        assert_eq!(
            Codex.touched_files(&escaped),
            [("c.rs".to_owned(), "apply_patch".to_owned())]
        );
    }
}
