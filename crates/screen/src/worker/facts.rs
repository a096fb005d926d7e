//! Trees, checks, costs, and who wrote a file.

use boswell_app::blame::{BlameRequest, BlameShape, BlamedLine};
use boswell_app::check::{CheckEvent, CheckRequest};
use boswell_app::repair::{ChangedBytes, SessionRepairPlan, SessionRepairRequest};
use boswell_app::stats::StatsRequest;
use boswell_app::text::{escape, one_line};
use boswell_app::tree::TreeRequest;
use boswell_app::{App, Cancel};

use super::pages::Outcome;
use super::shown::refusal;
use crate::ask::{
    BlameFacts, BlameLine, Grouping, HealthFacts, LineAuthor, Node, RepairStepLine, Stat,
};
use crate::words::{self, Language};

pub(super) fn tree(app: &App, session: &str) -> Outcome<Vec<Node>> {
    let request = TreeRequest {
        session: session.to_owned(),
    };
    let mut nodes = Vec::new();
    let read = app.tree(&request, &mut |node| {
        let shape = node.shape;
        nodes.push(Node {
            entry: shape.id,
            depth: shape.depth,
            between: shape.between,
            role: one_line(shape.role.unwrap_or(&shape.kind)),
            text: one_line(&shape.text),
            label: shape.label.as_deref().map(one_line),
            leaf: shape.leaf,
            on_branch: shape.on_branch,
            compaction: shape.compaction,
        });
        Ok(true)
    });
    read.map(|_| nodes).map_err(|it| refusal(&it))
}

/// Who wrote the file of a call: of several the first one that is there.
pub(super) fn blame(
    app: &App,
    (session, entry): (&str, &str),
    language: Language,
) -> Outcome<BlameFacts> {
    let files = app
        .entry_files(session, entry)
        .map_err(|it| refusal(&it))?
        .value;
    let file = files.into_iter().find(|file| file.is_file());
    let file = file.ok_or_else(|| language.say(words::NO_CALLED_FILE).to_owned())?;
    let request = BlameRequest {
        file,
        ..BlameRequest::default()
    };
    let blame = app.blame(&request, &Cancel::new());
    let blame = blame.map_err(|it| refusal(&it))?.value;
    Ok(BlameFacts {
        lines: blame.lines.iter().map(|it| line(&blame, it)).collect(),
        unexplained: blame.unexplained,
        file: blame.file,
    })
}

fn line(blame: &BlameShape, line: &BlamedLine) -> BlameLine {
    let author = line.session.as_ref().map(|session| {
        let is_it = |entry: &String| Some(entry) == line.prompt.as_ref();
        let mut prompts = blame.prompts.iter();
        let prompt = prompts.find(|it| it.session == *session && is_it(&it.entry));
        LineAuthor {
            session: session.clone(),
            entry: line.entry.clone(),
            agent: one_line(line.agent.as_deref().unwrap_or_default()),
            prompt: prompt.map(|it| one_line(&it.text)).unwrap_or_default(),
        }
    });
    BlameLine {
        text: escape(&line.text.replace('\t', "    ")),
        author,
    }
}

pub(super) fn health(app: &App, session: &str) -> Outcome<HealthFacts> {
    let request = CheckRequest {
        sessions: vec![session.to_owned()],
    };
    let mut facts = HealthFacts::default();
    let checked = app.check(&request, &Cancel::new(), &mut |event| {
        match event {
            CheckEvent::Session(session) => {
                facts.findings.extend(session.findings.iter().map(|it| {
                    let line = it.problem.line.map(|line| format!(":{line}"));
                    let word = it.problem.kind.word();
                    let line = line.unwrap_or_default();
                    one_line(&format!("{word}{line}  {}", it.problem.detail))
                }));
            }
            CheckEvent::Unchecked(place) => facts.findings.push(one_line(&place.problem.detail)),
            _ => {}
        }
        Ok(true)
    });
    let _ = checked.map_err(|it| refusal(&it))?;
    let request = SessionRepairRequest {
        session: session.to_owned(),
        ..SessionRepairRequest::default()
    };
    // A format that cannot be repaired has findings and no plan.
    if let Ok(answer) = app.plan_repair(&request) {
        let plan = answer.value;
        facts.reach = Some((plan.reachable, plan.total, plan.would_reach));
        facts.steps = steps(&plan);
    }
    Ok(facts)
}

fn steps(plan: &SessionRepairPlan) -> Vec<RepairStepLine> {
    let changes = plan.changes.iter().map(Some).chain(std::iter::repeat(None));
    let steps = plan.steps.iter().zip(changes);
    steps
        .map(|(it, changes)| RepairStepLine {
            number: it.step,
            taken: it.taken,
            text: one_line(&format!("{} ({})", it.does, it.confidence)),
            changes: changes.into_iter().flatten().map(shown).collect(),
        })
        .collect()
}

/// Returns bytes before and after a change as text; what is no text is escaped.
fn shown(change: &ChangedBytes) -> (String, String) {
    (bytes(&change.before), bytes(&change.after))
}

fn bytes(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        out.push_str(&escape(chunk.valid()));
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}

pub(super) fn stats(app: &App, by: Grouping, since: Option<&'static str>) -> Outcome<Vec<Stat>> {
    let mut request = StatsRequest {
        by: by.into(),
        ..StatsRequest::default()
    };
    request.filter.since = since.map(str::to_owned);
    let answer = app
        .stats(&request, &Cancel::new())
        .map_err(|it| refusal(&it))?;
    let stats = answer.value.sums.into_iter().map(|it| Stat {
        key: one_line(it.key.as_deref().unwrap_or("-")),
        sessions: it.sessions,
        messages: it.messages,
        output: it.tokens.output,
        cost: it.cost_usd,
        unpriced: !it.unpriced_models.is_empty(),
        prices_as_of: it.prices_as_of,
    });
    Ok(stats.collect())
}
