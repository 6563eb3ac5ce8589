//! Tests of a ledger that cannot be written or read, or is shared: refused calls and recovery.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use rusqlite::Connection;
use switchboard_core::{Durability, Outcome, OutcomeKind};

use crate::call_id::CallId;
use crate::entry::OpenReport;
use crate::error::LedgerError;
use crate::filter::Filter;
use crate::ledger::tests::{call_to, first_attempt};
use crate::ledger::{Ledger, LedgerOptions};
use crate::reader::LedgerReader;
use crate::verify::VerifyReport;

fn ok() -> Outcome {
    Outcome::ok(Bytes::from_static(b"{}"))
}

/// Disables the journal, so that every call depends on the database.
fn waiting_for_the_database() -> LedgerOptions {
    LedgerOptions { durability: Durability::Power, ..LedgerOptions::default() }
}

async fn until_available(ledger: &Ledger) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
    while ledger.check().is_err() {
        assert!(tokio::time::Instant::now() < deadline, "the ledger did not recover");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn until_shown(ledger: &Ledger, id: CallId) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
    while ledger.show(id).await.unwrap().is_none() {
        assert!(tokio::time::Instant::now() < deadline, "the row did not appear");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn outcomes(path: &Path) -> Vec<(String, Option<OutcomeKind>)> {
    let filter = Filter { limit: 10_000, ..Filter::default() };
    let calls = LedgerReader::at(path).list(filter).await.unwrap();
    let mut seen: Vec<_> = calls.into_iter().map(|call| (call.target, call.outcome)).collect();
    seen.sort();
    seen
}

#[tokio::test]
async fn a_full_disk_refuses_new_calls_and_recovers_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    // Removable ballast simulates a full disk.
    Ledger::open(&path, Durability::Process).unwrap().stop().await;
    let outside = Connection::open(&path).unwrap();
    outside
        .execute_batch(
            "CREATE TABLE ballast (x BLOB); INSERT INTO ballast VALUES (zeroblob(400000))",
        )
        .unwrap();
    let pages: u32 = outside.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();

    let options = LedgerOptions { max_pages: Some(pages + 4), ..waiting_for_the_database() };
    let ledger = Ledger::open_with(&path, &options).unwrap();
    let sent = ledger.open_call(call_to("files", "sent")).await.unwrap();
    sent.record_intent(first_attempt()).await.unwrap();
    let waiting = ledger.open_call(call_to("files", "waiting")).await.unwrap();

    // The result does not fit: the outcome is not recorded yet, and new calls are refused.
    let large = Outcome::ok(Bytes::from(vec![b'x'; 200_000]));
    let record = sent.close(large.clone()).await;
    assert_eq!((record.recorded, record.outcome.kind), (false, OutcomeKind::Ok));
    let refused = ledger.open_call(call_to("files", "refused")).await.unwrap_err();
    assert!(refused.to_string().contains("full"), "{refused}");
    assert!(refused.hint().unwrap().contains("free some space"));
    let error = waiting.record_intent(first_attempt()).await.unwrap_err();
    assert!(!waiting.close(error.outcome()).await.recorded);

    outside.execute_batch("DROP TABLE ballast").unwrap();
    until_available(&ledger).await;
    let after = ledger.open_call(call_to("files", "z-after")).await.unwrap();
    after.record_intent(first_attempt()).await.unwrap();
    assert!(after.close(ok()).await.recorded);
    assert_eq!(
        outcomes(&path).await,
        [
            ("sent".to_owned(), Some(OutcomeKind::Ok)),
            ("waiting".to_owned(), Some(OutcomeKind::NotSent)),
            ("z-after".to_owned(), Some(OutcomeKind::Ok)),
        ]
    );
    let full = ledger.show(record.id.unwrap()).await.unwrap().unwrap();
    assert_eq!(full.summary.result_bytes, Some(200_000));
    // Rows that were written late are sealed as well.
    ledger.stop().await;
    let verified = LedgerReader::at(&path).verify().await.unwrap();
    assert_eq!(verified, VerifyReport { sealed: 3, unsealed: 0, wrong: None });
}

#[tokio::test]
async fn a_file_locked_by_another_program_refuses_within_the_busy_wait() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    let options =
        LedgerOptions { busy_wait: Duration::from_millis(100), ..waiting_for_the_database() };
    let ledger = Ledger::open_with(&path, &options).unwrap();
    let outside = Connection::open(&path).unwrap();
    let on_disk = ledger.open_call(call_to("files", "on disk")).await.unwrap();
    until_shown(&ledger, on_disk.id()).await;
    outside.execute_batch("BEGIN IMMEDIATE").unwrap();

    let on_the_way = ledger.open_call(call_to("files", "on the way")).await.unwrap();
    let (error, second) = tokio::join!(
        on_disk.record_intent(first_attempt()),
        on_the_way.record_intent(first_attempt())
    );
    let error = error.unwrap_err();
    assert!(second.is_err());
    assert!(error.to_string().contains("locked"), "{error}");
    assert!(ledger.open_call(call_to("files", "refused")).await.is_err());
    let records = [on_disk.close(error.outcome()).await, on_the_way.close(error.outcome()).await];
    assert!(records.iter().all(|record| !record.recorded));

    outside.execute_batch("COMMIT").unwrap();
    until_available(&ledger).await;
    for record in records {
        let full = ledger.show(record.id.unwrap()).await.unwrap().unwrap();
        assert_eq!(full.summary.outcome, Some(OutcomeKind::NotSent));
        assert_eq!(full.intent_at, None, "a call that was told not to start must not look sent");
    }
}

