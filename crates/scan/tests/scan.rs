//! The scanner on definitions written to be caught, and on harmless ones.

use switchboard_scan::{DefinitionKind, Severity, overall_severity, scan_definition, scan_text};

const POISONED: &str = include_str!("data/poisoned.jsonl");
const BENIGN: &str = include_str!("data/benign.jsonl");

fn judged(lines: &str) -> Vec<(String, Option<Severity>, Vec<&'static str>)> {
    let judge = |line: &str| {
        let findings = scan_definition(DefinitionKind::Tool, line);
        let rules = findings.iter().map(|finding| finding.rule).collect();
        (line.chars().take(110).collect(), overall_severity(&findings), rules)
    };
    lines.lines().map(judge).collect()
}

#[test]
fn every_poisoned_definition_is_held() {
    let judged = judged(POISONED);
    assert!(judged.len() >= 60);
    let missed: Vec<_> =
        judged.into_iter().filter(|(_, verdict, _)| *verdict != Some(Severity::Block)).collect();
    assert_eq!(missed, []);
}

#[test]
fn no_benign_definition_is_held_and_few_are_asked_about() {
    let judged = judged(BENIGN);
    assert!(judged.len() >= 60);
    let held: Vec<_> =
        judged.into_iter().filter(|(_, verdict, _)| *verdict >= Some(Severity::Ask)).collect();
    assert_eq!(held, []);
}

/// Known attacks in other words, languages, scripts and encodings, and similar harmless texts.
const VARIATIONS: &str = include_str!("data/variations.jsonl");

#[derive(serde::Deserialize)]
struct Variation {
    expect: String,
    how: String,
    text: Option<String>,
    definition: Option<String>,
}

#[test]
fn variations_of_attacks_are_seen_and_harmless_texts_that_are_like_them_are_not() {
    let variations: Vec<Variation> =
        VARIATIONS.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(variations.len() > 300);
    let mut wrong = Vec::new();
    for Variation { expect, how, text, definition } in variations {
        let findings = match (text, definition) {
            (Some(text), _) => scan_text("", &text),
            (None, definition) => scan_definition(DefinitionKind::Tool, &definition.unwrap()),
        };
        let got = match overall_severity(&findings) {
            Some(Severity::Block) => "held",
            Some(Severity::Ask) => "asked about",
            Some(Severity::Inform) | None => "nothing",
        };
        // `held` is stricter than `asked about`, so it is accepted in its place.
        if got != expect && (got, expect.as_str()) != ("held", "asked about") {
            let rules: Vec<&str> = findings.iter().map(|finding| finding.rule).collect();
            wrong.push(format!("{how}: {got} instead of {expect} {rules:?}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}
