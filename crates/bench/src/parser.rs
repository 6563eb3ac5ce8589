//! `parser`: speed of parsing a streamed message into text and calls, and its growth with size.

use std::hint::black_box;

use serde::{Deserialize, Serialize};
use serde_json::json;
use switchboard_prompting::{Assembler, CallDialect, MessageParser, ToolShape, cline};

use crate::error::Result;
use crate::meter::{measure_in_child, median, spent};
use crate::report::{PerformanceTarget, ReportSection, Table, at_least, at_most, number};

const SIZE: usize = 200_000;
/// Number of characters per chunk.
const CHUNK: usize = 20;
/// How often each message is parsed, in turn with the others.
const ROUNDS: usize = 12;
/// Title of the row of [`Assembler`], which joins native calls and parses no text.
const NATIVE: &str = "native call, large JSON arguments";

#[derive(Deserialize, Serialize)]
struct ParseTimes {
    title: String,
    /// Whether it is a message that a model writes in good faith.
    ordinary: bool,
    bytes: usize,
    /// Processor seconds per message of `bytes`, one per round.
    once: Vec<f64>,
    /// Processor seconds per message of twice the size, one per round.
    twice: Vec<f64>,
    /// Processor seconds if the whole text is parsed again after each chunk.
    again: Option<f64>,
}

struct Subject {
    title: &'static str,
    ordinary: bool,
    read: fn(&[&str], CallDialect) -> usize,
    once: String,
    twice: String,
}

/// Parses messages in chunks and prints the times.
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
    // The first round warms up caches and the allocator, and is not counted.
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

/// Whether the baseline is measured too, which takes seconds.
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

/// The baseline: parses the message from its beginning after each chunk, as Cline does.
fn reparse_chunks(chunks: &[&str]) -> usize {
    let mut message = String::new();
    let mut blocks = 0;
    for chunk in chunks {
        message.push_str(chunk);
        blocks += black_box(cline::blocks(&message)).len();
    }
    blocks
}

/// A table row: the results of one kind of message.
struct ParserRow {
    title: String,
    ordinary: bool,
    best: f64,
    middle: f64,
    growth: f64,
    again: Option<f64>,
}