#[tokio::test]
async fn what_the_journal_has_outlives_a_locked_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    let options =
        LedgerOptions { busy_wait: Duration::from_millis(50), ..LedgerOptions::default() };
    let ledger = Ledger::open_with(&path, &options).unwrap();
    let outside = Connection::open(&path).unwrap();
    let sent = ledger.open_call(call_to("files", "sent")).await.unwrap();
    until_shown(&ledger, sent.id()).await;
    outside.execute_batch("BEGIN IMMEDIATE").unwrap();

    let whole = ledger.open_call(call_to("files", "whole")).await.unwrap();
    whole.record_intent(first_attempt()).await.unwrap();
    assert!(whole.close(ok()).await.recorded);
    sent.record_intent(first_attempt()).await.unwrap();
    let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
    while ledger.check().is_ok() {
        assert!(tokio::time::Instant::now() < deadline, "the trouble was not noticed");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(ledger.open_call(call_to("files", "refused")).await.is_err());

    outside.execute_batch("COMMIT").unwrap();
    until_available(&ledger).await;
    let id = sent.id();
    assert!(ledger.show(id).await.unwrap().unwrap().intent_at.is_some(), "it was sent");
    drop(sent);
    ledger.stop().await;
    assert_eq!(
        outcomes(&path).await,
        [
            ("sent".to_owned(), Some(OutcomeKind::Unknown)),
            ("whole".to_owned(), Some(OutcomeKind::Ok)),
        ]
    );
    let left = std::fs::read_dir(folder.path().join("journal")).unwrap().count();
    assert_eq!(left, 0, "the database has it all");
}

#[tokio::test]
async fn a_journal_that_cannot_be_written_leaves_the_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    // A file at the path of the folder.
    std::fs::write(folder.path().join("journal"), "").unwrap();
    let ledger = Ledger::open(&path, Durability::Process).unwrap();
    let open = ledger.open_call(call_to("files", "t")).await.unwrap();
    open.record_intent(first_attempt()).await.unwrap();
    assert!(open.close(ok()).await.recorded);
    assert_eq!(outcomes(&path).await, [("t".to_owned(), Some(OutcomeKind::Ok))]);
}

#[tokio::test]
async fn without_a_checkpoint_nothing_is_sealed_and_nothing_looks_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    // Signing fails, because the path of the key file is a folder.
    std::fs::create_dir(folder.path().join("seal.key")).unwrap();
    for (sealed, unsealed) in [(0, 1), (2, 0)] {
        let ledger = Ledger::open(&path, Durability::Process).unwrap();
        let open = ledger.open_call(call_to("files", "t")).await.unwrap();
        assert!(open.close(ok()).await.recorded);
        ledger.stop().await;
        let verified = LedgerReader::at(&path).verify().await.unwrap();
        assert_eq!(verified, VerifyReport { sealed, unsealed, wrong: None });
        std::fs::remove_dir(folder.path().join("seal.key")).ok();
    }
}

#[tokio::test]
async fn an_outcome_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    let ledger = Ledger::open(&path, Durability::Power).unwrap();
    let open = ledger.open_call(call_to("files", "t")).await.unwrap();
    open.record_intent(first_attempt()).await.unwrap();
    let outside = Connection::open(&path).unwrap();
    outside.execute("UPDATE calls SET outcome = 'unknown'", []).unwrap();
    assert!(open.record_intent(first_attempt()).await.is_err());
    assert!(!open.close(ok()).await.recorded);
    assert_eq!(outcomes(&path).await, [("t".to_owned(), Some(OutcomeKind::Unknown))]);
}

