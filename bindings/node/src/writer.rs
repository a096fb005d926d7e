//! Writers of sessions.
//!
//! Every call has the number of a promise, which the waiter of the store answers.

use std::sync::Arc;

use boswell_binding::{CallValue, Waiter, WaiterCall};
use boswell_store::blobs::Blobs;
use boswell_store::{Body, Draft, Outcome, Result, SessionWriter};
use napi_derive::napi;

use crate::call::{Promised, promise};
use crate::draft_item::{DraftItem, drafts};
use crate::error::thrown;
use crate::receipt::NodeAppendRules;
use crate::reply::{Answers, PromiseReply};
use crate::session::NodeSession;

/// Appends to one session.
#[napi(js_name = "NativeWriter")]
#[derive(Debug)]
pub(crate) struct NodeWriter {
    writer: SessionWriter,
    blobs: Option<Blobs>,
    queue: Queue,
}

/// The waiter of a store, and the function that it answers with.
#[derive(Clone)]
pub(crate) struct Queue {
    pub(crate) waiter: Arc<Waiter<PromiseReply>>,
    pub(crate) answers: Arc<Answers>,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

impl Queue {
    /// Queues a call that answers the promise with that number.
    fn submit(&self, call: WaiterCall, number: u32) -> Result<()> {
        let answers = Arc::clone(&self.answers);
        self.waiter.submit(call, PromiseReply { number, answers })
    }
}

impl NodeWriter {
    pub(crate) fn new(writer: SessionWriter, blobs: Option<Blobs>, queue: Queue) -> NodeWriter {
        NodeWriter {
            writer,
            blobs,
            queue,
        }
    }

    /// Queues a call behind the appends before it.
    fn queue(
        &self,
        number: u32,
        call: impl FnOnce(SessionWriter) -> Result<CallValue> + Send + 'static,
    ) -> napi::Result<()> {
        let writer = self.writer.clone();
        let work = WaiterCall::Call(Box::new(move || call(writer)));
        let submitted = self.queue.submit(work, number);
        submitted.map_err(|error| thrown(&error))
    }

    fn work(
        &self,
        items: Vec<DraftItem>,
        each: bool,
        rules: &NodeAppendRules,
    ) -> Result<WaiterCall> {
        let (expect, durability) = rules.read()?;
        Ok(WaiterCall::Append {
            writer: self.writer.clone(),
            drafts: drafts(items)?,
            expect,
            durability,
            each,
        })
    }
}

#[napi]
impl NodeWriter {
    /// The id of its session.
    #[napi(getter)]
    pub fn id(&self) -> String {
        self.writer.id().to_string()
    }

    /// The path of its log.
    #[napi(getter)]
    pub fn path(&self) -> String {
        self.writer.path().to_string_lossy().into_owned()
    }

    /// After a failed write or `fsync`: the entries of which it is unknown whether they survive.
    #[napi(getter)]
    pub fn in_doubt(&self) -> Vec<String> {
        let entries = self.writer.in_doubt().into_iter();
        entries.map(String::from).collect()
    }

    /// Appends items as one batch: checked, written and acknowledged as a whole. With `each`, every
    /// one of them gets a receipt.
    #[napi]
    pub fn append(
        &self,
        number: u32,
        items: Vec<DraftItem>,
        each: bool,
        rules: NodeAppendRules,
    ) -> napi::Result<()> {
        let work = self.work(items, each, &rules);
        work.and_then(|work| self.queue.submit(work, number))
            .map_err(|error| thrown(&error))
    }

    /// Moves the leaf to an entry: the next entry follows it. Nothing is removed.
    #[napi]
    pub fn branch(&self, number: u32, entry: String) -> napi::Result<()> {
        self.queue(number, move |writer| {
            writer.branch(entry).map(CallValue::One)
        })
    }

    /// Moves the leaf before everything: the next entry is a root. Nothing is removed.
    #[napi]
    pub fn reset(&self, number: u32) -> napi::Result<()> {
        self.queue(number, |writer| writer.reset().map(CallValue::One))
    }

    /// Replaces what a model is sent before `first_kept` by a summary. Nothing is removed.
    #[napi]
    pub fn compact(
        &self,
        number: u32,
        summary: String,
        first_kept: String,
        tokens_before: u32,
    ) -> napi::Result<()> {
        self.queue(number, move |writer| {
            let compacted = writer.compact(&summary, first_kept, tokens_before.into());
            compacted.map(CallValue::One)
        })
    }

    /// Gives the session a title.
    #[napi]
    pub fn set_title(&self, number: u32, title: String) -> napi::Result<()> {
        self.queue(number, move |writer| {
            let titled = writer.append(Draft::new(Body::Title(title)));
            titled.map(CallValue::One)
        })
    }

    /// Waits until everything that was submitted is durable.
    #[napi]
    pub fn flush(&self, number: u32) -> napi::Result<()> {
        self.queue(number, |writer| writer.flush().map(|()| CallValue::Nothing))
    }

    /// Makes everything durable and gives the session up, to be continued later.
    #[napi]
    pub fn release(&self, number: u32) -> napi::Result<()> {
        self.queue(number, |writer| {
            writer.release().map(|()| CallValue::Nothing)
        })
    }

    /// Ends the session: its status is `completed`, or `error` with a text.
    #[napi]
    pub fn finish(&self, number: u32, error: Option<String>) -> napi::Result<()> {
        let outcome = error.map_or(Outcome::Completed, Outcome::Error);
        self.queue(number, |writer| {
            writer.finish(outcome).map(|()| CallValue::Nothing)
        })
    }

    /// The session as it is now.
    #[napi]
    pub fn session(&self) -> Promised<NodeSession> {
        let (writer, blobs) = (self.writer.clone(), self.blobs.clone());
        promise(move || Ok(NodeSession::new(Arc::new(writer.session()?), blobs)))
    }
}
