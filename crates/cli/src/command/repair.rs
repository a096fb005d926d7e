//! `repair`: repairs what `check` found.

use std::process::ExitCode;

use boswell_app::repair::{
    RepairStepShape, RepairedSession, SessionRepair, SessionRepairPlan, SessionRepairRequest,
};
use boswell_app::shape::Shape as _;
use boswell_model::{Result, SessionRef, shell_quote};
use clap::Args;

use crate::app::App;
use crate::confirm::{Agreed, Planned, ask, can_ask};
use crate::error_report::say;
use crate::output::Output;
use crate::terminal::{Style, one_line};

/// Repair a damaged session
///
/// Broken lines are separated and missing ones added in place; changed records go into a repaired
/// fork, and the original keeps its own. `boswell undo` reverts all of it. The plan is
/// printed first.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell repair 0b7e                     show the steps and their confidence
  boswell repair 0b7e --apply --likely    apply the likely steps too
  boswell repair 0b7e --apply --step 3 --in-place")]
pub(crate) struct RepairArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    session: String,
    /// Apply the marked steps without asking; needed where there is no terminal
    #[arg(long)]
    apply: bool,
    /// Also apply the steps that are likely
    #[arg(long)]
    likely: bool,
    /// Apply only this step of the plan, whatever its confidence (repeatable)
    #[arg(long = "step", value_name = "N")]
    steps: Vec<usize>,
    /// Change records in the file itself instead of a fork; one step at a time
    #[arg(long)]
    in_place: bool,
    /// Also repair it for this reader, such as `2.1.50` or `sdk-py` (repeatable)
    #[arg(long = "for", value_name = "NAME")]
    goals: Vec<String>,
}

impl From<&RepairArgs> for SessionRepairRequest {
    fn from(args: &RepairArgs) -> SessionRepairRequest {
        SessionRepairRequest {
            session: args.session.clone(),
            likely: args.likely,
            steps: args.steps.clone(),
            in_place: args.in_place,
            goals: args.goals.clone(),
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &RepairArgs) -> Result<ExitCode> {
    if !args.apply {
        let plan = app.shown(app.requests.plan_repair(&args.into()))?;
        let (next, taken) = (next(&plan, args), plan.taken);
        let mut out = Output::plain(app);
        show(plan, &mut out)?;
        out.finish()?;
        if taken == 0 || !can_ask(app) {
            // Nothing is chosen, so that there is nothing to agree to.
            if !app.quiet {
                say(&next);
            }
            return Ok(ExitCode::from(if taken == 0 { 0 } else { 2 }));
        }
        if let Agreed::No(code) = ask(app, false, Planned::Rewrite)? {
            return Ok(code);
        }
    }
    match app.shown(app.requests.repair(&args.into()))? {
        SessionRepair::AlreadyRepaired { fork } => say(&format!(
            "already repaired as {fork}; delete that to repair it again, or apply single steps with --step"
        )),
        SessionRepair::Done(done) => report(app, done)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn show(plan: SessionRepairPlan, out: &mut Output) -> Result<()> {
    if out.json {
        for step in plan.steps {
            out.object(&step.object())?;
        }
        for loss in plan.losses {
            out.object(&loss.shape.object())?;
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
        out.line(&reach(&plan))?;
    }
    for loss in &plan.losses {
        let times = match loss.shape.times {
            1 => String::new(),
            times => format!(" ({times} times)"),
        };
        out.line(&format!(
            "{}{times}: {} still loses {}",
            loss.shape.problem, loss.title, loss.shape.loses
        ))?;
    }
    Ok(())
}

fn reach(plan: &SessionRepairPlan) -> String {
    format!(
        "its agent sees {} of {} entries now, and {} after the repair",
        plan.reachable, plan.total, plan.would_reach
    )
}

fn step_line(step: &RepairStepShape, out: &mut Output) -> Result<()> {
    let mark = if step.taken { "*" } else { " " };
    // Steps that were applied have no number any more.
    let number = match step.step {
        0 => String::new(),
        number => number.to_string(),
    };
    let place = step
        .line
        .map_or_else(String::new, |line| format!("line {line}: "));
    let helps = if step.helps.is_empty() {
        String::new()
    } else {
        format!(" (for {})", step.helps.join(", "))
    };
    out.line(&format!(
        "{mark}{number:>3}  {:<7}  {:<7}  {place}{}: {}{helps}",
        step.confidence,
        step.class,
        out.paint(Style::Warning, step.problem),
        one_line(&step.does)
    ))
}

/// What the user can do next.
fn next(plan: &SessionRepairPlan, args: &RepairArgs) -> String {
    let mut name = shell_quote(&args.session);
    args.goals
        .iter()
        .for_each(|goal| name.push_str(&format!(" --for {}", shell_quote(goal))));
    if args.likely {
        name.push_str(" --likely");
    }
    match (plan.taken, plan.steps.is_empty()) {
        (0, true) => match plan.other_reader {
            Some(reader) => {
                format!(
                    "nothing to do for its agent; repair it for other readers with `boswell repair {name} --for {reader}`"
                )
            }
            None => "nothing to do".to_owned(),
        },
        (0, false) if plan.likely_left && !args.likely => {
            format!(
                "no step is certain; apply the likely ones with `boswell repair {name} --apply --likely`, or one with `--step N`"
            )
        }
        (0, false) => format!(
            "no step is applied by default; choose one with `boswell repair {name} --apply --step N`"
        ),
        (1, _) => format!(
            "apply the step marked * with `boswell repair {name} --apply`; `boswell undo` reverts it"
        ),
        (n, _) => {
            format!(
                "apply the {n} steps marked * with `boswell repair {name} --apply`; `boswell undo` reverts them"
            )
        }
    }
}

fn report(app: &App, done: RepairedSession) -> Result<()> {
    let way_back = done.operation.as_ref().map(|operation| {
        let id = operation.op.get(..8).unwrap_or(&operation.op);
        format!("{}; undo it with `boswell undo {id}`", outcome(&done))
    });
    let mut out = Output::plain(app);
    if out.json {
        for step in done.steps {
            out.object(&step.object())?;
        }
        if let Some(operation) = done.operation {
            out.object(&operation.object())?;
        }
    } else {
        for step in &done.steps {
            step_line(step, &mut out)?;
        }
        match (&done.fork, &done.operation) {
            (Some(made), _) => out.line(&made.to_string())?,
            (None, Some(_)) => out.line(&done.session.to_string())?,
            (None, None) => out.line("nothing to repair")?,
        }
    }
    out.finish()?;
    if let Some(way_back) = way_back.filter(|_| !app.quiet) {
        say(&way_back);
    }
    Ok(())
}

/// Where the repaired session is now.
fn outcome(done: &RepairedSession) -> String {
    let session = &done.session;
    let resume = |made: &SessionRef| format!("`boswell resume {}`", made.to_argument());
    match (&done.fork, done.in_place) {
        (Some(made), true) => format!(
            "lines of {session} were repaired in place, and the repaired session is {made}: resume it with {}",
            resume(made)
        ),
        (Some(made), false) => format!(
            "{session} was not changed, and the repaired session is {made}: resume it with {}",
            resume(made)
        ),
        (None, _) => "the file was repaired in place".to_owned(),
    }
}
