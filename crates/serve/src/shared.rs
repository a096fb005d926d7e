//! Requests that ask the same at the same time share one answer.
//!
//! A list looks at every file, and many clients ask for the same one. Of requests for one address
//! one runs at a time, and those that came before it began get its answer too: each sees at least
//! what was there when it was sent. Nothing is kept once no request waits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::lines::WholeAnswer;

/// The addresses that are being answered.
#[derive(Debug, Default)]
pub(crate) struct SharedAnswers(Mutex<HashMap<String, Arc<Queue>>>);

/// The requests for one address.
#[derive(Debug, Default)]
struct Queue {
    turn: tokio::sync::Mutex<()>,
    runs: Mutex<Runs>,
}

/// How often an address was run, and the last answer with the number of its run.
#[derive(Debug, Default)]
struct Runs {
    begun: u64,
    last: Option<(u64, WholeAnswer)>,
}

/// A request for an address that others may ask for too.
#[derive(Debug)]
pub(crate) struct SharedRequest<'s> {
    all: &'s SharedAnswers,
    address: String,
    queue: Arc<Queue>,
    /// How many runs had begun when it came.
    came: u64,
}

/// The right to run a request while the others for its address wait.
#[derive(Debug)]
pub(crate) struct Turn<'r> {
    queue: &'r Queue,
    number: u64,
    _turn: tokio::sync::MutexGuard<'r, ()>,
}

/// What a request gets.
#[derive(Debug)]
pub(crate) enum Share<'r> {
    /// The answer of a run that began after the request came.
    Answer(WholeAnswer),
    /// It must run itself.
    Turn(Turn<'r>),
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SharedAnswers {
    /// Registers a request.
    pub(crate) fn request(&self, address: String) -> SharedRequest<'_> {
        let queue = Arc::clone(locked(&self.0).entry(address.clone()).or_default());
        let came = locked(&queue.runs).begun;
        SharedRequest {
            all: self,
            address,
            queue,
            came,
        }
    }
}

impl SharedRequest<'_> {
    /// Waits for the answer of another request, or for the turn of this one.
    pub(crate) async fn wait(&self) -> Share<'_> {
        let turn = self.queue.turn.lock().await;
        let mut runs = locked(&self.queue.runs);
        match &runs.last {
            Some((number, answer)) if *number > self.came => Share::Answer(answer.clone()),
            _ => {
                runs.begun += 1;
                Share::Turn(Turn {
                    queue: &self.queue,
                    number: runs.begun,
                    _turn: turn,
                })
            }
        }
    }
}

impl Turn<'_> {
    /// Hands the answer to those who wait.
    pub(crate) fn share(self, answer: &WholeAnswer) {
        locked(&self.queue.runs).last = Some((self.number, answer.clone()));
    }
}

impl Drop for SharedRequest<'_> {
    fn drop(&mut self) {
        let mut all = locked(&self.all.0);
        // The map has one, and this request has one.
        if Arc::strong_count(&self.queue) == 2 {
            all.remove(&self.address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &'static str) -> WholeAnswer {
        WholeAnswer {
            bytes: text.into(),
            warnings: Vec::new(),
            tag: None,
        }
    }

    fn runtime() -> tokio::runtime::Runtime {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.build().unwrap()
    }

    #[test]
    fn an_answer_is_shared_with_those_that_came_before_it_began() {
        let all = SharedAnswers::default();
        let ask = || all.request("/v1/sessions".to_owned());
        runtime().block_on(async {
            let first = ask();
            let Share::Turn(turn) = first.wait().await else {
                panic!("nothing is known yet");
            };
            // Came after the first one began.
            let (second, third) = (ask(), ask());
            turn.share(&answer("one"));
            let Share::Turn(turn) = second.wait().await else {
                panic!("the answer was begun before the request came");
            };
            let late = ask();
            turn.share(&answer("two"));
            let Share::Answer(shared) = third.wait().await else {
                panic!("the answer was begun after the request came");
            };
            assert_eq!(shared.bytes, "two");
            assert!(matches!(late.wait().await, Share::Turn(_)));
        });
        assert!(locked(&all.0).is_empty(), "nothing is kept");
    }

    #[test]
    fn a_request_that_ends_without_an_answer_leaves_its_turn() {
        let all = SharedAnswers::default();
        let ask = || all.request("/v1/sessions".to_owned());
        runtime().block_on(async {
            let (first, second) = (ask(), ask());
            drop(first.wait().await);
            drop(first);
            assert!(matches!(second.wait().await, Share::Turn(_)));
        });
    }
}
