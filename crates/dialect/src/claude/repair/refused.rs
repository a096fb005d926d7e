//! Blocks that the provider takes in no request: one of them, and the session can never go on.
//!
//! The newest client leaves out blank texts by itself, but for those inside of results; broken images it sends again and again.

use boswell_model::json::{Json, Raw, set_member};
use boswell_model::{EntryKind, ProblemKind, Result, Slot};

use super::super::image::{self, Flaw};
use super::super::tip;
use super::readers::SEND_BLANKS;
use super::{Lines, changed, reached};
use crate::{Confidence, Mend};

/// Each line of the branch with such a block gets a note in its place, which says what was left out.
pub(super) fn mends(lines: &Lines<'_>, mends: &mut Vec<Mend>) -> Result<()> {
    for slot in reached(&lines.view, tip::tip(&lines.view)?)? {
        let kind = lines.view.log.kind(slot);
        if matches!(kind, EntryKind::User | EntryKind::Assistant | EntryKind::ToolResult) {
            mends.extend(mend(lines, slot)?);
        }
    }
    Ok(())
}

/// What is wrong with a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refused {
    /// Nothing is said in it.
    Blank,
    /// The same inside of a result.
    BlankResult,
    /// A thought of Claude's that has lost its signature. Other models sign nothing.
    Unsigned,
    Image(Flaw),
}

impl Refused {
    /// What stands in its place; none if nothing is missing without it.
    fn note(self) -> Option<String> {
        match self {
            Refused::Blank | Refused::BlankResult => None,
            Refused::Unsigned => Some("[a thought was left out by repair: it has lost its signature]".to_owned()),
            Refused::Image(flaw) => Some(format!("[an image was left out by repair: {}]", flaw.words())),
        }
    }

    fn does(self) -> String {
        match self {
            Refused::Blank | Refused::BlankResult => "leave out a text that says nothing".to_owned(),
            Refused::Unsigned => "leave out a thought that has lost its signature".to_owned(),
            Refused::Image(flaw) => format!("leave out an image: {}", flaw.words()),
        }
    }
}

fn mend(lines: &Lines<'_>, slot: Slot) -> Result<Option<Mend>> {
    let record = lines.view.payload(slot)?;
    let raw = Raw::trusted(&record);
    let Some(content) = raw.at(&["message", "content"]) else { return Ok(None) };
    let of_claude =
        raw.at(&["message", "model"]).and_then(|model| model.text()).is_some_and(|it| it.contains("claude"));
    let mut found = Vec::new();
    let cleaned = cleaned(content, of_claude, false, &mut found)?;
    let Some(first) = found.first().copied() else { return Ok(None) };
    let does = match found.len() {
        1 => first.does(),
        n => format!("{}, and {} more like it", first.does(), n - 1),
    };
    // Whether the provider minds a blank inside of a result was never measured, and a proxy may mind no signature.
    let unsure = found.iter().any(|it| matches!(it, Refused::Unsigned | Refused::BlankResult));
    let confidence = if unsure { Confidence::Likely } else { Confidence::Certain };
    let mut mend = lines.mend(ProblemKind::RefusedBlock, slot, confidence, does);
    if found.iter().all(|it| *it == Refused::Blank) {
        mend.helps = SEND_BLANKS;
    }
    let with = set_member(&record, &["message", "content"], &cleaned).map_err(|_| changed())?;
    mend.splices.push(lines.replaced(slot, with));
    Ok(Some(mend))
}

/// The list of blocks without those that are refused.
fn cleaned(content: Raw<'_>, of_claude: bool, in_result: bool, found: &mut Vec<Refused>) -> Result<Vec<u8>> {
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    for block in content.items() {
        let inner = block.get("content").filter(|inner| !in_result && inner.items().next().is_some());
        match (refused(&block, of_claude, in_result), inner) {
            (Some(why), _) => {
                found.push(why);
                blocks.extend(why.note().map(|note| text(&note)));
            }
            (None, Some(inner)) => {
                let inner = cleaned(inner, false, true, found)?;
                blocks.push(set_member(block.bytes(), &["content"], &inner).map_err(|_| changed())?);
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
    Json::object().with("type", "text").with("text", text).to_bytes()
}

fn refused(block: &Raw<'_>, of_claude: bool, in_result: bool) -> Option<Refused> {
    let word = block.get("type").and_then(|word| word.text())?;
    match &*word {
        "text" => {
            let blank = block.get("text").and_then(|text| text.text()).is_some_and(|text| text.trim().is_empty());
            blank.then_some(if in_result { Refused::BlankResult } else { Refused::Blank })
        }
        "thinking" if of_claude => {
            let signature = block.get("signature").and_then(|it| it.text());
            signature.is_none_or(|it| it.is_empty()).then_some(Refused::Unsigned)
        }
        "image" => {
            let source = block.get("source").filter(|source| source.get("type").is_some_and(|it| it.is("base64")))?;
            let kind = source.get("media_type").and_then(|it| it.text()).unwrap_or_default();
            let data = source.get("data").and_then(|it| it.text()).unwrap_or_default();
            image::flaw(&kind, &data).map(Refused::Image)
        }
        _ => None,
    }
}
