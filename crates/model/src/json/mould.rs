//! The beginning that a line has in common with one that was scanned before.
//!
//! Lines of a log are alike: the same keys in the same order, ids and times of the same length. What the scanner does depends
//! on where quotes stand and on the bytes outside of strings, and on nothing else. So as far as a line agrees in both with one
//! that was scanned before, the scanner would do again what it did then, and may as well start where they part.

use fearless_simd::{Level, Simd, dispatch, prelude::*, u8x64};

use super::Member;
use super::outline::Container;
use super::scan::Start;

/// How much of a line is compared, in blocks of sixty-four bytes: what follows is mostly one long text.
const BLOCKS: usize = 10;

/// How many lines are remembered: those of a user, of a model, of tools…
const MOULDS: usize = 6;

/// How many lines must go by for each that is remembered, or lines that are all different would cost more than they do now.
const PRICE: u32 = 8;

/// Lines that were scanned before.
#[derive(Debug, Default)]
pub(super) struct Moulds {
    kept: Vec<Mould>,
    /// Which one is forgotten next.
    oldest: usize,
    credit: u32,
}

/// The beginning of a line that was scanned.
#[derive(Debug, Default)]
struct Mould {
    blocks: Vec<[u8; 64]>,
    quotes: Vec<u64>,
    /// The bytes that are no part of a string.
    outside: Vec<u64>,
    members: Vec<Member>,
    containers: Vec<Container>,
    inner: Vec<Member>,
}

/// What was found in a line.
pub(super) struct Scan<'s> {
    pub(super) members: &'s [Member],
    pub(super) containers: &'s [Container],
    /// Members of those objects that are themselves members of the line.
    pub(super) inner: &'s [Member],
}

/// How far a line is like one of the moulds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Likeness {
    mould: usize,
    /// The first byte that differs.
    until: usize,
}

impl Moulds {
    /// The mould that a line agrees with the furthest.
    pub(super) fn likest(&mut self, line: &[u8], quotes: &[u64]) -> Option<Likeness> {
        self.credit = (self.credit + 1).min(PRICE * MOULDS as u32);
        self.likest_of(line, quotes)
    }

    fn likest_of(&self, line: &[u8], quotes: &[u64]) -> Option<Likeness> {
        let (blocks, _) = line.as_chunks::<64>();
        dispatch!(Level::new(), simd => likest(simd, &self.kept, blocks, quotes))
    }

    /// Puts down what the scanner knew of a mould where the line begins to differ, and says where that is.
    pub(super) fn resume(
        &self,
        like: Likeness,
        members: &mut Vec<Member>,
        containers: &mut Vec<Container>,
        inner: &mut Vec<Member>,
    ) -> Start {
        match self.kept.get(like.mould) {
            Some(mould) => mould.resume(like.until, members, containers, inner),
            None => Start::default(),
        }
    }

    /// Remembers a line that was scanned, unless it is much like one that is remembered.
    pub(super) fn learn(&mut self, line: &[u8], quotes: &[u64], like: Option<Likeness>, scan: &Scan<'_>) {
        let (blocks, _) = line.as_chunks::<64>();
        let blocks = blocks.get(..BLOCKS).unwrap_or(blocks);
        let known = like.map_or(0, |like| like.until);
        if self.credit < PRICE || known >= blocks.len() * 48 {
            return;
        }
        self.credit -= PRICE;
        if self.kept.len() < MOULDS {
            self.oldest = self.kept.len();
            self.kept.push(Mould::default());
        }
        if let Some(mould) = self.kept.get_mut(self.oldest) {
            mould.take(blocks, quotes, scan);
        }
        self.oldest = (self.oldest + 1) % MOULDS;
    }
}

impl Mould {
    fn take(&mut self, blocks: &[[u8; 64]], quotes: &[u64], scan: &Scan<'_>) {
        self.blocks.clear();
        self.blocks.extend_from_slice(blocks);
        self.quotes.clear();
        self.quotes.extend(quotes.iter().take(blocks.len()));
        self.outside.clear();
        let mut inside = 0;
        self.outside.extend(self.quotes.iter().map(|word| {
            let strings = from_odd_to_even(*word) ^ inside;
            // All ones if a string goes on in the next word.
            inside = 0u64.wrapping_sub(strings >> 63);
            !strings
        }));
        let end = blocks.len() * 64;
        self.members.clear();
        self.members.extend(scan.members.iter().take_while(|member| member.start < end));
        self.containers.clear();
        self.containers.extend(scan.containers.iter().take_while(|container| (container.start as usize) < end));
        self.inner.clear();
        self.inner.extend(scan.inner.iter().take_while(|member| member.start < end));
    }

