//! A complete agent loop with a scripted model: tool calls, checkpoints, a streamed message,
//! compaction, memory. It may be killed at any moment; the next run resumes the session.
//!
//! `cargo run -p boswell-store --example agent -- HOME PROJECT [--die-after N]`

#![expect(clippy::print_stdout, reason = "an example shows what it did")]
use std::path::PathBuf;
use std::time::Duration;

use boswell_store::checkpoint::Checkpoints;
use boswell_store::checkpoint::{self, Moment};
use boswell_store::disk::Clock;
use boswell_store::disk::{IdSource, SystemIds};
use boswell_store::disk::{RealDisk, durable};
use boswell_store::memory::{INDEX, ProjectMemory};
use boswell_store::model::EntryKind;
use boswell_store::model::json::Json;
use boswell_store::prompts::Prompt;
use boswell_store::prompts::Prompts;
use boswell_store::store::launch::Launch;
use boswell_store::store::launch::SessionArgument;
use boswell_store::writer::AssistantMessage;
use boswell_store::{Body, ChatMessage, Draft, Home, NewSession, Outcome, Part, WritableStore};
use boswell_store::{Result, Role, SessionWriter, Ticket, Wait};

const SESSION: &str = "agent-demo";
/// A context of more bytes than this is compacted before the next prompt.
const CONTEXT_LIMIT: usize = 2_000;
/// The prompt of the user, the tool that the model calls with a text for `notes.txt`, and its reply
/// in chunks.
const SCRIPT: [(&str, Reply); 3] = [
    (
        "how are the builds?",
        (Some(("read", "")), &["red, ", "all of them"]),
    ),
    (
        "make them green",
        (
            Some(("edit", "every build is green\n")),
            &["done: ", "they are green"],
        ),
    ),
    (
        "what did you know before?",
        (None, &["what my memory says: ", "{memory}"]),
    ),
];
type Reply = (
    Option<(&'static str, &'static str)>,
    &'static [&'static str],
);

struct Agent {
    writer: SessionWriter,
    checkpoints: Checkpoints,
    memory: ProjectMemory,
    prompts: Prompts,
    project: String,
    tickets: Vec<Ticket>,
    lives: usize,
}

fn main() -> Result<()> {
    run(&std::env::args().skip(1).collect::<Vec<_>>())
}

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let argument = |at: usize, otherwise: &str| {
        arguments
            .get(at)
            .map_or(otherwise, String::as_str)
            .to_owned()
    };
    let (home, project) = (
        PathBuf::from(argument(0, "boswell-agent")),
        argument(1, "."),
    );
    let lives = if argument(2, "") == "--die-after" {
        argument(3, "").parse().unwrap_or(1)
    } else {
        usize::MAX
    };
    let home = Home::open(home)?;
    let mut agent = Agent {
        writer: start(&home.sessions()?, &project)?,
        checkpoints: home.checkpoints(),
        memory: home.memory(&project),
        prompts: home.prompts(),
        project,
        tickets: Vec::new(),
        lives,
    };
    agent
        .memory
        .put(INDEX, "notes.txt tells how the builds are\n")?;
    agent.settle()?;
    while let Some((prompt, ..)) = SCRIPT.get(agent.asked()?) {
        agent.compact_if_large()?;
        let (text, at, project) = (
            (*prompt).to_owned(),
            SystemIds.now(),
            Some(agent.project.clone()),
        );
        agent.prompts.add(&Prompt {
            text,
            at,
            project,
            session: Some(SESSION.to_owned()),
        })?;
        agent.append(Draft::user(*prompt))?;
        agent.turn()?;
    }
    agent.writer.finish(Outcome::Completed)
}

/// Creates the session, or resumes it where the last run ended.
fn start(store: &WritableStore, project: &str) -> Result<SessionWriter> {
    let id = SessionArgument::parse(SESSION)?;
    let launch = if store.find(SESSION).is_ok() {
        Launch::Resume { id, at: None }
    } else {
        Launch::New { id }
    };
    match launch {
        Launch::New { id } => store.create(NewSession::in_project(project).with_id(id.as_str())),
        // A lease ends with its process: that of a killed run is free.
        launch => store.writer(launch.id().as_str(), Wait::For(Duration::from_secs(10))),
    }
}

impl Agent {
    /// Brings a session that may have been interrupted anywhere to the end of a turn.
    fn settle(&mut self) -> Result<()> {
        let session = self.writer.session()?;
        if session.context(session.tip()?)?.settings.model.is_none() {
            self.append(Draft::new(Body::ThinkingLevel("low".to_owned())))?;
            self.append(Draft::new(Body::Model {
                model: "scripted/one".to_owned(),
                role: None,
            }))?;
        }
        let said = session.messages()?;
        let answered: Vec<&str> = said.iter().filter_map(answered_call).collect();
        for (call, tool, _) in said
            .iter()
            .flat_map(ChatMessage::calls)
            .filter(|it| !answered.contains(&it.0))
        {
            // It is unknown how far the call got. The model is informed, so that it can check and
            // try again.
            let content = vec![Part::Text(
                "interrupted: the agent was killed while this ran".to_owned(),
            )];
            let (call, tool) = (call.to_owned(), tool.to_owned());
            self.append(Draft::new(Body::ToolResult {
                call,
                tool,
                content,
                is_error: true,
            }))?;
        }
        let is_over = |message: &ChatMessage| {
            message.role == Role::Assistant && message.calls().next().is_none()
        };
        if said.last().is_none_or(is_over) {
            Ok(())
        } else {
            self.turn()
        }
    }

