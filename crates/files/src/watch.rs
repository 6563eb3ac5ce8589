//! `FileWatcher`: reports that one of the watched files may have changed.

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

/// How long nothing must happen before a change counts as finished.
const QUIET_PERIOD: Duration = Duration::from_millis(100);
/// How long to wait for that.
const MAX_SETTLE_TIME: Duration = Duration::from_secs(2);
/// How often to look where the system does not tell.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Watches files that may be replaced, made or removed at any time.
///
/// What happened is not said: whoever is told reads the files again.
#[derive(Debug)]
pub struct FileWatcher {
    files: Vec<PathBuf>,
    stamps: Vec<Option<FileStamp>>,
    signals: Option<WatchSignals>,
    poll: Duration,
    /// Something happened that was not reported yet, because the wait for it was dropped.
    pending: bool,
}

/// What the system tells us.
#[derive(Debug)]
struct WatchSignals {
    watcher: RecommendedWatcher,
    receiver: mpsc::Receiver<()>,
    /// Whether one of the files was named since it was last looked at.
    named: Arc<AtomicBool>,
    /// What the files are called, also where they lead to others.
    names: Arc<Mutex<BTreeSet<OsString>>>,
    folders: BTreeSet<(PathBuf, Option<FileStamp>)>,
}

/// What tells one state of a file or folder from another without reading it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct FileStamp {
    length: u64,
    modified: Option<SystemTime>,
    /// Tells a folder that was replaced from one that was not.
    created: Option<SystemTime>,
}

/// Begins to watch. Files are compared with how they are now, so watch first and read then.
///
/// If the system cannot tell of changes, the files are looked at every two seconds.
pub fn watch(files: Vec<PathBuf>) -> FileWatcher {
    let mut watch = FileWatcher::polling(files, POLL_INTERVAL);
    watch.signals = WatchSignals::start(&watch.files).ok();
    watch
}

impl FileWatcher {
    fn polling(files: Vec<PathBuf>, poll: Duration) -> Self {
        let stamps = files.iter().map(|file| stamp(file)).collect();
        Self { files, stamps, signals: None, poll, pending: false }
    }

    /// Watches other files from now on. Changes of those that stay are not missed.
    pub fn set_files(&mut self, files: Vec<PathBuf>) {
        if files == self.files {
            return;
        }
        let known: BTreeMap<_, _> = self.files.drain(..).zip(self.stamps.drain(..)).collect();
        let stamp_of = |file: &PathBuf| known.get(file).cloned().unwrap_or_else(|| stamp(file));
        self.stamps = files.iter().map(stamp_of).collect();
        self.files = files;
        if let Some(before) = self.signals.take() {
            self.signals = WatchSignals::start(&self.files).ok();
            if let (true, Some(now)) = (before.named.load(Ordering::Acquire), &self.signals) {
                now.named.store(true, Ordering::Release);
            }
        }
        // A signal may have been lost on the way; looking once too often does no harm.
        self.pending = true;
    }

    /// Waits until something changed and then nothing did for a moment. A wait that is dropped
    /// loses nothing: the next one reports it.
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

    /// Whether one of the files was named by the system or looks different.
    fn has_changed(&mut self) -> bool {
        let named = self.signals.as_ref().is_some_and(|s| s.named.swap(false, Ordering::AcqRel));
        // Folders first: what changes after this is signalled, what changed before is seen below.
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
        // One waiting signal says as much as many.
        let (sender, receiver) = mpsc::channel(1);
        let named = Arc::new(AtomicBool::new(false));
        let names = Arc::new(Mutex::new(BTreeSet::new()));
        let seen = Arc::clone(&named);
        let known = Arc::clone(&names);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            match event {
                // Our own reading is such an event.
                Ok(event) if matches!(event.kind, EventKind::Access(_)) => return,
                Ok(event) => {
                    let names = known.lock();
                    let is_ours =
                        |path: &PathBuf| path.file_name().is_some_and(|n| names.contains(n));
                    if event.need_rescan() || event.paths.iter().any(is_ours) {
                        seen.store(true, Ordering::Release);
                    } else if is_content_change(event.kind) {
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

    /// Watches the folders around the files as they are now. Folders that were replaced since are
    /// watched anew, folders that no longer matter no more.
    fn follow(&mut self, files: &[PathBuf]) -> notify::Result<()> {
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
            // The system forgets a folder that was removed by itself.
            let _ = self.watcher.unwatch(folder);
        }
        for (folder, _) in wanted.difference(&self.folders) {
            self.watcher.watch(folder, RecursiveMode::NonRecursive)?;
        }
        self.folders = wanted;
        Ok(())
    }
}

/// Whether something was written that is not about names: in another file than ours that says
/// nothing, and a file beside ours may be written to all the time.
const fn is_content_change(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Modify(ModifyKind::Any | ModifyKind::Data(_) | ModifyKind::Metadata(_))
    )
}

/// The folder a file is in, or the closest one above that exists.
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