/// Measures in child processes and returns the report.
pub(crate) async fn section(passes: usize) -> Result<ReportSection> {
    let mut found: Vec<Vec<ParseTimes>> = Vec::new();
    for pass in 0..passes {
        // The baseline takes seconds, so only one process measures it, once.
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
             the last column is how much longer it takes to parse the whole text again after each \
             chunk, as Cline does, with our implementation of its rules.",
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
        // Within one process, so that other load on the machine affects both sides.
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

struct SampleKind {
    title: &'static str,
    /// Whether it is a message that a model writes in good faith.
    is_ordinary: bool,
    /// Generates a message of about this many bytes.
    message: fn(usize) -> String,
}

const SAMPLES: [SampleKind; 12] = [
    ordinary("plain prose", |bytes| repeat_to_size(bytes, prose)),
    ordinary("Markdown with code and stray `<`", |bytes| repeat_to_size(bytes, markdown)),
    ordinary("one call, large JSON arguments", |bytes| call(&json_object(bytes))),
    ordinary("many small calls", |bytes| repeat_to_size(bytes, small_call)),
    ordinary("one call, arguments as elements", |bytes| call(&repeat_to_size(bytes, record))),
    ordinary("many calls by the tool's own element", |bytes| repeat_to_size(bytes, named_call)),
    hostile("hostile: `<` only", |bytes| "<".repeat(bytes)),
    hostile("hostile: half tags", |bytes| {
        repeat_to_size(bytes, |_| "<use_mcp_too </use_mcp_tool <serv".to_owned())
    }),
    hostile("hostile: calls that are never closed", |bytes| {
        repeat_to_size(bytes, |_| "<use_mcp_tool><server_name>s".to_owned())
    }),
    hostile("hostile: one parameter again and again", |bytes| {
        let names = repeat_to_size(bytes, |_| "<server_name>s</server_name>".to_owned());
        format!("<use_mcp_tool>{names}</use_mcp_tool>")
    }),
    hostile("hostile: backticks that close nothing", |bytes| {
        repeat_to_size(bytes, |number| format!("{} <", "`".repeat(number % 9)))
    }),
    hostile("hostile: elements nested deeply", |bytes| call(&repeat_to_size(bytes, deep))),
];

const fn ordinary(title: &'static str, message: fn(usize) -> String) -> SampleKind {
    SampleKind { title, is_ordinary: true, message }
}

const fn hostile(title: &'static str, message: fn(usize) -> String) -> SampleKind {
    SampleKind { title, is_ordinary: false, message }
}

/// Returns a dialect with the elements that the messages use.
fn dialect() -> CallDialect {
    let schema = serde_json::json!({"properties": {
        "number": {"type": "integer"}, "labels": {"type": "array"},
    }});
    let named = ToolShape { name: "tracker__update_issue".to_owned(), schema: Some(schema) };
    let others = (0..200)
        .map(|number| ToolShape::without_schema(&format!("server{}__tool{number}", number % 20)));
    CallDialect::new().with_tools(others.chain([named]))
}

/// Returns a JSON object of about `bytes` bytes: rows of a table and one long text.
fn json_object(bytes: usize) -> String {
    let rows = repeat_to_size(bytes / 2, |number| {
        let comma = if number == 0 { "" } else { "," };
        format!(
            "{comma}\n  {{\"id\": {number}, \"name\": \"row {number}\", \"score\": {number}.25, \
             \"open\": true, \"tags\": [\"a\", \"b <c>\", null], \"note\": \"caf\u{e9} &amp; more\"}}"
        )
    });
    let text = repeat_to_size(bytes / 2, |number| {
        format!("fn line_{number}() -> Vec<String> {{\\n    say(\\\"hello\\\", {number});\\n}}\\n")
    });
    format!("{{\"rows\": [{rows}\n], \"content\": \"{text}\"}}")
}

fn repeat_to_size(bytes: usize, part: impl Fn(usize) -> String) -> String {
    let mut message = String::with_capacity(bytes + 1_024);
    let mut number = 0;
    while message.len() < bytes {
        message.push_str(&part(number));
        number += 1;
    }
    message
}

fn prose(number: usize) -> String {
    let end = if number % 5 == 4 { "\n\n" } else { " " };
    format!(
        "The build of step {number} failed because a file was missing, so I looked at what the \
         caf\u{e9}'s server had said about it and found that nobody had asked for the file at \
         all.{end}"
    )
}

fn markdown(number: usize) -> String {
    format!(
        "## Step {number}\n\n- Look at `Vec<String>` and at **bold** words; if a < b, then `c` \
         wins.\n- A list goes on with <b>marks</b> of its own.\n\n```rust\nfn step_{number}(items: \
         &[Item]) -> Option<&Item> {{\n    items.iter().find(|item| item.size << 1 < {number})\n}}\n\
         ```\n\nThat is all, 3 <= 4 and ~approximately~ so.\n\n"
    )
}

fn call(arguments: &str) -> String {
    format!(
        "Here it is.\n\n<use_mcp_tool>\n<server_name>tables</server_name>\n\
         <tool_name>write_rows</tool_name>\n<arguments>\n{arguments}\n</arguments>\n</use_mcp_tool>\n"
    )
}

fn small_call(number: usize) -> String {
    format!(
        "Then number {number}:\n<use_mcp_tool>\n<server_name>tracker</server_name>\n\
         <tool_name>update_issue</tool_name>\n<arguments>\n{{\n  \"number\": {number},\n  \
         \"state\": \"closed\",\n  \"comment\": \"Fixed in release {number}.\"\n}}\n</arguments>\n\
         </use_mcp_tool>\n"
    )
}

fn named_call(number: usize) -> String {
    format!(
        "Then number {number}:\n<tracker__update_issue>\n<number>{number}</number>\n\
         <state>closed</state>\n<labels><item>bug</item><item>a &amp; b</item></labels>\n\
         <comment><![CDATA[Fixed in <b>release</b> {number}.]]></comment>\n\
         </tracker__update_issue>\n"
    )
}

fn record(number: usize) -> String {
    format!(
        "<row>\n  <id>{number}</id>\n  <name>row {number} &amp; more</name>\n  <open>true</open>\n  \
         <place>\n    <city>Oslo</city>\n    <lines><item>first</item><item>second</item></lines>\n  \
         </place>\n  <note><![CDATA[a < b]]></note>\n</row>\n"
    )
}

fn deep(_: usize) -> String {
    format!("{}x{}", "<a>".repeat(40), "</a>".repeat(40))
}

#[cfg(test)]
mod tests {
    use switchboard_prompting::{MessageParser, MessagePiece};

    use super::{CHUNK, ParseTimes, SAMPLES, chunks, dialect, rows};

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

    #[test]
    fn messages_have_their_size_and_good_ones_only_calls_that_can_be_made() {
        for kind in SAMPLES {
            let title = kind.title;
            let message = (kind.message)(20_000);
            assert!((20_000..22_000).contains(&message.len()), "{title}: {}", message.len());
            let mut parser = MessageParser::new(dialect());
            let mut pieces: Vec<MessagePiece> = parser.push(&message).collect();
            pieces.extend(parser.finish());
            let calls = pieces.iter().any(|piece| matches!(piece, MessagePiece::Call(_)));
            let refused = pieces.iter().any(|piece| matches!(piece, MessagePiece::Refused { .. }));
            let expected = title.contains(" call") && kind.is_ordinary || title.contains("nested");
            assert_eq!((calls, refused && kind.is_ordinary), (expected, false), "{title}");
        }
    }
}
