//! Tests of a session file that is shared, locked, damaged, foreign or world-writable.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use switchboard_core::Durability;

use crate::entry::OpenReport;
use crate::ledger::Ledger;
use crate::sessions::error::SessionError;
use crate::sessions::id::SessionId;
use crate::sessions::store::SessionStore;
use crate::sessions::store::tests::{about, body};

fn open(path: &Path) -> SessionStore {
    SessionStore::open(path, Durability::Process).unwrap()
}

/// Appends the next step, retrying on conflicts, like a process that does not know of the others.
async fn push(sessions: &SessionStore, id: &SessionId, text: &str) -> u64 {
    for _ in 0..10_000 {
        let number = sessions.steps(id).await.unwrap().len() as u64 + 1;
        match sessions.append(id, number, "said", body(text)).await {
            Ok(()) => return number,
            Err(SessionError::Conflict { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    panic!("it was never this one's turn");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_handles_on_one_file_each_step_has_one_winner() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let first = open(&path);
    let id = first.create(about(None)).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for (name, sessions) in [("first", first.clone()), ("second", open(&path))] {
        let id = id.clone();
        tasks.spawn(async move {
            let mut won = Vec::new();
            for _ in 0..50 {
                won.push((push(&sessions, &id, name).await, body(name)));
            }
            won
        });
    }
    let mut won: Vec<_> = tasks.join_all().await.into_iter().flatten().collect();
    won.sort();
    let steps = first.steps(&id).await.unwrap();
    let kept: Vec<_> = steps.into_iter().map(|step| (step.number, step.body)).collect();
    assert_eq!(kept, won);
    assert_eq!(kept.len(), 100);
}

#[tokio::test]
async fn a_file_that_stays_locked_is_told_of_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let sessions = open(&path);
    let id = sessions.create(about(None)).await.unwrap();
    sessions.wait_for_others(Duration::from_millis(100));
    let outside = Connection::open(&path).unwrap();
    outside.execute_batch("BEGIN IMMEDIATE").unwrap();

    let error = sessions.append(&id, 1, "said", body("a")).await.unwrap_err();
    assert!(matches!(error, SessionError::Write { .. }), "{error}");
    assert!(error.to_string().contains("locked"), "{error}");
    assert!(error.hint().unwrap().contains("close it"));
    assert_eq!(sessions.steps(&id).await, Ok(vec![]), "readers do not wait");
    outside.execute_batch("COMMIT").unwrap();
    sessions.append(&id, 1, "said", body("a")).await.unwrap();
}

#[tokio::test]
async fn a_full_disk_leaves_the_conversation_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let sessions = open(&path);
    let id = sessions.create(about(None)).await.unwrap();
    sessions.append(&id, 1, "said", body("a")).await.unwrap();
    let limit = |pages: u32| sessions.limit_pages(pages);
    limit(1);
    let large = body(&"x".repeat(200_000));
    let error = sessions.append(&id, 2, "said", large.clone()).await.unwrap_err();
    assert!(error.to_string().contains("full"), "{error}");
    assert!(error.hint().unwrap().contains("free some space"));
    assert_eq!(sessions.steps(&id).await.unwrap().len(), 1);
    limit(1_000_000);
    sessions.append(&id, 2, "said", large).await.unwrap();
    assert_eq!(sessions.steps(&id).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_conversation_with_a_hole_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let outside = |statement: &str| Connection::open(&path).unwrap().execute_batch(statement);
    let sessions = open(&path);
    for hole in [1, 2, 3] {
        let id = sessions.create(about(None)).await.unwrap();
        for number in 1..=3 {
            sessions.append(&id, number, "said", body("a")).await.unwrap();
        }
        outside(&format!("DELETE FROM steps WHERE session = '{id}' AND number = {hole}")).unwrap();
        let error = sessions.steps(&id).await.unwrap_err();
        assert!(error.to_string().contains("missing"), "{error}");
    }
}

#[tokio::test]
async fn a_damaged_file_is_put_aside_and_a_new_one_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let sessions = open(&path);
    let id = sessions.create(about(None)).await.unwrap();
    sessions.append(&id, 1, "said", body(&"x".repeat(50_000))).await.unwrap();
    drop(sessions);
    let mut damaged = std::fs::read(&path).unwrap();
    damaged.iter_mut().skip(4096).for_each(|byte| *byte ^= 0x5a);
    std::fs::write(&path, &damaged).unwrap();

    let sessions = open(&path);
    let aside = sessions.open_report().unwrap().quarantined.clone().unwrap();
    let name = aside.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("sessions.db.corrupt-"), "{name}");
    assert_eq!(std::fs::read(&aside).unwrap(), damaged);
    let id = sessions.create(about(None)).await.unwrap();
    sessions.append(&id, 1, "said", body("new")).await.unwrap();
    drop(sessions);
    assert_eq!(open(&path).open_report(), Some(&OpenReport::default()));
}

#[tokio::test]
async fn damage_that_is_met_while_reading_has_the_whole_file_checked_next_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let sessions = open(&path);
    let id = sessions.create(about(None)).await.unwrap();
    sessions.append(&id, 1, "said", body(&"x".repeat(50_000))).await.unwrap();
    drop(sessions);
    let sessions = open(&path);
    // Damage the root page of every table but the first, so that the file still opens.
    let mut damaged = std::fs::read(&path).unwrap();
    damaged.iter_mut().skip(4096).for_each(|byte| *byte = 0x5a);
    std::fs::write(&path, &damaged).unwrap();
    assert!(matches!(sessions.steps(&id).await, Err(SessionError::Read(_))));
    assert!(folder.path().join("sessions.db.suspect").exists());
}

