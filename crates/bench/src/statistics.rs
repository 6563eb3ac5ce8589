//! The middle of many numbers.

/// The middle value.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = values.get(middle).copied().unwrap_or(f64::NAN);
    if values.len().is_multiple_of(2) && middle > 0 {
        let lower = values.get(middle - 1).copied().unwrap_or(f64::NAN);
        return f64::midpoint(lower, upper);
    }
    upper
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_middle_of_an_even_number_is_between_the_two() {
        assert_eq!([1, 2, 3, 4].map(|n| median((1..=n).map(f64::from))), [1.0, 1.5, 2.0, 2.5]);
    }
}