#[tokio::test]
async fn a_damaged_file_is_put_aside_and_a_new_one_made() {
    type Damage = fn(&mut Vec<u8>);
    let damages: [(&str, Damage); 4] = [
        ("scrambled", |bytes| bytes.iter_mut().skip(4096).for_each(|byte| *byte ^= 0x5a)),
        ("truncated", |bytes| bytes.truncate(bytes.len() / 2)),
        ("header lost", |bytes| bytes[..16].fill(0)),
        ("nonsense", |bytes| *bytes = b"not a database at all\n".repeat(99)),
    ];
    for (name, damage) in damages {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.db");
        let ledger = Ledger::open(&path, Durability::Process).unwrap();
        let open = ledger.open_call(call_to("files", "old")).await.unwrap();
        open.close(Outcome::ok(Bytes::from(vec![b'x'; 50_000]))).await;
        ledger.stop().await;
        let mut damaged = std::fs::read(&path).unwrap();
        damage(&mut damaged);
        std::fs::write(&path, &damaged).unwrap();

        let ledger = Ledger::open(&path, Durability::Process).unwrap();
        let opened = ledger.open_report().unwrap().clone();
        let aside = opened.quarantined.clone().unwrap();
        assert!(
            aside.file_name().unwrap().to_str().unwrap().starts_with("calls.db.corrupt-"),
            "{name}: {aside:?}"
        );
        assert_eq!(std::fs::read(&aside).unwrap(), damaged, "{name}");
        let open = ledger.open_call(call_to("files", "new")).await.unwrap();
        assert!(open.close(ok()).await.recorded, "{name}");
        assert_eq!(outcomes(&path).await, [("new".to_owned(), Some(OutcomeKind::Ok))], "{name}");
    }
}

#[tokio::test]
async fn a_large_file_is_checked_in_full_once_it_is_under_suspicion() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    Ledger::open(&path, Durability::Process).unwrap().stop().await;
    let outside = Connection::open(&path).unwrap();
    outside
        .execute_batch(
            "CREATE TABLE ballast (x BLOB);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
             INSERT INTO ballast SELECT zeroblob(3500) FROM n",
        )
        .unwrap();
    outside.close().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    assert!(bytes.len() > 16 << 20, "{}", bytes.len());
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4096 * 4].fill(0x5a);
    std::fs::write(&path, bytes).unwrap();

    let mut quarantined = Vec::new();
    for _ in 0..2 {
        let ledger = Ledger::open(&path, Durability::Process).unwrap();
        quarantined.push(ledger.open_report().unwrap().quarantined.is_some());
        ledger.stop().await;
        crate::file::mark_suspect(&path);
    }
    assert_eq!(quarantined, [false, true]);
}

#[tokio::test]
async fn two_ledgers_on_one_file_share_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    let first = Ledger::open(&path, Durability::Process).unwrap();
    let waiting = first.open_call(call_to("files", "of the first")).await.unwrap();
    waiting.record_intent(first_attempt()).await.unwrap();

    let second = Ledger::open(&path, Durability::Process).unwrap();
    assert_eq!(
        second.open_report(),
        Some(&OpenReport::default()),
        "a living owner keeps its calls"
    );
    let mut tasks = tokio::task::JoinSet::new();
    for ledger in [&first, &second] {
        for _ in 0..200 {
            let ledger = ledger.clone();
            tasks.spawn(async move {
                let open = ledger.open_call(call_to("files", "many")).await.unwrap();
                open.record_intent(first_attempt()).await.unwrap();
                open.close(ok()).await
            });
        }
    }
    let records = tasks.join_all().await;
    assert!(records.iter().all(|record| record.recorded));
    let ids: std::collections::BTreeSet<_> = records.iter().map(|record| record.id).collect();
    assert_eq!(ids.len(), 400);
    assert!(waiting.close(ok()).await.recorded);
    assert_eq!(second.count().await.unwrap(), 401);
}

#[tokio::test]
async fn what_cannot_be_opened_says_why_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = Ledger::open(&file.join("calls.db"), Durability::Process).unwrap_err();
    assert!(matches!(error, LedgerError::Open { .. }), "{error}");
    assert!(error.hint().unwrap().contains("writable"));

    let foreign = folder.path().join("foreign.db");
    Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    let error = Ledger::open(&foreign, Durability::Process).unwrap_err();
    assert!(error.to_string().contains("another program"), "{error}");

    let newer = folder.path().join("newer.db");
    Ledger::open(&newer, Durability::Process).unwrap().stop().await;
    Connection::open(&newer).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let error = Ledger::open(&newer, Durability::Process).unwrap_err();
    assert!(matches!(error, LedgerError::TooNew { found: 99, known: 7, .. }), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn the_files_are_private_and_an_open_folder_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let path = state.join("calls.db");
    let ledger = Ledger::open(&path, Durability::Process).unwrap();
    let open = ledger.open_call(call_to("files", "t")).await.unwrap();
    assert!(open.close(ok()).await.recorded);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&state), 0o700);
    assert_eq!([mode(&path), mode(&state.join("calls.db-wal"))], [0o600, 0o600]);
    ledger.stop().await;

    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o777)).unwrap();
    let error = Ledger::open(&path, Durability::Process).unwrap_err();
    assert!(matches!(error, LedgerError::Exposed { .. }), "{error}");
}
