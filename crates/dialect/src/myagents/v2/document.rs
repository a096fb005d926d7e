//! The document that a folded log is read as: a record about the log, then its messages as rows.

use boswell_model::json::Json;

use super::KIND;
use super::fold::Folded;

/// Returns the document. Its records are the items of `messages`, one per line.
pub(crate) fn document(folded: &Folded) -> Vec<u8> {
    let mut out = b"{\"messages\":[\n".to_vec();
    about(folded).write(&mut out);
    folded.state.each_message(&mut |message| {
        out.extend_from_slice(b",\n");
        out.extend_from_slice(message);
    });
    out.extend_from_slice(b"\n]}\n");
    out
}

/// Returns the record about the log: its revision, how it ends, and its turns.
fn about(folded: &Folded) -> Json {
    let fault = folded.fault.as_ref().map(|fault| {
        Json::object()
            .with("line", fault.line)
            .with_some(
                "operation",
                (fault.operation > 0).then_some(fault.operation),
            )
            .with("why", fault.why.as_str())
            .with("newer", fault.newer)
    });
    let turns: Vec<Json> = folded.state.turns().map(Json::from).collect();
    Json::object()
        .with("kind", KIND)
        .with("version", 2)
        .with("generation", folded.header.generation.as_str())
        .with("revision", folded.revision)
        .with_some("lastBatch", folded.last_batch.as_deref())
        .with("tail", folded.tail.word())
        .with("validBytes", folded.valid_bytes)
        .with("bytes", folded.bytes)
        .with("linesBehind", folded.lines_behind)
        .with_some("fault", fault)
        .with("turns", turns)
}
