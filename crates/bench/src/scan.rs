//! `scan`: time of the scanner per definition, and its verdicts on poisoned and real ones.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_scan::{
    DefinitionKind, ScanFinding, Severity, overall_severity, scan_definition, scan_text,
};

use crate::error::Result;
use crate::meter::median;
use crate::report::{ReportSection, Table, at_most, number};

/// Our own definitions, one per line.
const POISONED: &str = include_str!("../../scan/tests/data/poisoned.jsonl");
const BENIGN: &str = include_str!("../../scan/tests/data/benign.jsonl");
/// Number of scans per definition; their median counts.
const REPEATS: usize = 9;

#[derive(Serialize)]
struct ScanRow {
    what: String,
    definitions: usize,
    held: usize,
    asked: usize,
    /// Findings below both limits; in a result, enough to label its origin.
    noted: usize,
    mean_us: f64,
    worst_us: f64,
}

/// An input of the scanner.
enum Sample {
    /// The definition of a tool.
    Definition(String),
    /// Text in a result of a server.
    Text(String),
}

impl Sample {
    fn scan(&self) -> Vec<ScanFinding> {
        match self {
            Self::Definition(text) => scan_definition(DefinitionKind::Tool, text),
            Self::Text(text) => scan_text("", text),
        }
    }
}

/// Scans our own definitions, third-party attacks and, if given, a catalog, and returns the report.
pub(crate) fn section(catalog: Option<&Path>, corpora: &[PathBuf]) -> Result<ReportSection> {
    let lines = |text: &str| -> Vec<Sample> {
        text.lines().map(|line| Sample::Definition(line.to_owned())).collect()
    };
    let mut rows = vec![
        scan_samples("poisoned, our own", &lines(POISONED)),
        scan_samples("harmless, our own", &lines(BENIGN)),
    ];
    for file in corpora {
        rows.push(scan_samples(&file.display().to_string(), &samples(file)?));
    }
    let mut targets = Vec::new();
    if let Some(file) = catalog {
        let row = scan_samples(&file.display().to_string(), &definitions(file)?);
        let share = |count: usize| 100.0 * count as f64 / row.definitions.max(1) as f64;
        targets.push(at_most("held share of the catalog", 0.5, share(row.held), " %"));
        targets.push(at_most("share that needs approval", 3.0, share(row.asked), " %"));
        rows.push(row);
    }
    let slowest = rows.iter().map(|row| row.mean_us).fold(0.0, f64::max);
    targets.push(at_most("mean time per definition", 100.0, slowest, " µs"));
    let shown = rows.iter().map(|row| {
        let mut cells = vec![row.what.clone()];
        let counts = [row.definitions, row.held, row.asked, row.noted];
        cells.extend(counts.map(|count| count.to_string()));
        cells.extend([row.mean_us, row.worst_us].map(number));
        cells
    });
    Ok(ReportSection {
        title: "scan".to_owned(),
        note: format!("Every definition is scanned {REPEATS} times; the median counts."),
        table: Table {
            head: "definitions|count|held|needs approval|noted|mean µs|worst µs",
            rows: shown.collect(),
        },
        targets,
        measured: json!(rows),
    })
}

fn scan_samples(what: &str, samples: &[Sample]) -> ScanRow {
    let count = |severity: Severity| {
        let found = samples.iter().map(|sample| overall_severity(&sample.scan()));
        found.filter(|found| *found == Some(severity)).count()
    };
    let [held, asked, noted] = [Severity::Block, Severity::Ask, Severity::Inform].map(count);
    let time = |sample: &Sample| {
        median((0..REPEATS).map(|_| {
            let begun = Instant::now();
            std::hint::black_box(sample.scan());
            begun.elapsed().as_secs_f64() * 1e6
        }))
    };
    let times: Vec<f64> = samples.iter().map(time).collect();
    ScanRow {
        what: what.to_owned(),
        definitions: samples.len(),
        held,
        asked,
        noted,
        mean_us: times.iter().sum::<f64>() / times.len().max(1) as f64,
        worst_us: times.iter().copied().fold(0.0, f64::max),
    }
}

/// Reads a file with one JSON object per line: `{"text": …}` is a text, anything else a definition.
fn samples(file: &Path) -> Result<Vec<Sample>> {
    #[derive(Deserialize)]
    struct TextSample {
        text: String,
    }
    let sample = |line: &str| match serde_json::from_str::<TextSample>(line) {
        Ok(TextSample { text }) => Sample::Text(text),
        Err(_) => Sample::Definition(line.to_owned()),
    };
    Ok(read(file)?.lines().filter(|line| !line.trim().is_empty()).map(sample).collect())
}

/// Reads the tools of a JSON array of servers, `{"server": name, "tools": [definition, ...]}`, or
/// one definition per line.
fn definitions(file: &Path) -> Result<Vec<Sample>> {
    #[derive(Deserialize)]
    struct CatalogServer {
        tools: Vec<Box<RawValue>>,
    }
    match serde_json::from_str::<Vec<CatalogServer>>(&read(file)?) {
        Ok(servers) => {
            let tools = servers.iter().flat_map(|server| &server.tools);
            Ok(tools.map(|tool| Sample::Definition(tool.get().to_owned())).collect())
        }
        Err(_) => samples(file),
    }
}

fn read(file: &Path) -> Result<String> {
    let shown = file.display();
    Ok(std::fs::read_to_string(file).map_err(|cause| format!("cannot read {shown}: {cause}"))?)
}
