//! Tests of recording, listing and showing calls with all kinds of outcomes.

use std::collections::BTreeSet;

use switchboard_core::{Outcome, OutcomeKind, TargetKind};

use super::*;
use crate::entry::{Intent, Record, VerdictWord};
use crate::results::StoredResult;

pub(crate) fn call_to(server: &str, target: &str) -> NewCall {
    NewCall {
        face: "cli".into(),
        caller: "someone".into(),
        server: server.into(),
        kind: TargetKind::Tool,
        target: target.into(),
        arguments: Bytes::from_static(br#"{"path":"a.txt"}"#),
        reference: None,
    }
}

pub(crate) fn first_attempt() -> Intent {
    Intent { attempt: 1, instance: Some("4711".into()), ..Intent::default() }
}

fn ok(text: &'static str) -> Outcome {
    Outcome::ok(Bytes::from_static(text.as_bytes()))
}

#[tokio::test]
async fn a_call_is_kept_with_everything_that_was_noted() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(&folder.path().join("calls.db"), Durability::Power).unwrap();
    assert_eq!(ledger.open_report(), Some(&OpenReport { created: true, ..OpenReport::default() }));

    let call = NewCall { reference: Some("s/1/1".into()), ..call_to("files", "read") };
    let open = ledger.open_call(call).await.unwrap();
    open.note_definition("d1g357");
    open.note_verdict(VerdictWord::Ask, "rule `files/*`");
    let rewritten = Bytes::from_static(br#"{"path":"b.txt"}"#);
    let intent = Intent {
        arguments: Some(rewritten.clone()),
        fallback: Some("session was gone".into()),
        ..first_attempt()
    };
    open.record_intent(intent.clone()).await.unwrap();
    open.record_intent(Intent { attempt: 2, instance: Some("4712".into()), ..Intent::default() })
        .await
        .unwrap();
    let outcome = ok(r#"{"content":[]}"#).with_reason("r").with_message("m").with_hint("h");
    let record = open.close(outcome.clone()).await;
    assert_eq!((record.recorded, &record.outcome), (true, &outcome));
    assert_eq!(record.verdict, Some((VerdictWord::Ask, "rule `files/*`".into())));

    let id = record.id.unwrap();
    let full = ledger.show(id).await.unwrap().unwrap();
    let summary = CallSummary {
        id,
        created_at: Timestamp::from_microsecond(record.created_at.as_microsecond()).unwrap(),
        face: "cli".to_owned(),
        caller: "someone".to_owned(),
        server: "files".to_owned(),
        kind: TargetKind::Tool,
        target: "read".to_owned(),
        verdict: Some((VerdictWord::Ask, "rule `files/*`".to_owned())),
        outcome: Some(OutcomeKind::Ok),
        reason: Some("r".to_owned()),
        duration: Some(Duration::from_micros(record.duration.as_micros() as u64)),
        result_bytes: Some(14),
        task: None,
    };
    assert_eq!(ledger.list(Filter::default()).await.unwrap(), vec![summary.clone()]);
    let expected = FullCall {
        summary,
        owner: full.owner.clone(),
        reference: Some("s/1/1".to_owned()),
        definition_digest: Some("d1g357".to_owned()),
        arguments: Bytes::from_static(br#"{"path":"a.txt"}"#),
        sent_arguments: Some(rewritten),
        intent_at: full.intent_at,
        instance: Some("4712".to_owned()),
        attempts: 2,
        fallback: Some("session was gone".to_owned()),
        message: Some("m".to_owned()),
        hint: Some("h".to_owned()),
        finished_at: full.finished_at,
        result: Some(StoredResult::Whole(Bytes::from_static(br#"{"content":[]}"#))),
        late: None,
        timeline: None,
    };
    assert_eq!(full, expected);
    assert!(full.intent_at.is_some() && full.finished_at >= full.intent_at);
}

#[tokio::test]
async fn a_refusal_is_one_row_without_intent() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(&folder.path().join("calls.db"), Durability::Process).unwrap();
    let open = ledger.open_call(call_to("files", "delete")).await.unwrap();
    open.note_verdict(VerdictWord::Deny, "enterprise");
    let record = open.close(Outcome::denied("policy", "not here")).await;
    let full = ledger.show(record.id.unwrap()).await.unwrap().unwrap();
    assert_eq!(full.summary.outcome, Some(OutcomeKind::Denied));
    assert_eq!(full.summary.verdict, Some((VerdictWord::Deny, "enterprise".to_owned())));
    assert_eq!((full.intent_at, full.attempts), (None, 0));
}

#[tokio::test]
async fn a_dropped_call_is_unknown_only_if_it_may_have_been_sent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    let ledger = Ledger::open(&path, Durability::Process).unwrap();
    let unsent = ledger.open_call(call_to("files", "a")).await.unwrap();
    let sent = ledger.open_call(call_to("files", "b")).await.unwrap();
    sent.record_intent(first_attempt()).await.unwrap();
    let ids = [unsent.id(), sent.id()];
    drop(unsent);
    drop(sent);
    ledger.stop().await;

    let mut seen = Vec::new();
    for id in ids {
        let summary = LedgerReader::at(&path).show(id).await.unwrap().unwrap().summary;
        seen.push((summary.outcome, summary.reason));
    }
    let gone = Some("caller_gone".to_owned());
    assert_eq!(
        seen,
        [(Some(OutcomeKind::Cancelled), gone.clone()), (Some(OutcomeKind::Unknown), gone)]
    );
}

#[tokio::test]
async fn a_late_answer_is_kept_and_changes_no_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(&folder.path().join("calls.db"), Durability::Process).unwrap();
    let open = ledger.open_call(call_to("files", "slow")).await.unwrap();
    open.record_intent(first_attempt()).await.unwrap();
    let id = open.close(Outcome::unknown("timeout", "no answer in 60 s")).await.id.unwrap();
    ledger.store_late_answer(id, Bytes::from_static(b"first")).await.unwrap();
    ledger.store_late_answer(id, Bytes::from_static(b"second")).await.unwrap();
    let full = ledger.show(id).await.unwrap().unwrap();
    assert_eq!(full.late, Some(Bytes::from_static(b"first")));
    assert_eq!(full.summary.outcome, Some(OutcomeKind::Unknown));
    assert!(ledger.store_late_answer(CallId(9_999), Bytes::new()).await.is_err());
}

#[tokio::test]
async fn a_large_result_is_kept_as_its_ends_and_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let options = LedgerOptions { result_limit: 30, ..LedgerOptions::default() };
    let ledger = Ledger::open_with(&folder.path().join("calls.db"), &options).unwrap();
    let text = "ä".repeat(500);
    let open = ledger.open_call(call_to("files", "big")).await.unwrap();
    let record = open.close(Outcome::ok(Bytes::from(text.clone()))).await;
    assert!(record.recorded);
    let full = ledger.show(record.id.unwrap()).await.unwrap().unwrap();
    assert_eq!(ledger.load_result(&full).await.unwrap(), Some(Bytes::from(text.clone())));
    let Some(StoredResult::Cut { head, tail, total, file }) = full.result.clone() else {
        panic!("the result should be cut");
    };
    assert_eq!((head, tail), (Bytes::from("ä".repeat(10)), Bytes::from("ä".repeat(5))));
    assert_eq!((total, full.summary.result_bytes), (1000, Some(1000)));
    let file = file.unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);

    std::fs::write(&file, "half").unwrap();
    assert_eq!(ledger.load_result(&full).await.unwrap(), None, "a part is not the result");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(ledger.load_result(&full).await.unwrap(), None);
}

#[tokio::test]
async fn a_result_is_found_again_after_its_folder_was_moved() {
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("old");
    let new = folder.path().join("new");
    let options = LedgerOptions { result_limit: 30, ..LedgerOptions::default() };
    let ledger = Ledger::open_with(&old.join("calls.db"), &options).unwrap();
    for text in ["{}".to_owned(), "x".repeat(100)] {
        let open = ledger.open_call(call_to("files", &text)).await.unwrap();
        assert!(open.close(Outcome::ok(Bytes::from(text))).await.recorded);
    }
    ledger.stop().await;
    std::fs::rename(&old, &new).unwrap();

    let ledger = Ledger::open_with(&new.join("calls.db"), &options).unwrap();
    for call in ledger.list(Filter::default()).await.unwrap() {
        let full = ledger.show(call.id).await.unwrap().unwrap();
        let whole = ledger.load_result(&full).await.unwrap();
        assert_eq!(whole, Some(Bytes::from(call.target)));
    }
}

#[tokio::test]
async fn a_reference_finds_the_newest_call_of_that_name() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(&folder.path().join("calls.db"), Durability::Process).unwrap();
    for (target, reference) in [
        ("first", Some("s/1/1")),
        ("other", Some("s/1/2")),
        ("none", None),
        ("again", Some("s/1/1")),
    ] {
        let reference = reference.map(Arc::from);
        let open = ledger.open_call(NewCall { reference, ..call_to("files", target) }).await;
        assert!(open.unwrap().close(ok("{}")).await.recorded);
    }
    for (reference, expected) in
        [("s/1/1", Some("again")), ("s/1/2", Some("other")), ("s/1", None), ("", None)]
    {
        let found = ledger.find_by_reference(reference).await.unwrap();
        let target = found.map(|full| full.summary.target);
        assert_eq!(target.as_deref(), expected, "{reference}");
    }
    assert_eq!(Ledger::off().find_by_reference("s/1/1").await.unwrap(), None);
}

