//! One command with one fault: its output, the files that it left, and whether the next command
//! recovers.

use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

use super::call_log::CallLog;
use super::case::{Case, Judged};
use super::known_words::Known;
use super::lab::{BYSTANDER, FaultLab, Ran, expect_success};
use super::plan::{InjectedFault, every_fault};
use super::state::{State, files, is_derived, litter};
use super::tally::{Row, Violation};

/// A case in a folder, with the states before and after it.
pub(super) struct Prepared<'p> {
    place: &'p FaultLab,
    case: Case,
    args: Vec<String>,
    known: Rc<Known>,
    old: State,
    new: State,
    /// The files after the next command, without and with the case.
    old_files: State,
    new_files: State,
    /// Boswell's files that a run without a fault keeps or only appends to.
    kept: Vec<(String, Vec<u8>)>,
    /// What a run without a fault leaves unsynced.
    undurable: BTreeSet<String>,
    pub(super) faults: Vec<InjectedFault>,
    pub(super) calls: usize,
}

/// The start of a case. Shared by all cases without earlier commands.
#[derive(Clone)]
pub(super) struct Start {
    known: Rc<Known>,
    old: State,
    old_files: State,
}

impl Start {
    /// Where `case` begins. `plain` remembers it for cases with nothing before them.
    fn of(place: &FaultLab, case: &Case, plain: &mut Option<Start>) -> Result<Start, String> {
        if !case.before.is_empty() {
            return Start::see(place);
        }
        if let Some(start) = plain {
            return Ok(start.clone());
        }
        Ok(plain.insert(Start::see(place)?).clone())
    }

    fn see(place: &FaultLab) -> Result<Start, String> {
        let known = Rc::new(Known::of(place)?);
        place.reset()?;
        next(place)?;
        Ok(Start {
            old: State::see(place, &known)?,
            old_files: State::of_files(place, &known),
            known,
        })
    }
}

fn calls_without_fault(place: &FaultLab, case: &Case, words: &[&str]) -> Result<CallLog, String> {
    let (ran, log) = place.run_faulty(words, case.stdin, None)?;
    if ran.code != Some(0) {
        return Err(format!(
            "without a fault it ends with {:?}: {}",
            ran.code,
            ran.said()
        ));
    }
    Ok(CallLog::read(&log))
}

/// The result of a trial.
pub(super) struct Found {
    pub(super) row: Row,
    pub(super) violation: Option<Violation>,
}

impl<'p> Prepared<'p> {
    /// Brings the folder to the start of the case, and records both states.
    pub(super) fn new(
        place: &'p FaultLab,
        case: &Case,
        plain: &mut Option<Start>,
    ) -> Result<(Prepared<'p>, Vec<Violation>), String> {
        place.reset_fixture()?;
        let op_before = |text: &str| place.fill(text).replace("{op}", &last_op(place));
        for command in case.before {
            let words: Vec<String> = command.iter().map(|word| op_before(word)).collect();
            before(place, &words)?;
        }
        place.keep_base()?;
        let args: Vec<String> = case.args.iter().map(|word| op_before(word)).collect();
        let words: Vec<&str> = args.iter().map(String::as_str).collect();
        let Start {
            known,
            old,
            old_files,
        } = Start::of(place, case, plain)?;
        place.reset()?;
        let base = files(&place.live(), is_own);
        let log = calls_without_fault(place, case, &words)?;
        let after = files(&place.live(), is_own);
        next(place)?;
        let new = State::see(place, &known)?;
        let new_files = State::of_files(place, &known);
        let kept = kept(base, &after);
        let undurable = undurable(place, case, &known, &log);
        let prepared = Prepared {
            place,
            case: case.clone(),
            args,
            known,
            old,
            new,
            old_files,
            new_files,
            kept,
            undurable,
            faults: every_fault(&log),
            calls: log.calls.len(),
        };
        let wrong = prepared.not_durable();
        Ok((prepared, wrong))
    }

