//! How long a vendor wants us to wait: the `Retry-After` header in its several forms.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::HeaderMap;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// What the headers say, if they say anything that can be understood.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let exact = text("retry-after-ms").and_then(|value| value.parse().ok());
    if let Some(milliseconds) = exact.filter(|value: &f64| value.is_finite()) {
        return Duration::try_from_secs_f64(milliseconds / 1_000.0).ok();
    }
    let value = text("retry-after")?;
    if let Ok(seconds) = value.parse() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let then = UNIX_EPOCH.checked_add(Duration::from_secs(date(value)?))?;
    Some(then.duration_since(now).unwrap_or_default())
}

/// The seconds since 1970 of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
fn date(text: &str) -> Option<u64> {
    let mut words = text.split_once(", ")?.1.split(' ');
    let day: u64 = words.next()?.parse().ok()?;
    let name = words.next()?;
    let month = MONTHS.iter().position(|month| *month == name)? as u64 + 1;
    let year: u64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(|part| part.parse::<u64>().ok());
    let hour = clock.next()??;
    let minute = clock.next()??;
    let second = clock.next()??;
    let in_range = (1..=31).contains(&day)
        && (1970..=9999).contains(&year)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !in_range {
        return None;
    }
    let days = days_before(year, month)? + day - 1;
    Some(days * 86_400 + hour * 3_600 + minute * 60 + second)
}

/// The days from the first of January 1970 to the first of a month.
fn days_before(year: u64, month: u64) -> Option<u64> {
    // Years that begin in March have the leap day at their end.
    let (year, month) =
        if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    (year * 365 + leap_days + (153 * month + 2) / 5).checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_milliseconds_and_dates_are_understood() {
        let now = UNIX_EPOCH + Duration::from_secs(784_111_770);
        for (name, value, expected) in [
            ("retry-after", "7", Some(7_000)),
            ("retry-after", "0.25", Some(250)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", Some(7_000)),
            ("retry-after", "Sat, 05 Nov 1994 08:49:37 GMT", Some(0)),
            ("retry-after-ms", "1500", Some(1_500)),
            ("retry-after", "-1", None),
            ("retry-after", "soon", None),
            ("retry-after", "inf", None),
            ("retry-after-ms", "nan", None),
            ("retry-after", "Sun, 06 Nov 18446744073709551615 08:49:37 GMT", None),
            ("retry-after", "Sun, 0 Nov 1994 08:49:37 GMT", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            let expected = expected.map(Duration::from_millis);
            assert_eq!(retry_after(&headers, now), expected, "{name}: {value}");
        }
    }

    #[test]
    fn the_calendar_knows_leap_years() {
        for (text, expected) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
            ("Mon, 01 Mar 2100 12:00:00 GMT", 4_107_585_600),
        ] {
            assert_eq!(date(text), Some(expected), "{text}");
        }
    }
}
