//! The matrix of conversions: a session of each agent, carried over to each other agent.
//!
//! Ids and times of a conversion depend on its source alone, and sources are generated, so the
//! bytes of every cell are the same on every machine. `verdicts/accepted.tsv` records, for cells
//! that a real program has resumed, its version and the hash of what it was given. `cargo test`
//! makes every cell and compares the hashes; `cargo xtask soak convert` runs the programs.

mod accepted;
mod page;
mod run;

pub use accepted::{Accepted, AcceptedTable};
pub use page::page;
pub use run::{RealProgram, arrived};

use std::path::Path;
use std::sync::Arc;

use boswell_dialect::{Body, Depth, Draft, Step, by_name};
use boswell_model::{Part, Result};
use boswell_store::backend::MemoryBackend;
use boswell_store::disk::MemoryDisk;
use boswell_store::operations::{Conversion, ConversionRequest, ConversionScope};
use boswell_store::{Home, NewSession, Session, Store};

use crate::Made;
use crate::disk;
use crate::ids::SeededIds;
use crate::make::claude::ClaudeShape;
use crate::make::codex::CodexShape;
use crate::make::copilot::CopilotShape;
use crate::make::gemini::GeminiShape;
use crate::make::kimi::KimiShape;
use crate::make::pi::{PiFlavour, PiLayout, PiShape};
use crate::make::qwen::QwenShape;
use crate::make::{claude, codex, copilot, databases, gemini, kimi, pi, qwen};

/// The agents that sessions are carried over from.
pub static SOURCES: [&str; 10] = [
    "claude", "codex", "pi", "gemini", "qwen", "copilot", "kimi", "opencode", "goose", "boswell",
];
/// The agents that sessions are carried over to.
pub static TARGETS: [&str; 11] = [
    "claude", "codex", "pi", "omp", "gemini", "qwen", "copilot", "kimi", "opencode", "goose",
    "boswell",
];
/// The project folder of recorded cells.
pub const PROJECT: &str = "/proj/app";

const SEED: u64 = 19;

/// A PNG of one pixel.
const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/// A conversion of the matrix.
#[derive(Debug)]
pub struct MatrixCell {
    /// Name of the source's dialect.
    pub source: &'static str,
    /// Name of the target's dialect.
    pub target: &'static str,
    /// The conversion.
    pub conversion: Conversion,
}

impl MatrixCell {
    /// Makes a cell for a project folder. The target's store is empty, with the settings that real
    /// programs are run with.
    ///
    /// # Errors
    ///
    /// Those of [`Store::plan_conversion`].
    pub fn new(source: &'static str, target: &'static str, project: &str) -> Result<MatrixCell> {
        let session = source_session(source, project)?;
        let conversion = convert(&session, target, project)?;
        Ok(MatrixCell {
            source,
            target,
            conversion,
        })
    }

    /// Returns the cells of all pairs of different agents.
    pub fn pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
        let pairs = SOURCES
            .iter()
            .flat_map(|source| TARGETS.iter().map(move |target| (*source, *target)));
        pairs.filter(|(source, target)| source != target)
    }

    /// Writes the files of the new session below the root of a store.
    pub fn write_to(&self, root: &Path) {
        for step in &self.conversion.plan.steps {
            match step {
                Step::Put { key, bytes, .. } | Step::Append { key, bytes } => {
                    disk::write(&root.join(key), bytes);
                }
                _ => {}
            }
        }
    }
}

/// Carries a session over to an agent whose store is empty.
///
/// # Errors
///
/// Those of [`Store::plan_conversion`].
pub fn convert(session: &Session, target: &str, project: &str) -> Result<Conversion> {
    let dialect = by_name(target).expect("a dialect of the matrix");
    let mut backend = MemoryBackend::default();
    if target == "codex" {
        backend.put("config.toml", "model_provider = \"scripted\"\n", None);
    }
    let store = Store::on(dialect, Arc::new(backend), "/target");
    let request = ConversionRequest {
        scope: ConversionScope::Branch,
        project: project.to_owned(),
        ..ConversionRequest::default()
    };
    store.plan_conversion(session, &request)
}

