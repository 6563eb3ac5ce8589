//! The tools `time_now` and `time_convert`: the current time, and conversion between time zones.

use jiff::civil::{DateTime, Time};
use jiff::fmt::temporal::Pieces;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp, Zoned};
use serde_json::{Value, json};

use crate::arguments::ToolArguments;
use crate::content::ToolResult;
use crate::error::ToolRefusal;
use crate::server::ToolContext;
use crate::{display_text, tools, zones};

const MAX_TIME_BYTES: usize = 100;

pub(crate) fn now_definition() -> Value {
    json!({
        "name": "time_now",
        "title": "Current time",
        "description": "Returns the current date and time in a time zone.",
        "inputSchema": {
            "type": "object",
            "properties": { "timezone": zone_parameter("Default: the zone of this machine.") },
            "additionalProperties": false
        },
        "outputSchema": moment_schema(),
        "annotations": tools::read_only_annotations("Current time")
    })
}

pub(crate) fn convert_definition() -> Value {
    json!({
        "name": "time_convert",
        "title": "Convert a time",
        "description": "Converts a time from one time zone to another.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "time": {
                    "type": "string",
                    "description": "`15:30` (today), `2026-03-01 15:30`, or with an offset \
                        `2026-03-01T15:30:00+01:00`; an offset takes precedence over `from`."
                },
                "from": zone_parameter("The zone of `time`. Default: the zone of this machine."),
                "to": zone_parameter("The zone to convert to.")
            },
            "required": ["time", "to"],
            "additionalProperties": false
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "from": moment_schema(),
                "to": moment_schema(),
                "difference": {
                    "type": "string",
                    "description": "Offset of `to` from `from`, as `+HH:MM` or `-HH:MM`."
                },
                "note": { "type": "string", "description": "Set if clocks change at that time." }
            },
            "required": ["from", "to", "difference"],
            "additionalProperties": false
        },
        "annotations": tools::read_only_annotations("Convert a time")
    })
}

fn zone_parameter(role: &str) -> Value {
    let description =
        format!("{role} An IANA name such as `Europe/Berlin`, or an offset such as `+05:30`.");
    json!({ "type": "string", "description": description })
}

fn moment_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "iso": { "type": "string", "description": "RFC 3339, with a fraction of a second only where the given time has one." },
            "timezone": { "type": "string" },
            "utc_offset": { "type": "string" },
            "unix": { "type": "integer", "description": "Seconds since 1970 in UTC." },
            "weekday": { "type": "string" }
        },
        "required": ["iso", "timezone", "utc_offset", "unix", "weekday"],
        "additionalProperties": false
    })
}

pub(crate) fn now(
    around: &ToolContext,
    arguments: &ToolArguments,
) -> Result<ToolResult, ToolRefusal> {
    let mut now = whole_second((around.clock)());
    if let Some(name) = arguments.optional_text("timezone")? {
        now = now.with_time_zone(zones::find("timezone", name)?);
    }
    Ok(ToolResult::text(in_words(&now)).with_structured(moment_json(&now)))
}

pub(crate) fn convert(
    around: &ToolContext,
    arguments: &ToolArguments,
) -> Result<ToolResult, ToolRefusal> {
    let now = (around.clock)();
    let from = arguments.optional_text("from")?;
    let from = from.map(|name| zones::find("from", name)).transpose()?;
    let to = zones::find("to", arguments.text("to")?)?;
    let (source, note) = parse_time(arguments.text("time")?, from, &now)?;
    let target = source.with_time_zone(to);
    let seconds = target.offset().seconds() - source.offset().seconds();
    let difference = format_offset(seconds);
    let mut text = format!("{} is {} ({difference})", in_words(&source), in_words(&target));
    let mut value = json!({
        "from": moment_json(&source), "to": moment_json(&target), "difference": difference
    });
    if let (Some(note), Some(members)) = (note, value.as_object_mut()) {
        text = format!("{text}\nnote: {note}");
        members.insert("note".to_owned(), json!(note));
    }
    Ok(ToolResult::text(text).with_structured(value))
}

