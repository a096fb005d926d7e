//! The examples work as documented: run as separate processes, killed, and run again.

use std::path::Path;
use std::process::{Command, ExitStatus};

use boswell_store::checkpoint::{Captured, State};
use boswell_store::disk::{RealDisk, durable};
use boswell_store::model::{EntryKind, Part, Settings};
use boswell_store::{Home, Session};

#[path = "../../examples/agent.rs"]
#[expect(dead_code, reason = "its `main` is for cargo")]
mod agent;
#[path = "../../examples/quickstart.rs"]
#[expect(dead_code, reason = "its `main` is for cargo")]
mod quickstart;

/// Environment variable that makes this test program run an example: its name and its arguments,
/// one per line.
const EXAMPLE: &str = "BOSWELL_TEST_EXAMPLE";

/// Runs an example if a test below started this process; otherwise does nothing.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the parent process says in the environment what is to be run"
)]
fn a_process_of_its_own_runs_the_example_that_it_is_told() {
    let Ok(told) = std::env::var(EXAMPLE) else {
        return;
    };
    let words: Vec<String> = told.lines().map(str::to_owned).collect();
    let (name, arguments) = words.split_first().unwrap();
    match name.as_str() {
        "agent" => agent::run(arguments).unwrap(),
        "quickstart" => quickstart::run(&arguments[0]).unwrap(),
        other => panic!("there is no example {other}"),
    }
}

fn start(example: &str, arguments: &[&str]) -> (ExitStatus, String) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "examples::a_process_of_its_own_runs_the_example_that_it_is_told",
            "--nocapture",
        ])
        .env(EXAMPLE, [&[example], arguments].concat().join("\n"))
        .output()
        .unwrap();
    (
        output.status,
        String::from_utf8_lossy(&output.stdout).into_owned(),
    )
}

struct Lab {
    folder: tempfile::TempDir,
    /// Entries that some run acknowledged.
    acknowledged: Vec<String>,
}

