//! Prints a digest of a session for an agent that cannot take the session itself.
//!
//! The digest contains only text of the session: no model writes it. Secrets are redacted. Sections
//! share a number of tokens; what does not fit is left out, and the digest says so.

use boswell_find::Secrets;
use boswell_model::{Error, ErrorKind, Result, SessionRef};

use crate::shape::shape;
use crate::summary::{SummaryInput, decisions, open_ends, tokens_of};
use crate::{App, AppResult, RequestContext};

/// Tokens of a digest, unless another number is asked for.
pub const DEFAULT_TOKENS: u64 = 2_000;
/// The fewest tokens in which every section has a sentence.
const FEWEST: u64 = 200;

/// A request for a digest.
#[derive(Debug, Clone)]
pub struct HandoffRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
    /// The most tokens, as estimated.
    pub tokens: u64,
}

impl Default for HandoffRequest {
    fn default() -> HandoffRequest {
        HandoffRequest {
            session: "@last".to_owned(),
            tokens: DEFAULT_TOKENS,
        }
    }
}

shape! {
    /// From `handoff`: a digest of a session, made of its own text.
    HandoffShape: "handoff" {
        /// the session
        session: String,
        /// project folder
        project: Option<String>,
        /// the first prompt
        goal: Option<String>,
        /// sentences of answers that tell a decision or a reason, oldest first
        decisions: Vec<String>,
        /// files that tools changed
        files: Vec<String>,
        /// commands that were run last
        commands: Vec<String>,
        /// sentences about what is still to be done, and prompts without an answer
        open_ends: Vec<String>,
        /// the last prompt
        last_prompt: Option<String>,
        /// the last answer
        last_answer: Option<String>,
        /// how many texts were left out, because there was no room
        left_out: u64,
        /// tokens of the digest, as estimated
        tokens: u64,
    }
}

impl App {
    /// Returns a digest of a session.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session, Invalid if it has no text or if there are too few
    /// tokens.
    pub fn handoff(&self, request: &HandoffRequest) -> AppResult<HandoffShape> {
        self.answer(|cx| handoff(cx, request))
    }
}

fn handoff(cx: &RequestContext, request: &HandoffRequest) -> Result<HandoffShape> {
    if request.tokens < FEWEST {
        let what = format!("a digest needs at least {FEWEST} tokens");
        return Err(Error::new(ErrorKind::Invalid, what));
    }
    let found = cx.resolve(&request.session)?;
    let summary = found.store.summary(&found.location)?;
    let read = SummaryInput::read(&found, &Secrets::new()?)?;
    if read.is_empty() {
        let what = format!("{} has no text", found.reference());
        return Err(Error::new(ErrorKind::Invalid, what));
    }
    Ok(digest(
        &found.reference(),
        summary.meta.project,
        &read,
        request.tokens,
    ))
}

fn digest(
    session: &SessionRef,
    project: Option<String>,
    read: &SummaryInput,
    tokens: u64,
) -> HandoffShape {
    let mut room = Room {
        left: tokens,
        left_out: 0,
    };
    // The parts that an agent needs most come first; each gets a share of what is left.
    let goal = read.prompts.first().map(|it| room.text(it, 4));
    let last_answer = read.answer.as_ref().map(|it| room.text(it, 3));
    let last_prompt = read.prompts.last().filter(|_| read.prompts.len() > 1);
    let last_prompt = last_prompt.map(|it| room.text(it, 4));
    let open_ends = room.newest(&open_ends(&read.answers, read.unanswered()), 4);
    let files = room.newest(&read.edited, 4);
    let decisions = room.newest(&decisions(&read.answers), 2);
    let commands = room.newest(&read.ran, 1);
    HandoffShape {
        session: session.to_string(),
        project,
        goal,
        decisions,
        files,
        commands,
        open_ends,
        last_prompt,
        last_answer,
        left_out: room.left_out,
        tokens: tokens - room.left,
    }
}

/// The tokens that are left.
struct Room {
    left: u64,
    left_out: u64,
}

impl Room {
    /// Returns as much of a text as fits into one of `shares` parts of the room.
    fn text(&mut self, text: &str, shares: u64) -> String {
        let room = self.left / shares.max(1);
        let mut taken = String::new();
        for c in text.trim().chars() {
            taken.push(c);
            if tokens_of(&taken) > room {
                taken.pop();
                taken.push('…');
                self.left_out += 1;
                break;
            }
        }
        self.left -= tokens_of(&taken).min(self.left);
        taken
    }

    /// Returns the newest texts that fit into one of `shares` parts of the room, oldest first.
    fn newest(&mut self, texts: &[String], shares: u64) -> Vec<String> {
        let mut room = self.left / shares.max(1);
        let mut taken = Vec::new();
        for text in texts.iter().rev() {
            let cost = tokens_of(text) + 1;
            if cost > room {
                self.left_out += (texts.len() - taken.len()) as u64;
                break;
            }
            room -= cost;
            self.left -= cost;
            taken.push(text.clone());
        }
        taken.reverse();
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read() -> SummaryInput {
        SummaryInput {
            prompts: vec![
                "Make the coupon exact. It is off by a cent.".to_owned(),
                "继续".to_owned(),
            ],
            edited: vec!["coupon.rs".to_owned()],
            ran: vec!["cargo test".to_owned()],
            answer: Some("Two tests still fail. The rest is green.".to_owned()),
            answers: vec![
                "I will use integers instead of floats. Fine.".to_owned(),
                "Two tests still fail. The rest is green.".to_owned(),
            ],
            ends_with_prompt: true,
        }
    }

    fn made(tokens: u64) -> HandoffShape {
        digest(&SessionRef::new("claude", "a"), None, &read(), tokens)
    }

    #[test]
    fn a_digest_tells_goal_decisions_files_open_ends_and_the_last_state() {
        let digest = made(DEFAULT_TOKENS);
        assert_eq!(
            digest.goal.as_deref(),
            Some("Make the coupon exact. It is off by a cent.")
        );
        assert_eq!(digest.decisions, ["I will use integers instead of floats."]);
        assert_eq!(digest.files, ["coupon.rs"]);
        assert_eq!(digest.open_ends, ["Two tests still fail.", "继续"]);
        assert_eq!(digest.last_prompt.as_deref(), Some("继续"));
        assert_eq!(digest.left_out, 0);
    }

    #[test]
    fn a_digest_keeps_to_its_tokens_and_counts_what_does_not_fit() {
        let mut long = read();
        long.prompts = vec!["字".repeat(5_000)];
        long.edited = (0..500).map(|number| format!("file-{number}.rs")).collect();
        let digest = digest(&SessionRef::new("pi", "a"), None, &long, FEWEST);
        assert!(digest.tokens <= FEWEST, "{digest:?}");
        assert!(digest.left_out > 0, "{digest:?}");
        assert!(digest.goal.is_some_and(|goal| goal.ends_with('…')));
    }
}
