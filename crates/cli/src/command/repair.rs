//! `repair`: mends what `check` found.

use std::process::ExitCode;

use boswell_dialect::Confidence;
use boswell_model::json::Json;
use boswell_model::{Repair, Result, SessionRef, shell_quote};
use boswell_store::{Operation, RepairPlan, RepairRequest, RepairStep, Repaired, Resolved};
use clap::Args;

use crate::agent_version;
use crate::app::App;
use crate::json_shape;
use crate::output::Output;
use crate::terminal::{Style, one_line};

/// Mend a damaged session; shows what it would do unless --apply
///
/// Bytes are put in order and lines added in place; changed records go into a repaired fork, and
/// the original stays as it is. Everything can be taken back with `boswell undo`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell repair 0b7e                       show the steps, and how sure each is
  boswell repair 0b7e --apply --likely      take the likely steps too
  boswell repair 0b7e --apply --step 3 --in-place")]
pub(crate) struct RepairArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    session: String,
    /// Do it: take the steps that are certain
    #[arg(long)]
    apply: bool,
    /// Also take the steps that are likely
    #[arg(long)]
    likely: bool,
    /// Take exactly this step of the plan, whatever its confidence (repeatable)
    #[arg(long = "step", value_name = "N")]
    steps: Vec<usize>,
    /// Change records in the file itself instead of in a fork; one step at a time
    #[arg(long)]
    in_place: bool,
    /// Also serve this reader, such as `2.1.50` or `sdk-py` (repeatable)
    #[arg(long = "for", value_name = "NAME")]
    goals: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &RepairArgs) -> Result<ExitCode> {
    let level = if args.likely {
        Confidence::Likely
    } else {
        Confidence::Certain
    };
    let mut request = RepairRequest {
        level,
        goals: args.goals.clone(),
        installed: None,
        steps: args.steps.clone(),
        in_place: args.in_place,
    };
    if !args.apply {
        let found = app.resolve(&args.session)?;
        request.installed = agent_version::version(&app.env, found.store.dialect().name());
        let mut out = Output::paged(app);
        let store = app.planning(found.store.clone());
        let plan = match &app.home {
            Some(_) => app
                .reading_runner()?
                .repair_plan(&store, &found.location, &request)?,
            None => store.repair_plan(&found.location, &request)?,
        };
        show(&plan, &reference(&found), &mut out)?;
        out.finish()?;
        if !app.quiet {
            crate::error_report::say(&next(&plan, args));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let found = app.resolve_for_writing(&args.session)?;
    request.installed = agent_version::version(&app.env, found.store.dialect().name());
    let runner = app.runner()?;
    // Builds before this one noted the fork beside the operation.
    let noted = app.notes()?.of(&reference(&found)).repaired_as;
    let noted = noted.filter(|id| found.store.find(id).is_ok());
    if args.steps.is_empty()
        && !args.in_place
        && let Some(before) = runner
            .repaired_as(&found.store, &reference(&found))?
            .or(noted)
    {
        // The fork is the repaired session; making another each time would only leave copies about.
        crate::error_report::say(&format!(
            "already repaired as {}:{before}; delete that first to have it made anew, or take single steps with --step",
            found.store.dialect().name()
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let done = runner.repair(&found.store, &found.location, &request)?;
    report(app, &found, &done)
}

fn reference(found: &Resolved) -> SessionRef {
    SessionRef::new(found.store.dialect().name(), &found.location.id)
}

fn show(plan: &RepairPlan, session: &SessionRef, out: &mut Output) -> Result<()> {
    if out.json {
        for step in &plan.steps {
            out.object(&step_shape(step, session))?;
        }
        for lost in &plan.still_lost {
            for (problem, loss, count) in &lost.losses {
                out.object(
                    &Json::object()
                        .with("v", 1)
                        .with("type", "loss")
                        .with("session", session.to_string())
                        .with("reader", lost.reader)
                        .with("goal", lost.is_goal)
                        .with("problem", problem.word())
                        .with("loses", *loss)
                        .with("times", *count as u64),
                )?;
            }
        }
        return Ok(());
    }
    if plan.steps.is_empty() {
        out.line("nothing to repair")?;
    }
    for step in &plan.steps {
        step_line(step, out)?;
    }
    if plan.would_reach != plan.reachable || plan.reachable < plan.total {
        out.line(&reach(plan))?;
    }
    for lost in &plan.still_lost {
        for (problem, loss, count) in &lost.losses {
            let times = if *count == 1 {
                String::new()
            } else {
                format!(" ({count} times)")
            };
            out.line(&format!(
                "{}{times}: {} still loses {loss}",
                problem.word(),
                lost.title
            ))?;
        }
    }
    Ok(())
}

fn reach(plan: &RepairPlan) -> String {
    format!(
        "its agent sees {} of {} entries now, and {} afterwards",
        plan.reachable, plan.total, plan.would_reach
    )
}

fn step_line(step: &RepairStep, out: &mut Output) -> Result<()> {
    let mark = if step.taken { "*" } else { " " };
    // Steps that were taken have no number any more.
    let number = if step.number == 0 {
        String::new()
    } else {
        step.number.to_string()
    };
    let place = step
        .line
        .map_or_else(String::new, |line| format!("line {line}: "));
    let class = word(step.repair);
    let helps = if step.helps.is_empty() {
        String::new()
    } else {
        format!(" (for {})", step.helps.join(", "))
    };
    out.line(&format!(
        "{mark}{number:>3}  {:<7}  {class:<7}  {place}{}: {}{helps}",
        step.confidence.word(),
        out.paint(Style::Warning, step.problem.word()),
        one_line(&step.does)
    ))
}

fn word(repair: Repair) -> &'static str {
    if repair == Repair::Fork {
        "change"
    } else {
        repair.word()
    }
}

fn step_shape(step: &RepairStep, session: &SessionRef) -> Json {
    Json::object()
        .with("v", 1)
        .with("type", "step")
        .with("session", session.to_string())
        .with("step", step.number as u64)
        .with("taken", step.taken)
        .with("confidence", step.confidence.word())
        .with("class", word(step.repair))
        .with("problem", step.problem.word())
        .with("line", step.line)
        .with("entry", step.entry.as_deref())
        .with("does", &step.does)
        .with(
            "helps",
            step.helps
                .iter()
                .map(|name| Json::from(*name))
                .collect::<Vec<_>>(),
        )
}

/// What the user can do next.
fn next(plan: &RepairPlan, args: &RepairArgs) -> String {
    let taken = plan.steps.iter().filter(|step| step.taken).count();
    let likely = plan
        .steps
        .iter()
        .any(|step| !step.taken && step.confidence == Confidence::Likely);
    let for_others = plan
        .still_lost
        .iter()
        .find(|lost| !lost.is_goal)
        .map(|lost| lost.reader);
    let mut name = shell_quote(&args.session);
    args.goals
        .iter()
        .for_each(|goal| name.push_str(&format!(" --for {}", shell_quote(goal))));
    if args.likely {
        name.push_str(" --likely");
    }
    match (taken, plan.steps.is_empty()) {
        (0, true) => match for_others {
            Some(reader) => {
                format!(
                    "nothing to do for its agent; `boswell repair {name} --for {reader}` serves others too"
                )
            }
            None => "nothing to do".to_owned(),
        },
        (0, false) if likely && !args.likely => {
            format!(
                "no step is certain; `boswell repair {name} --apply --likely` takes the likely ones, `--step N` any"
            )
        }
        (0, false) => format!(
            "no step is taken by itself; choose one with `boswell repair {name} --apply --step N`"
        ),
        (1, _) => format!(
            "`boswell repair {name} --apply` takes the step marked *; `boswell undo` takes it back"
        ),
        (n, _) => {
            format!(
                "`boswell repair {name} --apply` takes the {n} steps marked *; `boswell undo` takes them back"
            )
        }
    }
}

fn report(app: &App, found: &Resolved, done: &Repaired) -> Result<ExitCode> {
    let session = reference(found);
    let mut out = Output::paged(app);
    let fork = done
        .fork
        .as_ref()
        .map(|id| SessionRef::new(&session.dialect, id));
    if out.json {
        for step in &done.steps {
            out.object(&step_shape(step, &session))?;
        }
        if let Some(operation) = &done.operation {
            out.object(&op_shape(
                operation,
                &session,
                fork.as_ref().map(SessionRef::to_string),
            ))?;
        }
    } else {
        for step in &done.steps {
            step_line(step, &mut out)?;
        }
        match (&fork, &done.operation) {
            (Some(made), _) => out.line(&made.to_string())?,
            (None, Some(_)) => out.line(&session.to_string())?,
            (None, None) => out.line("nothing to repair")?,
        }
    }
    out.finish()?;
    if let (Some(operation), false) = (&done.operation, app.quiet) {
        let what = match (&fork, done.in_place) {
            (Some(made), true) => format!(
                "the lines of {session} were put in order, and the repaired session is {made}. Resume that with `boswell resume {}`",
                made.to_argument()
            ),
            (Some(made), false) => format!(
                "the repaired session is {made}; {session} stays as it was. Resume it with `boswell resume {}`",
                made.to_argument()
            ),
            (None, _) => "the file was put in order".to_owned(),
        };
        crate::error_report::say(&format!(
            "{what}; take it back with `boswell undo {}`",
            short(operation)
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn short(operation: &Operation) -> &str {
    operation.id.get(..8).unwrap_or(&operation.id)
}

fn op_shape(operation: &Operation, session: &SessionRef, made: Option<String>) -> Json {
    json_shape::op(&operation.id, &operation.kind, session).with("made", made)
}