    fn not_durable(&self) -> Vec<Violation> {
        let wrong = self.undurable.iter().map(|what| Violation {
            case: self.case.name,
            fault: None,
            call: "-".to_owned(),
            wrong: format!("it ends with 0, but {what}"),
        });
        wrong.collect()
    }

    /// Runs the case with a fault. Timeouts make some runs a few calls shorter than the counted one
    /// (`keep` copies as much as its time allows, locks are retried): a fault whose call did not
    /// happen is tried at earlier calls, down to the first.
    pub(super) fn try_fault(&self, fault: InjectedFault) -> Result<Found, String> {
        let mut found = self.try_once(fault)?;
        let is_earlier = |other: &&InjectedFault| other.kind == fault.kind && other.at < fault.at;
        let earlier: Vec<InjectedFault> = self.faults.iter().filter(is_earlier).copied().collect();
        // Each step goes back twice as far as the one before.
        let mut back = 1;
        while found.row.struck == 0 && found.violation.is_none() && !earlier.is_empty() {
            found = self.try_once(earlier[earlier.len().saturating_sub(back)])?;
            if back >= earlier.len() {
                break;
            }
            back *= 2;
        }
        Ok(found)
    }

    fn try_once(&self, fault: InjectedFault) -> Result<Found, String> {
        self.place.reset()?;
        let words: Vec<&str> = self.args.iter().map(String::as_str).collect();
        let mut row = Row {
            runs: 1,
            ..Row::default()
        };
        let (ran, log) = match self.place.run_faulty(&words, self.case.stdin, Some(fault)) {
            Ok(done) => done,
            Err(error) => return Ok(self.found(row, fault, "?".to_owned(), Some(error))),
        };
        let log = CallLog::read(&log);
        let Some(call) = log.struck() else {
            return Ok(Found {
                row,
                violation: None,
            });
        };
        row.struck = 1;
        let derived = is_derived(&shown(self.place, &call.path));
        let unlink = call.name == "unlink";
        let call = format!(
            "{} {}",
            call.name,
            shown(self.place, call.second.as_deref().unwrap_or(&call.path))
        );
        row.told = usize::from(tells(&ran));
        // If the fault affected derived data, and in some other trials, the output is compared too.
        let look = if derived || fault.at.is_multiple_of(5) {
            Look::Everything
        } else {
            Look::Files
        };
        let mut wrong = self.judge(fault, &ran, &log, (&words, look), &mut row)?;
        if wrong.is_none() && row.litter > 0 && !fault.kind.kills() && !unlink {
            wrong = Some(format!(
                "it was not killed, but leaves {}",
                litter(self.place).join(", ")
            ));
        }
        Ok(self.found(row, fault, call, wrong))
    }

    fn found(
        &self,
        mut row: Row,
        fault: InjectedFault,
        call: String,
        wrong: Option<String>,
    ) -> Found {
        row.violations = usize::from(wrong.is_some());
        let case = self.case.name;
        Found {
            row,
            violation: wrong.map(|wrong| Violation {
                case,
                fault: Some(fault),
                call,
                wrong,
            }),
        }
    }

