//! Work on several threads, with the results in order.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls `work` with every item on up to `workers` threads, of which the calling one is the first.
pub(super) fn in_parallel<T: Sync, R: Send>(
    workers: usize,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    if workers <= 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let one = || {
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(place) else {
                return done;
            };
            done.push((place, work(item)));
        }
    };
    let mut done = std::thread::scope(|threads| {
        let others: Vec<_> = (1..workers).map(|_| threads.spawn(one)).collect();
        let mut done = one();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order() {
        let items: Vec<usize> = (0..500).collect();
        for workers in [0, 1, 2, 7] {
            let results = in_parallel(workers, &items, |item| item * 2);
            assert!(results.iter().enumerate().all(|(at, it)| *it == at * 2));
            assert_eq!(results.len(), items.len(), "{workers} workers");
        }
    }

    #[test]
    #[should_panic(expected = "item 3")]
    fn a_panic_is_passed_on() {
        in_parallel(2, &[1, 2, 3, 4], |item| assert!(*item != 3, "item 3"));
    }
}
