//! Two states of a file, compared line by line.
//!
//! The comparison is one of several that could be made. Where another one makes a line that of a
//! hand, the claim of a session is withdrawn.

use std::collections::{HashMap, HashSet};

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::attributed_lines::{AttributedLine, Carried, Cause, TELLING_ROW, is_telling};
use super::readings::Readings;

/// So many equal lines around a difference are compared with it in every way.
const AROUND: usize = 32;

/// Two states of a file, compared line by line.
pub(super) struct Comparison<'l> {
    old: &'l [AttributedLine],
    new: &'l [&'l str],
    cause: Cause,
    pub(super) ops: Vec<DiffOp>,
    /// How many lines both states begin and end with.
    same: (usize, usize),
    /// Lines between what both states begin and end with that are there once in each of them.
    unique: HashSet<usize>,
}

impl<'l> Comparison<'l> {
    pub(super) fn new(
        old: &'l [AttributedLine],
        new: &'l [&'l str],
        cause: Cause,
    ) -> Comparison<'l> {
        let same = |(old, new): &(&AttributedLine, &&str)| *old.text == ***new;
        let head = old.iter().zip(new).take_while(same).count();
        let rest = (old.len().min(new.len())) - head;
        let ends = old.iter().rev().zip(new.iter().rev());
        let tail = ends.take(rest).take_while(same).count();
        let mut comparison = Comparison {
            old,
            new,
            cause,
            ops: Vec::new(),
            same: (head, tail),
            unique: HashSet::new(),
        };
        comparison.add(DiffOp::Equal {
            old_index: 0,
            new_index: 0,
            len: head,
        });
        comparison.compare_middle(head, tail);
        comparison.add(DiffOp::Equal {
            old_index: old.len() - tail,
            new_index: new.len() - tail,
            len: tail,
        });
        comparison
    }

    /// Compares what is between the lines that both begin and end with.
    fn compare_middle(&mut self, head: usize, tail: usize) {
        let mut ids: HashMap<String, usize> = HashMap::new();
        let mut counts: Vec<(usize, usize)> = Vec::new();
        let mut id = |line: &str, is_old: bool| {
            let next = ids.len();
            let id = *ids.entry(self.cause.key(line)).or_insert(next);
            if id == next {
                counts.push((0, 0));
            }
            if let Some((old, new)) = counts.get_mut(id) {
                *old += usize::from(is_old);
                *new += usize::from(!is_old);
            }
            id
        };
        let old = middle(self.old, head, tail);
        let old: Vec<usize> = old.iter().map(|line| id(&line.text, true)).collect();
        let new = middle(self.new, head, tail);
        let new: Vec<usize> = new.iter().map(|line| id(line, false)).collect();
        let is_unique = |id: &usize| counts.get(*id) == Some(&(1, 1));
        let unique = new.iter().enumerate().filter(|(_, id)| is_unique(id));
        self.unique = unique.map(|(place, _)| head + place).collect();
        for op in line_ops(&old, &new) {
            self.add(shifted(op, head));
        }
    }

    /// Adds a step. Equal lines that follow each other are one step.
    fn add(&mut self, op: DiffOp) {
        match (self.ops.last_mut(), op) {
            (_, DiffOp::Equal { len: 0, .. }) => {}
            (Some(DiffOp::Equal { len, .. }), DiffOp::Equal { len: more, .. }) => *len += more,
            (_, op) => self.ops.push(op),
        }
    }

    /// Takes back claims that another reading of the difference does not support.
    pub(super) fn withdraw_claims(&self, carried: &mut Carried) {
        let last = self.ops.len().saturating_sub(1);
        for (place, op) in self.ops.iter().enumerate() {
            match *op {
                DiffOp::Equal { new_index, len, .. } => {
                    let is_inside = place > 0 && place < last;
                    let is_unsure = is_inside && !self.is_anchored(new_index, len);
                    if self.cause == Cause::Unknown && is_unsure {
                        (new_index..new_index + len).for_each(|line| carried.disown(line));
                    }
                }
                DiffOp::Insert {
                    new_index, new_len, ..
                } => {
                    self.check_insertion((new_index, new_len), carried);
                    self.check_edges((new_index, new_len), carried);
                }
                DiffOp::Delete {
                    old_index,
                    old_len,
                    new_index,
                } => self.check_deletion((old_index, old_len), new_index, carried),
                DiffOp::Replace {
                    new_index, new_len, ..
                } => self.check_edges((new_index, new_len), carried),
            }
        }
    }

    /// Someone who wrote braces and empty lines may have written those next to them again.
    fn check_edges(&self, (start, len): (usize, usize), carried: &mut Carried) {
        let is_writing = self.cause == Cause::Unknown;
        let mut written = start..start + len;
        if !is_writing || !written.any(|place| self.is_common(place)) {
            return;
        }
        let above = (0..start).rev().take_while(|place| self.is_common(*place));
        let below = (start + len..self.new.len()).take_while(|place| self.is_common(*place));
        above.chain(below).for_each(|place| carried.disown(place));
    }

    /// Whether a line is there in several places, or could be.
    fn is_common(&self, place: usize) -> bool {
        let Some(line) = self.new.get(place) else {
            return false;
        };
        let same = self.new.iter().filter(|it| self.cause.is_same(it, line));
        !is_telling(line) || same.count() > 1
    }

    /// Whether lines that are equal in both states say by themselves that they are the same lines.
    fn is_anchored(&self, start: usize, len: usize) -> bool {
        let (mut count, mut is_unique) = (0, false);
        for (place, line) in self.new.iter().enumerate().skip(start).take(len) {
            if is_telling(line) {
                count += 1;
                is_unique |= self.unique.contains(&place);
            }
        }
        is_unique || count >= TELLING_ROW
    }

    /// New lines between equal ones can often be moved up or down by some lines.
    fn check_insertion(&self, (start, len): (usize, usize), carried: &mut Carried) {
        let is_same = |a: usize, b: usize| match (self.new.get(a), self.new.get(b)) {
            (Some(a), Some(b)) => self.cause.is_same(a, b),
            _ => false,
        };
        let mut up = 0;
        while up < start && is_same(start - 1 - up, start + len - 1 - up) {
            withdraw_both(carried, start - 1 - up, start + len - 1 - up);
            up += 1;
        }
        let mut down = 0;
        while is_same(start + down, start + len + down) {
            withdraw_both(carried, start + down, start + len + down);
            down += 1;
        }
    }

    /// A line that stayed may have been another one, of which an equal one was removed.
    fn check_deletion(&self, (start, len): (usize, usize), at: usize, carried: &mut Carried) {
        let is_same = |a: usize, b: usize| match (self.old.get(a), self.old.get(b)) {
            (Some(a), Some(b)) => self.cause.is_same(&a.text, &b.text),
            _ => false,
        };
        let is_unexplained = |place: usize| self.old.get(place).is_some_and(|it| it.edit.is_none());
        let mut up = 0;
        while up < start.min(at) && is_same(start - 1 - up, start + len - 1 - up) {
            if is_unexplained(start + len - 1 - up) {
                carried.disown(at - 1 - up);
            }
            up += 1;
        }
        let mut down = 0;
        while is_same(start + down, start + len + down) {
            if is_unexplained(start + down) {
                carried.disown(at + down);
            }
            down += 1;
        }
    }

    /// Takes back claims that not every shortest reading of the difference supports.
    pub(super) fn withdraw_unsure(&self, carried: &mut Carried) {
        let is_same = self.ops.iter().all(|op| matches!(op, DiffOp::Equal { .. }));
        if is_same {
            return;
        }
        let (start, old, new) = self.surroundings();
        let is_by_hand = |(_, line): &(usize, &AttributedLine)| line.edit.is_none();
        let lines = self.old.iter().skip(start).take(old.len()).enumerate();
        let lines = lines.filter(is_by_hand);
        let by_hand: Vec<(usize, usize)> =
            lines.filter_map(|(i, _)| Some((i, *old.get(i)?))).collect();
        let is_writing = self.cause == Cause::Unknown;
        if by_hand.is_empty() && !is_writing {
            return;
        }
        let readings = Readings::of(&old, &new);
        let texts: HashSet<usize> = by_hand.iter().map(|(_, text)| *text).collect();
        for (j, is) in new.iter().enumerate() {
            let is_unsure = match &readings {
                Some(all) => {
                    let mut equal = by_hand.iter().filter(|(_, text)| text == is);
                    equal.any(|(i, _)| all.may_stay(*i, j)) || is_writing && all.may_be_new(j)
                }
                // Too long for that: an equal line of a hand is enough.
                None => carried.is_new.get(start + j) == Some(&true) && texts.contains(is),
            };
            if is_unsure {
                carried.disown(start + j);
            }
        }
    }

    /// The lines around the difference in both states, as numbers that are the same for equal ones,
    /// behind the place where they begin.
    fn surroundings(&self) -> (usize, Vec<usize>, Vec<usize>) {
        let (head, tail) = self.same;
        let start = head.saturating_sub(AROUND);
        let behind = tail - tail.min(AROUND);
        let mut ids: HashMap<String, usize> = HashMap::new();
        let mut id = |line: &str| {
            let next = ids.len();
            *ids.entry(self.cause.key(line)).or_insert(next)
        };
        let old = middle(self.old, start, behind).iter();
        let old = old.map(|line| id(&line.text)).collect();
        let new = middle(self.new, start, behind).iter();
        let new = new.map(|line| id(line)).collect();
        (start, old, new)
    }

    /// Lines that were only broken in other places keep their authors.
    pub(super) fn follow_line_breaks(&self, carried: &mut Carried) {
        if self.cause != Cause::Unknown {
            return;
        }
        for op in &self.ops {
            if let DiffOp::Replace { .. } = op {
                let old = self.old.get(op.old_range()).unwrap_or(&[]);
                let new = carried.lines.get_mut(op.new_range());
                new.into_iter().for_each(|new| reflow(old, new));
            }
        }
    }
}

