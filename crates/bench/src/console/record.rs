//! A record of many calls, written as the host writes it: rows, indexes and seals.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use switchboard_core::{Durability, Outcome, TargetKind};
use switchboard_host::ledger_file;
use switchboard_store::{Intent, Ledger, NewCall, VerdictWord};
use tokio::task::JoinSet;

use crate::error::Result;

/// Number of concurrent writers.
const WRITERS: usize = 64;

/// Writes calls of all kinds, and returns how many per second.
pub(super) async fn write(state: &Path, calls: usize) -> Result<f64> {
    let file = ledger_file(state);
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let ledger = Ledger::open(&file, Durability::Process)?;
    let begun = Instant::now();
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let ledger = ledger.clone();
        writers.spawn(async move {
            for number in (writer..calls).step_by(WRITERS) {
                write_call(&ledger, number).await?;
            }
            Ok::<(), crate::error::BenchError>(())
        });
    }
    while let Some(written) = writers.join_next().await {
        written??;
    }
    ledger.stop().await;
    Ok(calls as f64 / begun.elapsed().as_secs_f64())
}

async fn write_call(ledger: &Ledger, number: usize) -> Result<()> {
    let text = |text: String| -> Arc<str> { text.into() };
    let call = ledger
        .open_call(NewCall {
            face: text("gateway".to_owned()),
            caller: text(format!("client:client-{}", number % 40)),
            server: text(format!("server{}", number % 20)),
            kind: TargetKind::Tool,
            target: text(format!("tool_{}", number * 7 % 500)),
            arguments: format!(r#"{{"path":"/data/{number}.txt"}}"#).into(),
            reference: None,
        })
        .await?;
    call.note_verdict(VerdictWord::Allow, "`allow` of the user policy");
    call.record_intent(Intent { attempt: 1, ..Intent::default() }).await?;
    let result = format!(r#"{{"content":[{{"type":"text","text":"number {number}"}}]}}"#);
    let outcome = match number % 5_000 {
        0 => Outcome::failed("timeout", format!("no answer to {number}")),
        1..100 => Outcome::tool_error(result.into()),
        _ => Outcome::ok(result.into()),
    };
    let record = call.close(outcome).await;
    if record.recorded { Ok(()) } else { Err("a call was not recorded".into()) }
}
