//! Which session is continued, and in which folder it is stored.

use std::path::{Path, PathBuf};

use boswell_testkit::disk;
use serde_json::Value;

use super::{continued, planted};
use crate::pi_lab::{Lab, answer, header, text_of, user};

/// file-operations:88–:125: which session is the most recent. The programs use the file's time,
/// boswell the last message.
#[test]
fn the_most_recent_session_is_one_that_is_whole() {
    let lab = Lab::new("xcsh");
    std::fs::remove_dir_all(lab.root()).unwrap();
    assert_ne!(continued(&lab).code, Some(0), "file-operations:92");
    disk::write(&lab.root().join("sessions/.keep"), b"");
    assert_ne!(continued(&lab).code, Some(0), "file-operations:88");
    let cwd = lab.bench.cwd().canonicalize().unwrap();
    let here = cwd.to_str().unwrap();
    let said = |id: &str, second: u32| {
        let at = format!("177123{second:04}000");
        let lines = [
            header(id, here, ""),
            user("1", "", id),
            answer("2", "1", id),
        ];
        format!("{}\n", lines.join("\n"))
            .replace("1771237231000", &at)
            .replace("1771237232000", &at)
    };
    lab.plant("-x/notes.txt", &said("text", 9000));
    lab.plant("-x/notes.json", &said("document", 9000));
    assert_ne!(continued(&lab).code, Some(0), "file-operations:96");
    lab.plant(
        "-x/headless.jsonl",
        &said("headless", 9000)
            .split_once('\n')
            .unwrap()
            .1
            .replace("cwd", "dwc"),
    );
    assert_ne!(continued(&lab).code, Some(0), "file-operations:102");
    lab.plant(
        "-x/2026-01-01T00-00-00-000Z_valid.jsonl",
        &said("valid", 1000),
    );
    assert!(
        continued(&lab).ends(0).text().contains("valid"),
        "file-operations:107, :125"
    );
    let elsewhere = said("elsewhere", 1000).replace(here, "/proj/else");
    lab.plant("-x/2026-01-01T00-00-00-000Z_valid.jsonl", &elsewhere);
    let ran = continued(&lab).ends(0).says("skipped xcsh:headless");
    assert!(
        ran.text().contains("elsewhere"),
        "file-operations:125: {ran:?}"
    );
    lab.plant(
        "-x/2026-01-01T00-00-00-000Z_valid.jsonl",
        &said("valid", 1000),
    );
    lab.plant(
        "-x/2026-01-02T00-00-00-000Z_newer.jsonl",
        &said("newer", 2000),
    );
    assert!(
        continued(&lab).ends(0).text().contains("newer"),
        "file-operations:113"
    );
}

/// file-operations:137–:196: which session a typed name selects.
#[test]
fn legacy_names_and_sessions_of_other_folders_are_found() {
    let lab = Lab::new("xcsh");
    let old = format!(
        "{}\n{}\n",
        header("legacyabcd", "/somewhere/else", ""),
        user("1", "", "from long ago")
    );
    lab.plant(
        "--proj-demo--/2025-02-03T04-05-06-789Z_legacyabcd.jsonl",
        &old,
    );
    for (name, case) in [
        ("legacyabcd", "file-operations:177"),
        ("legacy", "file-operations:177, :186"),
        ("2025-02-03T04-05", "file-operations:186"),
        (
            "LEGACYAB",
            "file-operations:196: another folder in the header",
        ),
    ] {
        assert!(
            lab.run(&["show", name])
                .ends(0)
                .text()
                .contains("from long ago"),
            "{case}"
        );
    }
    lab.run(&["show", "nomatch"]).ends(2);
}