/// Returns the steps from one list of lines to another. Lines are numbers here, equal ones the
/// same, so that the algorithm is compiled for one type.
pub(super) fn line_ops(old: &[usize], new: &[usize]) -> Vec<DiffOp> {
    capture_diff_slices(Algorithm::Histogram, old, new)
}

/// A step of a comparison that began behind some lines.
fn shifted(op: DiffOp, by: usize) -> DiffOp {
    let (old, new) = (op.old_range(), op.new_range());
    let (old_index, new_index) = (old.start + by, new.start + by);
    let (old_len, new_len) = (old.len(), new.len());
    match op {
        DiffOp::Equal { len, .. } => DiffOp::Equal {
            old_index,
            new_index,
            len,
        },
        DiffOp::Delete { .. } => DiffOp::Delete {
            old_index,
            old_len,
            new_index,
        },
        DiffOp::Insert { .. } => DiffOp::Insert {
            old_index,
            new_index,
            new_len,
        },
        DiffOp::Replace { .. } => DiffOp::Replace {
            old_index,
            old_len,
            new_index,
            new_len,
        },
    }
}

/// Hands the authors of lines on to lines that have the same characters but white space.
fn reflow(old: &[AttributedLine], new: &mut [AttributedLine]) {
    let mut chars = old.iter().flat_map(|line| {
        let chars = line.text.chars().filter(|it| !it.is_whitespace());
        chars.map(move |it| (it, line.edit))
    });
    let mut edits: Vec<Option<usize>> = Vec::new();
    for line in new.iter() {
        let mut seen: Vec<Option<usize>> = Vec::new();
        for own in line.text.chars().filter(|it| !it.is_whitespace()) {
            match chars.next() {
                Some((there, edit)) if there == own => seen.push(edit),
                _ => return,
            }
        }
        // A line with an unexplained part is unexplained; else the latest edit made it.
        let is_known = !seen.is_empty() && seen.iter().all(Option::is_some);
        edits.push(is_known.then(|| seen.into_iter().max().flatten()).flatten());
    }
    if chars.next().is_some() {
        return;
    }
    for (line, edit) in new.iter_mut().zip(edits) {
        line.edit = edit;
    }
}

/// Of two equal lines, one of which is new: if one of them is unexplained, neither is claimed.
fn withdraw_both(carried: &mut Carried, one: usize, other: usize) {
    let is_unexplained = |place: usize| {
        let line = carried.lines.get(place);
        line.is_some_and(|line| line.edit.is_none())
    };
    if is_unexplained(one) || is_unexplained(other) {
        carried.disown(one);
        carried.disown(other);
    }
}

/// Returns the lines without those at the beginning and at the end.
fn middle<T>(lines: &[T], head: usize, tail: usize) -> &[T] {
    lines.get(head..lines.len() - tail).unwrap_or(&[])
}