    fn judge(
        &self,
        fault: InjectedFault,
        ran: &Ran,
        log: &CallLog,
        (words, look): (&[&str], Look),
        row: &mut Row,
    ) -> Result<Option<String>, String> {
        if let Some(wrong) = bad_end(ran, fault) {
            return Ok(Some(wrong));
        }
        let acknowledged = ran.code == Some(0);
        // With automatic copies on, a successful command warns if the copies could not be made.
        let warned = acknowledged
            && ran.stderr.contains("warning:")
            && ran.stderr.contains("is not kept yet");
        if acknowledged {
            let undurable = undurable(self.place, &self.case, &self.known, log);
            let matters = |what: &&String| !(warned && what.contains("d/own/vault/"));
            if let Some(what) = undurable.difference(&self.undurable).find(matters) {
                return Ok(Some(format!("it ends with 0, but {what}")));
            }
        }
        if let Some(wrong) = self.lost() {
            return Ok(Some(wrong));
        }
        if let Err(error) = next(self.place) {
            return Ok(Some(format!("the next command fails: {error}")));
        }
        row.litter = usize::from(!litter(self.place).is_empty());
        let state = match self.look(look) {
            Ok(state) => state,
            Err(error) => return Ok(Some(format!("reading fails afterwards: {error}"))),
        };
        if warned
            && state != self.new
            && state != self.old
            && state.is_between(&self.old, &self.new)
        {
            row.parts = 1;
        } else if let Some(wrong) = self.place_state(&state, acknowledged, row) {
            return Ok(Some(wrong));
        }
        self.again(words, row)
    }

    /// Returns the visible state. If files and operations are those of the old or the new state, so
    /// is the output, unless its derived data is damaged; `Look::Everything` reads the output in
    /// any case.
    fn look(&self, look: Look) -> Result<State, String> {
        if look == Look::Files {
            let files = State::of_files(self.place, &self.known);
            for (known, state) in [(&self.old_files, &self.old), (&self.new_files, &self.new)] {
                // A case without visible changes cannot be decided by files.
                if files == *known && self.old_files != self.new_files {
                    return Ok(state.clone());
                }
            }
        }
        State::see(self.place, &self.known)
    }

    /// Compares the state with old and new, and returns what is wrong.
    fn place_state(&self, state: &State, acknowledged: bool, row: &mut Row) -> Option<String> {
        if *state == self.new {
            row.new = 1;
            return None;
        }
        if acknowledged {
            return Some(format!(
                "it ends with 0, but the state is not the new one: {}",
                state.differs(&self.new)
            ));
        }
        if *state == self.old {
            row.old = 1;
        } else if state.is_torn(&self.old) {
            row.torn = 1;
        } else if self.case.judged == Judged::Parts && state.is_between(&self.old, &self.new)
            || self.case.judged == Judged::Output
        {
            row.parts = 1;
        } else {
            return Some(format!(
                "the state is neither old nor new: beside the old one {}; beside the new one {}",
                state.differs(&self.old),
                state.differs(&self.new)
            ));
        }
        None
    }

    /// Returns earlier acknowledged data that is missing.
    fn lost(&self) -> Option<String> {
        let now = files(&self.place.live(), is_own);
        self.kept.iter().find_map(
            |(path, was)| match now.iter().find(|(name, _)| name == path) {
                None => Some(format!("{path} is gone")),
                Some((_, is)) if !is.starts_with(was) => Some(format!("{path} lost what it held")),
                Some(_) => None,
            },
        )
    }

    /// Runs the same command again, without a fault. If it was not done before, it must succeed
    /// now.
    fn again(&self, words: &[&str], row: &Row) -> Result<Option<String>, String> {
        let (ran, _) = self.place.run_faulty(words, self.case.stdin, None)?;
        if matches!(ran.code, None | Some(70 | 101)) || ran.stderr.contains("panicked at") {
            return Ok(Some(format!(
                "run again, it ends with {:?}: {}",
                ran.code,
                ran.said()
            )));
        }
        if ran.code != Some(0) && !ran.stderr.contains("error:") {
            return Ok(Some(format!(
                "run again, it ends with {:?} and gives no reason",
                ran.code
            )));
        }
        if row.new > 0 || row.old + row.torn == 0 || self.case.judged != Judged::Whole {
            return Ok(None);
        }
        // MyAgents' lock is a folder whose owner is written a moment later: a process that is
        // killed in between holds it for half a minute.
        if ran.code == Some(3) && ran.stderr.contains("in half a minute") {
            return Ok(None);
        }
        if ran.code != Some(0) {
            return Ok(Some(format!(
                "nothing had changed, but run again it ends with {:?}: {}",
                ran.code,
                ran.said()
            )));
        }
        let files = State::of_files(self.place, &self.known);
        let done =
            files == self.new_files || row.torn > 0 && files.is_with_torn_line(&self.new_files);
        Ok((!done).then(|| {
            format!(
                "run again, it does not lead to the new state: {}",
                files.differs(&self.new_files)
            )
        }))
    }
}

