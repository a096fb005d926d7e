//! Removes blocks that the provider rejects in every request.

use boswell_model::json::{Json, Raw, set_member};
use boswell_model::{ProblemKind, Result, Slot};

use super::super::invalid_blocks::{Block, InvalidBlock, is_of_claude, is_sent};
use super::super::tip;
use super::readers::SEND_BLANKS;
use super::{Lines, changed, entries_agent_sees};
use crate::{Confidence, Fix};

/// Adds one fix per line of the branch with such a block: a note that names the removed content
/// replaces the block.
pub(super) fn fixes(lines: &Lines<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    for slot in entries_agent_sees(&lines.view, tip::tip(&lines.view)?)? {
        if is_sent(&lines.view, slot) {
            fixes.extend(fix(lines, slot)?);
        }
    }
    Ok(())
}

impl InvalidBlock {
    /// Returns the text that replaces the block; `None` if it can be omitted without one.
    fn note(self) -> Option<String> {
        match self {
            InvalidBlock::Blank | InvalidBlock::BlankResult => None,
            InvalidBlock::Unsigned => {
                Some("[a thought was left out by repair: it has lost its signature]".to_owned())
            }
            InvalidBlock::Image(flaw) => Some(format!(
                "[an image was left out by repair: {}]",
                flaw.words()
            )),
        }
    }

    fn does(self) -> String {
        match self {
            InvalidBlock::Blank | InvalidBlock::BlankResult => "leave out an empty text".to_owned(),
            InvalidBlock::Unsigned => "leave out a thought that has lost its signature".to_owned(),
            InvalidBlock::Image(flaw) => format!("leave out an image: {}", flaw.words()),
        }
    }
}

fn fix(lines: &Lines<'_>, slot: Slot) -> Result<Option<Fix>> {
    let record = lines.view.payload(slot)?;
    let raw = Raw::trusted(&record);
    let Some((message, content)) = raw
        .get("message")
        .and_then(|it| Some((it, it.get("content")?)))
    else {
        return Ok(None);
    };
    let mut found = Vec::new();
    let cleaned = cleaned(content, is_of_claude(&message), false, &mut found)?;
    let Some(first) = found.first().copied() else {
        return Ok(None);
    };
    let does = match found.len() {
        1 => first.does(),
        n => format!("{}, and {} more like it", first.does(), n - 1),
    };
    // It was never measured whether the provider rejects a blank text inside a result, and a proxy
    // may accept thinking without a signature.
    let unsure = found
        .iter()
        .any(|it| matches!(it, InvalidBlock::Unsigned | InvalidBlock::BlankResult));
    let confidence = if unsure {
        Confidence::Likely
    } else {
        Confidence::Certain
    };
    let mut fix = lines.fix(ProblemKind::RefusedBlock, slot, confidence, does);
    if found.iter().all(|it| *it == InvalidBlock::Blank) {
        fix.helps = SEND_BLANKS;
    }
    let with = set_member(&record, &["message", "content"], &cleaned).map_err(|_| changed())?;
    fix.splices.push(lines.replaced(slot, with));
    Ok(Some(fix))
}

/// Returns the list of blocks without the rejected ones, which are added to `found`.
fn cleaned(
    content: Raw<'_>,
    of_claude: bool,
    in_result: bool,
    found: &mut Vec<InvalidBlock>,
) -> Result<Vec<u8>> {
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    for block in content.items() {
        let read = Block::of(&block);
        match (
            read.refused(of_claude, in_result),
            read.inner().filter(|_| !in_result),
        ) {
            (Some(why), _) => {
                found.push(why);
                blocks.extend(why.note().map(|note| text(&note)));
            }
            (None, Some(inner)) => {
                let inner = cleaned(inner, false, true, found)?;
                blocks
                    .push(set_member(block.bytes(), &["content"], &inner).map_err(|_| changed())?);
            }
            (None, None) => blocks.push(block.bytes().to_vec()),
        }
    }
    if blocks.is_empty() {
        blocks.push(text("[a text that said nothing was left out by repair]"));
    }
    Ok([b"[".as_slice(), &blocks.join(&b','), b"]"].concat())
}

fn text(text: &str) -> Vec<u8> {
    Json::object()
        .with("type", "text")
        .with("text", text)
        .to_bytes()
}
