//! What happens to bytes on their way: they take long, some of them longer, some never arrive.

use std::time::Duration;

/// How bad a way is. What is lost on the way of a TCP connection is sent again, which the two ends
/// see as a pause; order is kept, so nothing overtakes it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weather {
    /// How long every piece takes.
    pub delay: Duration,
    /// How much longer it may take.
    pub jitter: Duration,
    /// How many of 100 pieces are lost and come after `again`, with everything behind them.
    pub lost_percent: u64,
    /// How long it takes until what was lost is sent again.
    pub again: Duration,
    /// How many of 1,000 pieces take their connection with them.
    pub cut_per_mille: u64,
    /// Nothing arrives at all, and nobody is told.
    pub stalled: bool,
}

/// What happens to one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceFate {
    Late(Duration),
    Cut,
    Never,
}

/// The same sequence for the same seed, so that a run can be repeated.
#[derive(Debug)]
pub(super) struct Dice(pub(super) u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below.max(1)
    }
}

impl Weather {
    pub(super) fn fate(&self, dice: &mut Dice) -> PieceFate {
        if self.stalled {
            return PieceFate::Never;
        }
        if dice.roll(1_000) < self.cut_per_mille {
            return PieceFate::Cut;
        }
        let jitter = u64::try_from(self.jitter.as_micros()).unwrap_or(u64::MAX);
        let mut late = self.delay + Duration::from_micros(dice.roll(jitter));
        if dice.roll(100) < self.lost_percent {
            late += self.again;
        }
        PieceFate::Late(late)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_as_frequent_as_wanted_and_repeat_with_their_seed() {
        let ms = Duration::from_millis;
        let weather =
            Weather { delay: ms(10), lost_percent: 10, again: ms(200), ..Weather::default() };
        let run = || {
            let mut dice = Dice(7);
            (0..10_000).map(|_| weather.fate(&mut dice)).collect::<Vec<_>>()
        };
        let fates = run();
        assert_eq!(fates, run());
        let lost = fates.iter().filter(|fate| **fate == PieceFate::Late(ms(210))).count();
        assert!((800..1_200).contains(&lost), "{lost} of 10,000");
        assert!(fates.iter().all(|fate| [ms(10), ms(210)].map(PieceFate::Late).contains(fate)));
        let stalled = Weather { stalled: true, ..weather };
        assert_eq!(stalled.fate(&mut Dice(7)), PieceFate::Never);
    }
}
