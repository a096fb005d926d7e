//! Writes each store.

use std::path::Path;

use serde_json::Value;

use crate::clock::MORNING;
use crate::disk;
use crate::files::{Batch, FileList};
use crate::home::TestHome;
use crate::make::{claude, clinvoker, codex, myagents, oas, pi};
use crate::rng::Rng;

/// Links across stores, chosen before anything is written.
struct Links {
    unified: String,
    legacy: String,
    invoked: String,
    rollout: String,
}

pub(super) fn everything(home: &mut TestHome, work: &str, seed: u64) {
    let mut rng = Rng::for_part(seed, "home");
    let [unified, legacy, invoked, rollout] = std::array::from_fn(|_| rng.uuid_v4());
    let links = Links {
        unified,
        legacy,
        invoked,
        rollout,
    };
    plant_claude(home, &links, seed);
    plant_pi_family(home, work, seed);
    plant_myagents(home, &links, seed);
    plant_clinvoker(home, &links, seed);
    plant_oas(home, seed);
    plant_codex(home, &links, seed);
}

fn plant_claude(home: &mut TestHome, links: &Links, seed: u64) {
    let projects = home.projects.clone();
    let mut history = String::new();
    for (number, &shape) in claude::ClaudeShape::ALL.iter().enumerate() {
        let cwd = &projects[number % projects.len()];
        let made = claude::file(shape, cwd, seed.wrapping_add(number as u64));
        history += &claude::history_line(
            "why is the build red?",
            MORNING + number as i64,
            cwd,
            &made.id,
        );
        home.add("claude", &made, format!("{shape:?}")).hidden =
            shape == claude::ClaudeShape::MetadataOnly;
        if shape == claude::ClaudeShape::Branched {
            let fork = claude::fork_of(&made, seed);
            home.add("claude", &fork, "fork of the branched one, same uuids");
        }
    }
    for (id, note) in [
        (&links.unified, "also in MyAgents, same id"),
        (&links.legacy, "also in MyAgents, which has another id"),
        (&links.invoked, "the backend of a clinvoker session"),
    ] {
        let made = claude::linked(claude::ClaudeShape::Plain, &projects[0], id, seed);
        home.add("claude", &made, note);
    }
    history += &claude::history_line(
        "a session that was swept away",
        MORNING,
        &projects[0],
        "0-gone",
    );
    let mut files = FileList::new();
    files.add("history.jsonl", history).mode = Some(0o600);
    files.add(".last-cleanup", "2026-10-30T08:00:00.000Z");
    files.extend(claude::memory(&projects[0]));
    // No system uses a process id this large, so the entry always belongs to a dead process.
    files.extend(claude::live_registry(
        999_999_999,
        &links.unified,
        &projects[0],
        MORNING,
    ));
    files.write_to(&home.claude);
}

fn plant_pi_family(home: &mut TestHome, work: &str, seed: u64) {
    let owner = work
        .rsplit_once('/')
        .map_or(work, |(parent, _)| parent)
        .to_owned();
    let projects = home.projects.clone();
    for &flavour in pi::PiFlavour::ALL {
        let mut first = None;
        for (number, &shape) in pi::PiShape::ALL.iter().enumerate() {
            let slotted = shape == pi::PiShape::TitleSlot && flavour != pi::PiFlavour::Omp;
            if !shape.has_sound_tree() || slotted {
                continue;
            }
            let place = pi::PiLayout {
                cwd: &projects[number % 2],
                home: &owner,
                tmp: "/tmp",
            };
            let made = pi::file(shape, flavour, place, seed.wrapping_add(number as u64));
            let path = home
                .add(flavour.name(), &made, format!("{shape:?}"))
                .path
                .clone();
            if shape == pi::PiShape::Linear {
                first = Some((made.main, path, made.project));
            }
        }
        let folder = home
            .folder(flavour.name())
            .expect("a known flavour")
            .to_path_buf();
        if let (Some((main, path, cwd)), true) = (first, flavour != pi::PiFlavour::Pi) {
            pi::artifacts(&main, flavour, &cwd, seed).write_to(&folder);
            plant_pi_side_files(&folder, &cwd, &path);
        }
    }
}

/// Adds files of oh-my-pi and xcsh next to their sessions: breadcrumbs of terminals and prompts.
fn plant_pi_side_files(folder: &Path, cwd: &str, path: &Path) {
    let mut files = FileList::new();
    files.add("terminal-sessions/pts-3", pi::breadcrumb(cwd, path));
    files.add(
        "terminal-sessions/kitty-7",
        pi::breadcrumb(cwd, &folder.join("sessions/gone.jsonl")),
    );
    files.write_to(folder);
    pi::history_db(
        &folder.join("history.db"),
        cwd,
        &["why is the build red?", "会话恢复"],
    );
}