/// Returns the session of an agent that the matrix carries over.
///
/// # Errors
///
/// If the generated session cannot be read.
pub fn source_session(source: &str, project: &str) -> Result<Session> {
    let made = match source {
        "claude" => claude::file(ClaudeShape::ToolUse, project, SEED),
        "codex" => codex::rollout(CodexShape::Tools, project, None, SEED),
        "pi" => pi::file(PiShape::Images, PiFlavour::Pi, PiLayout::of(project), SEED),
        "gemini" => gemini::session(GeminiShape::Tools, project, SEED),
        "qwen" => qwen::session(QwenShape::Plain, project, SEED),
        "copilot" => copilot::session(CopilotShape::Plain, project, SEED),
        "kimi" => kimi::session(KimiShape::Plain, project, SEED),
        "opencode" | "goose" => return database_session(source, project),
        _ => return own_session(project),
    };
    session_of(source, &made)
}

/// Reads the generated session of an agent with a database.
fn database_session(source: &str, project: &str) -> Result<Session> {
    let samples = databases::samples(source, project);
    let sample = samples.first().expect("a session in rows");
    let store = sample.store(by_name(source).expect("a dialect of the matrix"));
    store.read_conversation(&store.find(&sample.id)?, Depth::Facts)
}

/// Reads a generated session.
///
/// # Errors
///
/// If it cannot be read.
pub fn session_of(dialect: &str, made: &Made) -> Result<Session> {
    let mut backend = MemoryBackend::default();
    for file in &made.files.list {
        backend.put(&file.path, file.bytes.clone(), None);
    }
    let dialect = by_name(dialect).expect("a dialect of the matrix");
    let store = Store::on(dialect, Arc::new(backend), "/source");
    let location = store.find(&made.id)?;
    store.read_conversation(&location, Depth::Facts)
}

/// A session of our own with everything that may get lost on the way: reasoning, parallel calls, a
/// failed one, free arguments, ids and names that providers refuse, an image, a prompt that looks
/// like a command, and texts that need escapes.
fn own_session(project: &str) -> Result<Session> {
    let disk = Arc::new(MemoryDisk::default());
    let store = Home::on(disk, Arc::new(SeededIds::new(SEED)), "/own").sessions()?;
    let writer = store.create(NewSession::in_project(project).titled("A red build"))?;
    for draft in own_drafts() {
        writer.append(draft)?;
    }
    let id = writer.reference().id.clone();
    writer.release()?;
    store.read_conversation(&store.find(&id)?, Depth::Facts)
}

fn own_drafts() -> Vec<Draft> {
    let text = |said: &str| Part::Text(said.to_owned());
    let call = |id: &str, name: &str, input: &str| Part::Call {
        id: id.to_owned(),
        name: name.to_owned(),
        input: input.into(),
    };
    let answer = |content: Vec<Part>| {
        Draft::answer(boswell_dialect::AssistantMessage {
            content,
            ..Default::default()
        })
    };
    let result = |call: &str, said: &str, is_error| {
        Draft::new(Body::ToolResult {
            call: call.to_owned(),
            tool: "shell".to_owned(),
            content: vec![text(said)],
            is_error,
        })
    };
    vec![
        Draft::user("/home/me/项目 does not build 🦀"),
        answer(vec![
            Part::thinking("Look first."),
            text("I look at both."),
            call("call_1", "shell", r#"{"command":"ls -la"}"#),
            call("toolu:2/x", "mcp.list files", r#"{"dir":"."}"#),
        ]),
        result("toolu:2/x", "a.txt\nb \"quoted\" \\ line", false),
        result("call_1", "no such file\u{2028}", true),
        answer(vec![call(
            "call_1",
            "apply_patch",
            "*** Begin Patch\n*** End",
        )]),
        result("call_1", "", false),
        answer(vec![text("Fixed: `a < b && c`.")]),
        Draft::new(Body::User(vec![
            text("And this picture?"),
            Part::image(DOT, "image/png"),
        ])),
        answer(vec![text("A dot.\n\nNothing else.")]),
    ]
}
