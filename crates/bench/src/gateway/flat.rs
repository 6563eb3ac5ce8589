//! The cost of a call with few and with many tools and clients.

use serde_json::json;

use super::passes::MeasurePace;
use super::recipe::{own_recipe, stdio_servers};
use super::route::GatewayContestant;
use super::route::{CallRoute, MANY, SMALL};
use super::running_gateway::{ProgramPaths, RunningGateway, TurnResult};
use crate::client::{EndpointProtocol, LoadOrder};
use crate::error::Result;
use crate::meter::{median_of, median_ratio};
use crate::report::{ReportSection, Table, at_most, number};

const TOOLS: [usize; 2] = [10, 5_000];
const CLIENTS: [usize; 2] = [1, 1_000];
/// Maximum cost of a call with many tools or clients, relative to few.
const MAX_GROWTH: f64 = 1.1;

/// Compares few tools and clients with many, and returns the report.
pub(super) async fn section(pace: MeasurePace, places: ProgramPaths<'_>) -> Result<ReportSection> {
    eprintln!("10 and 5,000 tools");
    let tools = tools(pace).await?;
    eprintln!("1 and 1,000 clients");
    let (clients, floor) = clients(pace, places).await?;
    let mut rows = Vec::new();
    for (what, counts, [few, many]) in [
        ("tools", TOOLS, &tools),
        ("clients", CLIENTS, &clients),
        ("clients of the floor", CLIENTS, &floor),
    ] {
        for (count, turns) in counts.into_iter().zip([few, many]) {
            rows.push(vec![
                format!("{count} {what}"),
                number(median_of(turns, |turn| turn.cpu)),
                number(median_of(turns, |turn| turn.p50)),
                number(median_ratio(turns, few, |turn| turn.cpu)),
            ]);
        }
    }
    let growth = |[few, many]: &[Vec<TurnResult>; 2]| median_ratio(many, few, |turn| turn.cpu);
    let beyond_the_floor = growth(&clients) / growth(&floor);
    let targets = vec![
        at_most("CPU per call, 5000 to 10 tools".to_owned(), MAX_GROWTH, growth(&tools), "x"),
        at_most(
            "CPU per call, 1000 clients to 1, relative to the floor".to_owned(),
            MAX_GROWTH,
            beyond_the_floor,
            "x",
        ),
    ];
    Ok(ReportSection {
        title: "gateway, few and many".to_owned(),
        note:
            "Ours with everything on, HTTP to stdio, 200 B. Tools: 64 in flight, two gateways in \
               turns. Clients: one call at a time, by one client or by each of a thousand in turn, \
               each with a connection and a session of its own (2025-11-25). The floor has no \
               sessions: its growth is the cost of a thousand connections alone."
                .to_owned(),
        table: Table { head: "with|CPU µs/call|p50 µs|x the fewest", rows },
        targets,
        measured: json!({ "tools": tools, "clients": clients, "floor": floor }),
    })
}

async fn start(tools: usize, speech: EndpointProtocol) -> Result<RunningGateway> {
    let make = |home: &std::path::Path, listen: &str| {
        let servers = stdio_servers(&[vec!["--tools".to_owned(), tools.to_string()]])?;
        own_recipe(home, &servers, &["--tools", "all", "--listen", listen])
    };
    RunningGateway::start_ours(make, speech).await
}

async fn tools(pace: MeasurePace) -> Result<[Vec<TurnResult>; 2]> {
    let both = [
        start(TOOLS[0], EndpointProtocol::Modern).await?,
        start(TOOLS[1], EndpointProtocol::Modern).await?,
    ];
    let milliseconds = pace.milliseconds;
    let order = LoadOrder { milliseconds, bytes: SMALL, in_flight: MANY, connections: MANY };
    take_turns(both, [order; 2], pace).await
}

/// Measures our gateway and the floor, each with one and with many clients.
async fn clients(
    pace: MeasurePace,
    places: ProgramPaths<'_>,
) -> Result<([Vec<TurnResult>; 2], [Vec<TurnResult>; 2])> {
    let floor = || RunningGateway::start(GatewayContestant::Floor, CallRoute::HttpToStdio, places);
    let all = [
        start(1, EndpointProtocol::Sessions).await?,
        start(1, EndpointProtocol::Sessions).await?,
        floor().await?,
        floor().await?,
    ];
    let milliseconds = pace.milliseconds;
    let order = |connections| LoadOrder { milliseconds, bytes: SMALL, in_flight: 1, connections };
    let [few, many] = CLIENTS.map(order);
    let [few, many, floor_few, floor_many] = take_turns(all, [few, many, few, many], pace).await?;
    Ok(([few, many], [floor_few, floor_many]))
}

/// Runs gateways in turns, each with its own order. The first pass is a warm-up.
async fn take_turns<const N: usize>(
    mut all: [RunningGateway; N],
    orders: [LoadOrder; N],
    pace: MeasurePace,
) -> Result<[Vec<TurnResult>; N]> {
    let mut found = [const { Vec::new() }; N];
    for pass in 0..=pace.passes {
        for ((running, turns), order) in all.iter_mut().zip(&mut found).zip(orders) {
            let turn = running.turn(order).await?;
            if pass > 0 {
                turns.push(turn);
            }
        }
    }
    for running in all {
        running.stop().await;
    }
    Ok(found)
}
