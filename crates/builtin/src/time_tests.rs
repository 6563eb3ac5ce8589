//! Tests the time tools with a fixed clock.

use serde_json::{Value, json};

use crate::server::Builtin;
use crate::test_folder::{call, clock, error_text, structured_content};

fn bare() -> Builtin {
    Builtin::new(Vec::new(), clock)
}

#[tokio::test]
async fn the_time_is_told_in_the_zone_asked_for() {
    for (arguments, expected) in [
        (
            json!({}),
            json!({
                "iso": "2026-03-29T01:30:00+01:00", "timezone": "Europe/Berlin",
                "utc_offset": "+01:00", "unix": 1_774_744_200, "weekday": "Sunday"
            }),
        ),
        (
            json!({ "timezone": "america/new_york" }),
            json!({
                "iso": "2026-03-28T20:30:00-04:00", "timezone": "America/New_York",
                "utc_offset": "-04:00", "unix": 1_774_744_200, "weekday": "Saturday"
            }),
        ),
        (
            json!({ "timezone": "+05:30" }),
            json!({
                "iso": "2026-03-29T06:00:00+05:30", "timezone": "+05:30",
                "utc_offset": "+05:30", "unix": 1_774_744_200, "weekday": "Sunday"
            }),
        ),
    ] {
        assert_eq!(structured_content(&call(&bare(), "time_now", arguments).await), expected);
    }
}

/// Input as `time|from|to`, expected output as `from|to|difference`.
const CONVERSIONS: [(&str, &str); 8] = [
    ("15:30||Asia/Tokyo", "2026-03-29T15:30:00+02:00|2026-03-29T22:30:00+09:00|+07:00"),
    ("9:05|Asia/Tokyo|UTC", "2026-03-29T09:05:00+09:00|2026-03-29T00:05:00+00:00|-09:00"),
    (
        "23:00|America/New_York|Asia/Kolkata",
        "2026-03-28T23:00:00-04:00|2026-03-29T08:30:00+05:30|+09:30",
    ),
    (
        " 2026-01-01 00:00 |UTC|America/New_York",
        "2026-01-01T00:00:00+00:00|2025-12-31T19:00:00-05:00|-05:00",
    ),
    (
        "2026-01-01T10:20:30Z||Europe/Berlin",
        "2026-01-01T10:20:30+00:00|2026-01-01T11:20:30+01:00|+01:00",
    ),
    (
        "2026-01-01T10:20:30-03:00||UTC",
        "2026-01-01T10:20:30-03:00|2026-01-01T13:20:30+00:00|+03:00",
    ),
    (
        "2026-01-01T10:00:00Z|Asia/Tokyo|UTC",
        "2026-01-01T19:00:00+09:00|2026-01-01T10:00:00+00:00|-09:00",
    ),
    (
        "2026-01-01T10:00[Asia/Tokyo]||UTC",
        "2026-01-01T10:00:00+09:00|2026-01-01T01:00:00+00:00|-09:00",
    ),
];

fn case_arguments(case: &str) -> Value {
    let [time, from, to] = *case.split('|').collect::<Vec<_>>() else { panic!("{case}") };
    match from {
        "" => json!({ "time": time, "to": to }),
        _ => json!({ "time": time, "from": from, "to": to }),
    }
}

fn result_line(result: &Value) -> String {
    let part = |pointer| result.pointer(pointer).and_then(Value::as_str).unwrap();
    format!("{}|{}|{}", part("/from/iso"), part("/to/iso"), part("/difference"))
}

#[tokio::test]
async fn times_are_converted_between_zones() {
    for (case, expected) in CONVERSIONS {
        let result = structured_content(&call(&bare(), "time_convert", case_arguments(case)).await);
        assert_eq!(result_line(&result), expected, "{case}");
        assert_eq!(result.get("note"), None, "{case}");
    }
}

#[tokio::test]
async fn times_that_a_change_of_clocks_makes_doubtful_come_with_a_note() {
    for (case, expected, note) in [
        (
            "02:30||UTC",
            "2026-03-29T03:30:00+02:00|2026-03-29T01:30:00+00:00|-02:00",
            "clocks in Europe/Berlin skip 2026-03-29T02:30:00, so the time after the change \
             is used",
        ),
        (
            "2026-10-25 02:30||UTC",
            "2026-10-25T02:30:00+02:00|2026-10-25T00:30:00+00:00|-02:00",
            "clocks in Europe/Berlin show 2026-10-25T02:30:00 twice; the first is used",
        ),
    ] {
        let result = structured_content(&call(&bare(), "time_convert", case_arguments(case)).await);
        assert_eq!((result_line(&result).as_str(), &result["note"]), (expected, &json!(note)));
    }
}

#[tokio::test]
async fn times_that_are_not_understood_are_not_guessed() {
    let long = "1".repeat(1000);
    for time in [
        "",
        "noon",
        "25:00",
        "12:60",
        "12",
        "1200",
        "2026-01-01",
        "2026-13-01 10:00",
        "10:00 pm",
        "2026-01-01T10:00[Nowhere/Land]",
        "１２:００",
        "-10:00",
        long.as_str(),
    ] {
        let result = call(&bare(), "time_convert", json!({ "time": time, "to": "UTC" })).await;
        assert!(error_text(&result).starts_with("parameter `time` is not understood"), "{time}");
    }
}

proptest::proptest! {
    #[test]
    fn whatever_is_written_as_time_or_zone_is_answered(
        time in "[-+0-9:TZ \\[\\]./a-zé]{0,30}", zone in "[-+0-9:A-Za-z_/ é.]{0,20}",
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let arguments = json!({ "time": time, "from": zone, "to": "UTC" });
        let result = runtime.block_on(call(&bare(), "time_convert", arguments));
        assert!(result["isError"].is_boolean());
        let arguments = json!({ "time": time, "to": "Asia/Tokyo" });
        let result = runtime.block_on(call(&bare(), "time_convert", arguments));
        assert!(result["isError"].is_boolean());
    }
}
