//! Plans that cannot be undone are executed exactly as shown, or not at all.

use std::path::{Path, PathBuf};

use boswell_dialect::Environment;
use boswell_testkit::disk;

use super::*;
use crate::purge::PurgeRequest;
use crate::scrub::{ScrubPlanning, ScrubRequest, ScrubScope};
use crate::{App, AppConfig};

const A: &str = "11111111-1111-4111-8111-111111111111";
const B: &str = "22222222-2222-4222-8222-222222222222";
const SECRET: &str = "ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R";

fn token(id: &str, part: &str) -> PlanToken {
    PlanToken::new(SessionRef::new("claude", id), &[part.to_owned()])
}

#[test]
fn only_the_plan_that_was_shown_is_required() {
    let now = token("a", "log");
    now.require(Some(&token("a", "log"))).unwrap();
    let others = [token("b", "log"), token("a", "other log")];
    for shown in others.iter().map(Some).chain([None]) {
        let error = now.require(shown).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
    }
}

struct World {
    temp: tempfile::TempDir,
    app: App,
}

impl World {
    /// Creates two Claude sessions with different secrets, and a prompt history with both.
    fn new() -> World {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("claude");
        let mut history = String::new();
        for (id, secret) in [(A, secret_of(A)), (B, secret_of(B))] {
            disk::make_dir(&root.join("projects/-w"));
            disk::write(&log(temp.path(), id), line(id, &secret).as_bytes());
            history.push_str(&format!(
                r#"{{"display":"use {secret}","timestamp":1,"project":"/w","sessionId":"{id}"}}"#
            ));
            history.push('\n');
        }
        disk::write(&root.join("history.jsonl"), history.as_bytes());
        let env = Environment {
            home: None,
            tmp: temp.path().to_owned(),
            cwd: temp.path().to_owned(),
            terminal: None,
            vars: std::collections::BTreeMap::new(),
        };
        let mut config = AppConfig::new(env, Some(temp.path().join("home")));
        config.stores = vec![("claude".to_owned(), root)];
        let app = App::open(config).unwrap();
        World { temp, app }
    }

    fn text(&self, id: &str) -> String {
        text_at(&log(self.temp.path(), id))
    }

    fn plans(&self, scope: &ScrubScope) -> Vec<PlanToken> {
        let mut shown = Vec::new();
        let planned = self.app.plan_scrub(scope, &mut |step| {
            if let ScrubPlanning::Planned(plan) = step {
                shown.push(plan.token);
            }
            Ok(())
        });
        assert_eq!(planned.unwrap().value.refused, 0);
        shown
    }
}

fn text_at(path: &Path) -> String {
    String::from_utf8(disk::read(path)).unwrap()
}

fn secret_of(id: &str) -> String {
    SECRET.replace("0a1B", id.get(..4).unwrap_or_default())
}

fn log(temp: &Path, id: &str) -> PathBuf {
    temp.join(format!("claude/projects/-w/{id}.jsonl"))
}

fn line(id: &str, text: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"{id}","parentUuid":null,"sessionId":"{id}","cwd":"/w","version":"2.0.0","timestamp":"2026-01-01T00:00:00.000Z","message":{{"role":"user","content":"use {text}"}}}}"#
    ) + "\n"
}

#[test]
fn a_name_that_means_another_session_by_now_purges_nothing() {
    let world = World::new();
    let of = |id: &str| PurgeRequest {
        sessions: vec![id.to_owned()],
        shown: None,
    };
    let plans = world.app.plan_purge(&of(A)).unwrap().value;
    let shown = Some(plans.into_iter().map(|plan| plan.token).collect());
    let other = PurgeRequest { shown, ..of(B) };
    let refusal = world.app.purge(&other, &mut |_| Ok(())).unwrap_err();
    assert_eq!(refusal.error.kind(), ErrorKind::Conflict);
    assert!(log(world.temp.path(), A).exists() && log(world.temp.path(), B).exists());
    let same = PurgeRequest {
        sessions: vec![A.to_owned()],
        ..other
    };
    let mut purged = Vec::new();
    let done = world.app.purge(&same, &mut |it| {
        purged.push(it.session.id);
        Ok(())
    });
    assert!(done.is_ok());
    assert_eq!(purged, [A]);
    assert!(!log(world.temp.path(), A).exists() && log(world.temp.path(), B).exists());
}

#[test]
fn a_session_that_changed_since_its_plan_keeps_its_secrets() {
    let world = World::new();
    let scope = ScrubScope::Named(vec![A.to_owned()]);
    let shown = Some(world.plans(&scope));
    let longer = line(A, &secret_of(A)) + &line(A, "more");
    disk::write(&log(world.temp.path(), A), longer.as_bytes());
    let request = ScrubRequest { scope, shown };
    let refusal = world.app.scrub(&request, &mut |_| Ok(())).unwrap_err();
    assert_eq!(refusal.error.kind(), ErrorKind::Conflict);
    assert_eq!(world.text(A), longer);
}

#[test]
fn sessions_that_share_a_history_are_all_done_as_they_were_shown() {
    let world = World::new();
    let scope = ScrubScope::All;
    let shown = Some(world.plans(&scope));
    let begun = "33333333-3333-4333-8333-333333333333";
    let new = line(begun, &secret_of(begun));
    disk::write(&log(world.temp.path(), begun), new.as_bytes());
    let request = ScrubRequest { scope, shown };
    let mut done = Vec::new();
    let outcome = world.app.scrub(&request, &mut |it| {
        done.push(it.session.id);
        Ok(())
    });
    assert_eq!(outcome.unwrap().value.refused, 0);
    done.sort();
    assert_eq!(done, [A, B]);
    for id in [A, B] {
        assert!(!world.text(id).contains(&secret_of(id)));
    }
    let history = text_at(&world.temp.path().join("claude/history.jsonl"));
    assert!(!history.contains("ghp_"), "{history}");
    // It was created after the plan was shown.
    assert_eq!(world.text(begun), new);
}
