//! Repositories that want to start programs, lead elsewhere, or have no files.

use std::path::{Path, PathBuf};

use boswell_testkit::clock::MORNING;
use boswell_testkit::disk;

use super::world::{World, git};
use crate::bench::{Bench, Ran, finish};

/// Settings that name a program, which gets other words behind its name.
const PROGRAMS: [&str; 15] = [
    "core.fsmonitor",
    "core.pager",
    "pager.blame",
    "pager.log",
    "pager.diff",
    "pager.show",
    "core.sshCommand",
    "core.editor",
    "core.askPass",
    "credential.helper",
    "diff.external",
    "diff.spy.textconv",
    "diff.spy.command",
    "gpg.program",
    "uploadpack.packObjectsHook",
];
/// Settings whose program git starts through a shell.
const FILTERS: [&str; 4] = [
    "filter.spy.clean",
    "filter.spy.smudge",
    "filter.spy.process",
    "merge.spy.driver",
];
const HOOKS: [&str; 6] = [
    "post-checkout",
    "post-index-change",
    "fsmonitor-watchman",
    "reference-transaction",
    "pre-auto-gc",
    "post-rewrite",
];

/// A repository with one session, and a program that leaves a mark.
struct Trap {
    bench: Bench,
    world: World,
    mark: PathBuf,
}

impl Trap {
    fn new() -> Trap {
        let bench = Bench::new();
        let mut world = World::new(&bench.cwd(), 3);
        world.live(6);
        world.commit();
        world
            .sessions
            .iter()
            .for_each(|log| log.write(&bench.home()));
        let mark = bench.root().join("mark");
        Trap { bench, world, mark }
    }

    fn file(&self) -> String {
        self.world.files[0].path.clone()
    }

    /// A program that notes what started it, and passes its input on.
    fn program(&self, name: &str) -> String {
        let file = self.bench.root().join(format!("spy {name}"));
        let mark = self.mark.display();
        let script = format!("#!/bin/sh\necho \"{name} $*\" >> '{mark}'\ncat\n");
        disk::write(&file, script.as_bytes());
        disk::set_mode(&file, 0o755);
        file.display().to_string()
    }

    fn blame(&self, what: &str) -> Ran {
        self.blame_in(&self.world.root, what)
    }

    fn blame_in(&self, folder: &Path, what: &str) -> Ran {
        let mut command = self.bench.command(["blame", what, "--json"]);
        command.current_dir(folder);
        finish(command)
    }

    #[track_caller]
    fn is_untouched(&self) {
        let mark = marked(&self.mark);
        assert_eq!(mark, "", "a program of the repository was started");
    }
}

#[cfg(unix)]
#[test]
fn a_hostile_repository_starts_nothing() {
    let trap = Trap::new();
    let root = &trap.world.root;
    let set = |key: &str, value: &str| git(root, MORNING, &["config", key, value]);
    for key in PROGRAMS {
        let program = format!("'{}'", trap.program(key));
        set(key, &program);
    }
    for key in FILTERS {
        let program = format!("'{}'", trap.program(key));
        set(key, &program);
    }
    set("filter.spy.required", "true");
    set("log.showSignature", "true");
    set("alias.blame", &format!("!'{}'", trap.program("alias")));
    set("alias.log", &format!("!'{}'", trap.program("alias")));
    let included = trap.bench.root().join("included");
    let program = trap.program("included");
    let text = format!("[core]\n\tfsmonitor = '{program}'\n[diff]\n\texternal = '{program}'\n");
    disk::write(&included, text.as_bytes());
    set("include.path", &included.display().to_string());
    let hooks = trap.bench.root().join("hooks");
    for hook in HOOKS {
        let program = trap.program(hook);
        for folder in [&hooks, &root.join(".git/hooks")] {
            disk::write(&folder.join(hook), &disk::read(Path::new(&program)));
            disk::set_mode(&folder.join(hook), 0o755);
        }
    }
    set("core.hooksPath", &hooks.display().to_string());
    let attributes = b"* filter=spy diff=spy merge=spy\n";
    disk::write(&root.join(".git/info/attributes"), attributes);
    disk::write(&root.join(".gitattributes"), attributes);
    // Without its attributes the file on disk would not need to be compared.
    let file = trap.file();
    disk::set_modified(&root.join(&file), MORNING);
    for what in [&*file, "HEAD", "HEAD~1..HEAD", &format!("{file}:1")] {
        let ran = trap.blame(what);
        assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
        trap.is_untouched();
    }
    // The same settings do start programs where git is asked as usual.
    let done = std::process::Command::new("git")
        .args(["-c", "core.hooksPath=/dev/null", "status"])
        .current_dir(root)
        .output();
    assert!(done.is_ok());
    let mark = marked(&trap.mark);
    assert_ne!(mark, "", "the trap catches nothing");
}

