//! Tests of the time server, in time zones without clock changes, which have one right answer.

use serde_json::json;

use crate::switchboard::{Switchboard, result_text};
use crate::testenv;
use crate::transcript::transcript;

#[test]
fn time_converts_between_zones_and_names_a_zone_that_is_wrong() {
    let switchboard = Switchboard::with(&json!({"time": testenv::time()}));
    assert_eq!(switchboard.status("time"), ["ready", "2026-07-28"]);
    assert_eq!(switchboard.tools("time"), ["get_current_time", "convert_time"]);
    switchboard.check_shown("time", "convert_time", "source_timezone");

    let words = ["time", "convert_time", "time=16:30", "target_timezone=Asia/Kolkata"];
    let converted = switchboard.call(&[&words[..], &["source_timezone=Asia/Tokyo"]].concat(), 0);
    let structured = &converted["result"]["structuredContent"];
    assert_eq!(structured["time_difference"], "-3.5h", "{converted}");
    let target = structured["target"]["datetime"].as_str().unwrap();
    assert!(target.ends_with("T13:00:00+05:30"), "{converted}");
    let now = switchboard.call(&["time", "get_current_time", "timezone=Asia/Tokyo"], 0);
    assert_eq!(now["result"]["structuredContent"]["timezone"], "Asia/Tokyo");

    let wrong = switchboard.call(&[&words[..], &["source_timezone=Nowhere"]].concat(), 1);
    assert!(result_text(&wrong).contains("Invalid timezone"), "{wrong}");
    let missing = switchboard.run(&[&["call"], &words[..]].concat()).expect(2);
    insta::assert_snapshot!(transcript(&missing), @"
    exit status 2
    --- stderr
    error: the arguments for `time/convert_time` do not fit: `/source_timezone` is required but missing
    hint: `switchboard tools show time convert_time` shows its arguments
    ");

    assert_eq!(
        switchboard.recorded_calls(),
        [
            "tool time/convert_time: ok",
            "tool time/get_current_time: ok",
            "tool time/convert_time: tool_error",
            "tool time/convert_time: not_sent (bad_arguments)",
        ]
    );
}
