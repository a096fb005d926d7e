//! Two operations in this process, run alternately: the median time of each, round by round.

use std::time::{Duration, Instant};

use super::lab::median;
use super::table::{self, Row, Target};
use crate::Outcome;

/// An operation that returns its duration; its preparation is not counted.
pub(crate) type Operation<'a> = &'a mut dyn FnMut() -> Outcome<Duration>;

pub(crate) fn timed<T>(operation: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let value = operation();
    (start.elapsed(), value)
}

/// Returns median times of `ours` and `theirs`, which alternate `count` times in each round; each
/// goes first equally often.
pub(crate) fn compare(
    case: &str,
    (rounds, count): (usize, usize),
    ours: Operation<'_>,
    theirs: Operation<'_>,
    target: Option<Target>,
) -> Outcome<Row> {
    let (mut our_times, mut their_times, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (mut mine, mut yours) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for number in 0..count {
            if number % 2 == 0 {
                mine.push(ours()?.as_secs_f64());
                yours.push(theirs()?.as_secs_f64());
            } else {
                yours.push(theirs()?.as_secs_f64());
                mine.push(ours()?.as_secs_f64());
            }
        }
        let (mine, yours) = (median(&mut mine), median(&mut yours));
        our_times.push(mine);
        their_times.push(yours);
        ratios.push(mine / yours);
    }
    Ok(Row {
        case: case.to_owned(),
        ours: table::seconds(median(&mut our_times)),
        baseline: table::seconds(median(&mut their_times)),
        ratio: median(&mut ratios),
        target,
    })
}

/// Returns the CPU time of this thread so far. The kernel counts it in nanoseconds, unlike the
/// ticks of whole processes.
pub(crate) fn thread_cpu() -> Outcome<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").map_err(|error| {
        format!("/proc/thread-self/schedstat: {error} (the bench runs on Linux only)")
    })?;
    let nanoseconds = text.split(' ').next().and_then(|field| field.parse().ok());
    Ok(Duration::from_nanos(
        nanoseconds.ok_or("/proc/thread-self/schedstat holds no time")?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_that_of_the_middle_times() {
        let mut slow = [4, 2, 90, 4, 2, 4]
            .map(Duration::from_millis)
            .into_iter()
            .cycle();
        let row = compare(
            "x",
            (2, 3),
            &mut || Ok(slow.next().unwrap_or_default()),
            &mut || Ok(Duration::from_millis(2)),
            Some(Target::AtMost(2.0)),
        );
        assert!((row.expect("no operation fails").ratio - 2.0).abs() < 0.001);
    }
}