    /// The scanner as it stood before the last value that begins before `until`, of those whose beginnings are known.
    fn resume(
        &self,
        until: usize,
        members: &mut Vec<Member>,
        containers: &mut Vec<Container>,
        inner: &mut Vec<Member>,
    ) -> Start {
        let is_before = |place: usize| place < until;
        let opened = self.containers.partition_point(|container| is_before(container.start as usize));
        let own = self.members.partition_point(|member| is_before(member.start));
        let at_container =
            self.containers.get(..opened).and_then(|before| before.last()).map_or(0, |c| c.start as usize);
        let at_member = self.members.get(..own).and_then(|before| before.last()).map_or(0, |member| member.start);
        let mut start = Start { at: at_container.max(at_member), ..Start::default() };
        if let Some((last, done)) = self.members.get(..own).and_then(|before| before.split_last()) {
            members.extend_from_slice(done);
            start.own = *last;
        }
        let done = self.inner.partition_point(|member| member.end <= start.at);
        inner.extend_from_slice(self.inner.get(..done).unwrap_or_default());
        start.inner = self.inner.get(done).filter(|member| member.start <= start.at).copied().unwrap_or_default();
        for container in self.containers.iter().take_while(|container| (container.start as usize) < start.at) {
            let mut container = *container;
            if container.end as usize > start.at {
                let number = containers.len() as u32;
                container.end = std::mem::replace(&mut start.around, number);
                let (block, byte) = (container.start as usize / 64, container.start as usize % 64);
                start.open.push(self.blocks.get(block).and_then(|block| block.get(byte)) == Some(&b'{'));
            }
            containers.push(container);
        }
        start
    }
}

#[inline(always)]
fn likest<S: Simd>(simd: S, moulds: &[Mould], blocks: &[[u8; 64]], quotes: &[u64]) -> Option<Likeness> {
    let mut best: Option<Likeness> = None;
    for (number, mould) in moulds.iter().enumerate() {
        let until = agreement(simd, mould, blocks, quotes);
        if best.is_none_or(|best| best.until < until) {
            best = Some(Likeness { mould: number, until });
        }
        if until == mould.blocks.len() * 64 {
            break;
        }
    }
    best
}

/// How far a line and a mould have the same quotes, and the same bytes outside of strings.
#[inline(always)]
fn agreement<S: Simd>(simd: S, mould: &Mould, blocks: &[[u8; 64]], quotes: &[u64]) -> usize {
    let theirs = mould.blocks.iter().zip(&mould.quotes).zip(&mould.outside);
    let mut at = 0;
    for ((block, word), ((their_block, their_word), outside)) in blocks.iter().zip(quotes).zip(theirs) {
        let same = u8x64::simd_from(simd, *block).simd_eq(u8x64::simd_from(simd, *their_block)).to_bitmask();
        let differs = (word ^ their_word) | (!same & outside);
        if differs != 0 {
            return at + differs.trailing_zeros() as usize;
        }
        at += 64;
    }
    at
}

