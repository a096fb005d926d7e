//! Every kind of damage in the sessions of every dialect: what still loads, what is reported, and
//! the exit code of each command.

use std::path::PathBuf;

use boswell_testkit::damage::{self, Damage};
use boswell_testkit::make::{claude, clinvoker, codex, myagents, oas, pi};
use boswell_testkit::{Made, Rng, TreeSnapshot, disk};

use crate::bench::{Bench, Ran};

const PROJECT: &str = "/home/dev/proj/demo";

/// Returns the folder of a dialect's sessions below the home folder.
fn folder(dialect: &str) -> &'static str {
    match dialect {
        "claude" => ".claude",
        "pi" => ".pi/agent",
        "omp" => ".omp/agent",
        "xcsh" => ".xcsh/agent",
        "myagents" => ".myagents",
        "clinvoker" => ".clinvk",
        "oas" => ".open-agent",
        "codex" => ".codex",
        _ => panic!("no such dialect: {dialect}"),
    }
}

/// Returns an undamaged session, with tool calls if the dialect has them.
fn sound(dialect: &str, seed: u64) -> Made {
    let of_pi = |flavour| {
        pi::file(
            pi::PiShape::Linear,
            flavour,
            pi::PiLayout::of(PROJECT),
            seed,
        )
    };
    match dialect {
        "claude" => claude::file(claude::ClaudeShape::ToolUse, PROJECT, seed),
        "pi" => of_pi(pi::PiFlavour::Pi),
        "omp" => of_pi(pi::PiFlavour::Omp),
        "xcsh" => of_pi(pi::PiFlavour::Xcsh),
        "codex" => codex::rollout(codex::CodexShape::Tools, PROJECT, None, seed),
        "oas" => oas::session(oas::OasLayout::Project(PROJECT), false, 4, seed),
        "clinvoker" => {
            let id = format!("{seed:032x}");
            let spec = clinvoker::ClinvokerSpec {
                id: &id,
                backend: "gemini",
                status: "completed",
                seed,
                ..Default::default()
            };
            clinvoker::made(&clinvoker::document(&spec))
        }
        "myagents" => {
            let era = myagents::Era::E2;
            myagents::session(&myagents::MyAgentsSpec {
                era,
                id: None,
                sdk: None,
                agent_dir: PROJECT,
                turns: 4,
                seed,
            })
            .0
        }
        _ => panic!("no such dialect: {dialect}"),
    }
}

/// Returns the word that `check` must report for a damage, if every line log shows it.
fn word(damage: Damage) -> Option<&'static str> {
    match damage {
        Damage::TornTail => Some("torn_tail"),
        Damage::GluedRecords => Some("glued_records"),
        Damage::CutAndGlued | Damage::GarbageLine | Damage::NonObjectLine | Damage::HeaderTorn => {
            Some("not_json")
        }
        Damage::NulBeforeRecord | Damage::NulOnlyLine | Damage::NulTail => Some("nul_bytes"),
        Damage::InvalidUtf8 => Some("invalid_utf8"),
        Damage::EmptyFile => Some("empty"),
        _ => None,
    }
}

/// Whether every reader of the format tolerates the damage, so that `check` reports nothing about
/// the bytes.
fn is_harmless(damage: Damage) -> bool {
    use Damage::{BlankLines, Bom, Crlf, DuplicateKeys, LongLine, NoFinalNewline};
    matches!(
        damage,
        NoFinalNewline | BlankLines | Crlf | Bom | DuplicateKeys | LongLine(_)
    )
}

struct Broken {
    damage: Damage,
    path: PathBuf,
    bytes: Vec<u8>,
    changed: bool,
}

/// Creates one session per damage.
fn plant(bench: &Bench, dialect: &str) -> Vec<Broken> {
    let root = bench.home().join(folder(dialect));
    let mut all = Vec::new();
    for (number, &damage) in damage::ALL.iter().enumerate() {
        let made = sound(dialect, 1_000 + number as u64);
        let place = made.bytes().split(|byte| *byte == b'\n').count() / 2;
        let bytes = damage::apply(damage, made.bytes(), place, &mut Rng::new(number as u64));
        let path = made.write_to(&root);
        disk::write(&path, &bytes);
        all.push(Broken {
            damage,
            path,
            changed: bytes != made.bytes(),
            bytes,
        });
    }
    all
}

fn survive(dialect: &str) {
    let bench = Bench::new();
    let all = plant(&bench, dialect);
    let before = TreeSnapshot::take(bench.root());
    let listed = bench
        .run(["list", "--hidden", "--json"])
        .ends(0)
        .of_type("session");
    for broken in &all {
        let path = broken.path.to_str().unwrap();
        let rows = listed.iter().filter(|row| row["path"] == path).count();
        assert_eq!(rows, 1, "{dialect} {:?} is listed once", broken.damage);
        one(&bench, dialect, broken);
    }
    assert_eq!(
        before.diff(&TreeSnapshot::take(bench.root())),
        Vec::<String>::new()
    );
}

