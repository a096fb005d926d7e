use std::collections::BTreeSet;

use super::*;

/// Every variant at least once; `every_step_has_words` fails if one is missing.
fn samples() -> Vec<Advice> {
    let text = || "pi:7k3q".to_owned();
    let session = || Some(text());
    let mut all = vec![
        Advice::from("make it readable"),
        Advice::Retry.or(Advice::Upgrade),
        Advice::Retry.then(Advice::Upgrade),
        Advice::Retry.also(Advice::Upgrade),
        Advice::Retry,
        Advice::RetryLater,
        Advice::WaitLonger,
        Advice::CloseAgent,
        Advice::ReopenSession,
        Advice::ReadAgain,
        Advice::Upgrade,
        Advice::AllowWriting,
        Advice::NameStore { dialect: None },
        Advice::NameStore {
            dialect: Some("claude".to_owned()),
        },
        Advice::UseListedId,
        Advice::UseListedRevision,
        Advice::GiveLongerOperationId,
        Advice::list_all(),
        Advice::ListSessions {
            dialect: Some("myagents".to_owned()),
            hidden: false,
        },
        Advice::FindSessions { matching: text() },
        Advice::ListSessionFiles,
        Advice::ListStores,
        Advice::SeeCapabilities,
        Advice::ListProjects,
        Advice::ShowSession { session: None },
        Advice::show("pi:7k3q"),
        Advice::show_records("pi:7k3q"),
        Advice::ShowRecords {
            session: session(),
            around: Some("#3".to_owned()),
        },
        Advice::ShowPrompts,
        Advice::ShowTree,
        Advice::ShowBranch {
            session: text(),
            leaf: "e9".to_owned(),
        },
        Advice::ShowFiles,
        Advice::check("pi:7k3q"),
        Advice::Handoff { session: text() },
        Advice::Convert { session: text() },
        Advice::ShowSecrets { session: text() },
        Advice::ListOperations,
        Advice::ShowOperation { operation: text() },
        Advice::ShowKept,
        Advice::ShowSettings,
        Advice::ShowMemory,
    ];
    all.extend(changes());
    all.extend(inputs());
    all
}

fn changes() -> Vec<Advice> {
    let text = || "pi:7k3q".to_owned();
    let session = || Some(text());
    let operation = text;
    vec![
        Advice::NewSession,
        Advice::AppendTo { session: session() },
        Advice::Fork {
            session: session(),
            at: Some("#3".to_owned()),
        },
        Advice::ChooseLeaf,
        Advice::Rewind,
        Advice::Rename,
        Advice::Tag,
        Advice::Unpin { session: text() },
        Advice::CompleteSession { session: text() },
        Advice::restore("pi:7k3q"),
        Advice::Delete { session: text() },
        Advice::Purge { session: text() },
        Advice::Migrate,
        Advice::ImportAgain,
        Advice::ExportDocument,
        Advice::CopySession { session: text() },
        Advice::ExportText { session: text() },
        Advice::ExportEveryByte { session: text() },
        Advice::ReplaceSecrets { session: None },
        Advice::ReplaceSecrets { session: session() },
        Advice::MoveProject { from: None },
        Advice::MoveProjectBack { folders: None },
        Advice::ShowRepair {
            session: session(),
            likely: true,
        },
        Advice::Repair { session: text() },
        Advice::ChangeProvider { session: text() },
        Advice::RepairByStep,
        Advice::RepairInPlace,
        Advice::RepairIntoFork,
        Advice::RepairLikely,
        Advice::RebuildAgentIndex,
        Advice::RebuildSearchIndex,
        Advice::SearchSubstring,
        Advice::SearchWord,
        Advice::Undo { operation: None },
        Advice::Undo {
            operation: session(),
        },
        Advice::UndoKeepingNew {
            operation: operation(),
        },
        Advice::UndoEarlier {
            operation: operation(),
            title: "rename".to_owned(),
        },
        Advice::ForceRestore,
        Advice::KeepCopies,
        Advice::KeepByTimer,
        Advice::KeepNow,
        Advice::CleanLeftovers {
            dialect: "claude".to_owned(),
        },
        Advice::NameConfig,
        Advice::IgnoreConfig,
        Advice::EditConfig,
    ]
}

