//! Looks up time zones by name, with suggestions for unknown names.

use jiff::tz;
use jiff::tz::{Offset, TimeZone};
use switchboard_text::nearest_names;

use crate::display_text;
use crate::error::ToolRefusal;

const MAX_NAME_BYTES: usize = 64;
const MAX_SUGGESTIONS: usize = 5;

/// Returns the zone with this name, or a fixed offset such as `+05:30`.
pub(crate) fn find(parameter: &str, name: &str) -> Result<TimeZone, ToolRefusal> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/_+-".contains(&byte);
    if name.len() <= MAX_NAME_BYTES {
        if let Some(zone) = fixed_offset(name) {
            return Ok(zone);
        }
        // The lookup may read a file, so the name must not contain dots.
        if name.bytes().all(plain)
            && let Ok(zone) = TimeZone::get(name)
        {
            return Ok(zone);
        }
    }
    let problem = format!("is not a known time zone: `{}`", display_text::brief(name));
    Err(ToolRefusal::parameter(parameter, &problem).with_hint(match suggestions(name) {
        Some(names) => format!("did you mean {names}?"),
        None => "use a name like `Europe/Berlin` or an offset like `+05:30`".to_owned(),
    }))
}

/// Parses an offset of the form `+05:30`, the one form that every offset syntax accepts.
fn fixed_offset(name: &str) -> Option<TimeZone> {
    let (hours, minutes) = name.strip_prefix(['+', '-'])?.split_once(':')?;
    // `parse` alone would also accept a sign.
    let digits = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    let two = |text: &str| digits(text).then(|| text.parse::<i32>().ok()).flatten();
    let hours = two(hours)?;
    let minutes = two(minutes).filter(|minutes| *minutes < 60)?;
    let seconds = (hours * 60 + minutes) * 60;
    let seconds = if name.starts_with('-') { -seconds } else { seconds };
    Offset::from_seconds(seconds).ok().map(TimeZone::fixed)
}

fn suggestions(name: &str) -> Option<String> {
    // The edit distance to hundreds of names grows with the length.
    if name.len() > MAX_NAME_BYTES {
        return None;
    }
    let database = tz::db();
    let names: Vec<String> = database.available().map(|name| name.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let quoted: Vec<String> =
        nearest(name, &names).iter().map(|name| format!("`{name}`")).collect();
    (!quoted.is_empty()).then(|| quoted.join(", "))
}

/// Returns the nearest names, or those with a similar last part: `Asia/Tokyo` for `tokio`.
fn nearest<'a>(wanted: &str, names: &[&'a str]) -> Vec<&'a str> {
    let near = nearest_names(wanted, names.iter().copied(), MAX_SUGGESTIONS);
    if !near.is_empty() {
        return near;
    }
    let places = names.iter().map(|name| place(name));
    let near = nearest_names(place(wanted), places, MAX_SUGGESTIONS);
    let is_near = |name: &&str| near.contains(&place(name));
    names.iter().copied().filter(is_near).take(MAX_SUGGESTIONS).collect()
}

fn place(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::{find, nearest};

    const NAMES: [&str; 6] = [
        "America/New_York", "Asia/Kolkata", "Asia/Tokyo", "Europe/Berlin", "Europe/Dublin",
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
            assert_eq!(nearest(wanted, &NAMES), expected, "{wanted}");
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
            assert!(
                refusal.message.starts_with("parameter `to` is not a known time zone"),
                "{name}"
            );
        }
    }
}
