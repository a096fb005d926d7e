//! The states of a clinvoker session: those that its documents describe, and those that its code
//! reaches.

/// The state of a session. Documents may contain other words; those are shown unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// New, or in use.
    Active,
    /// Paused. In the design a timeout leads to this state; no code of clinvoker does.
    Paused,
    /// The last run succeeded.
    Completed,
    /// The last run failed.
    Error,
}

impl Status {
    /// Parses a state.
    pub fn parse(word: &str) -> Option<Status> {
        match word {
            "active" => Some(Status::Active),
            "paused" => Some(Status::Paused),
            "completed" => Some(Status::Completed),
            "error" => Some(Status::Error),
            _ => None,
        }
    }

    /// Returns the word for the state in a document.
    pub fn word(self) -> &'static str {
        match self {
            Status::Active => "active",
            Status::Paused => "paused",
            Status::Completed => "completed",
            Status::Error => "error",
        }
    }

    /// Whether the design (seed 003) has a transition from this state to `next`.
    pub fn may_become(self, next: Status) -> bool {
        matches!(
            (self, next),
            (Status::Active, _) | (Status::Paused, Status::Active)
        )
    }
}

/// How a run of the backend ended.
#[derive(Debug, Clone, Copy, Default)]
pub struct Run<'a> {
    /// The error that the backend's response states; may be empty.
    pub stated_error: &'a str,
    /// Exit code of the backend's process.
    pub exit_code: i32,
    /// What is known about a failure without a stated error; may be empty.
    pub failure: &'a str,
}

/// Returns the state after a run, and the message for an error. The state before does not matter.
///
/// A successful run keeps the message of an earlier failure.
pub fn after_run(run: Run<'_>) -> (Status, Option<String>) {
    if !run.stated_error.is_empty() {
        return (Status::Error, Some(run.stated_error.to_owned()));
    }
    if run.exit_code == 0 {
        return (Status::Completed, None);
    }
    let message = if run.failure.is_empty() {
        "backend execution failed"
    } else {
        run.failure
    };
    (Status::Error, Some(message.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Status; 4] = [
        Status::Active,
        Status::Paused,
        Status::Completed,
        Status::Error,
    ];

    #[test]
    fn words_read_back() {
        for status in ALL {
            assert_eq!(Status::parse(status.word()), Some(status));
        }
        assert_eq!(Status::parse("expired"), None);
    }

    #[test]
    fn the_design_leads_from_active_anywhere_and_from_paused_back() {
        let arrows = |from: Status| ALL.iter().filter(|to| from.may_become(**to)).count();
        assert_eq!((arrows(Status::Active), arrows(Status::Paused)), (4, 1));
        assert_eq!((arrows(Status::Completed), arrows(Status::Error)), (0, 0));
    }

    #[test]
    fn a_run_ends_completed_or_in_error() {
        assert_eq!(after_run(Run::default()), (Status::Completed, None));
        let stated = Run {
            stated_error: "no credit",
            ..Run::default()
        };
        assert_eq!(
            after_run(stated),
            (Status::Error, Some("no credit".into())),
            "whatever the exit code"
        );
        let failed = Run {
            exit_code: 1,
            failure: "killed",
            ..Run::default()
        };
        assert_eq!(after_run(failed), (Status::Error, Some("killed".into())));
        let silent = Run {
            exit_code: 2,
            ..Run::default()
        };
        assert_eq!(
            after_run(silent),
            (Status::Error, Some("backend execution failed".into()))
        );
    }
}
