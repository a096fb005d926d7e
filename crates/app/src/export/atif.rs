//! A session as a trajectory: the Agent Trajectory Interchange Format (ATIF), version 1.8.
//!
//! One document with the steps of the current branch, and the subagents as trajectories of their
//! own. An agent step has the records of one API message, its calls, and their results. What the
//! format has no member for is in its `extra`. The document is composed in memory.

use std::borrow::Cow;
use std::collections::HashMap;

use boswell_model::json::{Json, Raw};
use boswell_model::{
    EntryKind, Instant, MediaSource, Part, Result, Slot, Symbol, ToolInput, Usage, UsageRecord,
    UsageTally, View,
};
use boswell_store::Session;

use super::output::ExportOutput;
use super::transcript::Transcript;

/// The version that is written.
pub(crate) const VERSION: &str = "ATIF-v1.8";

/// Writes the document.
pub(super) fn write(transcript: &Transcript, out: &mut ExportOutput<'_>) -> Result<()> {
    let mut subagents = Vec::new();
    for (section, (id, session)) in transcript
        .sections
        .iter()
        .filter(|section| section.subagent.is_some())
        .zip(&transcript.subagents)
    {
        subagents.push(trajectory(transcript, session, &section.slots, id)?);
    }
    let slots = transcript.sections.first();
    let slots = slots.map_or(&[][..], |section| section.slots.as_slice());
    let session = &transcript.session;
    let id = session.reference().to_string();
    let mut document = trajectory(transcript, session, slots, &id)?;
    if !subagents.is_empty() {
        document = document.with("subagent_trajectories", subagents);
    }
    out.line(&document.to_string())
}

fn trajectory(
    transcript: &Transcript,
    session: &Session,
    slots: &[Slot],
    id: &str,
) -> Result<Json> {
    let mut steps = Steps::new(transcript);
    for slot in slots {
        if let Some(view) = transcript.visible(session, *slot)? {
            steps.add(session, *slot, view);
        }
    }
    let meta = session.meta();
    steps.add_running_totals(&meta.usage);
    let facts = session.dialect().facts();
    let text = |text: &String| transcript.redacted(text).into_owned();
    let agent = Json::object()
        .with("name", meta.agent.as_deref().unwrap_or(facts.agent))
        .with(
            "version",
            meta.agent_version.as_deref().unwrap_or("unknown"),
        )
        .with_some("model_name", meta.models.first().cloned());
    let extra = Json::object()
        .with("ref", session.reference().to_string())
        .with_some("title", meta.title.as_ref().map(text))
        .with_some("project", meta.project.as_ref().map(text))
        .with_some("created", meta.created.map(Instant::to_rfc3339));
    let (steps, totals) = steps.finish();
    Ok(Json::object()
        .with("schema_version", VERSION)
        .with("session_id", session.reference().id)
        .with("trajectory_id", id)
        .with("agent", agent)
        .with("steps", steps)
        .with("final_metrics", totals)
        .with("extra", extra))
}

/// A step before it is printed.
#[derive(Debug)]
struct Step {
    source: &'static str,
    at: Option<Instant>,
    model: Option<String>,
    message: Vec<Json>,
    reasoning: Vec<String>,
    signatures: Vec<String>,
    calls: Vec<Json>,
    results: Vec<Json>,
    usage: Option<Usage>,
    /// The API message that it is.
    group: Option<Symbol>,
    entries: Vec<String>,
    stop: Option<String>,
    remark: Option<String>,
}

struct Steps<'t> {
    transcript: &'t Transcript,
    steps: Vec<Step>,
    /// The step of each call.
    calls: HashMap<String, usize>,
}

