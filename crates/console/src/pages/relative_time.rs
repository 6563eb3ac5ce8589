//! Formatting of times, durations and sizes.

use jiff::Timestamp;
use maud::{Markup, html};

/// Renders a time relative to now, with the exact time as its title. The page's script updates it.
pub(super) fn when(time: &str) -> Markup {
    let Ok(at) = time.parse::<Timestamp>() else { return html! { (time) } };
    let exact = at.strftime("%Y-%m-%d %H:%M:%S%.3f UTC").to_string();
    html! { time datetime=(at) title=(exact) { (ago(at, Timestamp::now())) } }
}

fn ago(at: Timestamp, now: Timestamp) -> String {
    // Negative if the clocks of two processes differ; that is "just now" as well.
    let seconds = now.as_second() - at.as_second();
    match seconds {
        ..5 => "just now".to_owned(),
        5..60 => format!("{seconds} s ago"),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..86_400 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

/// Formats a duration in milliseconds with its significant digits.
pub(super) fn duration(milliseconds: f64) -> String {
    match milliseconds {
        ..10.0 => format!("{milliseconds:.1} ms"),
        10.0..1_000.0 => format!("{milliseconds:.0} ms"),
        1_000.0..60_000.0 => format!("{:.1} s", milliseconds / 1_000.0),
        _ => format!("{:.1} min", milliseconds / 60_000.0),
    }
}

pub(super) fn rounded_duration(seconds: u64) -> String {
    // The largest unit only, so that the text does not change on every refresh.
    match seconds {
        ..60 => "less than a minute".to_owned(),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

pub(super) fn size(bytes: u64) -> String {
    match bytes {
        ..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} KB", bytes as f64 / 1_000.0),
        _ => format!("{:.1} MB", bytes as f64 / 1_000_000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_durations_are_short() {
        let now = Timestamp::from_second(1_000_000).unwrap();
        let shown = [2, 59, 61, 7_300, 200_000]
            .map(|seconds| ago(Timestamp::from_second(1_000_000 - seconds).unwrap(), now));
        assert_eq!(shown, ["just now", "59 s ago", "1 min ago", "2 h ago", "2 d ago"]);
        let shown = [0.25, 42.4, 1_500.0, 90_000.0].map(duration);
        assert_eq!(shown, ["0.2 ms", "42 ms", "1.5 s", "1.5 min"]);
        assert_eq!([12, 1_500, 2_000_000].map(size), ["12 B", "1.5 KB", "2.0 MB"]);
        let shown = [59, 60, 7_300, 200_000].map(rounded_duration);
        assert_eq!(shown, ["less than a minute", "1 min", "2 h", "2 d"]);
    }
}
