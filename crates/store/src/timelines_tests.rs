//! Tests of recorded timelines.

use std::path::Path;

use bytes::Bytes;
use rusqlite::Connection;
use switchboard_core::{Durability, Outcome};

use crate::call_id::CallId;
use crate::entry::VerdictWord;
use crate::ledger::Ledger;
use crate::ledger::tests::{call_to, first_attempt};
use crate::open_call::OpenCall;
use crate::reader::{FullCall, LedgerReader};
use crate::verify::VerifyReport;

fn open(path: &Path) -> Ledger {
    Ledger::open(path, Durability::Process).unwrap()
}

async fn begin_call(ledger: &Ledger) -> OpenCall {
    let call = ledger.open_call(call_to("files", "read")).await.unwrap();
    call.note_verdict(VerdictWord::Allow, "a rule");
    call
}

fn say(call: &OpenCall, text: &str) {
    call.timeline().add_log_message("info", text);
}

fn ok() -> Outcome {
    Outcome::ok(Bytes::from_static(b"{}"))
}

async fn full(path: &Path, call: CallId) -> FullCall {
    LedgerReader::at(path).show(call).await.unwrap().unwrap()
}

/// Returns the texts of the recorded log messages.
fn said_texts(full: &FullCall) -> Vec<String> {
    let steps =
        full.timeline.iter().flat_map(|timeline| timeline.step_views(full.summary.created_at));
    let text = |step| serde_json::to_value(step).unwrap()["text"].as_str().unwrap().to_owned();
    steps.map(text).collect()
}

fn count(path: &Path, query: &str) -> i64 {
    Connection::open(path).unwrap().query_row(query, [], |row| row.get(0)).unwrap()
}

async fn verify_ledger(path: &Path) -> VerifyReport {
    LedgerReader::at(path).verify().await.unwrap()
}

#[tokio::test]
async fn what_happened_is_kept_with_the_intent_and_with_the_outcome() {
    for durability in [Durability::Process, Durability::Power] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.db");
        let ledger = Ledger::open(&path, durability).unwrap();
        let call = begin_call(&ledger).await;
        let quiet = begin_call(&ledger).await;
        let id = call.id();
        let quiet_id = quiet.id();
        say(&call, "before");
        call.record_intent(first_attempt()).await.unwrap();
        quiet.record_intent(first_attempt()).await.unwrap();
        assert_eq!(said_texts(&ledger.show(id).await.unwrap().unwrap()), ["before"]);
        say(&call, "after");
        assert!(call.close(ok()).await.recorded && quiet.close(ok()).await.recorded);
        ledger.stop().await;
        assert_eq!(said_texts(&full(&path, id).await), ["before", "after"]);
        assert_eq!(full(&path, quiet_id).await.timeline, None);
        assert_eq!(count(&path, "SELECT count(*) FROM timelines"), 1);
    }
}

#[tokio::test]
async fn what_happened_to_a_call_whose_caller_went_away_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    let ledger = open(&path);
    let call = begin_call(&ledger).await;
    let id = call.id();
    say(&call, "said");
    drop(call);
    ledger.stop().await;
    assert_eq!(said_texts(&full(&path, id).await), ["said"]);
}

#[tokio::test]
async fn a_seal_covers_what_happened() {
    for change in [
        "UPDATE timelines SET steps = replace(steps, 'said', 'sald')",
        "DELETE FROM timelines",
        "INSERT INTO timelines (call, steps) SELECT id, '{}' FROM calls
             WHERE id NOT IN (SELECT call FROM timelines)",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.db");
        let ledger = open(&path);
        for has_steps in [true, false] {
            let call = begin_call(&ledger).await;
            call.record_intent(first_attempt()).await.unwrap();
            if has_steps {
                say(&call, "said");
            }
            let _recorded = call.close(ok()).await;
        }
        ledger.stop().await;
        let before = verify_ledger(&path).await;
        assert_eq!((before.sealed, before.wrong), (2, None));
        Connection::open(&path).unwrap().execute_batch(change).unwrap();
        let wrong = verify_ledger(&path).await.wrong.expect(change);
        assert_eq!(wrong.what, "it was modified after it was recorded", "{change}");
    }
}

#[tokio::test]
async fn what_happened_is_gone_with_its_call() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    let ledger = open(&path);
    let call = begin_call(&ledger).await;
    say(&call, "said");
    let _recorded = call.close(ok()).await;
    ledger.stop().await;
    assert_eq!(count(&path, "SELECT count(*) FROM timelines"), 1);
    Connection::open(&path).unwrap().execute_batch("DELETE FROM calls").unwrap();
    assert_eq!(count(&path, "SELECT count(*) FROM timelines"), 0);
}
