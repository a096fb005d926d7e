//! Writers of sessions.

use std::sync::{Arc, Mutex, PoisonError};

use boswell_binding::{AppendRules, CallValue, DraftPlace, Language, Waiter, WaiterCall};
use boswell_store::blobs::Blobs;
use boswell_store::{Body, Draft, Durability, Expect, Outcome, Receipt};
use boswell_store::{Result, SessionWriter, Ticket};
use pyo3::prelude::*;

use crate::draft_item::{draft, drafts};
use crate::error::{invalid, raise};
use crate::own_process::OwnProcess;
use crate::receipt::PyReceipt;
use crate::reply::FutureReply;
use crate::session::PySession;

/// Appends to one session. It may be used from many threads.
#[pyclass(name = "Writer", module = "boswell_store", frozen)]
#[derive(Debug)]
pub(crate) struct PyWriter {
    inner: OwnProcess<Inner>,
}

#[derive(Debug)]
struct Inner {
    writer: SessionWriter,
    blobs: Option<Blobs>,
    waiter: Arc<Waiter<FutureReply>>,
}

/// Reads what an append expects and promises.
fn rules(
    py: Python<'_>,
    expect_revision: Option<&str>,
    expect_leaf: Option<&str>,
    durability: &str,
) -> PyResult<(Expect, Durability)> {
    let rules = AppendRules {
        expect_revision,
        expect_leaf,
        durability: Some(durability),
    };
    rules
        .read(Language::Python)
        .map_err(|error| raise(py, &error))
}

impl PyWriter {
    pub(crate) fn new(
        writer: SessionWriter,
        blobs: Option<Blobs>,
        waiter: Arc<Waiter<FutureReply>>,
    ) -> PyWriter {
        PyWriter {
            inner: OwnProcess::new(Inner {
                writer,
                blobs,
                waiter,
            }),
        }
    }

    fn receipt(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&SessionWriter) -> Result<Receipt> + Send,
    ) -> PyResult<PyReceipt> {
        let writer = &self.inner.get(py)?.writer;
        let receipt = py.detach(|| call(writer));
        receipt
            .map(PyReceipt::from)
            .map_err(|error| raise(py, &error))
    }
}

