//! The `Retry-After` header: seconds, or a date.

use std::time::{Duration, SystemTime};

/// Returns how long a server wants a client to wait; `None` if the value is neither form.
///
/// Fractions of a second are accepted, since some vendors send them. A date in the past means now.
#[must_use]
pub fn parse_retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn seconds_and_dates_are_understood() {
        let now = UNIX_EPOCH + Duration::from_secs(784_111_770);
        for (value, expected) in [
            ("7", Some(7_000)),
            (" 7 ", Some(7_000)),
            ("0.25", Some(250)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(7_000)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(7_000)),
            ("Sat, 05 Nov 1994 08:49:37 GMT", Some(0)),
            ("-1", None),
            ("soon", None),
            ("inf", None),
            ("nan", None),
            ("Sun, 06 Nov 18446744073709551615 08:49:37 GMT", None),
            ("Sun, 0 Nov 1994 08:49:37 GMT", None),
        ] {
            let expected = expected.map(Duration::from_millis);
            assert_eq!(parse_retry_after(value, now), expected, "{value}");
        }
    }
}