fn one(bench: &Bench, dialect: &str, broken: &Broken) {
    let path = broken.path.to_str().unwrap();
    let note = format!("{dialect} {:?}", broken.damage);
    let checked = bench.run(["check", path, "--json"]);
    let found = checked.of_type("damage");
    let words: Vec<String> = found
        .iter()
        .map(|line| line["problem"].as_str().unwrap().to_owned())
        .collect();
    let is_damage = |line: &serde_json::Value| line["severity"] == "damage";
    assert_eq!(
        checked.code,
        Some(i32::from(found.iter().any(is_damage))),
        "{note}: {checked:?}"
    );
    let lines = dialect != "clinvoker";
    if let Some(word) = word(broken.damage).filter(|_| broken.changed && lines) {
        assert!(
            words.iter().any(|found| found == word),
            "{note}: {word} is not among {words:?}"
        );
    }
    if is_harmless(broken.damage) && lines {
        assert_eq!(words, [] as [&str; 0], "{note}");
    }
    let gaps = words
        .iter()
        .any(|word| ["torn_tail", "not_json", "nul_bytes"].contains(&word.as_str()));
    let warns = |ran: &Ran| {
        assert!(
            !gaps || ran.stderr.contains("warning: "),
            "{note} is not warned about: {ran:?}"
        )
    };
    let exported = bench.run(["export", path, "--no-redact"]).ends(0);
    assert!(
        exported.stdout == broken.bytes,
        "{note}: the export differs"
    );
    warns(&exported);
    for args in [
        &["show", path] as &[&str],
        &["show", path, "--records", "--json"],
        &["tree", path, "--json"],
    ] {
        let ran = bench.run(args).ends(0);
        warns(&ran);
        if args.contains(&"--json") {
            ran.lines();
        }
    }
    let context = bench.run(["context", path, "--json"]);
    // A file that is no longer recognised, and a document without messages, have no context.
    assert!(matches!(context.code, Some(0 | 2)), "{note}: {context:?}");
    if context.code == Some(2) {
        assert!(
            context.stderr.contains("\"kind\":\"unsupported\""),
            "{note}: {context:?}"
        );
    }
    context.lines();
}

macro_rules! every_damage {
    ($($name:ident: $dialect:literal,)*) => {$(
        #[test]
        fn $name() {
            survive($dialect);
        }
    )*};
}

every_damage! {
    every_damage_of_a_claude_session_is_survived_and_reported: "claude",
    every_damage_of_a_pi_session_is_survived_and_reported: "pi",
    every_damage_of_an_oh_my_pi_session_is_survived_and_reported: "omp",
    every_damage_of_an_xcsh_session_is_survived_and_reported: "xcsh",
    every_damage_of_a_myagents_session_is_survived_and_reported: "myagents",
    every_damage_of_a_clinvoker_session_is_survived_and_reported: "clinvoker",
    every_damage_of_an_open_agent_session_is_survived_and_reported: "oas",
    every_damage_of_a_codex_session_is_survived_and_reported: "codex",
}

#[test]
fn links_and_calls_that_do_not_fit_are_named() {
    let bench = Bench::new();
    let expected = [
        (Damage::PhantomParent, "missing_parent", 1),
        (Damage::ParentCycle, "parent_cycle", 1),
        (Damage::SelfParent, "parent_cycle", 1),
        // The line that is gone is the parent of the next one.
        (Damage::ResultRemoved, "missing_result", 1),
        // pi is not known to lose anything because of these.
        (Damage::LineDuplicated, "duplicate_record", 0),
        (Damage::OrphanResult, "orphan_result", 0),
        (Damage::DuplicateToolUseId, "duplicate_call", 1),
        (Damage::NoHeader, "bad_header", 1),
    ];
    for (damage, word, code) in expected {
        let made = sound("pi", 5);
        let bytes = damage::apply(damage, made.bytes(), 6, &mut Rng::new(1));
        assert!(bytes != made.bytes(), "{damage:?} found nothing to damage");
        let path = bench.plant("damaged.jsonl", &bytes);
        let checked = bench
            .run(["check", path.to_str().unwrap(), "--json"])
            .ends(code);
        let found: Vec<_> = checked
            .of_type("damage")
            .iter()
            .map(|line| line["problem"].to_string())
            .collect();
        assert!(
            found.contains(&format!("\"{word}\"")),
            "{damage:?}: {found:?}"
        );
    }
}

#[test]
fn a_sound_session_of_every_dialect_is_clean() {
    let bench = Bench::new();
    for dialect in [
        "claude",
        "pi",
        "omp",
        "xcsh",
        "myagents",
        "oas",
        "codex",
        "clinvoker",
    ] {
        let made = sound(dialect, 77);
        let path = made.write_to(&bench.home().join(folder(dialect)));
        let ran = bench.run(["check", path.to_str().unwrap()]).ends(0);
        assert_eq!(ran.text(), "1 session checked, all clean\n", "{dialect}");
        assert_eq!(ran.stderr, "", "{dialect}");
    }
}
