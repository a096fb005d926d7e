//! What is done with the entry at the cursor.

use super::{ask, enter_subagent};
use crate::ask::{Ask, PagePart};
use crate::keys::Action;
use crate::line::Line;
use crate::state::{Input, InputPurpose, Overlay, State};
use crate::transcript::{Block, BlockKind};
use crate::words;

/// Returns the block at the cursor.
fn block(state: &State) -> Option<&Block> {
    let reader = state.reader.as_ref()?;
    reader.blocks.get(reader.block_at_cursor()?)
}

/// Returns the entry at the cursor, else the nearest one before it.
pub(crate) fn entry(state: &State) -> Option<String> {
    let reader = state.reader.as_ref()?;
    let at = reader.block_at_cursor()?;
    let before = reader.blocks.get(..=at)?;
    before.iter().rev().find_map(|it| it.entry.clone())
}

/// Opens or closes the fold at the cursor; enters a subagent.
pub(super) fn toggle(state: &mut State, asks: &mut Vec<Ask>) {
    match block(state).map(|it| it.kind) {
        Some(BlockKind::Subagent) => return enter_subagent(state, asks),
        Some(BlockKind::Media) => return picture(state),
        _ => {}
    }
    let Some(reader) = &mut state.reader else {
        return;
    };
    let at = reader.at;
    let block = reader.block_at_cursor();
    // Inside of an open call its first line has the fold.
    let lines = reader.lines.get(..=at).unwrap_or_default();
    let of_block = lines.iter().rev().take_while(|it| Some(it.block) == block);
    let fold = of_block.clone().find_map(|it| it.fold.clone());
    let start = at + 1 - of_block.count().max(1);
    let Some(fold) = fold else {
        return;
    };
    reader.folds.toggle(fold.clone());
    reader.wrap();
    let is_fold = |it: &crate::transcript::TextLine| it.fold.as_ref() == Some(&fold);
    let line = reader.lines.iter().position(is_fold);
    reader.at = line.unwrap_or(start);
    reader.top = reader.top.min(reader.at);
}

/// Copies the text of the entry at the cursor, or a link to it.
pub(super) fn copy(state: &State, action: Action, asks: &mut Vec<Ask>) {
    let entry = entry(state);
    let Some(reader) = &state.reader else {
        return;
    };
    if action == Action::CopyLink {
        let link = entry.map(|entry| format!("{}#{entry}", reader.session));
        asks.extend(link.map(Ask::Copy));
        return;
    }
    let of_entry = reader.blocks.iter().filter(|it| it.entry == entry);
    let texts: Vec<&str> = of_entry.map(|it| it.text.as_str()).collect();
    asks.push(Ask::Copy(texts.join("\n")));
}

/// Asks for the folder that the picture at the cursor is written to, or the next one after it.
pub(super) fn picture(state: &mut State) {
    let Some(reader) = state.reader.as_ref().filter(|_| !state.look.read_only) else {
        return;
    };
    let from = reader.block_at_cursor().unwrap_or(0);
    let rest = reader.blocks.get(from..).unwrap_or_default();
    let found = rest.iter().find(|it| it.kind == BlockKind::Media);
    let Some(entry) = found.and_then(|it| it.entry.clone()) else {
        state.say(words::NO_PICTURE);
        return;
    };
    let session = reader.session.clone();
    let folder = format!("{}/boswell-pictures", state.look.tmp);
    state.overlay = Some(Overlay::Input(Input {
        title: state.look.say(words::PICTURE_FOLDER).to_owned(),
        line: Line::new(folder),
        purpose: InputPurpose::Picture { session, entry },
    }));
}

/// Follows new entries, or stops.
pub(super) fn follow(state: &mut State, asks: &mut Vec<Ask>) {
    let Some(reader) = &mut state.reader else {
        return;
    };
    reader.following = !reader.following;
    let word = if reader.following {
        words::FOLLOWING
    } else {
        words::NOT_FOLLOWING
    };
    if reader.following {
        reader.top = reader.lines.len();
        reader.at = reader.lines.len();
        if reader.loading.is_none()
            && let Some(last) = reader.last.clone()
        {
            ask(reader, PagePart::After(last), asks);
        }
    }
    state.say(word);
}
