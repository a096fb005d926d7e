//! Appended entries are read back.

use boswell_dialect::{
    Append, AssistantMessage, Body, Draft, EntryStamp, NewSession, Parent, SessionFacts,
};
use boswell_model::json::{Json, Raw, Scanned};
use boswell_model::{
    EntryKind, ErrorKind, Head, Instant, Interner, Part, SessionMeta, Span, SpanKind,
};
use boswell_store::{Session, WritableStore};

use super::DialectRule::AppendedReadsBack;
use super::{DialectSuite, Findings, facts};

const TEXTS: [&str; 3] = [
    "why is it red?",
    "a test \u{1f9ea} fails\n\"here\"",
    "which one?",
];

pub(super) fn run(suite: &DialectSuite, findings: &mut Findings) {
    let Some(append) = suite.dialect.powers().append else {
        return;
    };
    for (draft, kind) in drafts() {
        encoded(append, &draft, kind, findings);
    }
    // A session that is created by a plan is more than its log: there is no first log to check.
    if !suite.dialect.facts().creates_by_plan {
        let (store, _) = facts::writable(suite.dialect);
        written(&store, findings);
    }
}

fn drafts() -> Vec<(Draft, EntryKind)> {
    let call = AssistantMessage {
        content: vec![
            Part::Text(TEXTS[1].to_owned()),
            Part::Call {
                id: "call-1".to_owned(),
                name: "read".to_owned(),
                input: Json::object().with("path", "a.rs").into(),
            },
        ],
        ..AssistantMessage::default()
    };
    let failed = Body::ToolResult {
        call: "call-1".to_owned(),
        tool: "read".to_owned(),
        content: vec![Part::Text(TEXTS[2].to_owned())],
        is_error: true,
    };
    vec![
        (Draft::user(TEXTS[0]), EntryKind::User),
        (Draft::assistant(TEXTS[1]), EntryKind::Assistant),
        (Draft::answer(call), EntryKind::Assistant),
        (Draft::new(failed), EntryKind::ToolResult),
        (
            Draft::tool_result("call-1", "read", TEXTS[2]),
            EntryKind::ToolResult,
        ),
        (
            Draft::new(Body::Title("A red build".to_owned())),
            EntryKind::Title,
        ),
    ]
}

/// Returns the text that a view of the draft must show.
fn text_of(draft: &Draft) -> Option<String> {
    let parts = match &draft.body {
        Body::User(parts) | Body::ToolResult { content: parts, .. } => parts,
        Body::Assistant(answer) => &answer.content,
        _ => return None,
    };
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    Some(texts.collect::<Vec<_>>().join("\n"))
}

/// Checks that a draft becomes one record that is read as the same kind, or is refused as
/// unsupported.
fn encoded(append: &dyn Append, draft: &Draft, kind: EntryKind, findings: &mut Findings) {
    let meta = SessionMeta::default();
    let session = SessionFacts {
        id: "01990000-1234-7abc-8def-0123456789ab",
        meta: &meta,
    };
    let stamp = EntryStamp {
        id: "0123456789abcdef",
        parent: Some("fedcba9876543210"),
        at: Instant::from_millis(1_767_254_400_000),
    };
    let mut bytes = Vec::new();
    if let Err(error) = append.encode(draft, stamp, Some(session), &mut bytes) {
        let clean = error.kind() == ErrorKind::Unsupported;
        findings.expect(AppendedReadsBack, clean, || format!("a {kind:?}: {error}"));
        return;
    }
    let one_line = Raw::parse(&bytes).is_ok() && !bytes.contains(&b'\n');
    let mut scanned = Scanned::default();
    findings.expect(
        AppendedReadsBack,
        one_line && scanned.scan(&bytes).is_ok(),
        || {
            format!(
                "a {kind:?} is not one line of JSON: {}",
                bytes.escape_ascii()
            )
        },
    );
    if !one_line {
        return;
    }
    let object = scanned.object(&bytes);
    let (mut head, mut names) = (Head::of(&span(bytes.len())), Interner::default());
    append.head(&object, &mut head, &mut names);
    let id = head.id.map(|id| names.text(id));
    let same = head.kind == kind && (id == Some(stamp.id) || id.is_none());
    findings.expect(AppendedReadsBack, same && append.is_record(&object), || {
        format!("a {kind:?} is read as {:?} with the id {id:?}", head.kind)
    });
    let view = append.view(&object);
    let shown = view.text();
    let failed = matches!(draft.body, Body::ToolResult { is_error: true, .. });
    let mut results = view.parts.iter();
    let shows_failure = results.any(|it| matches!(it, Part::Result { is_error: true, .. }));
    let says = text_of(draft).is_none_or(|text| shown == text) && failed == shows_failure;
    findings.expect(AppendedReadsBack, says, || {
        format!("a {kind:?} shows {shown:?}")
    });
}

fn span(len: usize) -> Span {
    Span {
        at: 0,
        len: len as u64,
        line: 1,
        kind: SpanKind::Record {
            nth: 0,
            bad_utf8: false,
            salvaged: false,
        },
    }
}

/// Checks a session that is created, written, branched, and read by another store on the same disk.
fn written(store: &WritableStore, findings: &mut Findings) {
    let created = store.create(NewSession::in_project("/proj"));
    let Some(writer) = findings.answer(AppendedReadsBack, "creating a session", created) else {
        return;
    };
    let mut entries: Vec<String> = Vec::new();
    for (nth, text) in TEXTS.iter().enumerate() {
        let draft = match nth {
            1 => Draft::assistant(*text),
            // A child of the first entry: a branch.
            2 => Draft::user(*text).below(Parent::Entry(entries[0].as_str().into())),
            _ => Draft::user(*text),
        };
        let receipt = writer.append(draft);
        match findings.answer(AppendedReadsBack, "appending", receipt) {
            Some(receipt) => entries.push(receipt.entry.to_string()),
            None => return,
        }
    }
    let id = writer.reference().id.clone();
    drop(writer);
    if let Some(session) = findings.answer(AppendedReadsBack, "reading", store.session(&id)) {
        read_back(&session, &entries, findings);
    }
}

fn read_back(session: &Session, entries: &[String], findings: &mut Findings) {
    let mut slots = Vec::new();
    for (entry, text) in entries.iter().zip(TEXTS) {
        let slot = session.find(entry);
        let Some(slot) = findings.answer(AppendedReadsBack, entry, slot) else {
            return;
        };
        let shown = session.entry(slot).ok().and_then(|entry| entry.view);
        let shown = shown.map(|view| view.text());
        findings.expect(AppendedReadsBack, shown.as_deref() == Some(text), || {
            format!("{text:?} comes back as {shown:?}")
        });
        slots.push(slot);
    }
    let tip = session.tip().unwrap_or_default();
    let branch = session.branch(tip).unwrap_or_default();
    let holds = branch.contains(&slots[0]) && branch.contains(&slots[2]);
    findings.expect(
        AppendedReadsBack,
        holds && !branch.contains(&slots[1]),
        || format!("the branch is {branch:?}, and the entries are {slots:?}"),
    );
    let context = session.context(tip).unwrap_or_default();
    let sent: Vec<_> = context.items.iter().flat_map(|item| item.slots()).collect();
    findings.expect(AppendedReadsBack, sent == [slots[0], slots[2]], || {
        format!("{sent:?} is sent, and the entries are {slots:?}")
    });
}
