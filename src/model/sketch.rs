//! How alike two texts are, told from a few hundred bytes of each.

use serde::{Deserialize, Serialize};

use super::{ContentHash, Ratio};

/// Hash functions of a sketch, and bands that they are taken together in. With 14 bands of 8 the
/// chance that two texts share one is 0.77 where they are alike by 0.75, 0.92 by 0.8 and 1.00 by
/// 0.9 (Penedo et al. 2024, FineWeb, arXiv:2406.17557).
const HASHES: usize = 112;
const BANDS: usize = 14;

/// Bytes of a hash.
const HASH_BYTES: usize = 4;

/// A MinHash sketch (Broder 1997, "On the resemblance and containment of documents"): for each of
/// 112 hash functions the least hash of the text's runs of words, 4 bytes each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sketch(Vec<u8>);

impl Sketch {
    /// Bytes that one band stands for.
    pub const BYTES_A_BAND: usize = HASHES / BANDS * HASH_BYTES;

    /// The sketch of a text whose runs of words have the hashes `runs`; `None` where there are
    /// none.
    pub fn of(runs: impl Iterator<Item = u64>) -> Option<Self> {
        let mut least = [u32::MAX; HASHES];
        let mut is_empty = true;
        for run in runs {
            is_empty = false;
            for (slot, function) in least.iter_mut().zip(&FUNCTIONS) {
                *slot = (*slot).min(function.hash(run));
            }
        }
        (!is_empty).then(|| Self(least.iter().flat_map(|hash| hash.to_le_bytes()).collect()))
    }

    /// The sketch that [`Sketch::as_bytes`] gave; `None` where `bytes` are not one.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        (bytes.len() == HASHES * HASH_BYTES).then(|| Self(bytes.to_vec()))
    }

    /// The hashes, 4 bytes each.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// About which share of the runs of words of either text stand in both: the standard error is
    /// 0.04 where that is 0.8.
    pub fn similarity(&self, other: &Self) -> Ratio {
        let pairs = self.0.chunks_exact(HASH_BYTES).zip(other.0.chunks_exact(HASH_BYTES));
        Ratio::share(pairs.filter(|(a, b)| a == b).count(), HASHES)
    }

    /// One hash for each band: texts that are alike most likely share one.
    pub fn bands(&self) -> impl Iterator<Item = u64> + '_ {
        let bands = self.0.chunks_exact(Self::BYTES_A_BAND).zip(0_u8..);
        bands.map(|(band, n)| ContentHash::of_parts(&[&[n], band]).first_u64())
    }
}

/// A hash function of hashes: multiply and shift.
#[derive(Clone, Copy)]
struct Function {
    factor: u64,
    term: u64,
}

impl Function {
    const fn hash(self, run: u64) -> u32 {
        (run.wrapping_mul(self.factor).wrapping_add(self.term) >> 32) as u32
    }
}

/// The functions, always the same: sketches are compared over years.
static FUNCTIONS: [Function; HASHES] = {
    let mut functions = [Function { factor: 0, term: 0 }; HASHES];
    let mut seed = 0;
    let mut n = 0;
    #[expect(clippy::indexing_slicing, reason = "`n` is below the length, at compile time")]
    while n < HASHES {
        functions[n] = Function { factor: mixed(seed) | 1, term: mixed(seed + 1) };
        seed += 2;
        n += 1;
    }
    functions
};

/// The `n`th number of the generator SplitMix64 (Steele et al. 2014).
const fn mixed(n: u64) -> u64 {
    let mut z = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_has_no_sketch() {
        assert_eq!(Sketch::of(std::iter::empty()), None);
        assert_eq!(Sketch::from_bytes(b"short"), None);
    }

    proptest! {
        /// Sets of which `common` of `common + 2 * own` members are shared.
        #[test]
        fn similarity_is_about_the_share_of_common_members(
            seed in any::<u64>(), common in 50_u64..400, own in 0_u64..200,
        ) {
            let member = |n: u64| mixed(seed.wrapping_add(n) >> 1);
            let one = Sketch::of((0..common + own).map(member)).unwrap();
            let other = (0..common).chain(common + own..common + 2 * own).map(member);
            let other = Sketch::of(other).unwrap();
            let share = f32::from(u16::try_from(common).unwrap())
                / f32::from(u16::try_from(common + 2 * own).unwrap());
            let told = one.similarity(&other).as_f32();
            // Five standard errors of a share of 112.
            prop_assert!((told - share).abs() < 0.24, "{told} for {share}");
            prop_assert_eq!(one.similarity(&one), Ratio::ALL);
            prop_assert_eq!(Sketch::from_bytes(one.as_bytes()), Some(one.clone()));
            prop_assert_eq!(one.bands().count(), BANDS);
        }

        #[test]
        fn texts_that_are_alike_share_a_band(seed in any::<u64>()) {
            let member = |n: u64| mixed(seed.wrapping_add(n));
            let one = Sketch::of((0..1_000).map(member)).unwrap();
            let other = Sketch::of((20..1_020).map(member)).unwrap();
            prop_assert!(one.bands().zip(other.bands()).any(|(a, b)| a == b));
        }
    }
}
