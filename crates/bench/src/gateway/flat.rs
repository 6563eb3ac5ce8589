//! Whether a call costs the same however many tools and clients there are.

use serde_json::json;

use super::passes::Pace;
use super::recipe::{ours, stdio_servers};
use super::route::{MANY, SMALL};
use super::running::{Running, Turn};
use super::summary::Number;
use crate::client::{Order, Speech};
use crate::failure::Result;
use crate::report::{Section, Table, Target, number};

const TOOLS: [usize; 2] = [10, 5_000];
const CLIENTS: [usize; 2] = [1, 1_000];
/// How much more a call may cost where there is much more beside it.
const FLAT: f64 = 1.1;

/// Compares few with many, and reports.
pub(super) async fn section(pace: Pace) -> Result<Section> {
    eprintln!("10 and 5,000 tools");
    let tools = tools(pace).await?;
    eprintln!("1 and 1,000 clients");
    let clients = clients(pace).await?;
    let (mut rows, mut targets) = (Vec::new(), Vec::new());
    for (what, counts, [few, many]) in [("tools", TOOLS, &tools), ("clients", CLIENTS, &clients)] {
        let ratio = Number::Cpu.ratio(many, few);
        for (count, turns) in counts.into_iter().zip([few, many]) {
            rows.push(vec![
                format!("{count} {what}"),
                number(Number::Cpu.median(turns)),
                number(Number::P50.median(turns)),
                number(Number::Cpu.ratio(turns, few)),
            ]);
        }
        let title = format!("CPU per call, {} to {} {what}", counts[1], counts[0]);
        targets.push(Target::at_most(title, FLAT, ratio, "x"));
    }
    Ok(Section {
        title: "gateway, few and many".to_owned(),
        note:
            "Ours with everything on, HTTP to stdio, 200 B. Tools: 64 in flight, two gateways in \
               turns. Clients: one call at a time, by one client or by each of a thousand in turn, \
               each with a connection and a session of its own (2025-11-25)."
                .to_owned(),
        table: Table { head: vec!["with", "CPU µs/call", "p50 µs", "x the fewest"], rows },
        targets,
        measured: json!({ "tools": tools, "clients": clients }),
    })
}

async fn start(tools: usize, speech: Speech) -> Result<Running> {
    let make = |home: &std::path::Path, listen: &str| {
        let servers = stdio_servers(&[vec!["--tools".to_owned(), tools.to_string()]])?;
        ours(home, &servers, &["--tools", "all", "--listen", listen])
    };
    Running::start_ours(make, speech).await
}

async fn tools(pace: Pace) -> Result<[Vec<Turn>; 2]> {
    let mut both = [start(TOOLS[0], Speech::Modern).await?, start(TOOLS[1], Speech::Modern).await?];
    let order =
        Order { milliseconds: pace.milliseconds, bytes: SMALL, in_flight: MANY, connections: MANY };
    let mut found = [Vec::new(), Vec::new()];
    for pass in 0..=pace.passes {
        for (running, turns) in both.iter_mut().zip(&mut found) {
            let turn = running.turn(order).await?;
            if pass > 0 {
                turns.push(turn);
            }
        }
    }
    for running in both {
        running.stop().await;
    }
    Ok(found)
}

async fn clients(pace: Pace) -> Result<[Vec<Turn>; 2]> {
    let mut both = [start(1, Speech::Sessions).await?, start(1, Speech::Sessions).await?];
    let mut found = [Vec::new(), Vec::new()];
    for pass in 0..=pace.passes {
        for ((running, turns), connections) in both.iter_mut().zip(&mut found).zip(CLIENTS) {
            let milliseconds = pace.milliseconds;
            let order = Order { milliseconds, bytes: SMALL, in_flight: 1, connections };
            let turn = running.turn(order).await?;
            if pass > 0 {
                turns.push(turn);
            }
        }
    }
    for running in both {
        running.stop().await;
    }
    Ok(found)
}
