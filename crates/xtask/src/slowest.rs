//! The slowest tests of a run, from the report that nextest writes.

use std::fs;
use std::path::Path;

use crate::error::Result;
use crate::workspace::with_path;

/// Number of printed tests.
const SHOWN: usize = 10;

/// Prints the slowest tests of a report.
pub(crate) fn print(report: &Path) -> Result<()> {
    let text = with_path("read", report, fs::read_to_string(report))?;
    println!("slowest tests:");
    for (seconds, name) in slowest(&text) {
        println!("{seconds:8.1} s  {name}");
    }
    Ok(())
}

fn slowest(report: &str) -> Vec<(f64, &str)> {
    let mut all: Vec<(f64, &str)> = report
        .split("<testcase ")
        .skip(1)
        .filter_map(|case| Some((attribute(case, "time")?.parse().ok()?, attribute(case, "name")?)))
        .collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.truncate(SHOWN);
    all
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let tag = tag.split('>').next()?;
    let (_, value) = tag.split_once(&format!("{name}=\""))?;
    value.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::slowest;

    #[test]
    fn tests_are_listed_by_time_and_other_elements_are_ignored() {
        let report = r#"<testsuites name="nextest-run" time="9.0"><testsuite name="a" time="8">
            <testcase name="quick" classname="a" time="0.020"></testcase>
            <testcase name="slow" classname="a" timestamp="2026-01-01" time="4.500"><system-out>name="x"
            </system-out></testcase></testsuite></testsuites>"#;
        assert_eq!(slowest(report), [(4.5, "slow"), (0.02, "quick")]);
    }
}
