//! Watches files and reports that one of them may have changed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use notify::event::ModifyKind;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

/// Time without events after which a change counts as finished.
// Editors write a file in several steps; a reader in between would see half of it.
const QUIET_PERIOD: Duration = Duration::from_millis(100);
/// Maximum time to wait for the quiet period.
const MAX_SETTLE_TIME: Duration = Duration::from_secs(2);
/// Poll interval on systems without file notifications.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Watches files that may be replaced, created or removed at any time.
#[derive(Debug)]
pub struct FileWatcher {
    files: Vec<PathBuf>,
    stamps: Vec<Option<FileStamp>>,
    signals: Option<WatchSignals>,
    poll: Duration,
    /// A change that is not reported yet, because the wait for it was dropped.
    pending: bool,
}

/// The file notifications of the system.
#[derive(Debug)]
struct WatchSignals {
    watcher: RecommendedWatcher,
    receiver: mpsc::Receiver<()>,
    /// Whether an event named one of the files since the last check.
    named: Arc<AtomicBool>,
    /// The names of the files and of their link targets.
    names: Arc<Mutex<BTreeSet<OsString>>>,
    folders: BTreeSet<(PathBuf, Option<FileStamp>)>,
}

/// Metadata that identifies a version of a file or folder without reading it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct FileStamp {
    length: u64,
    modified: Option<SystemTime>,
    /// Distinguishes a replaced folder from the original.
    created: Option<SystemTime>,
}

/// Starts watching. Call it before reading the files: changes are relative to the state of now.
pub fn watch(files: Vec<PathBuf>) -> FileWatcher {
    let mut watch = FileWatcher::polling(files, POLL_INTERVAL);
    // The error is ignored, since polling works without notifications: the number of watches is
    // limited on Linux, and some network file systems support none.
    watch.signals = WatchSignals::start(&watch.files).ok();
    watch
}

impl FileWatcher {
    fn polling(files: Vec<PathBuf>, poll: Duration) -> Self {
        let stamps = files.iter().map(|file| stamp(file)).collect();
        Self { files, stamps, signals: None, poll, pending: false }
    }

    /// Replaces the set of watched files. Changes of files that stay in the set are not missed.
    pub fn set_files(&mut self, files: Vec<PathBuf>) {
        if files == self.files {
            return;
        }
        let known: BTreeMap<_, _> = self.files.drain(..).zip(self.stamps.drain(..)).collect();
        let stamp_of = |file: &PathBuf| known.get(file).cloned().unwrap_or_else(|| stamp(file));
        self.stamps = files.iter().map(stamp_of).collect();
        self.files = files;
        if let Some(before) = self.signals.take() {
            // As in `watch`, an error means polling.
            self.signals = WatchSignals::start(&self.files).ok();
            if let (true, Some(now)) = (before.named.load(Ordering::Acquire), &self.signals) {
                now.named.store(true, Ordering::Release);
            }
        }
        // A notification may have been lost in between; an extra check is harmless.
        self.pending = true;
    }

    /// Waits until a file has changed and no event followed for a moment. Cancel safe: if the
    /// future is dropped, the next call reports the change.
    pub async fn changed(&mut self) {
        loop {
            if !self.pending {
                self.wait().await;
                self.pending = true;
            }
            self.settle().await;
            self.pending = false;
            if self.has_changed() {
                return;
            }
        }
    }

    async fn wait(&mut self) {
        if let Some(signals) = &mut self.signals {
            if signals.receiver.recv().await.is_some() {
                return;
            }
            self.signals = None;
        }
        sleep(self.poll).await;
    }

    async fn settle(&mut self) {
        let Some(signals) = &mut self.signals else { return };
        let end = Instant::now() + MAX_SETTLE_TIME;
        while Instant::now() < end
            && matches!(timeout(QUIET_PERIOD, signals.receiver.recv()).await, Ok(Some(())))
        {
        }
    }

    /// Returns whether an event named one of the files, or the metadata of one differs.
    fn has_changed(&mut self) -> bool {
        let named = self.signals.as_ref().is_some_and(|s| s.named.swap(false, Ordering::AcqRel));
        // Folders first: later changes are notified, earlier ones are detected below.
        if self.signals.as_mut().is_some_and(|signals| signals.follow(&self.files).is_err()) {
            self.signals = None;
        }
        let stamps: Vec<_> = self.files.iter().map(|file| stamp(file)).collect();
        let different = stamps != self.stamps;
        self.stamps = stamps;
        named || different
    }
}

impl WatchSignals {
    fn start(files: &[PathBuf]) -> notify::Result<Self> {
        // Capacity 1: notifications are coalesced.
        let (sender, receiver) = mpsc::channel(1);
        let named = Arc::new(AtomicBool::new(false));
        let names = Arc::new(Mutex::new(BTreeSet::new()));
        let seen = Arc::clone(&named);
        let known = Arc::clone(&names);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            match event {
                // Reading the files causes access events.
                Ok(event) if matches!(event.kind, EventKind::Access(_)) => return,
                Ok(event) => {
                    let names = known.lock();
                    let is_ours =
                        |path: &PathBuf| path.file_name().is_some_and(|n| names.contains(n));
                    if event.need_rescan() || event.paths.iter().any(is_ours) {
                        seen.store(true, Ordering::Release);
                    } else if is_content_change(event.kind) {
                        // A log in the same folder may be written constantly.
                        return;
                    }
                }
                Err(_) => seen.store(true, Ordering::Release),
            }
            // A full channel already holds the signal.
            let _ = sender.try_send(());
        })?;
        let mut signals = Self { watcher, receiver, named, names, folders: BTreeSet::new() };
        signals.follow(files)?;
        Ok(signals)
    }

    /// Watches the folders that currently contain the files, and no others.
    fn follow(&mut self, files: &[PathBuf]) -> notify::Result<()> {
        // Folders instead of files: a watch of a file ends when an editor replaces the file, and a
        // missing file cannot be watched. The targets of links change in their own folders.
        let ends = files.iter().filter_map(|file| std::fs::canonicalize(file).ok());
        let all: Vec<PathBuf> = files.iter().cloned().chain(ends).collect();
        let names = all.iter().filter_map(|file| Some(file.file_name()?.to_owned())).collect();
        *self.names.lock() = names;
        let wanted: BTreeSet<_> = all
            .iter()
            .filter_map(|file| nearest_folder(file))
            .map(|folder| (folder.clone(), stamp(&folder)))
            .collect();
        for (folder, _) in self.folders.difference(&wanted) {
            // The system already dropped the watch of a removed folder, so this may fail.
            let _ = self.watcher.unwatch(folder);
        }
        for (folder, _) in wanted.difference(&self.folders) {
            self.watcher.watch(folder, RecursiveMode::NonRecursive)?;
        }
        self.folders = wanted;
        Ok(())
    }
}

/// Returns whether an event is about contents or metadata, not names.
const fn is_content_change(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Modify(ModifyKind::Any | ModifyKind::Data(_) | ModifyKind::Metadata(_))
    )
}

/// Returns the folder of a file, or its closest existing ancestor.
fn nearest_folder(file: &Path) -> Option<PathBuf> {
    file.ancestors()
        .skip(1)
        .map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
        .find(|folder| folder.is_dir())
        .map(Path::to_owned)
}

fn stamp(path: &Path) -> Option<FileStamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(FileStamp {
        length: metadata.len(),
        modified: metadata.modified().ok(),
        created: metadata.created().ok(),
    })
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