impl<'t> Steps<'t> {
    fn new(transcript: &'t Transcript) -> Steps<'t> {
        Steps {
            transcript,
            steps: Vec::new(),
            calls: HashMap::new(),
        }
    }

    fn add(&mut self, session: &Session, slot: Slot, view: View) {
        let Some(head) = session.log().head(slot) else {
            return;
        };
        let source = match head.kind {
            EntryKind::User => "user",
            EntryKind::Assistant => "agent",
            _ => "system",
        };
        let entry = session.log().label(slot).into_owned();
        let group = head.group.filter(|_| source == "agent");
        let (results, parts): (Vec<Part>, Vec<Part>) =
            (view.parts.into_iter()).partition(|part| matches!(part, Part::Result { .. }));
        let has_results = !results.is_empty();
        // Images behind a result are a part of it.
        let (media, parts): (Vec<Part>, Vec<Part>) =
            (parts.into_iter()).partition(|part| has_results && matches!(part, Part::Media { .. }));
        self.add_results(results, media, (&entry, head.instant()));
        if has_results && parts.is_empty() {
            return;
        }
        let at = match self.step_of(group) {
            Some(at) => at,
            None => {
                self.steps.push(Step::new(source, head.instant(), group));
                self.steps.len() - 1
            }
        };
        for part in parts {
            self.put(at, part);
        }
        let Some(step) = self.steps.get_mut(at) else {
            return;
        };
        step.entries.push(entry);
        step.model = view
            .model
            .filter(|_| source == "agent")
            .or(step.model.take());
        step.stop = view.stop.or(step.stop.take());
        step.remark = view.remark.or(step.remark.take());
        // Every record of a message repeats its usage: the last one counts.
        step.usage = view.usage.filter(|_| source == "agent").or(step.usage);
    }

    /// The step of an API message that began before.
    fn step_of(&self, group: Option<Symbol>) -> Option<usize> {
        let is_it = |step: &Step| group.is_some() && step.group == group;
        self.steps.iter().rposition(is_it)
    }

    fn put(&mut self, at: usize, part: Part) {
        let transcript = self.transcript;
        let Some(step) = self.steps.get_mut(at) else {
            return;
        };
        let is_agent = step.source == "agent";
        match part {
            Part::Thinking { text, signature } if is_agent => {
                step.reasoning.push(transcript.redacted(&text).into_owned());
                step.signatures.extend(signature);
            }
            Part::Call { id, name, input } if is_agent => {
                step.calls.push(call(transcript, &id, &name, &input));
                self.calls.insert(id, at);
            }
            part => step.message.extend(content(transcript, part)),
        }
    }

    fn add_results(
        &mut self,
        results: Vec<Part>,
        media: Vec<Part>,
        (entry, at): (&str, Option<Instant>),
    ) {
        let last = results.len().saturating_sub(1);
        let mut media = Some(media);
        for (number, part) in results.into_iter().enumerate() {
            let Part::Result {
                call,
                text,
                is_error,
            } = part
            else {
                continue;
            };
            let media = media.take_if(|_| number == last).unwrap_or_default();
            let text = self.transcript.redacted(&text);
            let body = match media.is_empty() {
                true => Json::from(text.into_owned()),
                false => {
                    let images = media.into_iter();
                    let images = images.filter_map(|part| content(self.transcript, part));
                    Json::Array(std::iter::once(text_part(text)).chain(images).collect())
                }
            };
            let extra = Json::object()
                .with("entry", entry)
                .with_some("timestamp", at.map(Instant::to_rfc3339))
                .with_some("is_error", is_error.then_some(true));
            let step = self.calls.get(&call).copied();
            let known = step.is_some();
            // A result whose call is not on this branch is feedback of the system.
            let extra = extra.with_some("call", (!known).then(|| call.clone()));
            let result = Json::object()
                .with_some("source_call_id", known.then_some(call))
                .with("content", body)
                .with("extra", extra);
            let step = step.unwrap_or_else(|| {
                self.steps.push(Step::new("system", at, None));
                self.steps.len() - 1
            });
            if let Some(step) = self.steps.get_mut(step) {
                step.results.push(result);
            }
        }
    }

    /// Some agents record the usage of no message, but totals so far. What each total adds is the
    /// usage of the answer before it.
    fn add_running_totals(&mut self, tally: &UsageTally) {
        if self.steps.iter().any(|step| step.usage.is_some()) {
            return;
        }
        let is_own = |record: &&UsageRecord| !record.said.inherited && !record.said.relayed;
        let records = tally.items().map(|(_, record)| record).filter(is_own);
        for record in records {
            let is_before = |step: &Step| match (step.at, record.said.at) {
                (Some(step), Some(total)) => step <= total,
                _ => true,
            };
            let is_agent = |step: &Step| step.source == "agent";
            let steps = &self.steps;
            let before = steps.iter().rposition(|it| is_agent(it) && is_before(it));
            let answer = before.or_else(|| steps.iter().position(is_agent));
            if let Some(step) = answer.and_then(|at| self.steps.get_mut(at)) {
                step.usage.get_or_insert_default().add(&record.usage);
            }
        }
    }

    /// The steps and their totals.
    fn finish(self) -> (Vec<Json>, Json) {
        let mut total = Usage::default();
        for usage in self.steps.iter().filter_map(|step| step.usage) {
            total.add(&usage);
        }
        let totals = Json::object()
            .with_some("total_prompt_tokens", prompt_tokens(&total))
            .with_some("total_completion_tokens", whole(total.output))
            .with_some("total_cached_tokens", whole(total.cache_read))
            .with_some("total_cost_usd", total.cost)
            .with("total_steps", self.steps.len() as i64);
        let steps = self.steps.into_iter().enumerate();
        let steps = steps.map(|(at, step)| step.json(at + 1));
        (steps.collect(), totals)
    }
}

impl Step {
    fn new(source: &'static str, at: Option<Instant>, group: Option<Symbol>) -> Step {
        Step {
            source,
            at,
            model: None,
            message: Vec::new(),
            reasoning: Vec::new(),
            signatures: Vec::new(),
            calls: Vec::new(),
            results: Vec::new(),
            usage: None,
            group,
            entries: Vec::new(),
            stop: None,
            remark: None,
        }
    }