#[tokio::test]
async fn what_cannot_be_opened_says_why_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let error_at = |path: &Path| SessionStore::open(path, Durability::Process).unwrap_err();
    std::fs::write(at("file"), "").unwrap();
    let error = error_at(&at("file").join("sessions.db"));
    assert!(matches!(error, SessionError::Open { .. }), "{error}");
    assert!(error.hint().unwrap().contains("writable"));

    Connection::open(at("foreign.db")).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    Ledger::open(&at("calls.db"), Durability::Process).unwrap().stop().await;
    // A ledger is a database of this program, but not of the session store.
    Connection::open(at("calls.db")).unwrap().pragma_update(None, "user_version", 1).unwrap();
    for name in ["foreign.db", "calls.db"] {
        let error = error_at(&at(name));
        assert!(error.to_string().contains("another program"), "{error}");
    }

    drop(open(&at("newer.db")));
    Connection::open(at("newer.db")).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let error = error_at(&at("newer.db"));
    assert!(matches!(error, SessionError::TooNew { found: 99, known: 1, .. }), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn the_files_are_private_and_an_open_folder_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let path = state.join("sessions.db");
    let sessions = open(&path);
    sessions.create(about(None)).await.unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&state), 0o700);
    assert_eq!([mode(&path), mode(&state.join("sessions.db-wal"))], [0o600, 0o600]);
    drop(sessions);

    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o777)).unwrap();
    let error = SessionStore::open(&path, Durability::Process).unwrap_err();
    assert!(matches!(error, SessionError::Exposed { .. }), "{error}");
}

#[tokio::test]
async fn conversations_and_calls_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let calls = folder.path().join("calls.db");
    let path = folder.path().join("sessions.db");
    let ledger = Ledger::open(&calls, Durability::Process).unwrap();
    let sessions = open(&path);
    let id = sessions.create(about(None)).await.unwrap();
    let beside = Ledger::open(&calls, Durability::Process).unwrap();
    assert_eq!(open(&path).find("last").await.unwrap().id, id);
    assert_eq!(beside.open_report(), Some(&OpenReport::default()));
    beside.stop().await;
    ledger.stop().await;
}
