//! Storage of long arguments and results in body files; the ledger stores their places.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::{fmt, io};

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};

use crate::body_file::{BodyFile, MAX_FILE_LEN};

/// Maximum length of a text that is stored in its row, in bytes.
const MAX_INLINE_LEN: usize = 4 << 10;
/// Number of files that calls of a process can write to concurrently.
const LANES: usize = 4;

/// A text of a call, or its place in a body file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoredBody {
    Inline(Bytes),
    InFile(BodyPlace),
}

/// A range of a body file, with the digest of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BodyPlace {
    file: Arc<str>,
    offset: u64,
    pub(crate) length: u64,
    digest: Arc<str>,
}

/// The body files of a ledger, which several processes may share.
#[derive(Debug)]
pub(crate) struct BodyStore {
    folder: PathBuf,
    /// Part of the names of this process's own files.
    owner: String,
    lanes: [Mutex<Option<BodyFile>>; LANES],
}

impl BodyStore {
    pub(crate) fn new(folder: PathBuf, owner: &str) -> Self {
        Self { folder, owner: owner.to_owned(), lanes: [const { Mutex::new(None) }; LANES] }
    }

    /// Stores a long text in a body file and returns its place.
    pub(crate) fn store(&self, text: &Bytes) -> io::Result<StoredBody> {
        // A short text is copied: it may be a slice of a connection's buffer, which should be
        // reused before the database has the text.
        if text.len() <= MAX_INLINE_LEN {
            return Ok(StoredBody::Inline(Bytes::copy_from_slice(text)));
        }
        // Computed while the text is in memory, so that sealing does not have to read it again.
        let digest = body_digest(text);
        let (lane, mut current) = self.free_lane();
        let mut file = match current.take().filter(|file| !file.is_removed()) {
            Some(file) => file,
            None => BodyFile::open_latest_shared(&self.folder, lane)?,
        };
        let offset = file.append(text)?;
        let place =
            BodyPlace { file: Arc::clone(&file.name), offset, length: text.len() as u64, digest };
        // The text is stored. If rotating fails, the next call opens a file again.
        *current = file.rotate(&self.folder, lane, &self.owner).ok();
        drop(current);
        Ok(StoredBody::InFile(place))
    }

    /// Locks a lane that is free, or waits for the first one.
    fn free_lane(&self) -> (usize, MutexGuard<'_, Option<BodyFile>>) {
        let mut lanes = self.lanes.iter().enumerate();
        let free = lanes.find_map(|(lane, current)| Some((lane, current.try_lock()?)));
        let [first, ..] = &self.lanes;
        free.unwrap_or_else(|| (0, first.lock()))
    }
}

/// Returns the text at a place, or `None` if it is incomplete or does not match its digest.
pub(crate) fn read(folder: &Path, place: &BodyPlace) -> io::Result<Option<Bytes>> {
    // The name comes from the database and must not lead out of the folder.
    if place.file.contains(['/', '\\']) || place.length > MAX_FILE_LEN {
        return Ok(None);
    }
    let mut file = match File::open(folder.join(&*place.file)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    file.seek(SeekFrom::Start(place.offset))?;
    // The length was checked above: the database could claim any size.
    let mut text = vec![0; usize::try_from(place.length).unwrap_or(0)];
    match file.read_exact(&mut text) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
        Ok(()) => Ok(Some(text.into()).filter(|text: &Bytes| body_digest(text) == place.digest)),
    }
}

fn body_digest(text: &[u8]) -> Arc<str> {
    // BLAKE3 is three times as fast as SHA-256, which matters for long texts.
    Arc::from(blake3::hash(text).to_hex().as_str())
}

impl fmt::Display for BodyPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, offset, length, digest } = self;
        write!(formatter, "{file}:{offset}:{length}:{digest}")
    }
}

