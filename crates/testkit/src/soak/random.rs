//! Numbers that look random and follow from a seed.

/// What the state grows by; an odd number, so that all states come up.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A sequence of numbers.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// Another sequence for every `of`.
    pub(super) fn new(seed: u64, of: u64) -> Self {
        Self(mix(seed ^ mix(of)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// A number below a limit.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % limit).unwrap_or_default()
    }
}

/// Neighbours give numbers that have nothing to do with each other.
const fn mix(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_seed_gives_the_same_numbers_again_and_another_one_gives_others() {
        let numbers = |seed, of| {
            let mut random = Random::new(seed, of);
            [(); 8].map(|()| random.below(1_000))
        };
        assert_eq!(numbers(1, 2), numbers(1, 2));
        assert_ne!(numbers(1, 2), numbers(2, 2));
        assert_ne!(numbers(1, 2), numbers(1, 3));
        // Sequences of neighbours are not the same one from another place.
        let one = numbers(1, 2);
        let other = numbers(1, 3);
        assert!(one.iter().filter(|number| other.contains(number)).count() < 3);
        assert!(numbers(1, 2).iter().all(|number| *number < 1_000));
    }
}
