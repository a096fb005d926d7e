//! The body of a long answer: pieces from the thread that makes it.

use std::pin::Pin;
use std::task::{Context, Poll};

use boswell_app::CancelOnDrop;
use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::sync::mpsc;

use crate::lines::Piece;

/// Pieces of an answer. When the client goes away, the body is dropped, and with it the guard that
/// cancels the request.
#[derive(Debug)]
pub(crate) struct PieceBody {
    first: Option<Bytes>,
    rest: mpsc::Receiver<Piece>,
    _guard: CancelOnDrop,
}

impl PieceBody {
    pub(crate) fn new(first: Bytes, rest: mpsc::Receiver<Piece>, guard: CancelOnDrop) -> PieceBody {
        PieceBody {
            first: Some(first),
            rest,
            _guard: guard,
        }
    }
}

/// An answer that could not be completed. The connection ends before the body does, so that a
/// client does not take a part for the whole.
#[derive(Debug)]
pub(crate) struct Broken(String);

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the answer ended early: {}", self.0)
    }
}

impl std::error::Error for Broken {}

impl Body for PieceBody {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        self.rest.poll_recv(cx).map(|piece| match piece? {
            Piece::Part(bytes) => Some(Ok(Frame::data(bytes))),
            Piece::Whole(whole) => Some(Ok(Frame::data(whole.bytes))),
            Piece::Failed(refusal) => Some(Err(Broken(refusal.to_string()))),
        })
    }
}
