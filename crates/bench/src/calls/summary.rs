//! Many passes in one number: the best, the middle, and how far from the floor.

use crate::load::Measured;
use crate::statistics::median;

/// A number of a measurement, and which way is better.
#[derive(Clone, Copy)]
pub(super) enum Number {
    P50,
    P99,
    Rate,
    Cpu,
}

impl Number {
    pub(super) const fn of(self, measured: &Measured) -> f64 {
        match self {
            Self::P50 => measured.p50,
            Self::P99 => measured.p99,
            Self::Rate => measured.rate,
            Self::Cpu => measured.cpu,
        }
    }

    /// The best of all passes.
    pub(super) fn best(self, passes: &[Measured]) -> f64 {
        let values = passes.iter().map(|measured| self.of(measured));
        match self {
            Self::Rate => values.fold(f64::NAN, f64::max),
            Self::P50 | Self::P99 | Self::Cpu => values.fold(f64::NAN, f64::min),
        }
    }

    /// The middle of all passes.
    pub(super) fn median(self, passes: &[Measured]) -> f64 {
        median(passes.iter().map(|measured| self.of(measured)))
    }

    /// The middle of the ratios within each pass: both sides met the same weather.
    pub(super) fn ratio(self, passes: &[Measured], to: &[Measured]) -> f64 {
        let pairs = passes.iter().zip(to);
        median(pairs.map(|(left, right)| self.of(left) / self.of(right)))
    }

    /// The middle of the differences within each pass.
    pub(super) fn difference(self, passes: &[Measured], to: &[Measured]) -> f64 {
        let pairs = passes.iter().zip(to);
        median(pairs.map(|(left, right)| self.of(left) - self.of(right)))
    }
}

#[cfg(test)]
mod tests {
    use super::Number;
    use crate::load::Measured;

    fn passes(cpu: [f64; 3]) -> [Measured; 3] {
        cpu.map(|cpu| Measured { calls: 1, p50: 1.0, p99: 1.0, rate: cpu, cpu })
    }

    #[test]
    fn ratios_are_taken_within_a_pass() {
        let (ours, floor) = (passes([2.0, 40.0, 9.0]), passes([1.0, 20.0, 3.0]));
        assert_eq!(Number::Cpu.ratio(&ours, &floor), 2.0);
        assert_eq!(Number::Cpu.difference(&ours, &floor), 6.0);
        assert_eq!((Number::Cpu.best(&ours), Number::Rate.best(&ours)), (2.0, 40.0));
    }
}
