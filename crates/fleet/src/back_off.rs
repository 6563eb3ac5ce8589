//! How long to wait after a failure: longer each time, never for ever.

use std::time::Duration;

/// The first and the longest wait.
const BACK_OFF_RANGE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// Doubling waits with some jitter, so that servers do not all come back at once.
pub(crate) fn back_off(failures: u32, seed: u64) -> Duration {
    let doubled = BACK_OFF_RANGE.0 * 2_u32.saturating_pow(failures.saturating_sub(1).min(10));
    let wait = doubled.min(BACK_OFF_RANGE.1);
    let step =
        seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(u64::from(failures) * 97) >> 32;
    wait.mul_f64(0.8 + 0.2 * f64::from(u32::try_from(step % 1_000).unwrap_or(0)) / 1_000.0)
}

/// Up to a tenth longer, so that not everything happens at once.
pub(crate) fn add_jitter(wait: Duration, seed: u64) -> Duration {
    let step = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    wait.mul_f64(1.0 + 0.1 * f64::from(u32::try_from(step % 1_000).unwrap_or(0)) / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::back_off;

    #[test]
    fn waits_double_up_to_a_minute_and_differ_a_little() {
        let seconds = |failures, seed| back_off(failures, seed).as_secs_f64();
        for (failures, longest) in [(1, 1.0), (2, 2.0), (3, 4.0), (7, 60.0), (99, 60.0)] {
            for seed in 0..50 {
                let wait = seconds(failures, seed);
                assert!(wait >= longest * 0.8 && wait <= longest, "{failures} {wait}");
            }
        }
        assert_ne!(back_off(3, 1), back_off(3, 2));
    }
}
