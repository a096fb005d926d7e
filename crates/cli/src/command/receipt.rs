//! What writing commands answer.

use boswell_model::Result;
use boswell_model::json::Json;
use boswell_store::Receipt;

use crate::output::Output;
use crate::terminal::one_line;

/// Prints the acknowledgement of an entry.
pub(crate) fn print(receipt: &Receipt, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(
            &Json::object()
                .with("v", 1)
                .with("type", "receipt")
                .with("session", receipt.session.to_string())
                .with("entry", &receipt.entry)
                .with("revision", &receipt.revision)
                .with("deduplicated", receipt.deduplicated)
                .with("durable", receipt.durable.word()),
        );
    }
    let again = if receipt.deduplicated {
        " (was there already)"
    } else {
        ""
    };
    out.line(&format!("{}{again}", one_line(&receipt.entry)))
}