fn inputs() -> Vec<Advice> {
    vec![
        Advice::Omit(RequestInput::SessionId),
        Advice::Omit(RequestInput::ForkStyle),
        Advice::Omit(RequestInput::ForkScope),
        Advice::Omit(RequestInput::Project),
        Advice::Omit(RequestInput::BranchSummary),
        Advice::Omit(RequestInput::PageCursor),
        Advice::Omit(RequestInput::TargetReader),
        Advice::Give(RequestInput::Project),
        Advice::Give(RequestInput::Backend),
        Advice::Give(RequestInput::Home),
        Advice::Give(RequestInput::SearchScope {
            known: vec!["text".to_owned()],
        }),
    ]
}

#[test]
fn every_step_has_words_of_its_own() {
    let samples = samples();
    let known: BTreeSet<&str> = samples.iter().map(Advice::word).collect();
    let all: BTreeSet<&str> = Advice::WORDS.iter().copied().collect();
    assert_eq!(known, all, "a variant is not in `samples`");
    for step in samples.iter().filter(|step| **step != Advice::Retry) {
        let fallback = step.word().replace('_', " ");
        assert_ne!(phrase(step), fallback, "{step:?} has no words");
    }
    let phrases: BTreeSet<String> = samples.iter().map(phrase).collect();
    assert_eq!(
        phrases.len(),
        samples.len(),
        "two steps have the same words"
    );
}

#[test]
fn every_command_in_advice_is_one_that_the_program_knows() {
    let mut commands = 0;
    for step in samples() {
        let text = phrase(&step);
        let quoted = text.split('`').skip(1).step_by(2);
        for line in quoted.filter(|it| it.starts_with("boswell ")) {
            commands += 1;
            let words = line.replace('\'', "");
            let parsed = crate::parse::whole().try_get_matches_from(words.split(' '));
            if let Err(error) = parsed {
                // The session at hand is left out where the error does not know it.
                let is_short = error.kind() == clap::error::ErrorKind::MissingRequiredArgument;
                assert!(is_short, "{line}: {error}");
            }
        }
    }
    assert!(commands > 40, "only {commands} commands were parsed");
}

#[test]
fn every_flag_in_advice_is_one_that_the_program_knows() {
    let whole = crate::parse::whole();
    let mut flags = BTreeSet::new();
    collect_flags(&whole, &mut flags);
    for step in samples() {
        let text = phrase(&step);
        for (at, _) in text.match_indices("--") {
            let flag: String = text[at + 2..]
                .chars()
                .take_while(|c| c.is_ascii_lowercase() || *c == '-')
                .collect();
            assert!(flags.contains(&flag), "--{flag} in {text}");
        }
    }
}

fn collect_flags(command: &clap::Command, flags: &mut BTreeSet<String>) {
    let longs = command.get_arguments().filter_map(clap::Arg::get_long);
    flags.extend(longs.map(str::to_owned));
    for inner in command.get_subcommands() {
        collect_flags(inner, flags);
    }
}

#[test]
fn several_steps_are_joined_as_people_do_it() {
    let three = Advice::WaitLonger
        .or(Advice::ShowSession { session: None })
        .or(Advice::Fork {
            session: None,
            at: None,
        });
    assert_eq!(
        phrase(&three),
        "wait with `--wait 10s`, read it with `boswell show`, or branch off with `boswell fork`"
    );
    let two = Advice::from("make it readable").then(Advice::KeepNow);
    assert_eq!(
        phrase(&two),
        "make it readable, then copy them now with `boswell keep run`"
    );
    assert_eq!(command(&two).as_deref(), Some("boswell keep run"));
    assert_eq!(command(&Advice::Retry), None);
}

#[test]
fn the_command_that_moves_a_project_back_can_be_copied_whatever_its_folders_are_called() {
    let back = |from: &str, to: &str| {
        command(&Advice::MoveProjectBack {
            folders: Some((from.to_owned(), to.to_owned())),
        })
        .unwrap()
    };
    assert_eq!(back("/w/b", "/w/a"), "boswell move /w/b /w/a --apply");
    assert_eq!(
        back("/w/b c", "/w/it's"),
        r"boswell move '/w/b c' '/w/it'\''s' --apply"
    );
    // A terminal would hide this character, so it is spelled out.
    assert_eq!(
        back("/w/b", "/w/\u{202e}a"),
        r"boswell move /w/b $'/w/\xe2\x80\xaea' --apply"
    );
}
