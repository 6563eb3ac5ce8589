//! Standard output carries only the result, and with `--json` a single document.

use std::process::Stdio;

use serde_json::json;

use crate::running::{TEST_TIMEOUT, poll};
use crate::switchboard::{Switchboard, fixture};
use crate::transcript::transcript;

#[test]
fn json_is_one_document_on_standard_output_and_talk_goes_elsewhere() {
    let switchboard = Switchboard::with(&json!({
        "echo": fixture(&["echo"]),
        "missing": {"command": "no-such-program"},
    }));
    let cases: [(&[&str], i32); 14] = [
        (&["servers"], 0),
        (&["tools"], 0),
        (&["tools", "show", "echo", "add"], 0),
        (&["tools", "search", "numbers"], 0),
        (&["call", "echo", "echo", "text=a"], 0),
        (&["call", "echo", "fail", "message=bad"], 1),
        (&["call", "echo", "add", "a=1"], 2),
        (&["call", "echo", "echo", "text=a", "--review"], 5),
        (&["resources"], 0),
        (&["resources", "read", "echo", "test://static-text"], 0),
        (&["prompts"], 0),
        (&["prompts", "get", "echo", "greet", "name=Ada"], 0),
        (&["calls"], 0),
        (&["doctor"], 4),
    ];
    for (words, code) in cases {
        let ran = switchboard.run(&[words, &["--json"]].concat()).expect(code);
        ran.json();
    }
    let warned = switchboard.run(&["tools", "--json"]).expect(0);
    assert!(warned.stderr.starts_with("warning: server `missing` is not ready"), "{warned:?}");
    let quiet = switchboard.run(&["tools", "--json", "--quiet"]).expect(0);
    assert_eq!([quiet.stdout, quiet.stderr], [warned.stdout, String::new()]);
}

#[test]
fn results_that_are_no_text_are_saved_also_with_json() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    for (more, folder) in
        [(&["--save", "plain"][..], "plain"), (&["--save", "json", "--json"], "json")]
    {
        switchboard.run(&[&["call", "echo", "content"], more].concat()).expect(0);
        let names = std::fs::read_dir(switchboard.path(folder));
        let mut names: Vec<String> = names
            .unwrap_or_else(|cause| panic!("nothing was saved with {more:?}: {cause}"))
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        assert_eq!(names, ["2.png", "3.wav", "5.png"]);
    }
    let binary = ["resources", "read", "echo", "test://static-binary", "--output"];
    switchboard.run(&[&binary[..], &["pixel.png"]].concat()).expect(0);
    let pixel = std::fs::read(switchboard.path("pixel.png")).unwrap();
    assert_eq!(pixel, std::fs::read(switchboard.path("plain/2.png")).unwrap());
    let told =
        switchboard.run(&[&binary[..], &["pixel.png", "--force", "--json"]].concat()).expect(0);
    assert!(told.json().is_object(), "{told:?}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo", "--tools", "1500"])}));
    let mut command = switchboard.command(&["tools", "--json"]);
    let mut listing = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    // The reading end is closed before anything is written.
    drop(listing.stdout.take());
    let ended = poll(TEST_TIMEOUT, || listing.try_wait().unwrap());
    // Failing to kill means that it has already ended.
    _ = listing.kill();
    assert_eq!(ended.and_then(|status| status.code()), Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_shows_head_and_tail_of_a_long_result_and_where_the_rest_is() {
    let switchboard = Switchboard::new();
    let config = json!({
        "mcpServers": {"echo": fixture(&["echo"])},
        "settings": {"showLimitBytes": 1000},
    });
    switchboard.write_config(&config.to_string());
    let words = ["call", "echo", "big", "bytes=50000"];
    let shown = switchboard.in_terminal(&words).finish_within(TEST_TIMEOUT).expect(0);
    assert!(shown.stdout.len() < 10_000, "{} bytes were shown", shown.stdout.len());
    let name = shown.stdout.split([' ', ']', '\r', '\n']).find(|word| word.ends_with(".txt"));
    let name = name.unwrap_or_else(|| panic!("no file is named: {}", shown.stdout));
    assert_eq!(std::fs::read_to_string(name).unwrap().trim_end().len(), 50_000);
    // Programs get the complete text.
    assert_eq!(switchboard.run(&words).expect(0).stdout.trim_end().len(), 50_000);
}

#[test]
fn a_result_beyond_the_limit_is_not_taken() {
    let switchboard = Switchboard::new();
    let config = json!({"settings": {"resultLimitBytes": 1_024}});
    switchboard.write_config(&config.to_string());
    let long = format!("text={}", "x".repeat(2_000));
    let refused = switchboard.run(&["call", "builtin", "echo", &long]).expect(6);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 6
    --- stderr
    error: the call ran, but its result has 2212 bytes, more than 1024
    hint: raise `settings.resultLimitBytes`, or request less
    ");
    switchboard.run(&["call", "builtin", "echo", "text=short"]).expect(0);
    assert_eq!(
        switchboard.recorded_calls(),
        ["tool builtin/echo: invalid_output (too_long)", "tool builtin/echo: ok"]
    );
}

#[test]
fn a_list_of_calls_says_whether_there_are_none_or_none_of_those() {
    let switchboard = Switchboard::new();
    let none = switchboard.run(&["calls"]).expect(0);
    insta::assert_snapshot!(transcript(&none), @"
    exit status 0
    --- stderr
    no calls are recorded
    ");
    switchboard.run(&["call", "builtin", "echo", "text=a"]).expect(0);
    let others = switchboard.run(&["calls", "--server", "nobody"]).expect(0);
    insta::assert_snapshot!(transcript(&others), @"
    exit status 0
    --- stderr
    no recorded call matches
    ");
    let odd = switchboard.run(&["calls", "show", "latest"]).expect(2);
    insta::assert_snapshot!(transcript(&odd), @"
    exit status 2
    --- stderr
    error: invalid call number `latest`
    hint: `switchboard calls` lists them
    ");
}