#[tokio::test]
async fn the_record_of_a_call_tells_what_policy_said() {
    let ledger = Ledger::off();
    for verdict in [None, Some((VerdictWord::Allow, "rule")), Some((VerdictWord::Deny, "rule"))] {
        let open = ledger.open_call(call_to("files", "t")).await.unwrap();
        if let Some((word, by)) = verdict {
            open.note_verdict(word, by);
        }
        let expected = verdict.map(|(word, by)| (word, Arc::from(by)));
        assert_eq!(open.close(ok("{}")).await.verdict, expected);
    }
}

#[tokio::test]
async fn lists_are_filtered_and_read_page_by_page() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(&folder.path().join("calls.db"), Durability::Process).unwrap();
    let mut ids = Vec::new();
    for (server, outcome) in [
        ("files", ok("{}")),
        ("mail", ok("{}")),
        ("files", Outcome::denied("policy", "not here")),
        ("files", ok("{}")),
    ] {
        let open = ledger.open_call(call_to(server, "t")).await.unwrap();
        ids.push(open.close(outcome).await.id.unwrap());
    }
    let all = Filter::default;
    let files = Some("files".to_owned());
    let third = ledger.show(ids[2]).await.unwrap().unwrap().summary.created_at;
    for (filter, expected) in [
        (all(), vec![3, 2, 1, 0]),
        (Filter { limit: 2, ..all() }, vec![3, 2]),
        (Filter { limit: 2, before_id: Some(ids[2]), ..all() }, vec![1, 0]),
        (Filter { server: files.clone(), ..all() }, vec![3, 2, 0]),
        (Filter { outcome: Some(OutcomeKind::Ok), server: files, ..all() }, vec![3, 0]),
        (Filter { since: Some(third), ..all() }, vec![3, 2]),
        (Filter { outcome: Some(OutcomeKind::Failed), ..all() }, vec![]),
        (Filter { text: Some("NOT Here".to_owned()), ..all() }, vec![2]),
        (Filter { text: Some("%".to_owned()), ..all() }, vec![]),
    ] {
        let listed: Vec<_> =
            ledger.list(filter.clone()).await.unwrap().iter().map(|call| call.id).collect();
        let expected: Vec<_> = expected.into_iter().map(|index| ids[index]).collect();
        assert_eq!(listed, expected, "{filter:?}");
    }
    assert_eq!(ledger.count().await.unwrap(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_calls_at_once_get_exactly_one_outcome_each() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(&folder.path().join("calls.db"), Durability::Process).unwrap();
    let tasks: Vec<_> = (0..1000)
        .map(|index| {
            let ledger = ledger.clone();
            tokio::spawn(async move {
                let open = ledger.open_call(call_to("files", &format!("t{index}"))).await.unwrap();
                open.record_intent(first_attempt()).await.unwrap();
                open.close(ok("{}")).await
            })
        })
        .collect();
    let mut ids = BTreeSet::new();
    for task in tasks {
        let record = task.await.unwrap();
        assert!(record.recorded);
        ids.insert(record.id.unwrap());
    }
    assert_eq!(ids.len(), 1000);
    let listed = ledger.list(Filter { limit: 2000, ..Filter::default() }).await.unwrap();
    let ok = listed.iter().filter(|call| call.outcome == Some(OutcomeKind::Ok)).count();
    assert_eq!((listed.len(), ok), (1000, 1000));
    let targets: BTreeSet<_> = listed.iter().map(|call| &call.target).collect();
    assert_eq!(targets.len(), 1000);
}

#[tokio::test]
async fn numbers_go_on_where_the_last_process_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    let mut ids = Vec::new();
    for _ in 0..3 {
        let ledger = Ledger::open(&path, Durability::Process).unwrap();
        let open = ledger.open_call(call_to("files", "t")).await.unwrap();
        ids.push(open.close(ok("{}")).await.id.unwrap().get());
        ledger.stop().await;
    }
    assert_eq!(ids, [1, 2, 3]);
}

#[tokio::test]
async fn a_ledger_that_is_off_gives_records_and_keeps_nothing() {
    let ledger = Ledger::off();
    let open = ledger.open_call(call_to("files", "t")).await.unwrap();
    open.record_intent(first_attempt()).await.unwrap();
    let record = open.close(ok("{}")).await;
    assert_eq!((record.recorded, record.outcome), (false, ok("{}")));
    assert_eq!(ledger.count().await.unwrap(), 0);
    assert_eq!(ledger.open_report(), None);
}

#[tokio::test]
async fn after_stop_no_call_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(&folder.path().join("calls.db"), Durability::Process).unwrap();
    ledger.stop().await;
    let refused = ledger.open_call(call_to("files", "t")).await.unwrap_err();
    let record = Record::for_refused(&refused);
    assert_eq!(record.id, None);
    assert_eq!(record.outcome.reason.as_deref(), Some("audit_unavailable"));
    assert_eq!(Arc::strong_count(&ledger.0), 1);
}
