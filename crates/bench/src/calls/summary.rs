//! Many passes in one number: the best, the middle, and how far from the floor.

use crate::load::LoadResult;
use crate::statistics::median;

/// A number of a measurement, and which way is better.
#[derive(Clone, Copy)]
pub(super) enum CallMetric {
    P50,
    P99,
    Rate,
    Cpu,
}

impl CallMetric {
    pub(super) const fn value(self, measured: &LoadResult) -> f64 {
        match self {
            Self::P50 => measured.p50,
            Self::P99 => measured.p99,
            Self::Rate => measured.rate,
            Self::Cpu => measured.cpu,
        }
    }

    /// The best of all passes.
    pub(super) fn best(self, passes: &[LoadResult]) -> f64 {
        let values = passes.iter().map(|measured| self.value(measured));
        match self {
            Self::Rate => values.fold(f64::NAN, f64::max),
            Self::P50 | Self::P99 | Self::Cpu => values.fold(f64::NAN, f64::min),
        }
    }

    /// The middle of all passes.
    pub(super) fn median(self, passes: &[LoadResult]) -> f64 {
        median(passes.iter().map(|measured| self.value(measured)))
    }

    /// The middle of the ratios within each pass: both sides met the same weather.
    pub(super) fn ratio(self, passes: &[LoadResult], to: &[LoadResult]) -> f64 {
        let pairs = passes.iter().zip(to);
        median(pairs.map(|(left, right)| self.value(left) / self.value(right)))
    }

    /// The middle of the differences within each pass.
    pub(super) fn difference(self, passes: &[LoadResult], to: &[LoadResult]) -> f64 {
        let pairs = passes.iter().zip(to);
        median(pairs.map(|(left, right)| self.value(left) - self.value(right)))
    }
}

#[cfg(test)]
mod tests {
    use super::CallMetric;
    use crate::load::LoadResult;

    fn passes(cpu: [f64; 3]) -> [LoadResult; 3] {
        cpu.map(|cpu| LoadResult { calls: 1, p50: 1.0, p99: 1.0, rate: cpu, cpu })
    }

    #[test]
    fn ratios_are_taken_within_a_pass() {
        let ours = passes([2.0, 40.0, 9.0]);
        let floor = passes([1.0, 20.0, 3.0]);
        assert_eq!(CallMetric::Cpu.ratio(&ours, &floor), 2.0);
        assert_eq!(CallMetric::Cpu.difference(&ours, &floor), 6.0);
        assert_eq!((CallMetric::Cpu.best(&ours), CallMetric::Rate.best(&ours)), (2.0, 40.0));
    }
}
