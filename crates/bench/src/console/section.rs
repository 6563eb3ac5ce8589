//! The requests to the console, their targets, and the report.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::record::write;
use super::served_console::{ServedConsole, flood};
use crate::error::Result;
use crate::report::{PerformanceTarget, ReportSection, Table, at_least, at_most, number};

/// Lists that are requested: title and path.
const LISTS: [(&str, &str); 13] = [
    ("the newest", "/api/v1/calls"),
    ("of one server", "/api/v1/calls?server=server7"),
    ("of a server without calls", "/api/v1/calls?server=nobody"),
    ("failed", "/api/v1/calls?outcome=failed"),
    ("successful", "/api/v1/calls?outcome=ok"),
    ("of one server, failed", "/api/v1/calls?server=server7&outcome=failed"),
    ("of the last ten minutes", "/api/v1/calls?since=10m"),
    ("of one tool", "/api/v1/calls?tool=tool_123"),
    ("of a tool without calls", "/api/v1/calls?tool=nothing"),
    ("of one caller", "/api/v1/calls?caller=client-3"),
    ("of one caller, one tool and one server", SEVERAL),
    ("with a text", "/api/v1/calls?text=tool_77"),
    ("with a text that does not occur", "/api/v1/calls?text=nowhere-at-all"),
];

const SEVERAL: &str = "/api/v1/calls?caller=client-3&tool=tool_21&server=server3";

pub(crate) struct ConsolePlan {
    /// Number of calls in the record.
    pub(crate) calls: usize,
    pub(crate) passes: usize,
    /// Folder with the browser driver.
    pub(crate) testenv: Option<PathBuf>,
}

#[derive(Default)]
struct ConsoleFindings {
    rows: Vec<Vec<String>>,
    targets: Vec<PerformanceTarget>,
    measured: Map<String, Value>,
}

/// Writes a record of calls, queries it through the console, and returns the report.
pub(crate) async fn section(plan: ConsolePlan) -> Result<ReportSection> {
    let ConsolePlan { calls, passes, testenv } = plan;
    let home = TempDir::new()?;
    let own = home.path().join("own");
    std::fs::create_dir_all(&own)?;
    eprintln!("console: writing {calls} calls");
    let wrote = write(&own.join("state"), calls).await?;
    eprintln!("console: requests");
    let mut served = ServedConsole::start(&own).await?;
    let mut findings = ConsoleFindings::default();
    findings.lists(&served, passes.max(3) * 3).await?;
    findings.pages(&served, passes.max(3) * 3).await?;
    let events = served.events().await?;
    findings.rows.push(vec!["events a second to one reader".into(), number(events), String::new()]);
    findings.targets.push(at_least("events a second", 1_000.0, events, ""));
    findings.measured.insert("events".to_owned(), json!(events));
    let browser = match browse(&mut served, testenv.as_deref()).await {
        Ok(seen) => {
            findings.browser(&seen);
            String::new()
        }
        Err(why) => format!(" No browser was measured: {why}."),
    };
    served.stop().await;
    findings.measured.insert("written_per_second".to_owned(), json!(wrote));
    let ConsoleFindings { rows, targets, measured } = findings;
    Ok(ReportSection {
        title: format!("console over {calls} calls"),
        note: format!(
            "Medians, over HTTP on this machine; {} calls per second were written. A search for a \
             tool, a caller or a text takes up to 80 ms; the answer says how far back it got.{browser}",
            number(wrote)
        ),
        table: Table { head: "what|milliseconds|bytes", rows },
        targets,
        measured: json!(measured),
    })
}

async fn browse(served: &mut ServedConsole, testenv: Option<&Path>) -> Result<Value> {
    let testenv = testenv.ok_or("`--testenv` with its driver is missing")?;
    eprintln!("console: a browser under load");
    flood(served, testenv).await
}

impl ConsoleFindings {
    async fn lists(&mut self, served: &ServedConsole, passes: usize) -> Result<()> {
        for (what, path) in LISTS {
            let found = served.time_request(path, passes).await?;
            let time = number(found.milliseconds);
            self.rows.push(vec![what.to_owned(), time, found.bytes.to_string()]);
            self.targets.push(at_most(what, 200.0, found.milliseconds, " ms"));
            self.measured.insert(what.to_owned(), json!(found.milliseconds));
        }
        let deep = served.last_of_pages(20).await?;
        let found = served.time_request(&format!("/api/v1/calls?before={deep}"), passes).await?;
        let what = "the twenty-first page";
        self.rows.push(vec![what.into(), number(found.milliseconds), found.bytes.to_string()]);
        self.targets.push(at_most(what, 200.0, found.milliseconds, " ms"));
        let (parts, seconds) = served.whole_search("nowhere-at-all").await?;
        let what = format!("a text that does not occur, to the beginning, in {parts} parts");
        self.rows.push(vec![what, number(seconds * 1e3), String::new()]);
        self.measured.insert("whole search".to_owned(), json!([parts, seconds]));
        Ok(())
    }

    async fn pages(&mut self, served: &ServedConsole, passes: usize) -> Result<()> {
        for (what, path) in [("the first page", "/"), ("the page of calls", "/calls")] {
            let found = served.time_request(path, passes).await?;
            let all = (found.bytes + served.asset_bytes().await?) as f64 / 1e3;
            let time = number(found.milliseconds);
            self.rows.push(vec![what.to_owned(), time, found.bytes.to_string()]);
            self.measured.insert(what.to_owned(), json!([found.milliseconds, found.bytes]));
            self.targets.push(at_most(what, 100.0, found.milliseconds, " ms"));
            let what = format!("{what} with its assets");
            self.targets.push(at_most(what, 100.0, all, " KB"));
        }
        Ok(())
    }

    /// Adds the results of the browser: how long each page was blocked while it received many
    /// events.
    fn browser(&mut self, seen: &Value) {
        let found = |place: &str| seen.pointer(place).and_then(Value::as_f64).unwrap_or(f64::NAN);
        let rate = found("/events_per_second");
        self.targets.push(at_least("events a second to the browser", 1_000.0, rate, ""));
        for (page, name) in [("overview", "the overview"), ("calls", "the page of calls")] {
            for (key, what, limit) in [
                ("task", "longest task", 200.0),
                ("gap", "longest time between two frames", 250.0),
                ("click", "longest delay of a click", 200.0),
            ] {
                let what = format!("{name}: {what}");
                let time = found(&format!("/{page}/{key}"));
                self.rows.push(vec![what.clone(), number(time), String::new()]);
                self.targets.push(at_most(what, limit, time, " ms"));
            }
        }
        self.measured.insert("browser".to_owned(), seen.clone());
    }
}
