//! Tests that every kind of change is noticed, and that reading is not a change.

use std::fs;

use super::*;

const PATIENCE: Duration = Duration::from_secs(20);

async fn assert_changed(watch: &mut FileWatcher, what: &str) {
    timeout(PATIENCE, watch.changed()).await.expect(what);
}

async fn assert_quiet(watch: &mut FileWatcher, what: &str) {
    timeout(QUIET_PERIOD * 4, watch.changed()).await.expect_err(what);
}

/// Consumes pending reports, which may be late on a busy machine, and returns their number.
async fn drain(watch: &mut FileWatcher) -> usize {
    for reports in 0..20 {
        if timeout(QUIET_PERIOD * 4, watch.changed()).await.is_err() {
            return reports;
        }
    }
    panic!("changes are reported without end");
}

/// Returns both kinds of watchers, to be tested with the same changes.
fn both(file: &Path) -> [FileWatcher; 2] {
    let files = vec![file.to_owned()];
    let told = watch(files.clone());
    assert!(told.signals.is_some());
    [told, FileWatcher::polling(files, Duration::from_millis(20))]
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_is_written_beside_the_files_wakes_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let [file, beside, end] = ["config.json", "a.log", "end.json"].map(|n| folder.path().join(n));
    fs::write(&beside, "").unwrap();
    fs::write(&end, "").unwrap();
    std::os::unix::fs::symlink(&end, &file).unwrap();
    let mut watch = watch(vec![file]);
    let signals =
        |watch: &mut FileWatcher| watch.signals.as_mut().unwrap().receiver.try_recv().is_ok();
    for round in 0..100 {
        fs::write(&beside, "x".repeat(round)).unwrap();
    }
    sleep(QUIET_PERIOD).await;
    assert!(!signals(&mut watch));
    // The target of the link is in another folder.
    fs::write(&end, "{}").unwrap();
    assert_changed(&mut watch, "what the file leads to").await;
}

#[tokio::test]
async fn every_way_to_change_a_file_is_noticed() {
    type FileEdit = fn(&Path);
    let changes: [(&str, FileEdit); 5] = [
        ("made", |file| fs::write(file, "1").unwrap()),
        ("written", |file| fs::write(file, "22").unwrap()),
        ("replaced", |file| {
            let beside = file.with_extension("new");
            fs::write(&beside, "333").unwrap();
            fs::rename(beside, file).unwrap();
        }),
        ("written after it was replaced", |file| fs::write(file, "4444").unwrap()),
        ("removed", |file| fs::remove_file(file).unwrap()),
    ];
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.json");
    let mut watches = both(&file);
    for (what, change) in changes {
        change(&file);
        for watch in &mut watches {
            assert_changed(watch, what).await;
        }
    }
}

#[tokio::test]
async fn a_file_in_a_folder_that_is_made_removed_and_made_again_is_noticed() {
    let top = tempfile::tempdir().unwrap();
    let folder = top.path().join("a/b");
    let file = folder.join("config.json");
    for mut watch in both(&file) {
        for round in 0..3 {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&file, "1").unwrap();
            assert_changed(&mut watch, &format!("made in round {round}")).await;
            fs::remove_dir_all(top.path().join("a")).unwrap();
            assert_changed(&mut watch, &format!("removed in round {round}")).await;
        }
    }
}

#[tokio::test]
async fn many_changes_are_reported_together_and_reading_never() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.json");
    fs::write(&file, "0").unwrap();
    let mut watch = watch(vec![file.clone()]);
    for round in 1..20 {
        fs::write(&file, "x".repeat(round)).unwrap();
    }
    assert_changed(&mut watch, "written").await;
    assert!(drain(&mut watch).await < 5);
    assert_eq!(fs::read_to_string(&file).unwrap().len(), 19);
    assert_quiet(&mut watch, "read").await;
    fs::write(folder.path().join("other.json"), "1").unwrap();
    assert_quiet(&mut watch, "another file").await;
}

#[tokio::test]
async fn a_wait_that_is_dropped_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.json");
    let mut watch = watch(vec![file.clone()]);
    fs::write(&file, "1").unwrap();
    for _ in 0..5 {
        if timeout(QUIET_PERIOD / 4, watch.changed()).await.is_ok() {
            return;
        }
    }
    assert_changed(&mut watch, "after waits that were dropped").await;
}

#[cfg(unix)]
#[tokio::test]
async fn the_file_behind_a_link_is_watched() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let real = elsewhere.path().join("real.json");
    let link = folder.path().join("config.json");
    fs::write(&real, "1").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let mut watch = watch(vec![link]);
    fs::write(&real, "22").unwrap();
    assert_changed(&mut watch, "behind a link").await;
}

#[tokio::test]
async fn the_list_of_files_can_change() {
    let folder = tempfile::tempdir().unwrap();
    let [stays, goes, comes] = ["stays", "goes", "comes"].map(|name| folder.path().join(name));
    for told in [true, false] {
        let mut watch = watch(vec![stays.clone(), goes.clone()]);
        if !told {
            watch = FileWatcher::polling(watch.files, Duration::from_millis(20));
        }
        fs::write(&stays, if told { "1" } else { "22" }).unwrap();
        watch.set_files(vec![stays.clone(), comes.clone()]);
        assert_changed(&mut watch, "changed before the list did").await;
        drain(&mut watch).await;
        fs::write(&goes, "1").unwrap();
        assert_quiet(&mut watch, "no longer in the list").await;
        fs::write(&comes, if told { "1" } else { "22" }).unwrap();
        assert_changed(&mut watch, "new in the list").await;
    }
}
