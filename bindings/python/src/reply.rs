//! Futures of event loops, which the waiter of a store completes.

use boswell_binding::{CallReply, CallValue};
use boswell_store::Result;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::error::raise;
use crate::receipt::PyReceipt;

/// A future of an event loop that waits for a call.
pub(crate) struct FutureReply {
    pub(crate) event_loop: Py<PyAny>,
    pub(crate) future: Py<PyAny>,
}

impl CallReply for FutureReply {
    /// Answers futures: one call into each run of futures of the same loop.
    fn answer(batch: Vec<(FutureReply, Result<CallValue>)>) {
        // When the interpreter ends, nothing waits any more.
        let _ = Python::try_attach(|py| {
            let mut rest = batch.into_iter().peekable();
            while let Some((FutureReply { event_loop, future }, result)) = rest.next() {
                let mut run = vec![(future, result)];
                while let Some((next, result)) =
                    rest.next_if(|(next, _)| next.event_loop.is(&event_loop))
                {
                    run.push((next.future, result));
                }
                // A loop that was closed no longer takes calls; its futures are void.
                let _ = complete(py, &event_loop, run);
            }
        });
    }
}

fn complete(
    py: Python<'_>,
    event_loop: &Py<PyAny>,
    run: Vec<(Py<PyAny>, Result<CallValue>)>,
) -> PyResult<()> {
    let answers = PyList::empty(py);
    for (future, result) in run {
        let (value, error) = match result {
            Ok(answer) => (value(py, answer)?, py.None()),
            Err(error) => (py.None(), raise(py, &error).into_value(py).into_any()),
        };
        answers.append(PyTuple::new(py, [future, value, error])?)?;
    }
    let complete = py.import("boswell_store.aio")?.getattr("_complete")?;
    event_loop.call_method1(py, "call_soon_threadsafe", (complete, answers))?;
    Ok(())
}

fn value(py: Python<'_>, answer: CallValue) -> PyResult<Py<PyAny>> {
    Ok(match answer {
        CallValue::Nothing => py.None(),
        CallValue::One(receipt) => Py::new(py, PyReceipt::from(receipt))?.into_any(),
        CallValue::Each(receipts) => {
            let receipts: Vec<PyReceipt> = receipts.into_iter().map(PyReceipt::from).collect();
            receipts.into_pyobject(py)?.into_any().unbind()
        }
    })
}
