//! A small seeded random number generator (xoshiro256**), so that every generated
//! byte can be had again.
//!
//! Not for secrets, and not to be exchanged for another algorithm lightly: seeds kept in tests
//! would mean other files.

/// A seeded stream of numbers.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

const BASE36: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";
const NANOID: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
const HEX: &[u8] = b"0123456789abcdef";

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Rng {
    /// Starts the stream of this seed.
    pub fn new(seed: u64) -> Rng {
        let mut mixer = seed;
        Rng {
            state: std::array::from_fn(|_| splitmix(&mut mixer)),
        }
    }

    /// Starts a stream of its own for a part, so that parts can change without
    /// shifting one another.
    pub fn for_part(seed: u64, part: &str) -> Rng {
        let mut mixed = seed ^ 0x6a09_e667_f3bc_c908;
        for byte in part.bytes() {
            mixed = splitmix(&mut mixed) ^ u64::from(byte);
        }
        Rng::new(mixed)
    }

    /// Gives the next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = b.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// Gives a number below `n`; zero when `n` is zero.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }

    /// Gives a number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// Gives a fraction from 0 up to, not including, 1.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Says yes with probability `p`.
    pub fn id_source(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Picks one item; panics on an empty slice.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Picks one text; a convenience, for [`Rng::pick`] gives a reference to it.
    pub fn word<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    /// Picks an index with the given weights.
    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        let total: usize = weights.iter().map(|&w| w as usize).sum();
        let mut left = self.below(total);
        for (index, &weight) in weights.iter().enumerate() {
            if left < weight as usize {
                return index;
            }
            left -= weight as usize;
        }
        weights.len().saturating_sub(1)
    }

    /// Draws from the log-normal distribution with these parameters of the underlying normal.
    pub fn lognormal(&mut self, mu: f64, sigma: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        let normal = radius * (std::f64::consts::TAU * self.unit()).cos();
        (mu + sigma * normal).exp()
    }

    /// Gives `n` random bytes.
    pub fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| (self.next_u64() >> 56) as u8).collect()
    }

    fn drawn_from(&mut self, alphabet: &[u8], n: usize) -> String {
        (0..n).map(|_| char::from(*self.pick(alphabet))).collect()
    }

    /// Gives `n` lower-case hex digits.
    pub fn hex(&mut self, n: usize) -> String {
        self.drawn_from(HEX, n)
    }

    /// Gives `n` digits of base 36.
    pub fn base36(&mut self, n: usize) -> String {
        self.drawn_from(BASE36, n)
    }

    /// Gives `n` characters of the nanoid alphabet, which holds `-` and `_`.
    pub fn nanoid(&mut self, n: usize) -> String {
        self.drawn_from(NANOID, n)
    }

    /// Gives a lower-case UUID of version 4.
    pub fn uuid_v4(&mut self) -> String {
        let bits = (u128::from(self.next_u64()) << 64) | u128::from(self.next_u64());
        uuid_text(bits, 4)
    }

    /// Gives a lower-case UUID of version 7 for a time in milliseconds.
    pub fn uuid_v7(&mut self, ms: i64) -> String {
        let bits = (u128::from(self.next_u64()) << 64) | u128::from(self.next_u64());
        let time = (ms as u128 & 0xffff_ffff_ffff) << 80;
        uuid_text((bits & !(0xffff_ffff_ffffu128 << 80)) | time, 7)
    }

    /// Puts the items into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}

fn uuid_text(bits: u128, version: u128) -> String {
    let bits = (bits & !(0xf << 76)) | (version << 76);
    let bits = (bits & !(0x3 << 62)) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    format!(
        "{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_one_stream() {
        let take = |seed| {
            let mut rng = Rng::new(seed);
            (0..50).map(|_| rng.next_u64()).collect::<Vec<_>>()
        };
        assert_eq!(take(7), take(7));
        assert_ne!(take(7), take(8));
        assert_ne!(
            Rng::for_part(7, "a").next_u64(),
            Rng::for_part(7, "b").next_u64()
        );
    }

    #[test]
    fn numbers_stay_in_their_ranges_and_reach_both_ends() {
        let mut rng = Rng::new(1);
        let drawn: Vec<usize> = (0..500).map(|_| rng.between(3, 6)).collect();
        assert_eq!(drawn.iter().min(), Some(&3));
        assert_eq!(drawn.iter().max(), Some(&6));
        assert_eq!(rng.below(0), 0);
        assert!((0..500).all(|_| (0.0..1.0).contains(&rng.unit())));
        let hits = (0..10_000).filter(|_| rng.id_source(0.25)).count();
        assert!(
            (2_200..2_800).contains(&hits),
            "{hits} of 10000 at a quarter"
        );
    }

    #[test]
    fn uuids_carry_version_and_variant() {
        let mut rng = Rng::new(3);
        for _ in 0..100 {
            let four = rng.uuid_v4();
            assert_eq!(four.len(), 36);
            assert_eq!(&four[14..15], "4");
            assert!("89ab".contains(&four[19..20]));
        }
        let seven = rng.uuid_v7(0x0199_0000_1234);
        assert!(seven.starts_with("01990000-1234-7"), "{seven}");
    }

    #[test]
    fn lognormal_has_its_median_at_exp_mu() {
        let mut rng = Rng::new(4);
        let mut drawn: Vec<f64> = (0..4001).map(|_| rng.lognormal(2.0, 1.0)).collect();
        drawn.sort_by(f64::total_cmp);
        let median = drawn[2000];
        assert!((6.8..8.0).contains(&median), "median {median}");
    }

    #[test]
    fn shuffling_keeps_every_item() {
        let mut items: Vec<u32> = (0..100).collect();
        Rng::new(5).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
