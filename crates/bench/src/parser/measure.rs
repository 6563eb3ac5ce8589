//! Measures the parser in this process, beside reading the whole text again after each chunk.

use std::hint::black_box;

use serde::{Deserialize, Serialize};
use serde_json::json;
use switchboard_prompting::parse::cline;
use switchboard_prompting::{Assembler, CallDialect, MessageParser};

use super::messages::{SAMPLES, SampleKind, dialect, json_object};
use crate::error::Result;
use crate::meter::{measure_in_child, median, spent};
use crate::report::{PerformanceTarget, ReportSection, Table, at_least, at_most, number};

pub(super) const SIZE: usize = 200_000;
/// How many characters come at once.
pub(super) const CHUNK: usize = 20;
/// Each message is read this often, in turn with the others.
const ROUNDS: usize = 12;
/// The Assembler stands beside the messages under this name.
const NATIVE: &str = "native call, large JSON arguments";

#[derive(Deserialize, Serialize)]
pub(super) struct ParseTimes {
    pub(super) title: String,
    /// Whether a model would write it in good faith.
    pub(super) ordinary: bool,
    pub(super) bytes: usize,
    /// Processor seconds per message of `bytes`, one per round.
    pub(super) once: Vec<f64>,
    /// Processor seconds per message of twice the size, one per round.
    pub(super) twice: Vec<f64>,
    /// Processor seconds if the whole text is read again after each chunk.
    pub(super) again: Option<f64>,
}

struct Subject {
    title: &'static str,
    ordinary: bool,
    read: fn(&[&str], CallDialect) -> usize,
    once: String,
    twice: String,
}

/// Reads messages in chunks and prints how long that took.
pub(crate) fn measure(with_anchor: AnchorChoice) -> Result<()> {
    let subjects = subjects();
    let dialect = dialect();
    let chunks: Vec<(Vec<&str>, Vec<&str>)> =
        subjects.iter().map(|subject| (chunks(&subject.once), chunks(&subject.twice))).collect();
    let mut found: Vec<ParseTimes> = subjects
        .iter()
        .map(|subject| ParseTimes {
            title: subject.title.to_owned(),
            ordinary: subject.ordinary,
            bytes: subject.once.len(),
            once: Vec::new(),
            twice: Vec::new(),
            again: None,
        })
        .collect();
    // The first round warms caches and the allocator up.
    for round in 0..=ROUNDS {
        for ((subject, (once, twice)), found) in subjects.iter().zip(&chunks).zip(&mut found) {
            let took = |chunks: &[&str]| {
                let dialect = dialect.clone();
                spent(|| black_box((subject.read)(chunks, dialect))).0
            };
            let once = took(once);
            let twice = took(twice);
            if round > 0 {
                found.once.push(once);
                found.twice.push(twice);
            }
        }
    }
    if with_anchor == AnchorChoice::Measured {
        for ((subject, (once, _)), found) in subjects.iter().zip(&chunks).zip(&mut found) {
            if subject.title != NATIVE {
                found.again = Some(spent(|| black_box(reparse_chunks(once))).0);
            }
        }
    }
    println!("{}", serde_json::to_string(&found)?);
    Ok(())
}

/// Whether the other way is measured as well, which takes seconds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnchorChoice {
    Measured,
    LeftOut,
}

fn subjects() -> Vec<Subject> {
    let subject = |kind: &SampleKind| Subject {
        title: kind.title,
        ordinary: kind.is_ordinary,
        read: parse_chunks,
        once: (kind.message)(SIZE),
        twice: (kind.message)(2 * SIZE),
    };
    let mut subjects: Vec<Subject> = SAMPLES.iter().map(subject).collect();
    subjects.push(Subject {
        title: NATIVE,
        ordinary: true,
        read: assemble_chunks,
        once: json_object(SIZE),
        twice: json_object(2 * SIZE),
    });
    subjects
}

fn chunks(message: &str) -> Vec<&str> {
    let mut chunks = Vec::new();
    let mut rest = message;
    while !rest.is_empty() {
        let end = rest.char_indices().nth(CHUNK).map_or(rest.len(), |(at, _)| at);
        let (chunk, after) = rest.split_at(end);
        chunks.push(chunk);
        rest = after;
    }
    chunks
}

fn parse_chunks(chunks: &[&str], dialect: CallDialect) -> usize {
    let mut parser = MessageParser::new(dialect);
    let mut pieces = 0;
    for chunk in chunks {
        pieces += parser.push(chunk).map(black_box).count();
    }
    pieces + parser.finish().into_iter().map(black_box).count()
}

fn assemble_chunks(chunks: &[&str], _: CallDialect) -> usize {
    let mut assembler = Assembler::new();
    let mut name = Some("write_rows");
    for chunk in chunks {
        assembler.delta(0, name.map(|_| "call_1"), name.take(), chunk);
    }
    assembler.finish().into_iter().map(black_box).count()
}

/// Cline's way: whatever has come so far is read from its beginning after each chunk.
fn reparse_chunks(chunks: &[&str]) -> usize {
    let mut message = String::new();
    let mut blocks = 0;
    for chunk in chunks {
        message.push_str(chunk);
        blocks += black_box(cline::blocks(&message)).len();
    }
    blocks
}

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
        found.push(measure_in_child(what).await?);
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
        .map(|row| at_least(format!("parser, best: {}", row.title), 200.0, row.best, " MB/s"))
        .collect();
    targets.push(at_most("the worst growth when a message doubles", 2.2, worst, "x"));
    Ok(ReportSection {
        title: "parser".to_owned(),
        note: format!(
            "A message of {} KB in chunks of {CHUNK} characters. MB per second of processor time, \
             best / median of {passes} processes; growth is how much longer twice the message takes; \
             the last column is how much longer it takes to read the whole text again after each \
             chunk, which is Cline's way, done by our copy of its rules.",
            SIZE / 1_000
        ),
        table: Table { head: "message|MB/s|growth|x again from the start", rows: shown.collect() },
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
    use super::{CHUNK, ParseTimes, chunks, rows};

    #[test]
    fn chunks_are_of_characters_and_nothing_is_lost() {
        let message = "caf\u{e9} ".repeat(11);
        let cut = chunks(&message);
        let lengths: Vec<usize> = cut.iter().map(|chunk| chunk.chars().count()).collect();
        assert_eq!((lengths, cut.concat()), (vec![CHUNK, CHUNK, 15], message));
    }

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
