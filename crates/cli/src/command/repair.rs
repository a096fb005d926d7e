//! `repair`: repairs what `check` found.

use std::collections::BTreeMap;
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
use crate::plan_lines::NOT_APPLIED;
use crate::terminal::{Style, one_line};
use crate::words::unsent_line;

/// How many steps that are alike are printed.
const MOST_ALIKE: usize = 10;

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
    /// Instead of damage: if its agent hides the session because it belongs to another model
    /// provider, write a fork for the current one
    #[arg(long, conflicts_with_all = ["likely", "steps", "in_place", "goals"])]
    provider: bool,
}

impl From<&RepairArgs> for SessionRepairRequest {
    fn from(args: &RepairArgs) -> SessionRepairRequest {
        SessionRepairRequest {
            session: args.session.clone(),
            likely: args.likely,
            steps: args.steps.clone(),
            in_place: args.in_place,
            goals: args.goals.clone(),
            provider: args.provider,
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &RepairArgs) -> Result<ExitCode> {
    if !args.apply {
        let plan = app.shown(app.requests.plan_repair(&args.into()))?;
        // Steps that were named are chosen, whatever the plan would take by itself.
        let taken = plan.taken.max(args.steps.len());
        let next = match args.steps.is_empty() {
            true => next(&plan, args),
            false => NOT_APPLIED.to_owned(),
        };
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
        SessionRepair::AlreadyRepaired { fork, path } => {
            let fork = path.unwrap_or_else(|| fork.to_string());
            say(&format!(
                "already repaired as {fork}; delete that to repair it again, or apply single steps with --step"
            ));
        }
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
        for unsent in plan.unsent {
            out.object(&unsent.object())?;
        }
        return Ok(());
    }
    if plan.steps.is_empty() {
        out.line("nothing to repair")?;
    }
    steps(&plan.steps, out)?;
    if let Some(refused) = &plan.refused {
        let why = refused.reason().unwrap_or_default();
        out.line(&format!(
            "no step is applied: {refused} ({})",
            one_line(why)
        ))?;
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
    // Other branches, compactions and the like are part of every session: they are in the JSON.
    for unsent in plan.unsent.iter().filter(|unsent| !unsent.intended) {
        out.line(&unsent_line(unsent))?;
    }
    Ok(())
}

/// Prints steps; of many that are alike the first few.
fn steps(steps: &[RepairStepShape], out: &mut Output) -> Result<()> {
    let sort = |step: &RepairStepShape| (step.problem, step.confidence, step.class, step.taken);
    let mut counts: BTreeMap<_, usize> = BTreeMap::new();
    for step in steps {
        let number = counts.entry(sort(step)).or_default();
        *number += 1;
        if *number <= MOST_ALIKE {
            step_line(step, out)?;
        }
    }
    for ((problem, confidence, class, taken), number) in counts {
        if let Some(more) = number.checked_sub(MOST_ALIKE).filter(|more| *more > 0) {
            let mark = if taken { "*" } else { " " };
            out.line(&format!(
                "{mark}  …  {confidence:<7}  {class:<7}  {problem}: {more} more; --json lists all"
            ))?;
        }
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
        (0, false) if plan.refused.is_some() && !args.likely => format!(
            "try the likely steps with `boswell repair {name} --likely`, or one with `--apply --step N`"
        ),
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
        steps(&done.steps, &mut out)?;
        match (&done.fork, &done.operation) {
            (Some(made), _) => {
                let path = done.fork_path.as_deref();
                out.line(path.unwrap_or(&made.to_string()))?;
            }
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
    if let Some(path) = &done.fork_path {
        return format!(
            "the repaired session is `{path}`: read it with `boswell show {}`",
            shell_quote(path)
        );
    }
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