/// Parses a time; adds a note if a clock change makes it ambiguous.
fn parse_time(
    text: &str,
    from: Option<TimeZone>,
    now: &Zoned,
) -> Result<(Zoned, Option<String>), ToolRefusal> {
    let text = text.trim();
    let refuse = |problem: &str, hint: &str| {
        let problem = format!("{problem}: `{}`", display_text::brief(text));
        ToolRefusal::parameter("time", &problem).with_hint(hint)
    };
    let forms = "write `15:30`, `2026-03-01 15:30` or `2026-03-01T15:30:00+01:00`";
    let unclear = || refuse("is not understood", forms);
    let range = "times from -009999-01-03 to 9999-12-30 can be converted";
    let too_far = || refuse("is too far away", range);
    if text.len() > MAX_TIME_BYTES {
        return Err(unclear());
    }
    // Parse a zone in brackets first: the other parsers would ignore it.
    if text.contains('[') {
        let written = text.parse::<Zoned>().map_err(|_| unclear())?;
        return Ok((from.map_or(written.clone(), |zone| written.with_time_zone(zone)), None));
    }
    if let Ok(moment) = text.parse::<Timestamp>() {
        let zone = from.unwrap_or_else(|| written_offset(text));
        return Ok((moment.to_zoned(zone), None));
    }
    // A complete time that is not a timestamp is out of range, not malformed.
    if Pieces::parse(text).is_ok_and(|pieces| pieces.offset().is_some() && pieces.time().is_some())
    {
        return Err(too_far());
    }
    let zone = from.unwrap_or_else(|| now.time_zone().clone());
    let local = if let Some(time) = time_of_day(text) {
        now.with_time_zone(zone.clone()).date().to_datetime(time)
    } else if text.contains(':') {
        // The condition rejects a bare date, which would parse as midnight.
        text.parse::<DateTime>().map_err(|_| unclear())?
    } else {
        return Err(unclear());
    };
    let ambiguous = zone.to_ambiguous_zoned(local);
    let doubt = ambiguous.offset();
    let moment = ambiguous.compatible().map_err(|_| too_far())?;
    let note = clock_change_note(doubt, &zone_name(&moment), local);
    Ok((moment, note))
}

fn clock_change_note(offset: AmbiguousOffset, place: &str, local: DateTime) -> Option<String> {
    match offset {
        AmbiguousOffset::Unambiguous { .. } => None,
        AmbiguousOffset::Gap { .. } => {
            Some(format!("clocks in {place} skip {local}, so the time after the change is used"))
        }
        AmbiguousOffset::Fold { .. } => {
            Some(format!("clocks in {place} show {local} twice; the first is used"))
        }
    }
}

/// Parses `9:05`, `15:30`, `15:30:59` or `15:30:59.5`; rejects text with a date.
fn time_of_day(text: &str) -> Option<Time> {
    let (hour, _) = text.split_once(':')?;
    let digits = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b':' | b'.'));
    if hour.is_empty() || hour.len() > 2 || !digits(text) {
        return None;
    }
    // The parser requires two digits; people also write `9:05`.
    let padded = if hour.len() == 1 { format!("0{text}") } else { text.to_owned() };
    padded.parse().ok()
}

fn written_offset(text: &str) -> TimeZone {
    let offset = Pieces::parse(text).ok().and_then(|pieces| pieces.to_numeric_offset());
    offset.map_or(TimeZone::UTC, TimeZone::fixed)
}

/// Truncates to the second: callers do not need fractions of the current time.
fn whole_second(at: Zoned) -> Zoned {
    at.with().subsec_nanosecond(0).build().unwrap_or(at)
}

fn moment_json(at: &Zoned) -> Value {
    json!({
        "iso": at.strftime("%Y-%m-%dT%H:%M:%S%.f%:z").to_string(),
        "timezone": zone_name(at),
        "utc_offset": at.strftime("%:z").to_string(),
        "unix": at.timestamp().as_second(),
        "weekday": at.strftime("%A").to_string()
    })
}

fn in_words(at: &Zoned) -> String {
    format!("{} ({})", at.strftime("%A, %Y-%m-%d %H:%M:%S%.f %:z"), zone_name(at))
}

fn zone_name(at: &Zoned) -> String {
    match at.time_zone().iana_name() {
        Some(name) => name.to_owned(),
        None => at.strftime("%:z").to_string(),
    }
}

fn format_offset(seconds: i32) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = seconds.unsigned_abs() / 60;
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}
