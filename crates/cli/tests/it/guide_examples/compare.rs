//! Compares the lines of an example with the lines that came.

use std::sync::LazyLock;

use regex::Regex;

/// Parts of a line that differ from one machine or minute to the next, with their substitutes.
static VARYING: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"/\S*/target/debug/switchboard\b", "switchboard"),
        (r"\b(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, ", ""),
        (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?Z?( [+-]\d\d:\d\d)?", "TIME"),
        (r"\([+-]\d\d:\d\d\)", "(OFFSET)"),
        (r"\b\d+(\.\d+)? (s|ms|min|h)\b", "DURATION"),
        (r#""(milliseconds|tokens)":\d+"#, "\"$1\":N"),
        (r#"\bcall \d+\b|"call":"\d+""#, "call N"),
        (r"\b\d+\.\d+\b", "N"),
        (r"\b2[0-9a-z]{11}\b", "SESSION"),
        (r"\b([0-9a-f]{64}|[0-9a-f]{16}|[0-9a-f]{12}|[0-9a-f]{8})\b", "DIGEST"),
        (r"backup-\d+", "backup-TIME"),
        (r"[ \t]{2,}", "  "),
    ]
    .into_iter()
    .map(|(pattern, substitute)| (Regex::new(pattern).unwrap(), substitute))
    .collect()
});

/// Places of names that are made up anew each time: a page shows one, and uses it in later commands.
static MADE_UP: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [r"`switchboard review show (\w+)`", r"^session (\w+)$", r"^(\w+)  (?:review|ask)  "]
        .into_iter()
        .map(|pattern| Regex::new(pattern).unwrap())
        .collect()
});

/// Pairs of a made-up name on the page and the one that came.
pub(super) fn made_up(shown: &[String], came: &[String]) -> Vec<(String, String)> {
    let find = |pattern: &Regex, lines: &[String]| -> Vec<String> {
        let names = lines.iter().filter_map(|line| pattern.captures(line));
        names.map(|found| found[1].to_owned()).collect()
    };
    let pairs = MADE_UP
        .iter()
        .flat_map(|pattern| find(pattern, shown).into_iter().zip(find(pattern, came)));
    pairs.collect()
}

/// Whether these lines came. A line `…` skips any number of lines, `…` in a line any text.
pub(super) fn matches(shown: &[String], came: &[String]) -> bool {
    let shown: Vec<String> = shown.iter().map(|line| normalize(line)).collect();
    let came: Vec<String> = came.iter().map(|line| normalize(line)).collect();
    lines_match(&shown, &came)
}

fn lines_match(shown: &[String], came: &[String]) -> bool {
    let Some((first, rest)) = shown.split_first() else { return came.is_empty() };
    if first.trim() == "…" {
        return (0..=came.len()).any(|skipped| lines_match(rest, &came[skipped..]));
    }
    let Some((line, others)) = came.split_first() else { return false };
    line_matches(first, line) && lines_match(rest, others)
}

fn line_matches(shown: &str, came: &str) -> bool {
    if !shown.contains('…') {
        return shown == came;
    }
    let parts: Vec<String> = shown.split('…').map(regex::escape).collect();
    Regex::new(&format!("^{}$", parts.join(".*"))).unwrap().is_match(came)
}

fn normalize(line: &str) -> String {
    let mut line = line.trim_end().to_owned();
    for (pattern, substitute) in VARYING.iter() {
        line = pattern.replace_all(&line, *substitute).into_owned();
    }
    line.trim_end().to_owned()
}

#[test]
fn what_differs_between_machines_does_not_count_and_the_rest_does() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    for (shown, came, expected) in [
        ("a\nb", "a\nb", true),
        ("a\nb", "a", false),
        ("a\n…\nd", "a\nb\nc\nd", true),
        ("a …", "a b c", true),
        ("a …", "b c", false),
        ("ID  WHEN                 MS", "ID  WHEN   MS", true),
        ("ok (0.0 s, 42 bytes)", "ok (1.7 s, 42 bytes)", true),
        ("ok (0.0 s, 42 bytes)", "ok (0.0 s, 43 bytes)", false),
        ("4   2026-11-15 07:03:36  ok  7.7", "4   2026-11-18 20:12:09  ok  14.2", true),
    ] {
        assert_eq!(matches(&lines(shown), &lines(came)), expected, "{shown} / {came}");
    }
}
