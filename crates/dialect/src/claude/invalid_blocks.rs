//! Finds blocks that the provider rejects in every request: with one of them a session can never
//! continue.
//!
//! The newest client itself omits blank texts, except inside tool results; it sends broken images
//! again in every request.

use std::collections::HashSet;

use boswell_model::json::{Object, Raw};
use boswell_model::{EntryKind, Flags, Head, Problem, ProblemKind, Result, SessionView, Slot};

use super::image::{self, Flaw};
use super::{repair, tip};

/// Why the provider rejects a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InvalidBlock {
    /// A text block without visible text.
    Blank,
    /// A blank text inside a tool result.
    BlankResult,
    /// A thinking block of a Claude model without its signature. Other models do not sign.
    Unsigned,
    Image(Flaw),
}

impl InvalidBlock {
    fn words(self) -> String {
        match self {
            InvalidBlock::Blank => "an empty text, which older clients send as it is".to_owned(),
            InvalidBlock::BlankResult => "an empty text inside a result".to_owned(),
            InvalidBlock::Unsigned => "a thought that has lost its signature".to_owned(),
            InvalidBlock::Image(flaw) => format!("an image: {}", flaw.words()),
        }
    }
}

/// The members of a block that decide whether it is rejected.
#[derive(Debug, Default)]
pub(super) struct Block<'a> {
    pub(super) word: Option<Raw<'a>>,
    pub(super) text: Option<Raw<'a>>,
    pub(super) signature: Option<Raw<'a>>,
    pub(super) source: Option<Raw<'a>>,
    pub(super) content: Option<Raw<'a>>,
}

impl<'a> Block<'a> {
    /// Records a member if it matters for the decision.
    pub(super) fn take(&mut self, key: &[u8], value: Raw<'a>) {
        let place = match key {
            b"type" => &mut self.word,
            b"text" => &mut self.text,
            b"signature" => &mut self.signature,
            b"source" => &mut self.source,
            b"content" => &mut self.content,
            _ => return,
        };
        *place = Some(value);
    }

    pub(super) fn of(block: &Raw<'a>) -> Self {
        let mut found = Block::default();
        for (key, value) in block.members() {
            found.take(key.to_wtf8().as_ref(), value);
        }
        found
    }

    /// Returns why the provider rejects the block. `of_claude` is whether a Claude model wrote it.
    pub(super) fn refused(&self, of_claude: bool, in_result: bool) -> Option<InvalidBlock> {
        let word = self.word?;
        if word.is("text") {
            let blank = self.text.is_some_and(|text| is_blank(&text));
            return blank.then_some(if in_result {
                InvalidBlock::BlankResult
            } else {
                InvalidBlock::Blank
            });
        }
        if word.is("thinking") && of_claude {
            let signed = self
                .signature
                .is_some_and(|it| it.string().is_some() && !it.is(""));
            return (!signed).then_some(InvalidBlock::Unsigned);
        }
        if !word.is("image") {
            return None;
        }
        image_in(self.source?).map(InvalidBlock::Image)
    }

    /// Returns the blocks inside a tool result, if it contains any.
    pub(super) fn inner(&self) -> Option<Raw<'a>> {
        self.content.filter(|inner| inner.items().next().is_some())
    }

    /// Whether the block, or a block inside it, is rejected. Runs for every block that is read, so
    /// `of_claude` is called only where it decides.
    pub(super) fn is_refused(&self, of_claude: impl Fn() -> bool) -> bool {
        match self.refused(true, false) {
            Some(InvalidBlock::Unsigned) => of_claude(),
            Some(_) => true,
            None => self.content.is_some_and(|it| {
                it.items()
                    .any(|it| Block::of(&it).refused(false, true).is_some())
            }),
        }
    }
}

/// Returns what is wrong with an image inside a record. Read in one pass, because it may be long.
fn image_in(source: Raw<'_>) -> Option<Flaw> {
    let (mut how, mut kind, mut data) = (None, None, None);
    for (key, value) in source.members() {
        match key.to_wtf8().as_ref() {
            b"type" => how = Some(value),
            b"media_type" => kind = Some(value),
            b"data" => data = Some(value),
            _ => {}
        }
    }
    how.filter(|how| how.is("base64"))?;
    let kind = kind.and_then(|kind| kind.text()).unwrap_or_default();
    let Some(data) = data.filter(|data| data.string().is_some()) else {
        return Some(Flaw::Empty);
    };
    let digits = data
        .bytes()
        .get(1..data.bytes().len().saturating_sub(1))
        .unwrap_or_default();
    match image::flaw(&kind, digits) {
        // Some programs write a slash as `\/`.
        Some(Flaw::NotBase64) => image::flaw(&kind, data.text().unwrap_or_default().as_bytes()),
        found => found,
    }
}

