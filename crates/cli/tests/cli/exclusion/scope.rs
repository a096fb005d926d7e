//! Which sessions belong to an excluded project.

use std::path::Path;

use boswell_dialect::claude::project_key;
use boswell_testkit::disk;

use super::{HIDDEN, SECRET, SHOWN, World, claude_log};

#[test]
fn subfolders_links_and_worktrees_of_an_excluded_project_are_excluded() {
    let world = World::new();
    let home = world.bench.home().canonicalize().unwrap();
    let real = world.project("data/real");
    std::os::unix::fs::symlink(&real, home.join("alias")).unwrap();
    std::fs::create_dir_all(real.join(".git/worktrees/wt")).unwrap();
    let worktree = world.project("elsewhere/wt");
    disk::write(
        &worktree.join(".git"),
        format!("gitdir: {}/.git/worktrees/wt\n", real.display()).as_bytes(),
    );
    let places = [
        ("eeeeeeee-0005-4001-8001-000000000001", real.clone()),
        (
            "eeeeeeee-0005-4001-8001-000000000002",
            real.join("sub/deeper"),
        ),
        (
            "eeeeeeee-0005-4001-8001-000000000003",
            home.join("alias/sub"),
        ),
        ("eeeeeeee-0005-4001-8001-000000000004", worktree.clone()),
        ("eeeeeeee-0005-4001-8001-000000000005", worktree.join("src")),
    ];
    for (id, project) in &places {
        world.plant(project, id, "word", "2026-01-02T00:00:00.000Z");
    }
    for pattern in [
        real.display().to_string(),
        "~/alias".to_owned(),
        "~/data/*".to_owned(),
        "**/data/re?l".to_owned(),
    ] {
        world.settings(&format!("exclude = [{pattern:?}]\n"));
        let ids = world.ids();
        for (id, project) in &places {
            assert!(
                !ids.contains(&(*id).to_owned()),
                "{pattern}: {} is listed",
                project.display()
            );
        }
        assert!(
            ids.contains(&SHOWN.to_owned()),
            "{pattern} excludes nothing else: {ids:?}"
        );
    }
}

#[test]
fn other_agents_and_subagents_are_excluded_by_their_project_too() {
    use boswell_testkit::make::{codex, pi};
    let world = World::new();
    let secret = world.project("secret").display().to_string();
    let made = [
        pi::file(
            pi::PiShape::Linear,
            pi::PiFlavour::Pi,
            pi::PiLayout::of(&secret),
            3,
        ),
        codex::rollout(codex::CodexShape::Plain, &secret, None, 4),
    ];
    made[0].write_to(&world.bench.home().join(".pi/agent"));
    made[1].write_to(&world.bench.home().join(".codex"));
    let key = project_key(&secret);
    let agent = claude_log(
        HIDDEN,
        Path::new("/tmp/somewhere"),
        SECRET,
        "2026-01-02T00:00:00.000Z",
    )
    .replace(
        "\"isSidechain\":false",
        "\"isSidechain\":true,\"agentId\":\"b\"",
    );
    world.bench.plant(
        &format!(".claude/projects/{key}/{HIDDEN}/subagents/agent-b.jsonl"),
        agent.as_bytes(),
    );
    // A log that does not state its folder, among logs that do.
    let mute = "ffffffff-0006-4001-8001-000000000006";
    world.bench.plant(
        &format!(".claude/projects/{key}/{mute}.jsonl"),
        b"{\"type\":\"summary\",\"summary\":\"zanzibarword\",\"leafUuid\":\"x\"}\n",
    );
    let before = world.ids();
    assert!(before.len() >= 5, "{before:?}");
    world.exclude();
    assert_eq!(world.ids(), [SHOWN]);
}

#[test]
fn what_belongs_to_an_excluded_session_is_not_taken_for_a_leftover() {
    let world = World::new();
    world.exclude();
    let copy = world
        .bench
        .home()
        .join(format!(".claude/file-history/{HIDDEN}/0@v1"));
    world
        .run(&["clean", "--agent", "claude", "--leftovers", "--apply"])
        .ends(0);
    assert!(copy.exists(), "its session is still there");
}
