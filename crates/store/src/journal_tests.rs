//! Tests of recovery from journals of dead processes, complete or truncated.

use std::sync::Arc;

use switchboard_core::{Durability, Outcome, OutcomeKind, Timeline};

use super::*;
use crate::bodies::StoredBody;
use crate::entry::VerdictWord;
use crate::group::{CloseRow, DecisionDetails, IntentRow, ResultBody};
use crate::ledger::Ledger;
use crate::ledger::tests::{call_to, first_attempt};
use crate::reader::{FullCall, LedgerReader};
use crate::results::StoredResult;

/// Returns details with a timeline of these log messages.
fn details(said: &[&str]) -> DecisionDetails {
    let verdict = Some((VerdictWord::Allow, Arc::from("a rule")));
    let mut timeline = Timeline::default();
    for text in said {
        timeline.add_log_message("info", text);
    }
    let timeline = Some(Box::new(timeline)).filter(|_| !said.is_empty());
    DecisionDetails { digest: Some("d1g357".into()), verdict, timeline }
}

/// Writes the journal of a process that died with one closed call before the database had it.
fn left_behind(path: &Path, said: &[&str]) -> PathBuf {
    let folder = path.parent().unwrap().join("journal");
    let journal = Journal::for_database(path, "4711-gone");
    let call = call_to("files", "read");
    let arguments = StoredBody::Inline(call.arguments.clone());
    let opening = CallOpening { created_at: 5, call, arguments };
    let sent = Some(StoredBody::Inline(Bytes::from_static(b"{\"path\":1}")));
    let intent = IntentRow { at: 6, intent: first_attempt(), sent };
    let outcome = Outcome::ok(Bytes::new()).with_message("m");
    let result = Some(ResultBody::Row(StoredResult::Whole(Bytes::from_static(b"{}"))));
    let close = CloseRow { at: 7, duration_us: 2, outcome, result };
    let entries = [
        RowUpdate::Intent(details(&said[..said.len().min(1)]), intent),
        RowUpdate::Close(details(said), Box::new(close)),
    ];
    let mut opening = Some(&opening);
    for news in entries {
        assert!(journal.append(CallId(900), opening.take(), news, drop).is_none());
    }
    owner_files(&folder, "4711-gone").pop().unwrap()
}

async fn brought_in(path: &Path) -> Option<FullCall> {
    // A reader recovers the journal as well.
    LedgerReader::at(path).show(CallId(900)).await.unwrap()
}

#[tokio::test]
async fn what_a_dead_process_promised_is_brought_in_whole_and_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    Ledger::open(&path, Durability::Process).unwrap().stop().await;
    let mut seen = Vec::new();
    for _ in 0..2 {
        let file = left_behind(&path, &[]);
        seen.push(brought_in(&path).await.unwrap());
        assert!(!file.exists());
    }
    assert_eq!(seen[0], seen[1]);
    let full = &seen[0];
    assert_eq!(full.summary.outcome, Some(OutcomeKind::Ok));
    assert_eq!(full.summary.verdict, Some((VerdictWord::Allow, "a rule".to_owned())));
    assert_eq!(full.summary.target, "read");
    assert_eq!(full.arguments, call_to("", "").arguments);
    assert_eq!(full.sent_arguments, Some(Bytes::from_static(b"{\"path\":1}")));
    assert_eq!((full.instance.as_deref(), full.attempts), (Some("4711"), 1));
    assert_eq!(full.result, Some(StoredResult::Whole(Bytes::from_static(b"{}"))));
    assert_eq!(full.message.as_deref(), Some("m"));
}

