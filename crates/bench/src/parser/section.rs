//! The table of the parser, from several processes.

use serde_json::json;

use super::measure::{CHUNK, ParseTimes, SIZE};
use crate::child;
use crate::error::Result;
use crate::report::{PerformanceTarget, ReportSection, Table, number};
use crate::statistics::median;

/// One row: everything that was measured of one kind of message.
struct ParserRow {
    title: String,
    ordinary: bool,
    best: f64,
    middle: f64,
    growth: f64,
    again: Option<f64>,
}

/// Measures in processes of their own, and reports.
pub(crate) async fn section(passes: usize) -> Result<ReportSection> {
    let mut found: Vec<Vec<ParseTimes>> = Vec::new();
    for pass in 0..passes {
        // Reading again and again takes seconds, so one process does it, and does it once.
        let what = if pass == 0 { "parser-and-anchor" } else { "parser" };
        found.push(child::measure_in_child(what).await?);
    }
    let rows = rows(&found);
    let shown = rows.iter().map(|row| {
        vec![
            row.title.clone(),
            format!("{} / {}", number(row.best), number(row.middle)),
            number(row.growth),
            row.again.map_or_else(|| "–".to_owned(), number),
        ]
    });
    let worst = rows.iter().map(|row| row.growth).fold(f64::NAN, f64::max);
    let mut targets: Vec<PerformanceTarget> = rows
        .iter()
        .filter(|row| row.ordinary)
        .map(|row| {
            PerformanceTarget::at_least(
                format!("parser, best: {}", row.title),
                200.0,
                row.best,
                " MB/s",
            )
        })
        .collect();
    targets.push(PerformanceTarget::at_most(
        "the worst growth when a message doubles",
        2.2,
        worst,
        "x",
    ));
    Ok(ReportSection {
        title: "parser".to_owned(),
        note: format!(
            "A message of {} KB in chunks of {CHUNK} characters. MB per second of processor time, \
             best / median of {passes} processes; growth is how much longer twice the message takes; \
             the last column is how much longer it takes to read the whole text again after each \
             chunk, which is Cline's way, done by our copy of its rules.",
            SIZE / 1_000
        ),
        table: Table {
            head: vec!["message", "MB/s", "growth", "x again from the start"],
            rows: shown.collect(),
        },
        targets,
        measured: json!(found),
    })
}

fn rows(found: &[Vec<ParseTimes>]) -> Vec<ParserRow> {
    let Some(first) = found.first() else { return Vec::new() };
    let row = |(at, first): (usize, &ParseTimes)| {
        let of: Vec<&ParseTimes> = found.iter().filter_map(|all| all.get(at)).collect();
        let times = || of.iter().flat_map(|one| one.once.iter().copied());
        let twice = of.iter().flat_map(|one| one.twice.iter().copied());
        let speed = |seconds: f64| first.bytes as f64 / seconds / 1e6;
        let middle = median(times());
        // Against the same process: what else the machine does falls on both sides.
        let again = first.again.map(|again| again / median(first.once.iter().copied()));
        ParserRow {
            title: first.title.clone(),
            ordinary: first.ordinary,
            best: speed(times().fold(f64::INFINITY, f64::min)),
            middle: speed(middle),
            growth: median(twice.zip(times()).map(|(twice, once)| twice / once)),
            again,
        }
    };
    first.iter().enumerate().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::{ParseTimes, rows};

    #[test]
    fn a_row_has_the_best_the_middle_and_the_growth_of_all_processes() {
        let process = |once: f64, again| {
            vec![ParseTimes {
                title: "x".to_owned(),
                ordinary: true,
                bytes: 1_000_000,
                once: vec![once, once],
                twice: vec![3.0 * once, 3.0 * once],
                again,
            }]
        };
        let rows = rows(&[process(0.5, Some(50.0)), process(0.25, None), process(1.0, None)]);
        let numbers: Vec<_> =
            rows.iter().map(|row| (row.best, row.middle, row.growth, row.again)).collect();
        assert_eq!(numbers, [(4.0, 2.0, 3.0, Some(100.0))]);
    }
}