/// How much is read after a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    Files,
    Everything,
}

fn before(place: &FaultLab, words: &[String]) -> Result<(), String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let ["sh", script] = words[..] {
        return place.shell(script);
    }
    expect_success(&place.run(&words)?, &words.join(" "))
}

/// Runs the next ordinary command. It changes an agent's store, which recovers unfinished
/// operations.
fn next(place: &FaultLab) -> Result<(), String> {
    let session = format!("claude:{BYSTANDER}");
    let ran = place.run(&["rename", &session, "Next name"])?;
    expect_success(&ran, "rename")
}

fn last_op(place: &FaultLab) -> String {
    let bytes = std::fs::read(place.live().join("d/own/ops.jsonl")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let last = text
        .lines()
        .last()
        .and_then(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    last.and_then(|op| op["op"].as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn bad_end(ran: &Ran, fault: InjectedFault) -> Option<String> {
    match ran.code {
        None if fault.kind.kills() => None,
        None => Some(format!("a signal ended it: {}", ran.said())),
        Some(70 | 101) => Some(format!("it met a bug of its own: {}", ran.said())),
        Some(0) => None,
        Some(code) if !tells(ran) => Some(format!(
            "it ends with {code} and does not say why: {}",
            ran.said()
        )),
        Some(_) => None,
    }
}

/// Whether an error contains the system's error.
fn tells(ran: &Ran) -> bool {
    // SQLite has its own messages; if it cannot open a file for writing, it opens it for reading.
    let sqlite = [
        "disk I/O error",
        "disk is full",
        "unable to open database file",
        "readonly database",
    ];
    let reasons = ["(os error 5)", "(os error 28)"].into_iter().chain(sqlite);
    // A command that does the rest warns about the missing part, and its exit code shows it.
    let left_out = ran.code == Some(3) && ran.stderr.contains("warning:");
    (left_out || ran.code != Some(0) && ran.stderr.contains("error:"))
        && reasons
            .into_iter()
            .any(|reason| ran.stderr.contains(reason))
}

/// Whether a path is boswell's own data, which must not be lost.
fn is_own(path: &str) -> bool {
    let roots = [
        "d",
        "d/own",
        "d/own/ops.jsonl",
        "d/own/notes.jsonl",
        "d/own/vault",
    ];
    roots.contains(&path) || path.starts_with("d/own/vault/")
}

/// Returns files of the fixture that a run without a fault keeps, or only appends to.
fn kept(base: Vec<(String, Vec<u8>)>, after: &[(String, Vec<u8>)]) -> Vec<(String, Vec<u8>)> {
    let stays = |(path, was): &(String, Vec<u8>)| {
        after
            .iter()
            .any(|(name, is)| name == path && is.starts_with(was))
    };
    base.into_iter().filter(stays).collect()
}

fn undurable(place: &FaultLab, case: &Case, known: &Known, log: &CallLog) -> BTreeSet<String> {
    // A file that the user requested can be written again.
    if case.judged == Judged::Output {
        return BTreeSet::new();
    }
    let live = place.live();
    let matters = |path: &Path| {
        let below = path
            .strip_prefix(&live)
            .map(|below| below.to_string_lossy().into_owned());
        below.is_ok_and(|below| !is_derived(&below))
    };
    let text = |what: String| known.normal(&what.replace(&format!("{}/", live.display()), ""));
    log.undurable(matters).into_iter().map(text).collect()
}

fn shown(place: &FaultLab, path: &Path) -> String {
    path.strip_prefix(place.live())
        .unwrap_or(path)
        .display()
        .to_string()
}
