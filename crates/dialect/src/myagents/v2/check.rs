//! What a check says about a folded log, from the record that the fold hands on.

use boswell_model::json::Raw;
use boswell_model::{Advice, Error, ErrorKind, Problem, ProblemKind, View};

use super::fold::Fault;

/// Returns the error of a log that the app refuses as a whole.
pub(crate) fn refused(key: &str, fault: &Fault) -> Error {
    let newer = if fault.newer {
        "; a newer version of MyAgents may have written it"
    } else {
        ""
    };
    let what = format!(
        "`{key}` cannot be read: line {}: {}{newer}",
        fault.line, fault.why
    );
    Error::new(ErrorKind::Damaged, what)
        .because("MyAgents refuses the whole transcript and shows nothing of it")
        .advising(Advice::Check { session: None })
}

/// Returns what a person reads of the record about a folded log.
pub(crate) fn header_view(about: Raw<'_>) -> View {
    let text = |key: &str| about.get(key).and_then(|it| it.text()).unwrap_or_default();
    let revision = about.get("revision").and_then(|it| it.u64()).unwrap_or(0);
    View::remark(format!(
        "transcript of operations, generation {}, revision {revision}",
        text("generation")
    ))
}

/// Returns the problems of a log: what of it does not count, and a rewind that was not finished.
pub(crate) fn problems(about: Raw<'_>, pending: Option<&str>) -> Vec<Problem> {
    let rewind = pending.map(|intent| {
        let then = match Rewind::of(about, intent) {
            Rewind::Finish => "the file is replaced, so MyAgents will finish it",
            Rewind::Drop => "the file is not replaced yet, so MyAgents will drop it",
            Rewind::Refuse => {
                "the file is neither the one before it nor the one after it, so MyAgents refuses \
                 to open the session"
            }
        };
        let detail = format!("a rewind was started: {then}");
        Problem::of_file(ProblemKind::PendingChange, detail)
    });
    damage(about).into_iter().chain(rewind).collect()
}

/// What the app does with a rewind that was not finished: decided by generations, not by counts.
enum Rewind {
    Finish,
    Drop,
    Refuse,
}

impl Rewind {
    fn of(about: Raw<'_>, intent: &str) -> Rewind {
        let intent = Raw::parse(intent.as_bytes()).ok();
        let stamp = intent.and_then(|intent| intent.get("transcript"));
        let is_invalid = about.get("tail").is_some_and(|tail| tail.is("invalid"));
        let Some(stamp) = stamp.filter(|_| !is_invalid) else {
            return Rewind::Refuse;
        };
        let number = |of: Raw<'_>, key: &str| of.get(key).and_then(|it| it.u64());
        let generation = about.get("generation").and_then(|it| it.text());
        let is = |key: &str| stamp.get(key).and_then(|it| it.text()) == generation;
        let reached = number(about, "revision") >= number(stamp, "targetRevision");
        match (is("targetGeneration"), is("sourceGeneration")) {
            (true, _) if reached => Rewind::Finish,
            (false, true) => Rewind::Drop,
            _ => Rewind::Refuse,
        }
    }
}

fn damage(about: Raw<'_>) -> Option<Problem> {
    let Some(fault) = about.get("fault") else {
        let torn = |text| Problem::of_file(ProblemKind::TornTail, text);
        return shortfall(about).map(torn);
    };
    let newer = fault.get("newer").and_then(|it| it.bool()) == Some(true);
    let kind = if newer {
        ProblemKind::NewerVersion
    } else {
        ProblemKind::Unreadable
    };
    let line = fault.get("line").and_then(|it| it.u64()).unwrap_or(0);
    Some(Problem::at_line(kind, line, loss(about, fault)))
}

/// Returns a sentence about what of a log is not in its conversation; `None` if all of it is.
pub(crate) fn shortfall(about: Raw<'_>) -> Option<String> {
    let count = |key: &str| about.get(key).and_then(|it| it.u64()).unwrap_or(0);
    let behind = count("bytes").saturating_sub(count("validBytes"));
    let Some(fault) = about.get("fault") else {
        let torn = about.get("tail").is_some_and(|tail| tail.is("incomplete"));
        return torn.then(|| {
            format!(
                "its last {behind} bytes are a batch without a line end: MyAgents shows what is \
                 before them, and cuts them off with its next write"
            )
        });
    };
    let line = fault.get("line").and_then(|it| it.u64()).unwrap_or(0);
    Some(format!("line {line}: {}", loss(about, fault)))
}

/// Returns what is wrong with a line, and what the app loses by it.
fn loss(about: Raw<'_>, fault: Raw<'_>) -> String {
    let count = |key: &str| about.get(key).and_then(|it| it.u64()).unwrap_or(0);
    let behind = count("bytes").saturating_sub(count("validBytes"));
    let place = match fault.get("operation").and_then(|it| it.u64()) {
        Some(operation) => format!("operation {operation} is "),
        None => String::new(),
    };
    let why = fault
        .get("why")
        .and_then(|it| it.text())
        .unwrap_or_default();
    let rest = match count("linesBehind") {
        0 | 1 => format!("nothing of it ({behind} bytes)"),
        lines => format!("nothing of the {lines} lines from it on ({behind} bytes)"),
    };
    format!(
        "{place}{why}; MyAgents shows what is before this line, reads {rest}, and saves nothing to \
         this session any more"
    )
}
