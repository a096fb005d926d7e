//! Promises by number, which the waiter of a store answers.
//!
//! The thread answers a batch with one call of a threadsafe function, whose JSON text names them.

use std::sync::Arc;

use boswell_binding::{CallReply, CallValue};
use boswell_store::Result;
use boswell_store::model::json::Json;
use napi::Status;
use napi::bindgen_prelude::Unknown;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};

use crate::{error, receipt};

/// Takes answers to the event loop: `[[number, value], [number, null, error], …]` as JSON.
///
/// It is weak: it does not keep the process alive. `js/promises.ts` does, while a promise is open.
pub(crate) type Answers = ThreadsafeFunction<String, Unknown<'static>, String, Status, false, true>;

/// A promise that waits for a call.
pub(crate) struct PromiseReply {
    pub(crate) number: u32,
    pub(crate) answers: Arc<Answers>,
}

impl CallReply for PromiseReply {
    fn answer(batch: Vec<(PromiseReply, Result<CallValue>)>) {
        // All calls of a store have the same function.
        let Some(answers) = batch.first().map(|(reply, _)| Arc::clone(&reply.answers)) else {
            return;
        };
        let done = batch.into_iter();
        let done = done.map(|(reply, result)| answered(reply.number, result));
        // When the event loop has ended, nothing waits any more.
        let _ = answers.call(
            Json::Array(done.collect()).to_string(),
            ThreadsafeFunctionCallMode::NonBlocking,
        );
    }
}

fn answered(number: u32, result: Result<CallValue>) -> Json {
    let value = match result {
        Ok(CallValue::Nothing) => Json::Null,
        Ok(CallValue::One(receipt)) => receipt::described(&receipt),
        Ok(CallValue::Each(receipts)) => {
            Json::Array(receipts.iter().map(receipt::described).collect())
        }
        Err(error) => {
            return Json::Array(vec![number.into(), Json::Null, error::described(&error)]);
        }
    };
    Json::Array(vec![number.into(), value])
}