/// Bits from each odd one up to the next even one: from the quote at which a string begins to before the one at which it ends.
fn from_odd_to_even(mut word: u64) -> u64 {
    for step in [1, 2, 4, 8, 16, 32] {
        word ^= word << step;
    }
    word
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Object, Raw, Scanned, Str};
    use super::*;

    #[test]
    fn strings_reach_from_their_first_quote_to_before_their_last() {
        assert_eq!(from_odd_to_even(0b1000_0100_0010_0001), 0b0111_1100_0001_1111);
        assert_eq!(from_odd_to_even(1 << 63), 1 << 63);
    }

    /// Every key and value of a record, whatever they stand in, in the order in which one comes upon them.
    fn all(of: &Object<'_>) -> Vec<Vec<u8>> {
        let mut found = vec![of.raw().bytes().to_vec()];
        let mut open: Vec<(Str<'_>, Raw<'_>)> = of.members().collect();
        while let Some((key, value)) = open.pop() {
            found.extend([key.escaped().to_vec(), value.bytes().to_vec()]);
            open.extend(value.items().map(|item| (Str::trusted(b""), item)));
            open.extend(value.members());
        }
        found
    }

    /// A line of a log; some are much alike, some are of another shape, some are damaged.
    fn line() -> impl Strategy<Value = Vec<u8>> {
        let text = prop_oneof![Just(3usize), Just(36), Just(200), 0usize..90];
        let kind = prop_oneof![Just("user"), Just("assistant"), Just("a\\\"}],{["), Just("\\\\"), Just("会话")];
        let shape = prop_oneof![6 => Just(0), 2 => 1..4];
        (text, kind, shape, proptest::option::weighted(0.3, (any::<u16>(), damage()))).prop_map(
            |(len, kind, shape, damage)| {
                let (id, text) = ("0123456789abcdef".repeat(2), "x\\n".repeat(len));
                let space = if shape == 1 { " " } else { "" };
                let extra = if shape == 2 { r#""isMeta":true,"n":[[],{},[1,-2.5e3]],"# } else { "" };
                let content = match shape {
                    3 => format!(r#""{text}""#),
                    _ => format!(r#"[{{"type":"text","text":"{text}"}},{{"id":"{id}","input":{{"a":[null]}}}}]"#),
                };
                let mut line = format!(
                    r#"{{"id":"{id}","side":false,"kind":{space}"{kind}",{extra}"at":"{id}","message":{{"role":"{kind}","content":{content},"usage":{{"n":{len}}}}},"end":"{id}{id}{id}"}}"#
                )
                .into_bytes();
                if let Some((at, byte)) = damage {
                    let at = usize::from(at) % line.len();
                    line[at] = byte;
                }
                line
            },
        )
    }

    fn damage() -> impl Strategy<Value = u8> {
        prop_oneof![Just(b'"'), Just(b'\\'), Just(b' '), Just(b'}'), Just(b'{'), Just(b','), Just(b'\t'), any::<u8>()]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_was_scanned_before_changes_nothing_of_what_is_found(lines in proptest::collection::vec(line(), 1..60)) {
            let mut with = Scanned::default();
            for line in &lines {
                let mut without = Scanned::default();
                let end = without.scan_plainly(line);
                prop_assert_eq!(with.scan(line), end, "{}", String::from_utf8_lossy(line));
                let (with, without) = (with.object(line), without.object(line));
                prop_assert_eq!(all(&with), all(&without));
            }
        }
    }

    #[test]
    fn lines_that_are_alike_are_scanned_from_where_they_part() {
        let (mut moulds, mut members, mut containers) = (Moulds::default(), Vec::new(), Vec::new());
        let text =
            |id: &str, word: &str| format!(r#"{{"id":"{id}","a":[1,{{"b":"{word}"}}],"c":"{}"}}"#, "x".repeat(200));
        let first = text("0123", "word");
        let quotes = |text: &str| {
            let mut quotes = super::super::Quotes::default();
            assert!(quotes.index(text.as_bytes()));
            quotes.words().to_vec()
        };
        super::super::scan_object(first.as_bytes(), &mut members).unwrap();
        for (start, end) in [('{', '}'), ('[', ']'), ('{', '}')] {
            let after = containers.last().map_or(0, |last: &Container| last.start as usize + 1);
            let start = after + first[after..].find(start).unwrap();
            let end = if start == 0 { first.len() } else { first.find(&format!("{end}]")).map_or(0, |at| at + 1) };
            containers.push(Container { start: start as u32, end: end as u32 });
        }
        containers[1].end += 1;
        moulds.credit = PRICE;
        let scan = Scan { members: &members, containers: &containers, inner: &[] };
        moulds.learn(first.as_bytes(), &quotes(&first), None, &scan);
        let from = |text: &str| {
            let like = moulds.likest_of(text.as_bytes(), &quotes(text)).unwrap();
            moulds.resume(like, &mut Vec::new(), &mut Vec::new(), &mut Vec::new()).at
        };
        assert_eq!(from(&text("4567", "bird")), first.find(r#""xxx"#).unwrap(), "all but the text is the same");
        assert_eq!(from(&text("4567", "longer")), first.find(r#"{"b""#).unwrap(), "a word is of another length");
        assert_eq!(from(&first.replace("[1,", "[2,")), first.find("[1").unwrap(), "a number is another one");
        assert_eq!(from(&text("45678", "word")), members[0].start, "the first member is of another length");
    }
}