impl FromStr for BodyPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let place = || {
            let mut parts = text.split(':');
            let file = parts.next()?.into();
            let [offset, length] = [parts.next()?.parse().ok()?, parts.next()?.parse().ok()?];
            let digest = parts.next()?.into();
            parts.next().is_none().then_some(Self { file, offset, length, digest })
        };
        place().ok_or_else(|| format!("`{text}` is not a place"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_of_two_processes_are_found_again_and_short_ones_stay() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("bodies");
        let writers = ["a", "b"].map(|owner| BodyStore::new(folder.clone(), owner));
        let mut kept = Vec::new();
        for round in 0..20_u8 {
            for writer in &writers {
                let text = Bytes::from(vec![round; 5_000 + usize::from(round)]);
                kept.push((writer.store(&text).unwrap(), text));
            }
        }
        for (body, text) in kept {
            let StoredBody::InFile(place) = body else { panic!("a long text stayed") };
            let place = place.to_string().parse().unwrap();
            assert_eq!(read(&folder, &place).unwrap(), Some(text));
        }
        let short = Bytes::from_static(b"{}");
        assert_eq!(writers[0].store(&short).unwrap(), StoredBody::Inline(short));
    }

    #[test]
    fn texts_that_are_kept_at_the_same_time_go_to_files_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let bodies = BodyStore::new(folder.path().to_owned(), "a");
        let text = Bytes::from(vec![b'x'; 5_000]);
        let busy = bodies.free_lane();
        let body = bodies.store(&text).unwrap();
        drop(busy);
        let StoredBody::InFile(place) = body else { panic!("a long text stayed") };
        assert_eq!(&*place.file, "bodies-000001-1");
        assert_eq!(read(folder.path(), &place).unwrap(), Some(text.clone()));
        let again = BodyStore::new(folder.path().to_owned(), "a");
        let StoredBody::InFile(place) = again.store(&text).unwrap() else {
            panic!("a long text stayed")
        };
        assert_eq!((&*place.file, place.offset), ("bodies-000001", 0));
    }

    #[test]
    fn who_writes_much_has_files_of_its_own_and_leaves_no_room_behind() {
        let folder = tempfile::tempdir().unwrap();
        let writers = ["a", "b"].map(|owner| BodyStore::new(folder.path().to_owned(), owner));
        let keep = |count: usize| {
            let mut kept = Vec::new();
            for number in 0..count {
                for (writer, letter) in writers.iter().zip([b'a', b'b']) {
                    let text = Bytes::from(vec![letter; 5_000 + number * 101]);
                    let StoredBody::InFile(place) = writer.store(&text).unwrap() else {
                        panic!("stayed")
                    };
                    kept.push((place, text));
                }
            }
            kept
        };
        let kept = keep(300);
        let own = |owner: &str| kept.iter().filter(|(place, _)| place.file.contains(owner)).count();
        assert!(own("-a.0.000001") > 150 && own("-b.0.000001") > 150);
        let found = |kept: &[(BodyPlace, Bytes)]| {
            kept.iter()
                .all(|(place, text)| read(folder.path(), place).unwrap().as_ref() == Some(text))
        };
        assert!(found(&kept));
        // While the file is open, and after a crash, zeros follow the last text.
        let length = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().len();
        let texts = || kept.iter().filter(|(place, _)| &*place.file == "bodies-a.0.000001");
        let sum: u64 = texts().map(|(place, _)| place.length).sum();
        assert!(length("bodies-a.0.000001") > sum);
        drop(writers);
        assert_eq!(length("bodies-a.0.000001"), sum);
        assert!(found(&kept));
    }

    #[test]
    fn a_place_that_is_not_there_gives_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let bodies = BodyStore::new(folder.path().to_owned(), "a");
        bodies.store(&Bytes::from(vec![b'x'; 5_000])).unwrap();
        for place in ["bodies-000001:4000:2000:d", "bodies-000009:0:1:d", "../bodies-000001:0:1:d"]
        {
            assert_eq!(read(folder.path(), &place.parse().unwrap()).unwrap(), None, "{place}");
        }
        assert!("bodies-000001:x:1:d".parse::<BodyPlace>().is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_was_removed_is_made_anew_and_what_is_there_is_no_other_text() {
        let folder = tempfile::tempdir().unwrap();
        let bodies = BodyStore::new(folder.path().to_owned(), "a");
        let texts = [b'x', b'y'].map(|byte| Bytes::from(vec![byte; 5_000]));
        let places = texts.clone().map(|text| {
            let StoredBody::InFile(place) = bodies.store(&text).unwrap() else {
                panic!("it stayed")
            };
            // The next text gets the same offset in another file.
            std::fs::remove_file(folder.path().join("bodies-000001")).ok();
            place
        });
        std::fs::write(folder.path().join("bodies-000001"), &texts[1]).unwrap();
        let found = places.map(|place| read(folder.path(), &place).unwrap());
        assert_eq!(found, [None, Some(texts[1].clone())]);
        assert!(matches!(bodies.store(&texts[0]).unwrap(), StoredBody::InFile(_)));
        assert_eq!(std::fs::read(folder.path().join("bodies-000001")).unwrap().len(), 10_000);
    }
}
