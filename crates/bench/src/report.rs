//! The report: Markdown tables for people, or every number as JSON.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

#[derive(Serialize)]
pub(crate) struct ReportSection {
    pub(crate) title: String,
    /// Explains the numbers in a sentence or two.
    #[serde(skip)]
    pub(crate) note: String,
    #[serde(skip)]
    pub(crate) table: Table,
    pub(crate) targets: Vec<PerformanceTarget>,
    /// Every measured number.
    pub(crate) measured: Value,
}

impl ReportSection {
    /// Creates a section without targets and raw numbers.
    pub(crate) fn table(title: &str, note: impl Into<String>, table: Table) -> Self {
        let title = title.to_owned();
        Self { title, note: note.into(), table, targets: Vec::new(), measured: Value::Null }
    }
}

#[derive(Default)]
pub(crate) struct Table {
    /// Column names, separated by `|`.
    pub(crate) head: &'static str,
    pub(crate) rows: Vec<Vec<String>>,
}

/// A performance target and the measured result.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PerformanceTarget {
    pub(crate) what: String,
    pub(crate) wanted: String,
    pub(crate) found: String,
    pub(crate) met: bool,
}

/// Creates a target with an upper limit. NaN, which means not measured, misses it.
pub(crate) fn at_most(
    what: impl Into<String>,
    limit: f64,
    found: f64,
    unit: &str,
) -> PerformanceTarget {
    let wanted = format!("<= {limit}{unit}");
    let shown = format!("{}{unit}", number(found));
    PerformanceTarget { what: what.into(), wanted, found: shown, met: found <= limit }
}

/// Creates a target with a lower limit. NaN, which means not measured, misses it.
pub(crate) fn at_least(
    what: impl Into<String>,
    limit: f64,
    found: f64,
    unit: &str,
) -> PerformanceTarget {
    let wanted = format!(">= {limit}{unit}");
    let shown = format!("{}{unit}", number(found));
    PerformanceTarget { what: what.into(), wanted, found: shown, met: found >= limit }
}

pub(crate) fn markdown(sections: &[ReportSection]) -> String {
    let mut text = String::new();
    for section in sections {
        // Writing to a `String` cannot fail.
        _ = writeln!(text, "## {}\n\n{}\n", section.title, section.note);
        if !section.table.rows.is_empty() {
            _ = writeln!(text, "{}", section.table.markdown());
        }
        if !section.targets.is_empty() {
            let rows = section.targets.iter().map(|target| {
                let PerformanceTarget { what, wanted, found, met } = target;
                let word = if *met { "PASS" } else { "MISS" };
                vec![what.clone(), wanted.clone(), found.clone(), word.to_owned()]
            });
            let head = "target|wanted|found|";
            _ = writeln!(text, "{}", Table { head, rows: rows.collect() }.markdown());
        }
    }
    text
}

impl Table {
    fn markdown(&self) -> String {
        let columns = self.head.split('|').count();
        let head = self.head.replace('|', " | ");
        let mut text = format!("| {head} |\n|{}\n", "---|".repeat(columns));
        for row in &self.rows {
            _ = writeln!(text, "| {} |", row.join(" | "));
        }
        text
    }
}

/// Formats a number with about three significant digits, and NaN as a dash.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        size if size.is_nan() => "–".to_owned(),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{ReportSection, Table, at_least, at_most, markdown, number};

    #[test]
    fn numbers_have_three_digits_or_so() {
        let shown = [0.123, 1.5, 15.26, 152.6, 15_260.0, f64::NAN].map(number);
        assert_eq!(shown, ["0.12", "1.50", "15.3", "153", "15260", "–"]);
    }

    #[test]
    fn a_target_that_was_not_measured_is_missed() {
        assert!(!at_most("x", 1.0, f64::NAN, "").met);
        assert!(!at_least("x", 1.0, f64::NAN, "").met);
        assert!(at_most("x", 1.0, 1.0, "").met);
    }

    #[test]
    fn a_section_is_a_heading_a_note_and_tables() {
        let section = ReportSection {
            title: "start".to_owned(),
            note: "How long.".to_owned(),
            table: Table { head: "a|b", rows: vec![vec!["1".to_owned(), "2".to_owned()]] },
            targets: vec![at_most("start", 1.1, 1.05, "x")],
            measured: serde_json::Value::Null,
        };
        let expected = "## start\n\nHow long.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\
            | target | wanted | found |  |\n|---|---|---|---|\n\
            | start | <= 1.1x | 1.05x | PASS |\n\n";
        assert_eq!(markdown(&[section]), expected);
    }
}