    fn json(self, number: usize) -> Json {
        let list = |list: Vec<String>| {
            let list = list.into_iter().map(Json::from);
            Json::Array(list.collect())
        };
        let extra = Json::object()
            .with("entries", list(self.entries))
            .with_some("stop_reason", self.stop)
            .with_some("remark", self.remark)
            .with_some(
                "reasoning_signatures",
                (!self.signatures.is_empty()).then(|| list(self.signatures)),
            );
        let results = Json::object().with("results", self.results.clone());
        Json::object()
            .with("step_id", number as i64)
            .with_some("timestamp", self.at.map(Instant::to_rfc3339))
            .with("source", self.source)
            .with_some("model_name", self.model)
            .with("message", message(self.message))
            .with_some(
                "reasoning_content",
                (!self.reasoning.is_empty()).then(|| self.reasoning.join("\n\n")),
            )
            .with_some("tool_calls", (!self.calls.is_empty()).then_some(self.calls))
            .with_some("observation", (!self.results.is_empty()).then_some(results))
            .with_some("metrics", self.usage.as_ref().map(metrics))
            .with("extra", extra)
    }
}

/// One text as it is, anything else as a list of parts.
fn message(mut parts: Vec<Json>) -> Json {
    if parts.is_empty() {
        return Json::from("");
    }
    let text = match parts.as_mut_slice() {
        [Json::Object(members)] => members.iter_mut().find(|(name, _)| name == "text"),
        _ => None,
    };
    match text {
        Some((_, text)) => std::mem::replace(text, Json::Null),
        None => Json::Array(parts),
    }
}

fn text_part(text: Cow<'_, str>) -> Json {
    Json::object()
        .with("type", "text")
        .with("text", text.into_owned())
}

/// A part of a message. The format knows four types of images; other files become a text.
fn content(transcript: &Transcript, part: Part) -> Option<Json> {
    Some(match part {
        Part::Text(text) | Part::Thinking { text, .. } => {
            if text.is_empty() {
                return None;
            }
            text_part(transcript.redacted(&text))
        }
        Part::Media { mime, source } => {
            let mime = mime.unwrap_or_default();
            let path = match source {
                MediaSource::Inline(base64) => format!("data:{mime};base64,{base64}"),
                MediaSource::Reference(path) => path,
            };
            let known = ["image/jpeg", "image/png", "image/gif", "image/webp"];
            if known.contains(&mime.as_str()) {
                let source = Json::object().with("media_type", mime).with("path", path);
                Json::object().with("type", "image").with("source", source)
            } else {
                text_part(Cow::Owned(format!("[file {mime}: {path}]")))
            }
        }
        Part::Other { json, .. } => text_part(transcript.redacted(&json)),
        _ => return None,
    })
}

fn call(transcript: &Transcript, id: &str, name: &str, input: &ToolInput) -> Json {
    let whole = input.to_object().to_string();
    let redacted = transcript.redacted(&whole);
    let arguments = match Raw::parse(redacted.as_bytes()) {
        Ok(_) => Json::Raw(redacted.as_bytes().to_vec()),
        // A key that was cut out took a quotation mark with it.
        Err(_) => Json::object().with("input", redacted.into_owned()),
    };
    Json::object()
        .with("tool_call_id", id)
        .with("function_name", name)
        .with("arguments", arguments)
}

fn metrics(usage: &Usage) -> Json {
    let extra = [
        ("input_tokens", usage.input),
        ("cache_write_tokens", usage.cache_write),
        ("cache_write_1h_tokens", usage.cache_write_1h),
        ("reasoning_tokens", usage.reasoning),
    ];
    let mut more = Json::object();
    for (name, count) in extra {
        more = more.with_some(name, whole(count));
    }
    more = more.with_some("premium_requests", usage.premium_requests);
    Json::object()
        .with_some("prompt_tokens", prompt_tokens(usage))
        .with_some("completion_tokens", whole(usage.output))
        .with_some("cached_tokens", whole(usage.cache_read))
        .with_some("cost_usd", usage.cost)
        .with("extra", more)
}

/// All tokens that were sent, also those from and to the cache.
fn prompt_tokens(usage: &Usage) -> Option<i64> {
    let parts = [usage.input, usage.cache_read, usage.cache_write];
    let known = parts.iter().any(Option::is_some);
    whole(known.then(|| parts.into_iter().flatten().sum()))
}

fn whole(count: Option<u64>) -> Option<i64> {
    count.and_then(|count| i64::try_from(count).ok())
}