/// Sessions of each era, one of them with an unusual id. Gives their rows of the index.
fn plant_myagents_eras(home: &mut TestHome, seed: u64) -> Vec<Value> {
    let mut rows = Vec::new();
    let projects = home.projects.clone();
    let odd = "cron-standalone-0d9f3a52-7a52-4c4e-9d0b-0b9f1b1c2d3e";
    let plain = [
        (myagents::Era::E1, None),
        (myagents::Era::E2, None),
        (myagents::Era::E3, None),
        (myagents::Era::E3, Some(odd)),
    ];
    for (number, (era, id)) in plain.into_iter().enumerate() {
        let seed = seed.wrapping_add(number as u64);
        let agent_dir = &projects[number % 2];
        let (made, row) = myagents::session(&myagents::MyAgentsSpec {
            era,
            id,
            sdk: None,
            agent_dir,
            turns: 3,
            seed,
        });
        home.add("myagents", &made, format!("{era:?}"));
        rows.push(row);
    }
    rows
}

fn plant_myagents(home: &mut TestHome, links: &Links, seed: u64) {
    let mut rows = plant_myagents_eras(home, seed);
    let project = home.projects[0].clone();
    for (id, own) in [
        (&links.unified, None),
        (&links.legacy, Some("session-1791187200000-a1b2c3")),
    ] {
        let claude = claude::linked(claude::ClaudeShape::Plain, &project, id, seed);
        let (made, row) = myagents::mirror_of(&claude, own);
        home.add("myagents", &made, "also in Claude").link = Some(("claude", id.clone()));
        rows.push(row);
    }
    let legacy = myagents::store(myagents::MyAgentsShape::LegacyJson, seed);
    home.add("myagents", &legacy.sessions[0], "still a whole JSON file");
    rows.push(first_row(&legacy));
    let prepared = myagents::store(myagents::MyAgentsShape::Prepared, seed ^ 0x77);
    home.add(
        "myagents",
        &prepared.sessions[0],
        "prepared, hidden until its first turn",
    )
    .hidden = true;
    rows.push(first_row(&prepared));
    disk::write(
        &home.myagents.join("sessions.json"),
        &myagents::index(&rows),
    );
}

/// What the index of a store says of its first session.
fn first_row(batch: &Batch) -> Value {
    let index = batch.shared.get("sessions.json").unwrap_or_default();
    let mut rows: Vec<Value> = serde_json::from_slice(index).expect("a sound index");
    assert_eq!(rows[0]["id"], batch.sessions[0].id.as_str());
    rows.swap_remove(0)
}

fn plant_clinvoker(home: &mut TestHome, links: &Links, seed: u64) {
    let mut rng = Rng::for_part(seed, "clinvoker-links");
    let ids = [rng.hex(32), rng.hex(32)];
    let project = home.projects[0].clone();
    let mut documents: Vec<serde_json::Value> = Vec::new();
    for made in clinvoker::store(clinvoker::ClinvokerIndexState::Right, seed).sessions {
        documents.push(serde_json::from_slice(made.bytes()).expect("a sound document"));
        home.add("clinvoker", &made, "points at a session that is elsewhere");
    }
    for (id, backend, session) in [
        (&ids[0], "claude", &links.invoked),
        (&ids[1], "codex", &links.rollout),
    ] {
        let document = clinvoker::document(&clinvoker::ClinvokerSpec {
            id,
            backend,
            backend_session: session,
            working_dir: &project,
            status: "completed",
            seed,
            ..clinvoker::ClinvokerSpec::default()
        });
        home.add(
            "clinvoker",
            &clinvoker::made(&document),
            "points at its backend's session",
        )
        .link = Some((
            if backend == "claude" {
                "claude"
            } else {
                "codex"
            },
            session.clone(),
        ));
        documents.push(document);
    }
    let batch = clinvoker::finish(clinvoker::ClinvokerIndexState::Right, &documents);
    batch.shared.write_to(&home.clinvoker);
}

fn plant_oas(home: &mut TestHome, seed: u64) {
    let batch = oas::store(oas::OasIndexState::Right, &home.projects[0].clone(), seed);
    for made in &batch.sessions {
        home.add("oas", made, "project folder, or the flat one");
    }
    batch.shared.write_to(&home.oas);
}

fn plant_codex(home: &mut TestHome, links: &Links, seed: u64) {
    let projects = home.projects.clone();
    for (number, &shape) in codex::CodexShape::ALL.iter().enumerate() {
        let made = codex::rollout(
            shape,
            &projects[number % 2],
            None,
            seed.wrapping_add(number as u64),
        );
        home.add("codex", &made, format!("{shape:?}"));
    }
    let made = codex::rollout(
        codex::CodexShape::Tools,
        &projects[0],
        Some(&links.rollout),
        seed ^ 0x99,
    );
    home.add("codex", &made, "the backend of a clinvoker session");
}