#[pymethods]
impl PyWriter {
    /// The id of its session.
    #[getter]
    fn id(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.inner.get(py)?.writer.id().to_string())
    }

    /// The path of its log.
    #[getter]
    fn path(&self, py: Python<'_>) -> PyResult<String> {
        let writer = &self.inner.get(py)?.writer;
        Ok(py.detach(|| writer.path()).to_string_lossy().into_owned())
    }

    /// After a failed write or `fsync`: the entries of which it is unknown whether they survive.
    #[getter]
    fn in_doubt(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let writer = &self.inner.get(py)?.writer;
        let entries = py.detach(|| writer.in_doubt());
        Ok(entries.into_iter().map(String::from).collect())
    }

    /// Appends a message or a record, and returns when it is durable.
    #[pyo3(signature = (item, *, id = None, parent = None, root = false, expect_revision = None,
        expect_leaf = None, durability = "fsync"))]
    #[expect(clippy::too_many_arguments, reason = "Python has keyword arguments")]
    fn append(
        &self,
        py: Python<'_>,
        item: &Bound<'_, PyAny>,
        id: Option<String>,
        parent: Option<String>,
        root: bool,
        expect_revision: Option<&str>,
        expect_leaf: Option<&str>,
        durability: &str,
    ) -> PyResult<PyReceipt> {
        let draft = DraftPlace { id, parent, root }.put(draft(item)?);
        let (expect, durability) = rules(py, expect_revision, expect_leaf, durability)?;
        self.receipt(py, |writer| writer.append_with(draft, expect, durability))
    }

    /// Appends a batch: checked as a whole, written in one write, acknowledged as a whole.
    #[pyo3(signature = (items, *, expect_revision = None, expect_leaf = None, durability = "fsync"))]
    fn append_all(
        &self,
        py: Python<'_>,
        items: &Bound<'_, PyAny>,
        expect_revision: Option<&str>,
        expect_leaf: Option<&str>,
        durability: &str,
    ) -> PyResult<Vec<PyReceipt>> {
        let drafts = drafts(items)?;
        if drafts.is_empty() {
            return Ok(Vec::new());
        }
        let (expect, durability) = rules(py, expect_revision, expect_leaf, durability)?;
        let writer = &self.inner.get(py)?.writer;
        let receipts = py.detach(|| writer.append_all(drafts, expect, durability));
        let receipts = receipts.map_err(|error| raise(py, &error))?;
        Ok(receipts.into_iter().map(PyReceipt::from).collect())
    }

    /// Hands a message or a record to the system without waiting for the disk.
    #[pyo3(signature = (item, *, id = None, parent = None))]
    fn submit(
        &self,
        py: Python<'_>,
        item: &Bound<'_, PyAny>,
        id: Option<String>,
        parent: Option<String>,
    ) -> PyResult<PyTicket> {
        let root = false;
        let draft = DraftPlace { id, parent, root }.put(draft(item)?);
        let writer = &self.inner.get(py)?.writer;
        let ticket = py.detach(|| writer.submit(draft));
        let ticket = ticket.map_err(|error| raise(py, &error))?;
        Ok(PyTicket {
            inner: OwnProcess::new(Mutex::new(Some(ticket))),
        })
    }

    /// Queues an append for the waiter of the store, which completes `future` on `event_loop`. For
    /// `boswell_store.aio`.
    #[expect(clippy::too_many_arguments, reason = "called by one line of Python")]
    fn _append_for_loop(
        &self,
        py: Python<'_>,
        event_loop: Py<PyAny>,
        future: Py<PyAny>,
        items: &Bound<'_, PyAny>,
        each: bool,
        expect_revision: Option<&str>,
        expect_leaf: Option<&str>,
        durability: &str,
    ) -> PyResult<()> {
        let drafts = drafts(items)?;
        let (expect, durability) = rules(py, expect_revision, expect_leaf, durability)?;
        let inner = self.inner.get(py)?;
        let work = WaiterCall::Append {
            writer: inner.writer.clone(),
            drafts,
            expect,
            durability,
            each,
        };
        let submitted = inner
            .waiter
            .submit(work, FutureReply { event_loop, future });
        submitted.map_err(|error| raise(py, &error))
    }

    /// Queues another call for the waiter of the store, behind the appends before it. For
    /// `boswell_store.aio`.
    #[pyo3(signature = (event_loop, future, call, *arguments))]
    fn _call_for_loop(
        &self,
        py: Python<'_>,
        event_loop: Py<PyAny>,
        future: Py<PyAny>,
        call: &str,
        arguments: &Bound<'_, pyo3::types::PyTuple>,
    ) -> PyResult<()> {
        let inner = self.inner.get(py)?;
        let writer = inner.writer.clone();
        let call: Box<dyn FnOnce() -> Result<CallValue> + Send> = match call {
            "branch" => {
                let (entry,): (String,) = arguments.extract()?;
                Box::new(move || writer.branch(entry).map(CallValue::One))
            }
            "reset" => Box::new(move || writer.reset().map(CallValue::One)),
            "compact" => {
                let (summary, kept, tokens): (String, String, u64) = arguments.extract()?;
                Box::new(move || writer.compact(&summary, kept, tokens).map(CallValue::One))
            }
            "flush" => Box::new(move || writer.flush().map(|()| CallValue::Nothing)),
            "release" => Box::new(move || writer.release().map(|()| CallValue::Nothing)),
            "finish" => {
                let (error,): (Option<String>,) = arguments.extract()?;
                Box::new(move || writer.finish(outcome(error)).map(|()| CallValue::Nothing))
            }
            _ => return Err(invalid(py, "the waiter has no such call", "this is a bug")),
        };
        let submitted = inner
            .waiter
            .submit(WaiterCall::Call(call), FutureReply { event_loop, future });
        submitted.map_err(|error| raise(py, &error))
    }

    /// Moves the leaf to an entry: the next entry follows it. Nothing is removed.
    fn branch(&self, py: Python<'_>, entry: &str) -> PyResult<PyReceipt> {
        self.receipt(py, |writer| writer.branch(entry))
    }

    /// Moves the leaf before everything: the next entry is a root. Nothing is removed.
    fn reset(&self, py: Python<'_>) -> PyResult<PyReceipt> {
        self.receipt(py, SessionWriter::reset)
    }

    /// Replaces what a model is sent before `first_kept` by a summary. Nothing is removed.
    #[pyo3(signature = (summary, first_kept, *, tokens_before = 0))]
    fn compact(
        &self,
        py: Python<'_>,
        summary: &str,
        first_kept: &str,
        tokens_before: u64,
    ) -> PyResult<PyReceipt> {
        self.receipt(py, |writer| {
            writer.compact(summary, first_kept, tokens_before)
        })
    }

    /// Gives the session a title.
    fn set_title(&self, py: Python<'_>, title: String) -> PyResult<PyReceipt> {
        self.receipt(py, |writer| writer.append(Draft::new(Body::Title(title))))
    }

    /// Waits until everything that was submitted is durable.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let writer = &self.inner.get(py)?.writer;
        py.detach(|| writer.flush())
            .map_err(|error| raise(py, &error))
    }

    /// The session as it is now.
    fn session(&self, py: Python<'_>) -> PyResult<PySession> {
        let inner = self.inner.get(py)?;
        let session = py.detach(|| inner.writer.session());
        let session = session.map_err(|error| raise(py, &error))?;
        Ok(PySession::new(Arc::new(session), inner.blobs.clone()))
    }

    /// Makes everything durable and gives the session up, to be continued later.
    fn release(&self, py: Python<'_>) -> PyResult<()> {
        let writer = self.inner.get(py)?.writer.clone();
        py.detach(|| writer.release())
            .map_err(|error| raise(py, &error))
    }

    /// Ends the session: its status is `completed`, or `error` with a text.
    #[pyo3(signature = (*, error = None))]
    fn finish(&self, py: Python<'_>, error: Option<String>) -> PyResult<()> {
        let writer = self.inner.get(py)?.writer.clone();
        py.detach(|| writer.finish(outcome(error)))
            .map_err(|error| raise(py, &error))
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Releases the session. An error of the block is not replaced by one of the release.
    #[pyo3(signature = (kind, error, _traceback))]
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: &Bound<'_, PyAny>,
        error: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let released = self.release(py);
        if kind.is_none() && error.is_none() {
            released?;
        }
        Ok(false)
    }
}

fn outcome(error: Option<String>) -> Outcome {
    error.map_or(Outcome::Completed, Outcome::Error)
}

/// An entry that was submitted and may not be durable yet.
#[pyclass(name = "Ticket", module = "boswell_store", frozen)]
#[derive(Debug)]
pub(crate) struct PyTicket {
    inner: OwnProcess<Mutex<Option<Ticket>>>,
}

#[pymethods]
impl PyTicket {
    /// Waits until the entry is durable. A ticket can be waited for once.
    fn wait(&self, py: Python<'_>) -> PyResult<PyReceipt> {
        let ticket = self.inner.get(py)?;
        let ticket = ticket.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(ticket) = ticket else {
            return Err(invalid(
                py,
                "this ticket was waited for already",
                "keep the receipt that the first `wait` returned",
            ));
        };
        let receipt = py.detach(|| ticket.wait());
        receipt
            .map(PyReceipt::from)
            .map_err(|error| raise(py, &error))
    }
}
