//! Listings and recognition.

use boswell_dialect::{Environment, Match, Sample, SessionLocation};
use boswell_model::json::{Object, Scanned};
use boswell_store::Store;

use super::DialectRule::{IdsAreValid, ListingIsComplete, RecognisesItsOwn};
use super::{DialectSample, DialectSuite, Findings};

pub(super) fn run(suite: &DialectSuite, sample: &DialectSample, findings: &mut Findings) {
    let store = sample.store(suite.dialect);
    let Some(first) = findings.answer(ListingIsComplete, &sample.id, store.list()) else {
        return;
    };
    let second = store.list().map(|listing| listing.sessions);
    let words = |sessions: &[SessionLocation]| {
        let words = sessions.iter().map(|it| format!("{it:?}"));
        words.collect::<Vec<_>>()
    };
    let same = second.is_ok_and(|second| words(&second) == words(&first.sessions));
    findings.expect(ListingIsComplete, same, || {
        format!("{}: two listings differ", sample.id)
    });
    let found = first.sessions.iter().find(|it| it.id == sample.id);
    findings.expect(ListingIsComplete, found.is_some(), || {
        let ids: Vec<_> = first.sessions.iter().map(|it| &it.id).collect();
        format!("{} is not among {ids:?}", sample.id)
    });
    for location in &first.sessions {
        located(suite, &store, location, findings);
    }
    odd_names(suite, sample, findings);
    recognised(suite, sample, findings);
}

fn located(
    suite: &DialectSuite,
    store: &Store,
    location: &SessionLocation,
    findings: &mut Findings,
) {
    let (dialect, id) = (suite.dialect, &location.id);
    findings.expect(IdsAreValid, !id.starts_with('-'), || {
        format!("`{id}` is listed, and would be an option where it is typed")
    });
    findings.expect(IdsAreValid, dialect.is_usable(location), || {
        format!("`{id}` is listed and not usable")
    });
    let Some(key) = &location.key else { return };
    let opened = store.backend().open(key).map(drop);
    findings.answer(ListingIsComplete, key, opened);
    let framing = dialect.framing(key);
    findings.expect(ListingIsComplete, framing == location.framing, || {
        format!(
            "{key} is listed as {:?}, its name says {framing:?}",
            location.framing
        )
    });
}

/// Checks that a file whose name looks like an option is not listed as a session.
fn odd_names(suite: &DialectSuite, sample: &DialectSample, findings: &mut Findings) {
    let mut odd = sample.clone();
    for file in &mut odd.files.list {
        file.path = file.path.replace(&sample.id, "--help");
    }
    let listed = odd.store(suite.dialect).list();
    let Some(listed) = findings.answer(IdsAreValid, "a file named --help", listed) else {
        return;
    };
    let bad = listed.sessions.iter().find(|it| it.id.starts_with('-'));
    findings.expect(IdsAreValid, bad.is_none(), || {
        "a file named `--help` is listed as a session".to_owned()
    });
}

fn recognised(suite: &DialectSuite, sample: &DialectSample, findings: &mut Findings) {
    // A session without records cannot be recognised.
    let empty = sample.main.is_some() && sample.bytes().trim_ascii().is_empty();
    let own = likeness(suite, sample, &home_of(suite));
    findings.expect(RecognisesItsOwn, empty || own >= suite.certainty, || {
        format!("{} is {own:?} its own", sample.id)
    });
    for stranger in &suite.strangers {
        let foreign = likeness(suite, stranger, &[]);
        findings.expect(RecognisesItsOwn, foreign < Match::Certain, || {
            format!("{} of another agent is {foreign:?} its own", stranger.id)
        });
    }
}

/// Returns the names of the folders of the agent's own root, nearest first.
fn home_of(suite: &DialectSuite) -> Vec<String> {
    let env = Environment {
        home: Some("/home/me".into()),
        ..Environment::default()
    };
    let root = suite.dialect.roots(&env).into_iter().next();
    let names = root.iter().flat_map(|root| root.iter().rev());
    names
        .map(|name| name.to_string_lossy().into_owned())
        .collect()
}

/// The sample as JSON. Rows have no JSON file: an export of them is used instead.
fn text_of(sample: &DialectSample) -> Vec<u8> {
    if sample.main.is_some() {
        return sample.bytes().to_vec();
    }
    let rows = sample.databases.values().flat_map(|rows| rows.places());
    let tables = rows.map(|(table, _, _)| format!("{{\"$table\":\"{table}\"}}\n"));
    tables.collect::<String>().into()
}

/// The records of the first lines, or the whole text as one record.
fn first_records(text: &[u8]) -> Vec<(Vec<u8>, Scanned)> {
    let mut records = Vec::new();
    for line in text.split(|byte| *byte == b'\n').take(8) {
        records.extend(scanned(line));
    }
    if records.is_empty() {
        let start = text.iter().position(|byte| *byte == b'{').unwrap_or(0);
        records.extend(scanned(text.get(start..).unwrap_or_default()));
    }
    records
}

fn scanned(bytes: &[u8]) -> Option<(Vec<u8>, Scanned)> {
    let mut scanned = Scanned::default();
    scanned.scan(bytes).ok()?;
    Some((bytes.to_vec(), scanned))
}

fn likeness(suite: &DialectSuite, sample: &DialectSample, above: &[String]) -> Match {
    let scanned = first_records(&text_of(sample));
    let records: Vec<Object<'_>> = scanned
        .iter()
        .map(|(bytes, scanned)| scanned.object(bytes))
        .collect();
    let path = sample.main.as_deref().unwrap_or("rows.db");
    let mut parts: Vec<String> = path.rsplit('/').map(str::to_owned).collect();
    let name = parts.remove(0);
    parts.extend_from_slice(above);
    suite.dialect.recognises(&Sample {
        name: &name,
        folders: &parts,
        records: &records,
    })
}