impl Lab {
    fn new() -> Lab {
        let folder = tempfile::tempdir().unwrap();
        durable::make_folders(&RealDisk, &folder.path().join("project")).unwrap();
        let notes = "the build of monday is red\n".repeat(100);
        durable::put(
            &RealDisk,
            &folder.path().join("project/notes.txt"),
            notes.as_bytes(),
            "w",
        )
        .unwrap();
        Lab {
            folder,
            acknowledged: Vec::new(),
        }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Runs the agent once; returns whether it finished.
    fn run(&mut self, die_after: Option<usize>) -> bool {
        let (home, project, limit) = (
            self.path("home"),
            self.path("project"),
            die_after.unwrap_or(0).to_string(),
        );
        let mut arguments = vec![home.as_str(), &project];
        if die_after.is_some() {
            arguments.extend(["--die-after", &limit]);
        }
        let (status, said) = start("agent", &arguments);
        // Other output of the test program may precede the lines.
        let entries = said.lines().filter_map(|line| {
            line.split_once("acknowledged ")
                .map(|(_, entry)| entry.to_owned())
        });
        self.acknowledged.extend(entries);
        if !status.success() {
            assert!(was_killed(status), "{status}: {said}");
        }
        status.success()
    }

    fn session(&self) -> Session {
        Home::at(self.path("home"))
            .sessions()
            .unwrap()
            .session("agent-demo")
            .unwrap()
    }

    fn assert_nothing_acknowledged_is_lost(&self) {
        let session = self.session();
        let log = session.log();
        assert!(log.gaps.is_empty(), "every line is a whole record");
        for entry in &self.acknowledged {
            assert_eq!(
                log.slots()
                    .filter(|slot| log.label(*slot) == entry.as_str())
                    .count(),
                1,
                "{entry}"
            );
        }
    }

    /// Returns the context without interrupted calls (role and text), and the settings in force.
    fn story(&self) -> (Vec<(EntryKind, String)>, Settings) {
        let session = self.session();
        let context = session.context(session.tip().unwrap()).unwrap();
        let read = |item: &boswell_store::model::ContextItem| {
            (
                session.log().kind(item.slot),
                session.entry(item.slot).unwrap().view.unwrap(),
            )
        };
        let items: Vec<_> = context.items.iter().map(read).collect();
        let results = items.iter().flat_map(|(_, view)| &view.parts);
        let broken: Vec<&str> = results
            .filter_map(|block| match block {
                Part::Result {
                    call,
                    is_error: true,
                    text,
                } => {
                    assert!(text.starts_with("interrupted"), "{text}");
                    Some(call.as_str())
                }
                _ => None,
            })
            .collect();
        let is_broken = |id: &str| broken.contains(&id);
        let kept = items.iter().filter(|(_, view)| {
            !view.results().any(is_broken) && !view.calls().any(|(id, ..)| is_broken(id))
        });
        let told = kept.map(|(kind, view)| {
            let calls: String = view
                .calls()
                .map(|(_, name, input)| format!("{name}{input}"))
                .collect();
            (*kind, format!("{}{calls}", view.text()))
        });
        (told.collect(), context.settings)
    }

    /// Checks that the checkpoints still contain the file as it was before the edit.
    fn assert_the_edit_can_be_taken_back(&self) {
        let session = self.session();
        let log = session.log();
        let prompt = log
            .slots()
            .filter(|slot| log.kind(*slot) == EntryKind::User)
            .nth(1)
            .unwrap();
        let found = State::in_session(&session, &log.label(prompt)).unwrap();
        assert!(found.damaged.is_empty());
        let then = &found.state.file("notes.txt").unwrap().then;
        assert!(
            matches!(then, Captured::File { len: 2_700, .. }),
            "{then:?}"
        );
    }

    fn notes(&self) -> String {
        String::from_utf8(
            durable::read(&RealDisk, Path::new(&self.path("project/notes.txt")))
                .unwrap()
                .unwrap(),
        )
        .unwrap()
    }
}

#[cfg(unix)]
fn was_killed(status: ExitStatus) -> bool {
    std::os::unix::process::ExitStatusExt::signal(&status) == Some(9)
}

#[cfg(not(unix))]
fn was_killed(_status: ExitStatus) -> bool {
    true
}

fn undisturbed() -> Lab {
    let mut lab = Lab::new();
    assert!(lab.run(None));
    lab
}

#[test]
fn the_agent_compacts_remembers_and_can_take_its_edit_back() {
    let lab = undisturbed();
    lab.assert_nothing_acknowledged_is_lost();
    let (told, settings) = lab.story();
    assert_eq!(told[0].0, EntryKind::Compaction);
    assert!(
        told[0].1.contains("the user asked how the builds are"),
        "{told:?}"
    );
    assert_eq!(
        told.last().unwrap().1,
        "what my memory says: notes.txt tells how the builds are"
    );
    assert_eq!(
        (
            settings.model.as_deref(),
            settings.thinking_level.as_deref()
        ),
        (Some("scripted/one"), Some("low"))
    );
    assert_eq!(lab.notes(), "every build is green\n");

    assert_eq!(lab.session().meta().status.as_deref(), Some("completed"));
    lab.assert_the_edit_can_be_taken_back();

    let asked = Home::at(lab.path("home")).prompts().recent(10).unwrap();
    let asked: Vec<_> = asked
        .prompts
        .into_iter()
        .map(|prompt| prompt.text)
        .collect();
    assert_eq!(
        asked,
        [
            "what did you know before?",
            "make them green",
            "how are the builds?"
        ]
    );
}

#[cfg(unix)]
#[test]
fn an_agent_that_is_killed_after_any_entry_goes_on_and_ends_with_the_same_story() {
    let expected = undisturbed().story();
    let mut deaths = 0;
    for die_after in 1.. {
        let mut lab = Lab::new();
        let survived = lab.run(Some(die_after));
        lab.assert_nothing_acknowledged_is_lost();
        if survived {
            break;
        }
        deaths += 1;
        assert!(lab.run(None));
        lab.assert_nothing_acknowledged_is_lost();
        assert_eq!(lab.story(), expected, "killed after {die_after} entries");
        lab.assert_the_edit_can_be_taken_back();
        assert_eq!(lab.notes(), "every build is green\n");
    }
    assert!(deaths > 10, "{deaths}");
}

#[cfg(unix)]
#[test]
fn an_agent_that_is_killed_again_and_again_still_arrives() {
    let expected = undisturbed().story();
    let mut lab = Lab::new();
    // Five entries are enough for progress in each run: a call is answered as interrupted, made
    // again with its checkpoint, and answered.
    let runs = (0..40).take_while(|_| !lab.run(Some(5))).count();
    assert!((2..40).contains(&runs), "{runs}");
    lab.assert_nothing_acknowledged_is_lost();
    assert_eq!(lab.story(), expected);
}

#[test]
fn the_quickstart_prints_the_branch_it_stands_on_and_is_short() {
    let folder = tempfile::tempdir().unwrap();
    let (status, said) = start("quickstart", &[&folder.path().display().to_string()]);
    assert!(status.success(), "{said}");
    assert!(
        said.contains("why is the build red?") && said.contains("the lock file is stale"),
        "{said}"
    );
    assert!(!said.contains("a test is flaky"), "{said}");
}

#[test]
fn examples_stay_short_enough_to_be_read() {
    let quickstart = include_str!("../../examples/quickstart.rs");
    let body = quickstart.split_once("fn main()").unwrap().1;
    assert!(body.lines().count() <= 30, "{} lines", body.lines().count());
    // Some 200 lines of 100 columns. Characters are counted, because lines depend on the
    // formatter.
    let agent = include_str!("../../examples/agent.rs");
    let length = agent.chars().filter(|c| !c.is_whitespace()).count();
    assert!(length <= 8_000, "{length} characters");
}
