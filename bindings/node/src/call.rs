//! Calls that may block, on a thread of libuv's pool.

use boswell_store::{Error, ErrorKind, Result};
use napi::bindgen_prelude::{AsyncTask, ToNapiValue, TypeName};
use napi::{Env, Task};

use crate::error::thrown;

type Work<T> = Box<dyn FnOnce() -> Result<T> + Send>;

/// A call whose value a promise is resolved with.
pub(crate) struct Call<T> {
    /// `None` when it was run.
    work: Option<Work<T>>,
}

/// What a method returns whose value comes from such a call.
pub(crate) type Promised<T> = AsyncTask<Call<T>>;

/// Runs a call on the pool.
pub(crate) fn promise<T>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Promised<T>
where
    T: ToNapiValue + TypeName + Send + 'static,
{
    AsyncTask::new(Call {
        work: Some(Box::new(work)),
    })
}

impl<T> Task for Call<T>
where
    T: ToNapiValue + TypeName + Send + 'static,
{
    type Output = T;
    type JsValue = T;

    fn compute(&mut self) -> napi::Result<T> {
        let done = match self.work.take() {
            Some(work) => work(),
            None => Err(Error::new(ErrorKind::Internal, "a call was run twice")),
        };
        done.map_err(|error| thrown(&error))
    }

    fn resolve(&mut self, _: Env, output: T) -> napi::Result<T> {
        Ok(output)
    }
}