#[test]
fn a_commit_is_no_option() {
    let trap = Trap::new();
    let stolen = trap.bench.root().join("stolen");
    let ran = trap.blame("HEAD");
    assert_eq!(ran.of_type("commit_blame").len(), 1, "{ran:?}");
    let wish = format!("--output={}", stolen.display());
    for what in [&*wish, "--upload-pack=touch", "-h..HEAD"] {
        let mut command = trap.bench.command(["blame", "--json", "--", what]);
        command.current_dir(&trap.world.root);
        let ran = finish(command);
        assert_ne!(ran.code, Some(0), "{what}: {ran:?}");
        assert!(!stolen.exists(), "{what}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_repository_tells_no_repository_about_the_file() {
    let trap = Trap::new();
    let outside = trap.bench.root().join("outside.txt");
    disk::write(&outside, "nobody's secret\n".as_bytes());
    let link = trap.world.root.join("link.txt");
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    git(&trap.world.root, MORNING, &["add", "-A"]);
    git(&trap.world.root, MORNING, &["commit", "-q", "-m", "link"]);
    let ran = trap.blame("link.txt");
    match ran.code {
        // The file itself, which no session wrote and which is in no repository.
        Some(1) => {
            let said = ran.of_type("blame");
            assert_eq!(said[0]["repository"], serde_json::Value::Null, "{ran:?}");
            assert_eq!(said[0]["lines"][0]["origin"], "unexplained", "{ran:?}");
            let real = outside.canonicalize().unwrap().display().to_string();
            assert_eq!(said[0]["file"], real, "{ran:?}");
        }
        _ => drop(ran.ends(2).says("link")),
    }
}

#[test]
fn a_worktree_has_the_authors_of_its_repository() {
    let trap = Trap::new();
    let tree = trap.bench.cwd().join("tree");
    let name = tree.display().to_string();
    git(&trap.world.root, MORNING, &["worktree", "add", "-q", &name]);
    for file in &trap.world.files {
        let [here, there] = [&trap.world.root, &tree].map(|folder| {
            let ran = trap.blame_in(folder, &file.path);
            let said = ran.of_type("blame");
            let lines = said[0]["lines"].as_array().unwrap().clone();
            let sessions = lines.iter().map(|line| line["session"].clone());
            sessions.collect::<Vec<_>>()
        });
        assert_eq!(here, there, "{}", file.path);
    }
}

#[test]
fn a_bare_repository_has_commits_and_no_files() {
    let trap = Trap::new();
    let bare = trap.bench.cwd().join("bare.git");
    let (from, to) = (
        trap.world.root.display().to_string(),
        bare.display().to_string(),
    );
    git(
        &trap.bench.cwd(),
        MORNING,
        &["clone", "-q", "--bare", &from, &to],
    );
    trap.blame_in(&bare, &trap.file()).ends(2);
    // A file of the repository's own folder is called `HEAD`.
    let ran = trap.blame_in(&bare, "main");
    assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
    assert_eq!(ran.of_type("commit_blame").len(), 1, "{ran:?}");
}

#[cfg(unix)]
#[test]
fn a_hostile_bare_repository_starts_nothing() {
    let trap = Trap::new();
    // As it comes with a project that someone else wrote.
    let bare = trap.world.root.join("docs/evil.git");
    let from = trap.world.root.display().to_string();
    let to = bare.display().to_string();
    git(
        &trap.bench.cwd(),
        MORNING,
        &["clone", "-q", "--bare", &from, &to],
    );
    for key in PROGRAMS.iter().chain(&FILTERS) {
        let program = format!("'{}'", trap.program(key));
        git(&bare, MORNING, &["config", key, &program]);
    }
    git(&bare, MORNING, &["config", "core.bare", "false"]);
    git(&bare, MORNING, &["config", "core.worktree", &from]);
    disk::write(
        &bare.join("info/attributes"),
        b"* filter=spy diff=spy merge=spy\n",
    );
    for hook in HOOKS {
        let program = trap.program(hook);
        disk::write(
            &bare.join("hooks").join(hook),
            &disk::read(Path::new(&program)),
        );
        disk::set_mode(&bare.join("hooks").join(hook), 0o755);
    }
    for what in ["HEAD~0", "main", "HEAD~1..main", "description", "HEAD"] {
        let ran = trap.blame_in(&bare, what);
        assert!(matches!(ran.code, Some(0..=2)), "{what}: {ran:?}");
        trap.is_untouched();
    }
    // The same settings do start programs where git is asked as usual.
    let mut status = std::process::Command::new("git");
    status.args(["-c", "safe.bareRepository=all", "status"]);
    assert!(status.current_dir(&bare).output().is_ok());
    assert_ne!(marked(&trap.mark), "", "the trap catches nothing");
}

/// Returns what the programs of the trap wrote.
fn marked(mark: &Path) -> String {
    let bytes = mark.exists().then(|| disk::read(mark));
    String::from_utf8(bytes.unwrap_or_default()).unwrap()
}
