//! opencode, and the agents that were made of it: Kilo CLI and MiMo Code.
//!
//! Sessions, messages and parts are rows of a database; before version 1.2 each was a JSON file.
//! The format is described in `docs/dialects/opencode.md`.

mod context;
mod export_document;
mod layout;
mod parts;
mod record;

use std::path::{Path, PathBuf};

use boswell_model::json::{Json, Object};
use boswell_model::{EntryKind, Instant, Part, Result, SessionMeta, SessionView, Slot, Usage};

use crate::row_agent::{RowAgent, RowDialect};
use crate::{
    Capabilities, Capability, ChatMessage, DialectFacts, Discovered, Environment, Files, IdSource,
    ImageIntake, ImportSession, Intake, ResumeCommand, SessionLocation, SessionToImport, Support,
    ThinkingIntake,
};

use export_document::OpenCodeExport;

use record::Record;

const READS_AND_RESUMES: Capabilities = Capabilities::new(&[
    (Capability::Read, Support::Native),
    (Capability::Context, Support::Native),
    (Capability::Resume, Support::Native),
]);

const READS: Capabilities = Capabilities::new(&[
    (Capability::Read, Support::Native),
    (Capability::Context, Support::Native),
]);

/// The version in a new session: the newest one whose importer took such a document.
const VERSION: &str = "1.18.33";

static OPENCODE_FACTS: DialectFacts = DialectFacts {
    capabilities: READS_AND_RESUMES,
    rows: Some(layout::LAYOUT),
    intake: Some(Intake {
        thinking: ThinkingIntake::Text,
        images: ImageIntake::Prompts,
        ..Intake::PLAIN
    }),
    ..DialectFacts::new("opencode", "opencode")
};

static KILO_FACTS: DialectFacts = DialectFacts {
    capabilities: READS_AND_RESUMES,
    rows: Some(layout::LAYOUT),
    ..DialectFacts::new("kilo", "Kilo CLI")
};

static MIMO_FACTS: DialectFacts = DialectFacts {
    capabilities: READS,
    rows: Some(layout::LAYOUT),
    ..DialectFacts::new("mimo", "MiMo Code")
};

/// The dialect of opencode.
pub(crate) static OPENCODE: RowDialect<OpenCode> = RowDialect(OpenCode {
    facts: &OPENCODE_FACTS,
    folder: "opencode",
    variable: Some("OPENCODE_DB"),
    program: Some("opencode"),
    imports: true,
});

/// The dialect of Kilo CLI 7 and later.
pub(crate) static KILO: RowDialect<OpenCode> = RowDialect(OpenCode {
    facts: &KILO_FACTS,
    folder: "kilo",
    variable: None,
    program: Some("kilo"),
    imports: false,
});

/// The dialect of MiMo Code.
pub(crate) static MIMO: RowDialect<OpenCode> = RowDialect(OpenCode {
    facts: &MIMO_FACTS,
    folder: "mimocode",
    variable: None,
    program: None,
    imports: false,
});

/// An agent of this family.
#[derive(Debug)]
pub(crate) struct OpenCode {
    facts: &'static DialectFacts,
    /// The folder with its data.
    folder: &'static str,
    /// The variable that names its database.
    variable: Option<&'static str>,
    /// The program that resumes a session.
    program: Option<&'static str>,
    /// Whether its program is known to import sessions.
    imports: bool,
}

impl RowAgent for OpenCode {
    fn facts(&self) -> &'static DialectFacts {
        self.facts
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        layout::roots(env, self.folder, self.variable)
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        layout::discover(files)
    }

    /// Other members of the family write the same rows; the folder of the root distinguishes them.
    fn has_columns(&self, object: &Object<'_>) -> bool {
        Record(object.raw()).has_columns()
    }

    fn kind(&self, object: &Object<'_>) -> EntryKind {
        Record(object.raw()).kind()
    }

    fn parts(&self, object: &Object<'_>) -> Vec<Part> {
        parts::shown(Record(object.raw()))
    }

    fn word(&self, object: &Object<'_>) -> String {
        Record(object.raw()).word()
    }

    fn time(&self, object: &Object<'_>) -> Option<Instant> {
        Record(object.raw()).created()
    }

    fn is_hidden(&self, object: &Object<'_>) -> bool {
        parts::is_synthetic(Record(object.raw()))
    }

    fn is_summary(&self, object: &Object<'_>) -> bool {
        Record(object.raw()).is_summary()
    }

    fn spent(&self, object: &Object<'_>) -> (Option<String>, Option<Usage>) {
        let record = Record(object.raw());
        (record.model(), record.usage())
    }

    fn stop(&self, object: &Object<'_>) -> Option<String> {
        Record(object.raw()).info_text("finish")
    }

    fn begin(&self, location: &SessionLocation) -> SessionMeta {
        let mut meta = SessionMeta::default();
        if let Some(row) = crate::row_listing::row_of(location) {
            record::state(Record(row), &mut meta);
        }
        meta
    }

    fn collect(&self, object: &Object<'_>, meta: &mut SessionMeta) {
        let record = Record(object.raw());
        if record.kind() == EntryKind::Header {
            record::state(record, meta);
        }
    }

    fn sent(&self, view: &SessionView<'_>, branch: &[Slot]) -> Result<Vec<Slot>> {
        context::sent(view, branch)
    }

    fn sends_thinking(&self) -> bool {
        true
    }

    fn steps(&self, object: &Object<'_>) -> Vec<Vec<Part>> {
        parts::steps(Record(object.raw()))
    }

    fn resume(&self, meta: &SessionMeta, location: &SessionLocation) -> Option<ResumeCommand> {
        let id = meta.id.as_ref().unwrap_or(&location.id);
        Some(ResumeCommand {
            argv: [self.program?, "--session", id].map(str::to_owned).to_vec(),
            cwd: meta.project.clone(),
        })
    }

    fn importer(&self) -> Option<&dyn ImportSession> {
        self.imports.then_some(self)
    }

    /// The data folder has a fixed name below the folder that the variable names.
    fn variables(&self, root: &Path) -> Vec<(&'static str, PathBuf)> {
        let is_own = root.file_name().is_some_and(|name| name == self.folder);
        let above = root.parent().filter(|_| is_own);
        let above = above.map(|above| ("XDG_DATA_HOME", above.to_owned()));
        above.into_iter().collect()
    }
}

impl ImportSession for OpenCode {
    /// The program has ids of a prefix and 26 characters.
    fn new_id(&self, id_source: &dyn IdSource) -> String {
        let digits = format!("{}{}", id_source.hex16(), id_source.hex16());
        format!("ses_{}", digits.get(..26).unwrap_or(&digits))
    }

    fn keeps_id(&self) -> bool {
        true
    }

    fn document(&self, session: &SessionToImport<'_>, messages: &[ChatMessage]) -> Json {
        let model = session.model.and_then(|model| model.split_once('/'));
        let export = OpenCodeExport {
            id: session.id,
            title: session.title,
            directory: session.project,
            version: VERSION,
            model: model.unwrap_or(("unknown", "unknown")),
            created: session.created,
        };
        export.encode(messages)
    }

    fn import_words(&self, document: &str) -> Vec<String> {
        ["opencode", "import", document].map(str::to_owned).to_vec()
    }

    fn removal_words(&self, id: &str) -> Vec<String> {
        ["opencode", "session", "delete", id]
            .map(str::to_owned)
            .to_vec()
    }

    fn removal_asks(&self) -> bool {
        false
    }
}
