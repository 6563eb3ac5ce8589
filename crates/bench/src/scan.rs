//! `scan`: how long the scanner takes for a definition, and what it says to poisoned and real ones.

use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_host::catalog::scan::{Kind, Severity, scan_definition, verdict};

use crate::failure::Result;
use crate::report::{Section, Table, Target, number};
use crate::statistics::median;

/// Our own definitions, one per line.
const POISONED: &str = include_str!("../../host/tests/scan/poisoned.jsonl");
const BENIGN: &str = include_str!("../../host/tests/scan/benign.jsonl");
/// Each definition is scanned so often, and the middle time counts.
const REPEATS: usize = 9;

#[derive(Serialize)]
struct Row {
    what: String,
    definitions: usize,
    held: usize,
    asked: usize,
    mean_us: f64,
    worst_us: f64,
}

/// Scans our own definitions, and those of a catalog if one is given.
pub(crate) fn section(catalog: Option<&Path>) -> Result<Section> {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let mut rows = vec![
        scanned("poisoned, our own", &lines(POISONED)),
        scanned("harmless, our own", &lines(BENIGN)),
    ];
    let mut targets = Vec::new();
    if let Some(file) = catalog {
        let row = scanned(&file.display().to_string(), &definitions(file)?);
        let share = |count: usize| 100.0 * count as f64 / row.definitions.max(1) as f64;
        targets.push(Target::at_most("held of the catalog", 0.5, share(row.held), " %"));
        targets.push(Target::at_most("asked about of the catalog", 3.0, share(row.asked), " %"));
        rows.push(row);
    }
    let slowest = rows.iter().map(|row| row.mean_us).fold(0.0, f64::max);
    targets.push(Target::at_most("a definition takes on average", 100.0, slowest, " µs"));
    let shown = rows.iter().map(|row| {
        let mut cells = vec![row.what.clone()];
        cells.extend([row.definitions, row.held, row.asked].map(|count| count.to_string()));
        cells.extend([row.mean_us, row.worst_us].map(number));
        cells
    });
    Ok(Section {
        title: "scan".to_owned(),
        note: format!("Every definition {REPEATS} times; the middle time counts."),
        table: Table {
            head: vec!["definitions", "count", "held", "asked about", "mean µs", "worst µs"],
            rows: shown.collect(),
        },
        targets,
        measured: json!(rows),
    })
}

fn scanned(what: &str, definitions: &[String]) -> Row {
    let count = |severity: Severity| {
        let found = definitions.iter().map(|text| verdict(&scan_definition(Kind::Tool, text)));
        found.filter(|found| *found == Some(severity)).count()
    };
    let (held, asked) = (count(Severity::Block), count(Severity::Ask));
    let time = |text: &String| {
        median((0..REPEATS).map(|_| {
            let begun = Instant::now();
            std::hint::black_box(scan_definition(Kind::Tool, text));
            begun.elapsed().as_secs_f64() * 1e6
        }))
    };
    let times: Vec<f64> = definitions.iter().map(time).collect();
    Row {
        what: what.to_owned(),
        definitions: definitions.len(),
        held,
        asked,
        mean_us: times.iter().sum::<f64>() / times.len().max(1) as f64,
        worst_us: times.iter().copied().fold(0.0, f64::max),
    }
}

/// The tools of a JSON array of servers: `{"server": name, "tools": [definition, ...]}`; or one
/// definition per line.
fn definitions(file: &Path) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Server {
        tools: Vec<Box<RawValue>>,
    }
    let shown = file.display();
    let text =
        std::fs::read_to_string(file).map_err(|cause| format!("cannot read {shown}: {cause}"))?;
    match serde_json::from_str::<Vec<Server>>(&text) {
        Ok(servers) => {
            let tools = servers.iter().flat_map(|server| &server.tools);
            Ok(tools.map(|tool| tool.get().to_owned()).collect())
        }
        Err(_) => Ok(text.lines().map(str::to_owned).collect()),
    }
}