/// Whether a text is blank. Most texts begin with a letter, so the first byte usually decides.
fn is_blank(text: &Raw<'_>) -> bool {
    let begins_blank = !matches!(text.bytes().get(1), Some(byte) if byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'));
    begins_blank && text.text().is_some_and(|text| text.trim().is_empty())
}

/// Whether a Claude model wrote the message: those sign their thinking.
pub(super) fn is_of_claude(message: &Raw<'_>) -> bool {
    message
        .get("model")
        .and_then(|model| model.text())
        .is_some_and(|it| it.contains("claude"))
}

/// Reports each line of the branch with such a block.
pub(super) fn check(view: &SessionView<'_>, problems: &mut Vec<Problem>) -> Result<()> {
    // If the session was read with its tool calls, the candidates are flagged already.
    let may = |slot: Slot| {
        let head = view.log.head(slot);
        head.is_some_and(|head| view.pairs.is_none() || head.flags.has(Flags::REFUSED))
            && is_sent(view, slot)
    };
    if !view.log.slots().any(may) {
        return Ok(());
    }
    for slot in repair::entries_agent_sees(view, tip::tip(view)?)?
        .into_iter()
        .filter(|slot| may(*slot))
    {
        let record = view.payload(slot)?;
        let raw = Raw::trusted(&record);
        let Some(message) = raw.get("message") else {
            continue;
        };
        let mut found = refused_in(&message);
        if repair::leaves_out_blanks(raw.get("version").and_then(|it| it.text()).as_deref()) {
            found.retain(|it| *it != InvalidBlock::Blank);
        }
        let Some(first) = found.first() else { continue };
        let more = if found.len() > 1 {
            format!(", and {} more", found.len() - 1)
        } else {
            String::new()
        };
        let detail = format!("the provider refuses {}{more}", first.words());
        let line = view.log.head(slot).map(|head| u64::from(head.line));
        problems.push(Problem {
            kind: ProblemKind::RefusedBlock,
            line,
            slot: Some(slot),
            advice: None,
            detail,
        });
    }
    Ok(())
}

/// Returns those of the reported lines with which the provider can be expected to refuse a request.
///
/// Blank texts are taken in practice: real sessions with them went on. Of other texts and thoughts
/// that is so if an answer of the model follows.
pub(super) fn refused(view: &SessionView<'_>, reported: &[Slot]) -> Result<Vec<Slot>> {
    if reported.is_empty() {
        return Ok(Vec::new());
    }
    let reported: HashSet<Slot> = reported.iter().copied().collect();
    let path = repair::entries_agent_sees(view, tip::tip(view)?)?;
    let (mut refused, mut is_answered) = (Vec::new(), false);
    for slot in path.into_iter().rev() {
        if !reported.contains(&slot) {
            is_answered = is_answered || is_answer(view, slot)?;
            continue;
        }
        let is_harmful = |object: &Object<'_>| {
            let found = object.get("message").map(|it| refused_in(&it));
            let mut found = found.into_iter().flatten();
            found.any(|block| match block {
                InvalidBlock::Blank => false,
                InvalidBlock::Image(_) => true,
                InvalidBlock::BlankResult | InvalidBlock::Unsigned => !is_answered,
            })
        };
        if view.with_object(slot, is_harmful)? == Some(true) {
            refused.push(slot);
        }
    }
    Ok(refused)
}

/// Whether a line is an answer of the model, not a text of the client.
fn is_answer(view: &SessionView<'_>, slot: Slot) -> Result<bool> {
    let is_error = |head: &Head| head.flags.has(Flags::ERROR);
    let head = view.log.head(slot);
    if head.is_none_or(|head| head.kind != EntryKind::Assistant || is_error(head)) {
        return Ok(false);
    }
    let is_model = |object: &Object<'_>| {
        let model = object.get("message").and_then(|it| it.get("model"));
        model.is_some_and(|model| !model.is("<synthetic>"))
    };
    Ok(view.with_object(slot, is_model)? == Some(true))
}

/// Returns every block of a message that the provider rejects.
fn refused_in(message: &Raw<'_>) -> Vec<InvalidBlock> {
    let mut found = Vec::new();
    let Some(content) = message.get("content") else {
        return found;
    };
    let of_claude = is_of_claude(message);
    for block in content.items() {
        let block = Block::of(&block);
        found.extend(block.refused(of_claude, false));
        if let Some(inner) = block.inner() {
            found.extend(
                inner
                    .items()
                    .filter_map(|it| Block::of(&it).refused(false, true)),
            );
        }
    }
    found
}

/// Whether an entry is of a kind that is sent to the provider.
pub(super) fn is_sent(view: &SessionView<'_>, slot: Slot) -> bool {
    matches!(
        view.log.kind(slot),
        EntryKind::User | EntryKind::Assistant | EntryKind::ToolResult
    )
}

