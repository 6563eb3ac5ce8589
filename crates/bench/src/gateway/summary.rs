//! Many turns in one number, and how far from another's.

use super::running_gateway::TurnResult;
use crate::statistics::median;

/// A number of a turn.
#[derive(Clone, Copy)]
pub(super) enum TurnMetric {
    P50,
    P99,
    Rate,
    Cpu,
    Resident,
}

impl TurnMetric {
    pub(super) const fn value(self, turn: &TurnResult) -> f64 {
        match self {
            Self::P50 => turn.p50,
            Self::P99 => turn.p99,
            Self::Rate => turn.rate,
            Self::Cpu => turn.cpu,
            Self::Resident => turn.resident_mb,
        }
    }

    /// The middle of all turns.
    pub(super) fn median(self, turns: &[TurnResult]) -> f64 {
        median(turns.iter().map(|turn| self.value(turn)))
    }

    /// The largest of all turns.
    pub(super) fn largest(self, turns: &[TurnResult]) -> f64 {
        turns.iter().map(|turn| self.value(turn)).fold(f64::NAN, f64::max)
    }

    /// The middle of the ratios within each pass: both sides met the same weather.
    pub(super) fn ratio(self, turns: &[TurnResult], to: &[TurnResult]) -> f64 {
        median(turns.iter().zip(to).map(|(left, right)| self.value(left) / self.value(right)))
    }

    /// The middle of the differences within each pass.
    pub(super) fn difference(self, turns: &[TurnResult], to: &[TurnResult]) -> f64 {
        median(turns.iter().zip(to).map(|(left, right)| self.value(left) - self.value(right)))
    }
}

#[cfg(test)]
mod tests {
    use super::TurnMetric;
    use crate::gateway::running_gateway::TurnResult;

    fn turns(cpu: [f64; 3]) -> [TurnResult; 3] {
        let turn =
            |cpu| TurnResult { calls: 1, p50: 1.0, p99: 1.0, rate: 1.0, cpu, resident_mb: cpu };
        cpu.map(turn)
    }

    #[test]
    fn turns_are_compared_within_a_pass() {
        let ours = turns([2.0, 40.0, 9.0]);
        let floor = turns([1.0, 20.0, 3.0]);
        assert_eq!(TurnMetric::Cpu.ratio(&ours, &floor), 2.0);
        assert_eq!(TurnMetric::Cpu.difference(&ours, &floor), 6.0);
        assert_eq!(
            (TurnMetric::Cpu.median(&ours), TurnMetric::Resident.largest(&ours)),
            (9.0, 40.0)
        );
    }
}
