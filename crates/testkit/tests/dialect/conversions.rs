//! Every agent's sessions, carried over to every other agent, without any real program.

use boswell_model::ErrorKind;
use boswell_testkit::conversions::{
    AcceptedTable, MatrixCell, PROJECT, TARGETS, convert, session_of,
};
use boswell_testkit::make::{claude, codex, copilot, gemini, kimi, pi, qwen};
use boswell_testkit::{Made, disk};

/// Sessions of every shape that the generators know.
fn shapes() -> Vec<(&'static str, String, Made)> {
    let mut made = Vec::new();
    let mut add = |name: &'static str, shape: String, it: Made| made.push((name, shape, it));
    for shape in claude::ClaudeShape::ALL {
        add(
            "claude",
            format!("{shape:?}"),
            claude::file(*shape, PROJECT, 7),
        );
    }
    for shape in codex::CodexShape::ALL {
        add(
            "codex",
            format!("{shape:?}"),
            codex::rollout(*shape, PROJECT, None, 7),
        );
    }
    for flavour in pi::PiFlavour::ALL {
        for shape in pi::PiShape::ALL {
            let file = pi::file(*shape, *flavour, pi::PiLayout::of(PROJECT), 7);
            add(flavour.name(), format!("{shape:?}"), file);
        }
    }
    for shape in gemini::GeminiShape::ALL {
        add(
            "gemini",
            format!("{shape:?}"),
            gemini::session(*shape, PROJECT, 7),
        );
    }
    for shape in qwen::QwenShape::ALL {
        add(
            "qwen",
            format!("{shape:?}"),
            qwen::session(*shape, PROJECT, 7),
        );
    }
    for shape in copilot::CopilotShape::ALL {
        add(
            "copilot",
            format!("{shape:?}"),
            copilot::session(*shape, PROJECT, 7),
        );
    }
    for shape in kimi::KimiShape::ALL {
        add(
            "kimi",
            format!("{shape:?}"),
            kimi::session(*shape, PROJECT, 7),
        );
    }
    made
}

#[test]
fn every_shape_of_every_agent_is_read_back_as_it_was_written() {
    let (mut converted, mut failed) = (0, Vec::new());
    for (source, shape, made) in shapes() {
        let Ok(session) = session_of(source, &made) else {
            continue;
        };
        for target in TARGETS.iter().filter(|target| **target != source) {
            match convert(&session, target, PROJECT) {
                Ok(_) => converted += 1,
                // Some shapes have no messages.
                Err(error) if error.kind() == ErrorKind::Invalid => {}
                Err(error) => {
                    let why = error.reason().unwrap_or_default().to_owned();
                    failed.push(format!("{source} {shape} to {target}: {error}: {why}"));
                }
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{}\n{converted} are fine",
        failed.join("\n")
    );
    assert!(converted > 300, "{converted}");
}

#[test]
fn a_conversion_is_the_same_each_time() {
    for (source, target) in MatrixCell::pairs() {
        let [one, two] =
            [0, 1].map(|_| MatrixCell::new(source, target, PROJECT).unwrap().conversion);
        assert_eq!(one.target, two.target, "{source} to {target}");
        assert!(one.log == two.log, "{source} to {target}");
    }
}

#[test]
fn what_real_programs_accepted_is_what_is_written_today() {
    let text = String::from_utf8(disk::read(&AcceptedTable::path())).unwrap();
    let table = AcceptedTable::parse(&text).unwrap();
    assert!(!table.cells.is_empty());
    let mut changed = Vec::new();
    for (source, target) in MatrixCell::pairs() {
        let key = (source.to_owned(), target.to_owned());
        let Some(accepted) = table.cells.get(&key) else {
            continue;
        };
        let cell = MatrixCell::new(source, target, PROJECT).unwrap();
        if cell.conversion.sha256.to_string() != accepted.sha256 {
            changed.push(format!("{source} to {target}"));
        }
    }
    assert!(
        changed.is_empty(),
        "no real program has resumed these as they are written today; \
         run `cargo xtask soak convert`: {changed:?}"
    );
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "tests have no command line, so the wish comes from the environment"
)]
fn convert_page_shows_what_each_pair_loses() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/convert.md");
    let page = boswell_testkit::conversions::page();
    if std::env::var_os("BOSWELL_BLESS").is_some_and(|value| value == "1") {
        boswell_testkit::disk::write(std::path::Path::new(path), page.as_bytes());
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == page,
        "docs/convert.md is out of date; write it with BOSWELL_BLESS=1"
    );
}