    /// Calls the model until it replies without a call; then the whole turn is durable.
    fn turn(&mut self) -> Result<()> {
        let memory = self.memory.load()?.loaded; // goes out with every context
        while let (Some((tool, text)), _) = self.model()? {
            self.call(tool, text)?;
        }
        // An entry is written when it is complete, never a partial message.
        let chunks = self
            .model()?
            .1
            .iter()
            .map(|chunk| chunk.replace("{memory}", memory.trim_end()));
        self.submit(answer(Part::Text(
            chunks.inspect(|chunk| println!("… {chunk}")).collect(),
        )))?;
        self.acknowledge()
    }

    fn call(&mut self, tool: &str, text: &str) -> Result<()> {
        let id = format!("call-{}", SystemIds.hex16());
        let input = Json::object().with("path", "notes.txt").with("text", text);
        let call = Part::Call {
            id: id.clone(),
            name: tool.to_owned(),
            input: input.into(),
        };
        // Durable before the tool runs: no action without a record of the call.
        self.append(answer(call))?;
        let root = PathBuf::from(&self.project);
        let notes = root.join("notes.txt");
        let result = if tool == "edit" {
            let before =
                self.checkpoints
                    .capture(&root, &["notes.txt".as_ref()], Moment::Before)?;
            self.append(Draft::custom(checkpoint::CUSTOM_TYPE, before.to_json()))?;
            durable::put(&RealDisk, &notes, text.as_bytes(), &id)?;
            format!("wrote {} bytes", text.len())
        } else {
            String::from_utf8_lossy(&durable::read(&RealDisk, &notes)?.unwrap_or_default())
                .into_owned()
        };
        self.submit(Draft::tool_result(id, tool, result))
    }

    /// Replaces all but the last message by a summary. The settings in force are repeated after it
    /// automatically.
    fn compact_if_large(&mut self) -> Result<()> {
        let session = self.writer.session()?;
        let messages = session.messages()?;
        let size: usize = messages.iter().map(|message| message.text().len()).sum();
        let Some(last) = session.leaf()?.filter(|_| size > CONTEXT_LIMIT) else {
            return Ok(());
        };
        let summary = "the user asked how the builds are"; // a model would write it
        self.writer
            .compact(summary, session.log().label(last).as_ref(), size as u64 / 4)?;
        self.die_if_told()
    }

    /// The scripted model: calls its tool until that succeeded once since the prompt, then replies.
    fn model(&self) -> Result<Reply> {
        let said = self.writer.session()?.messages()?;
        let mut since = said
            .iter()
            .rev()
            .take_while(|message| message.role != Role::User);
        let done = since.any(|message| {
            matches!(
                message.role,
                Role::Tool {
                    is_error: false,
                    ..
                }
            )
        });
        let (_, (call, chunks)) = SCRIPT
            .get(self.asked()?.saturating_sub(1))
            .copied()
            .unwrap_or_default();
        Ok((call.filter(|_| !done), chunks))
    }

    /// Counts the prompts of the branch, including those before a compaction.
    fn asked(&self) -> Result<usize> {
        let session = self.writer.session()?;
        let mut asked = 0;
        for entry in session.branch_entries()? {
            asked += usize::from(entry?.kind == EntryKind::User);
        }
        Ok(asked)
    }

    /// Returns immediately; the entry may not be durable yet.
    fn submit(&mut self, draft: Draft) -> Result<()> {
        self.tickets.push(self.writer.submit(draft)?);
        self.die_if_told()
    }

    /// Returns when the entry and all before it are durable.
    fn append(&mut self, draft: Draft) -> Result<()> {
        self.submit(draft)?;
        self.acknowledge()
    }

    fn acknowledge(&mut self) -> Result<()> {
        for ticket in self.tickets.drain(..) {
            println!("acknowledged {}", ticket.wait()?.entry);
        }
        Ok(())
    }

    fn die_if_told(&mut self) -> Result<()> {
        self.lives -= 1;
        if self.lives == 0 {
            let _ = std::process::Command::new("kill")
                .args(["-9", &std::process::id().to_string()])
                .status();
        }
        Ok(())
    }
}

/// Returns the call that a message is the result of.
fn answered_call(message: &ChatMessage) -> Option<&str> {
    match &message.role {
        Role::Tool { call, .. } => Some(call),
        _ => None,
    }
}

fn answer(part: Part) -> Draft {
    let (provider, model) = (Some("scripted".to_owned()), Some("one".to_owned()));
    Draft::answer(AssistantMessage {
        content: vec![part],
        provider,
        model,
        ..AssistantMessage::default()
    })
}