#[cfg(test)]
mod tests {
    use boswell_model::Framing;

    use super::super::fixture::{Bytes, DOT, base, call, file, image, text, with_content};
    use super::*;
    use crate::claude::Claude;
    use crate::{Depth, Reader, SessionLocation};

    /// Returns the reported lines and reasons; checks that they do not depend on how the session
    /// was read.
    fn found(lines: &[String]) -> Vec<String> {
        let bytes = file(lines);
        let told = [Depth::Calls, Depth::Pairs, Depth::Heads].map(|depth| {
            let location = SessionLocation::of("s", Framing::Lines, bytes.len() as u64);
            let read = Reader::read(&Claude, &location, &bytes, depth);
            let mut problems = Vec::new();
            check(&read.view(&Bytes(&bytes)), &mut problems).unwrap();
            problems
                .iter()
                .map(|it| format!("{}: {}", it.line.unwrap(), it.detail))
                .collect::<Vec<_>>()
        });
        assert_eq!(told[0], told[1]);
        assert_eq!(told[0], told[2]);
        let [told, ..] = told;
        told
    }

    #[test]
    fn broken_images_are_told_with_their_line_inside_of_results_too() {
        assert_eq!(found(&base()), [] as [&str; 0]);
        let mut lines = base();
        lines[2] = with_content(
            &lines[2],
            &format!("{},{},{}", image(DOT), image("!!!!"), text("TWO")),
        );
        let result = format!(
            r#"{{"type":"tool_result","tool_use_id":"t1","content":[{},{}]}}"#,
            image(""),
            text("")
        );
        lines[5] = with_content(&lines[5], &result);
        // An escape sequence in the data decodes to the same image; data that is not a string
        // counts as empty.
        lines[8] = with_content(&lines[8], &image(&DOT.replacen('A', "\\u0041", 1)));
        lines[9] = with_content(&lines[9], &image(DOT).replace(&format!("\"{DOT}\""), "7"));
        assert_eq!(
            found(&lines),
            [
                "3: the provider refuses an image: its data is broken",
                "6: the provider refuses an image: it holds nothing, and 1 more",
                "10: the provider refuses an image: it holds nothing"
            ]
        );
    }

    #[test]
    fn texts_of_nothing_are_told_where_a_client_that_sends_them_wrote_the_line() {
        let with = |version: &str, said: &str| {
            let mut lines = base();
            lines[2] = with_content(&lines[2], &format!("{},{}", text(said), text("TWO")));
            lines[2] = lines[2].replacen('{', &format!("{{\"version\":\"{version}\","), 1);
            found(&lines)
        };
        for blank in ["", " ", "\\n\\t", "\u{3000}", "\\u0020"] {
            let told = "3: the provider refuses an empty text, which older clients send as it is";
            assert_eq!(with("2.1.50", blank), [told], "{blank:?}");
            assert_eq!(
                with("2.1.200", blank),
                [told],
                "{blank:?}: the last one that was measured sends it"
            );
            assert_eq!(with("2.1.325", blank), [] as [&str; 0]);
            assert_eq!(with("2.2", blank), [] as [&str; 0]);
            assert_eq!(
                with("", blank),
                [] as [&str; 0],
                "an unknown client is taken for the newest"
            );
        }
        for said in [".", " 一", "\\n.", "\\\\", "\\\"", "\u{3000}x"] {
            assert_eq!(with("2.1.50", said), [] as [&str; 0], "{said:?}");
        }
    }

    #[test]
    fn a_thought_without_signature_is_told_only_where_thoughts_are_signed() {
        for (signature, count) in [
            (",\"signature\":\"\"", 1),
            ("", 1),
            (",\"signature\":7", 1),
            (",\"signature\":\"x\"", 0),
        ] {
            let thought = format!(r#"{{"type":"thinking","thinking":"hm"{signature}}}"#);
            let mut lines = base();
            lines[3] = with_content(&lines[3], &format!("{thought},{}", call("t1")));
            assert_eq!(
                found(&lines),
                [] as [&str; 0],
                "the model `big` signs nothing"
            );
            lines[3] = lines[3].replace("\"big\"", "\"claude-sonnet-4-5\"");
            assert_eq!(found(&lines).len(), count, "{signature}");
        }
    }

    #[test]
    fn what_is_not_on_the_branch_is_sent_to_nobody() {
        let mut lines = base();
        let broken = with_content(&lines[2], &image("!"));
        lines.insert(
            2,
            broken
                .replace("\"parentUuid\":\"", "\"parentUuid\":\"gone")
                .replace("\"uuid\":\"", "\"uuid\":\"x"),
        );
        assert_eq!(found(&lines), [] as [&str; 0]);
    }
}
