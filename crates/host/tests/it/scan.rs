//! The scanner over definitions that were written to be caught, and over ones that must not be.

use switchboard_host::catalog::scan::{Kind, Severity, scan_definition, verdict};

const POISONED: &str = include_str!("../scan/poisoned.jsonl");
const BENIGN: &str = include_str!("../scan/benign.jsonl");

fn judged(lines: &str) -> Vec<(String, Option<Severity>, Vec<&'static str>)> {
    let judge = |line: &str| {
        let findings = scan_definition(Kind::Tool, line);
        let rules = findings.iter().map(|finding| finding.rule).collect();
        (line.chars().take(110).collect(), verdict(&findings), rules)
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