/// file-operations:206–:278: folder names relative to the home and to the temporary folder, also
/// through a link; old folders are read where they are.
#[cfg(unix)]
#[test]
fn projects_are_filed_under_their_real_paths() {
    let lab = Lab::new("xcsh");
    let filed = |project: &Path| {
        let new = lab
            .run(&[
                "new",
                "--dialect",
                "xcsh",
                "--project",
                project.to_str().unwrap(),
                "--json",
            ])
            .ends(0);
        let path = PathBuf::from(new.of_type("session")[0]["path"].as_str().unwrap());
        path.parent()
            .unwrap()
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned()
    };
    std::fs::create_dir_all(lab.bench.home().join("made/pi")).unwrap();
    std::os::unix::fs::symlink(lab.bench.home(), lab.bench.root().join("link")).unwrap();
    assert_eq!(
        filed(&lab.bench.root().join("link/made/pi")),
        "-made-pi",
        "file-operations:237"
    );
    let below = lab.bench.tmp().join("run/one");
    std::fs::create_dir_all(&below).unwrap();
    assert_eq!(filed(&below), "-tmp-run-one", "file-operations:267");
    let name = format!("-{}--", below.display().to_string().replace('/', "-"));
    let legacy = format!(
        "{}\n{}\n",
        header("legacy", below.to_str().unwrap(), ""),
        user("1", "", "kept")
    );
    let path = lab.plant(
        &format!("{name}/2026-01-01T00-00-00-000Z_legacy.jsonl"),
        &legacy,
    );
    assert_eq!(
        lab.session("legacy")["project"],
        below.to_str().unwrap(),
        "file-operations:278"
    );
    assert_eq!(lab.context("legacy"), ["kept"]);
    assert_eq!(
        text_of(&path),
        legacy,
        "file-operations:278: it stays where its agent looks for it and moves it itself"
    );
}

/// move-to:104–:221: all files of a session follow its project.
#[test]
fn sessions_follow_their_project() {
    for dialect in ["omp", "xcsh"] {
        let lab = Lab::new(dialect);
        planted(&lab, "bare", "/proj/demo", &[]);
        planted(&lab, "asked", "/proj/demo", &[user("1", "", "pending")]);
        lab.plant(
            "--proj-demo--/2026-04-01T00-00-00-000Z_lonely/1.bash.log",
            "of nobody",
        );
        let new = lab
            .run(&["new", "--dialect", dialect, "--project", "/proj/demo"])
            .ends(0)
            .text()
            .trim()
            .to_owned();
        let id = new.split_once(':').unwrap().1;
        lab.run(&["move", "/proj/demo", "/proj/new", "--apply"])
            .ends(0);
        let folder = lab.root().join("sessions/--proj-new--");
        let lands = |id: &str| folder.join(format!("2026-03-01T00-00-00-000Z_{id}.jsonl"));
        let log = folder.join(lab.log().file_name().unwrap());
        for (name, path) in [
            ("move-to:104", log.clone()),
            ("move-to:177 only a header", lands("bare")),
            ("move-to:197 only a question", lands("asked")),
        ] {
            let cwd = serde_json::from_str::<Value>(text_of(&path).lines().next().unwrap())
                .unwrap()["cwd"]
                .clone();
            assert_eq!(cwd, "/proj/new", "{dialect}: {name}");
        }
        assert!(!lab.log().exists(), "{dialect}: move-to:104");
        assert_eq!(
            text_of(&log.with_extension("").join("1.bash.log")),
            "whole output",
            "{dialect}"
        );
        assert_eq!(
            lab.session(id)["project"],
            "/proj/new",
            "{dialect}: move-to:128"
        );
        lab.run(&["append", &new, "--user", "q", "--assistant", "a"])
            .ends(0);
        let path = lab.session(id)["path"].as_str().unwrap().to_owned();
        assert!(
            Path::new(&path).starts_with(&folder),
            "{dialect}: move-to:128: {path}"
        );
        let lonely = lab
            .root()
            .join("sessions/--proj-demo--/2026-04-01T00-00-00-000Z_lonely/1.bash.log");
        assert!(
            lonely.exists(),
            "{dialect}: move-to:221: nothing says whose they are, so they stay"
        );
    }
}
