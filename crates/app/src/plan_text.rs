//! A plan as faces show it before it is carried out.

use boswell_dialect::Planned;

use crate::planned_change::{PlanStep, steps};

/// What a plan would do, for people and for programs.
#[derive(Debug, Clone)]
pub struct PlanText {
    /// For people: what it is for, which locks it takes, what it requires, and its steps.
    pub lines: Vec<String>,
    /// For programs: its steps.
    pub steps: Vec<PlanStep>,
}

impl From<&Planned> for PlanText {
    fn from(planned: &Planned) -> PlanText {
        let text = planned.plan.to_string();
        PlanText {
            lines: text.lines().map(str::to_owned).collect(),
            steps: steps(planned),
        }
    }
}