#[tokio::test]
async fn a_journal_that_is_cut_off_or_damaged_counts_up_to_there() {
    type Damage = fn(&mut Vec<u8>);
    let unknown = Some(Some(OutcomeKind::Unknown));
    let damages: [(&str, Damage, Option<Option<OutcomeKind>>); 5] = [
        ("whole", |_| {}, Some(Some(OutcomeKind::Ok))),
        ("the end is missing", |bytes| bytes.truncate(bytes.len() - 1), unknown),
        ("the end is wrong", |bytes| *bytes.last_mut().unwrap() ^= 1, unknown),
        ("nearly all is missing", |bytes| bytes.truncate(20), None),
        ("the beginning is wrong", |bytes| bytes[12] ^= 1, None),
    ];
    for (name, damage, outcome) in damages {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.db");
        Ledger::open(&path, Durability::Process).unwrap().stop().await;
        let file = left_behind(&path, &[]);
        let mut bytes = std::fs::read(&file).unwrap();
        damage(&mut bytes);
        std::fs::write(&file, bytes).unwrap();
        let seen = brought_in(&path).await.map(|full| full.summary.outcome);
        assert_eq!(seen, outcome, "{name}");
    }
}

#[test]
fn a_full_file_is_followed_by_the_next_and_kept_until_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::for_database(&folder.path().join("calls.db"), "1-me");
    let folder = folder.path().join("journal");
    let row = |at| {
        let intent = IntentRow {
            at,
            intent: first_attempt(),
            sent: Some(StoredBody::Inline(vec![b' '; 1 << 20].into())),
        };
        RowUpdate::Intent(details(&[]), intent)
    };
    let mut queued = 0;
    for at in 0..17 {
        assert!(journal.append(CallId(1), None, row(at), |_| queued += 1).is_none());
    }
    let (full, left) = journal.rotate(|| queued).unwrap();
    assert_eq!(left, 17);
    assert!(journal.rotate(|| 0).is_none());
    assert!(journal.append(CallId(1), None, row(99), drop).is_none());
    let times = |file: &Path| -> Vec<i64> {
        let news = read(file).unwrap().into_iter().map(|entry| entry.news);
        news.map(|news| if let RowUpdate::Intent(_, row) = news { row.at } else { -1 }).collect()
    };
    let files = owner_files(&folder, "1-me");
    assert_eq!(files.len(), 2);
    assert_eq!((times(&full), times(&files[1])), ((0..17).collect(), vec![99]));
    journal.truncate_if(|| false);
    assert_eq!(times(&files[1]), [99]);
    journal.truncate_if(|| true);
    assert_eq!((times(&files[1]), busy_owners(&folder)), (vec![], vec!["1-me".to_owned()]));
}

#[tokio::test]
async fn what_happened_to_a_call_is_brought_in_with_its_intent_and_its_outcome() {
    for (cut_off, messages, outcome) in [(0, 2, OutcomeKind::Ok), (1, 1, OutcomeKind::Unknown)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.db");
        Ledger::open(&path, Durability::Process).unwrap().stop().await;
        let file = left_behind(&path, &["before", "afterwards"]);
        let bytes = std::fs::read(&file).unwrap();
        std::fs::write(&file, &bytes[..bytes.len() - cut_off]).unwrap();
        let full = brought_in(&path).await.unwrap();
        let said = full.timeline.map(|timeline| timeline.messages());
        assert_eq!((full.summary.outcome, said), (Some(outcome), Some(messages)));
        // The next writer seals the call.
        Ledger::open(&path, Durability::Process).unwrap().stop().await;
        let verified = LedgerReader::at(&path).verify().await.unwrap();
        assert_eq!((verified.sealed, verified.wrong), (1, None));
    }
}

#[tokio::test]
async fn what_a_dead_process_left_stays_while_a_part_of_it_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    Ledger::open(&path, Durability::Process).unwrap().stop().await;
    let file = left_behind(&path, &[]);
    // The unreadable file comes first, because it may contain the opening of the later entries.
    let first = file.with_file_name("4711-gone.000000.journal");
    let second = file.with_file_name("4711-gone.000001.journal");
    std::fs::rename(&file, &second).unwrap();
    std::fs::create_dir(&first).unwrap();
    assert_eq!(brought_in(&path).await, None);
    assert!(second.exists(), "it was removed unread");
    std::fs::remove_dir(&first).unwrap();
    assert!(brought_in(&path).await.is_some());
    assert!(!second.exists());
}
