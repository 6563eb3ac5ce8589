//! Finds a time zone by name, and the names that come close when there is none.

use jiff::tz;
use jiff::tz::{Offset, TimeZone};

use crate::display_text;
use crate::error::ToolRefusal;

const MAX_NAME_BYTES: usize = 64;
const MAX_SUGGESTIONS: usize = 5;

/// The zone of that name, or a fixed offset such as `+05:30`.
pub(crate) fn find(parameter: &str, name: &str) -> Result<TimeZone, ToolRefusal> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/_+-".contains(&byte);
    if name.len() <= MAX_NAME_BYTES {
        if let Some(zone) = fixed_offset(name) {
            return Ok(zone);
        }
        if name.bytes().all(plain)
            && let Ok(zone) = TimeZone::get(name)
        {
            return Ok(zone);
        }
    }
    let problem = format!("names no time zone that is known: `{}`", display_text::brief(name));
    Err(ToolRefusal::parameter(parameter, &problem).with_hint(match suggestions(name) {
        Some(names) => format!("did you mean {names}?"),
        None => "use a name like `Europe/Berlin` or an offset like `+05:30`".to_owned(),
    }))
}

/// `+05:30`, which reads the same in every place that allows an offset.
fn fixed_offset(name: &str) -> Option<TimeZone> {
    let (hours, minutes) = name.strip_prefix(['+', '-'])?.split_once(':')?;
    // `parse` alone would also take a sign.
    let digits = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    let two = |text: &str| digits(text).then(|| text.parse::<i32>().ok()).flatten();
    let hours = two(hours)?;
    let minutes = two(minutes).filter(|minutes| *minutes < 60)?;
    let seconds = (hours * 60 + minutes) * 60;
    let seconds = if name.starts_with('-') { -seconds } else { seconds };
    Offset::from_seconds(seconds).ok().map(TimeZone::fixed)
}

fn suggestions(name: &str) -> Option<String> {
    if name.len() > MAX_NAME_BYTES {
        return None;
    }
    let database = tz::db();
    let names: Vec<String> = database.available().map(|name| name.to_string()).collect();
    let near = nearest(name, names.iter().map(String::as_str));
    let quoted: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    (!quoted.is_empty()).then(|| quoted.join(", "))
}

/// The names closest to what was written; several if they are equally close.
fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = wanted.trim().to_lowercase().replace(' ', "_");
    let wanted_place = wanted.rsplit('/').next().unwrap_or(&wanted).to_owned();
    let tolerated = (wanted_place.chars().count() / 3).max(1);
    let mut scored: Vec<(usize, &str)> = names
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let place = lower.rsplit('/').next().unwrap_or(&lower);
            let score = distance(&wanted, &lower).min(distance(&wanted_place, place));
            let within = wanted.len() > 2 && lower.contains(&wanted);
            let score = if within { score.min(1) } else { score };
            (score <= tolerated).then_some((score, name))
        })
        .collect();
    scored.sort_unstable();
    let best = scored.first().map_or(0, |(score, _)| *score);
    let equally_near = scored.into_iter().take_while(|(score, _)| *score == best);
    equally_near.take(MAX_SUGGESTIONS).map(|(_, name)| name).collect()
}

/// How many characters have to be added, removed or changed to get from one to the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (above, left) in one.chars().enumerate() {
        let mut corner = above;
        let mut previous = above + 1;
        let mut next = vec![previous];
        for (cell, right) in row.iter().skip(1).zip(&other) {
            let changed = corner + usize::from(left != *right);
            corner = *cell;
            previous = changed.min(*cell + 1).min(previous + 1);
            next.push(previous);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{distance, find, nearest};

    const NAMES: [&str; 6] = [
        "America/New_York",
        "Asia/Kolkata",
        "Asia/Tokyo",
        "Europe/Berlin",
        "Europe/Dublin",
        "PST8PDT",
    ];

    #[test]
    fn only_the_nearest_names_are_suggested() {
        for (wanted, expected) in [
            ("Europe/Berlim", &["Europe/Berlin"][..]),
            ("berlin", &["Europe/Berlin"]),
            ("US/Berlin", &["Europe/Berlin"]),
            ("New York", &["America/New_York"]),
            ("tokio", &["Asia/Tokyo"]),
            ("PST", &["PST8PDT"]),
            ("Dubln", &["Europe/Dublin"]),
            ("zzzzzzzz", &[]),
            ("", &[]),
        ] {
            assert_eq!(nearest(wanted, NAMES.into_iter()), expected, "{wanted}");
        }
    }

    #[test]
    fn distance_counts_edits() {
        for (one, other, expected) in
            [("", "", 0), ("abc", "abc", 0), ("abc", "", 3), ("kitten", "sitting", 3)]
        {
            assert_eq!(distance(one, other), expected);
            assert_eq!(distance(other, one), expected);
        }
    }

    #[test]
    fn offsets_and_names_in_any_case_are_found() {
        for (name, expected) in [
            ("UTC", Some("UTC")),
            ("europe/berlin", Some("Europe/Berlin")),
            ("+05:30", None),
            ("-11:00", None),
        ] {
            assert_eq!(find("to", name).unwrap().iana_name(), expected, "{name}");
        }
        for name in ["", "+5", "+99:00", "+05:60", "+-5:00", "../UTC", "/etc/localtime", "Ü", "a b"]
        {
            let refusal = find("to", name).unwrap_err();
            assert!(refusal.message.starts_with("parameter `to` names no time zone"), "{name}");
        }
    }
}
