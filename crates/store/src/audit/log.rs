//! An append-only log of definitions and server entries: flagged, approved, revoked, added. Each
//! row is chained to the one before.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, TransactionBehavior};
use switchboard_text::{Digest, hex_digest};

use crate::audit::mark;
use crate::audit::mark::AuditMark;
use crate::entry::OpenReport;
use crate::error::LedgerError;
use crate::file;
use crate::file::lock_for_open;
use crate::ledger::LedgerOptions;
use crate::schema::{DatabaseSchema, connect_read_only};

/// The schema of the audit log. The application id reads `SWBA`.
const AUDIT_SCHEMA: DatabaseSchema =
    DatabaseSchema { application: 0x5357_4241, migrations: &[FORMAT_1, mark::FORMAT] };

const FORMAT_1: &str = "
    CREATE TABLE audit (
        seq INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        event TEXT NOT NULL,
        server TEXT NOT NULL,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        digest TEXT NOT NULL,
        detail TEXT NOT NULL,
        chain TEXT NOT NULL
    ) STRICT;
    CREATE INDEX audit_by_definition ON audit (server, name, digest);
";

/// A note about a definition or a server entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditNote {
    /// The event, such as `definition.flagged`.
    pub event: &'static str,
    pub server: String,
    /// Kind of the definition in one word, or `entry`.
    pub kind: String,
    /// Name or URI; empty for instructions.
    pub name: String,
    /// Digest of the canonical text.
    pub digest: String,
    pub detail: String,
}

impl AuditNote {
    /// Event of a definition with findings of the scanner.
    pub const FLAGGED: &str = "definition.flagged";
    /// Event of a definition that a person approved.
    pub const APPROVED: &str = "definition.approved";
    /// Event of a definition whose approval a person revoked.
    pub const REVOKED: &str = "definition.revoked";
    /// Event of an entry from a registry, a bundle or the list of known servers.
    pub const ADDED: &str = "server.added";

    /// Returns the note about an added server entry: its name at the source, and the source.
    #[must_use]
    pub fn server_added(server: &str, what: &str, source: String, entry: &str) -> Self {
        Self {
            event: Self::ADDED,
            server: server.to_owned(),
            kind: "entry".to_owned(),
            name: what.to_owned(),
            digest: hex_digest([entry.as_bytes()]),
            detail: source,
        }
    }
}

/// A note as stored in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    /// Position in the log, from 1.
    pub seq: i64,
    pub at: Timestamp,
    pub event: String,
    pub server: String,
    /// Kind of the definition in one word, or `entry`.
    pub kind: String,
    /// Name or URI; empty for instructions.
    pub name: String,
    /// Digest of the canonical text.
    pub digest: String,
    pub detail: String,
}

/// The audit log of a state folder. All methods block.
#[derive(Clone, Debug)]
pub struct Audit(Option<PathBuf>);

impl Audit {
    /// Returns the log next to the ledger in a state folder.
    #[must_use]
    pub fn in_state_folder(state: &Path) -> Self {
        Self(Some(state.join("record").join("audit.db")))
    }

    /// Returns a log that stores no notes.
    #[must_use]
    pub const fn off() -> Self {
        Self(None)
    }

    /// Adds notes, except those that repeat the last note about the same definition.
    pub fn add(&self, notes: &[AuditNote]) -> Result<(), LedgerError> {
        let Some(path) = self.0.as_deref().filter(|_| !notes.is_empty()) else { return Ok(()) };
        // Held until the end: another process must not add rows before the mark is signed.
        let (_owners, _gate) = lock_for_open(path)?;
        let options = LedgerOptions::default();
        let mut connection = file::open(path, &options, &AUDIT_SCHEMA, &mut OpenReport::default())?;
        add(&mut connection, notes).map_err(|error| LedgerError::from_write(&error))?;
        // An outdated mark proves less, but never reports an intact log as changed.
        let _unmarked = mark::advance(path, &connection);
        Ok(())
    }

    /// Returns all notes, oldest first.
    pub fn list(&self) -> Result<Vec<AuditRow>, LedgerError> {
        self.read(|connection| {
            let mut statement = connection.prepare("SELECT * FROM audit ORDER BY seq")?;
            statement.query_map([], read_row)?.collect()
        })
    }

    /// Verifies the chain and the mark, and returns the first evidence of tampering.
    pub fn find_tampering(&self) -> Result<Option<TamperEvidence>, LedgerError> {
        let (rows, was_marked) = self.read(|connection| {
            let mut statement = connection.prepare("SELECT * FROM audit ORDER BY seq")?;
            let with_chain =
                |found: &Row<'_>| Ok((read_row(found)?, found.get::<_, String>("chain")?));
            let rows = statement.query_map([], with_chain)?;
            let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
            Ok((rows, mark::was_marked(connection)))
        })?;
        let mark = self.0.as_deref().map_or(AuditMark::Missing, mark::read);
        let mut before = String::new();
        let mut count = 0;
        for (row, chain) in rows {
            count += 1;
            // A chain that was recomputed from a changed row is consistent, but has another digest
            // where the mark was signed.
            let is_recomputed = matches!(&mark, AuditMark::At { seq, chain: then }
                if *seq == count && *then != chain);
            if row.seq != count || chain_digest(&before, &row) != chain || is_recomputed {
                return Ok(Some(TamperEvidence::Note(count)));
            }
            before = chain;
        }
        Ok(match mark {
            AuditMark::At { seq, .. } if seq > count => {
                Some(TamperEvidence::End { kept: count, once: seq })
            }
            AuditMark::Forged => Some(TamperEvidence::Mark),
            AuditMark::Missing if was_marked => Some(TamperEvidence::Mark),
            AuditMark::At { .. } | AuditMark::Missing => None,
        })
    }

    fn read<T: Default>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, LedgerError> {
        let Some(path) = self.0.as_deref().filter(|path| path.exists()) else {
            return Ok(T::default());
        };
        let read = connect_read_only(path).and_then(|connection| work(&connection));
        read.map_err(|error| LedgerError::from_read(&error))
    }
}

/// Evidence that the log was modified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TamperEvidence {
    /// The first row that was modified or is missing.
    #[error("note {0} of `calls audit` was modified")]
    Note(i64),
    /// Rows at the end are missing; the mark counts `once`.
    #[error("{kept} of {once} notes of `calls audit` are left")]
    End { kept: i64, once: i64 },
    /// The mark is missing or was modified.
    #[error("the signed mark of `calls audit` is missing or was modified")]
    Mark,
}

fn add(connection: &mut Connection, notes: &[AuditNote]) -> rusqlite::Result<()> {
    // Locked for writing at once: the chain depends on the last row, which must not change.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for note in notes {
        let last: Option<(String, String, String)> = transaction
            .query_row(
                "SELECT event, digest, detail FROM audit
                 WHERE server = ?1 AND kind = ?2 AND name = ?3 ORDER BY seq DESC LIMIT 1",
                (&note.server, &note.kind, &note.name),
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .optional()?;
        let same = |(event, digest, detail): (String, String, String)| {
            event == note.event && digest == note.digest && detail == note.detail
        };
        // Already logged findings are skipped even if a decision followed; otherwise, every start
        // would log them again.
        let decided = "SELECT EXISTS (SELECT 1 FROM audit WHERE server = ?1 AND kind = ?2
            AND name = ?3 AND digest = ?4 AND event = ?5 AND detail = ?6)";
        let values = (&note.server, &note.kind, &note.name, &note.digest, note.event, &note.detail);
        let is_known = note.event == AuditNote::FLAGGED
            && transaction.query_row(decided, values, |row| row.get::<_, bool>(0))?;
        if is_known || last.is_some_and(same) {
            continue;
        }
        insert(&transaction, note)?;
    }
    transaction.commit()
}

fn insert(connection: &Connection, note: &AuditNote) -> rusqlite::Result<()> {
    let last: Option<(i64, String)> = connection
        .query_row("SELECT seq, chain FROM audit ORDER BY seq DESC LIMIT 1", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    let (seq, before) = last.unwrap_or_default();
    // The database stores microseconds, and the chain must cover the stored value.
    let at = Timestamp::from_microsecond(Timestamp::now().as_microsecond()).unwrap_or_default();
    let row = AuditRow {
        seq: seq + 1,
        at,
        event: note.event.to_owned(),
        server: note.server.clone(),
        kind: note.kind.clone(),
        name: note.name.clone(),
        digest: note.digest.clone(),
        detail: note.detail.clone(),
    };
    let chain = chain_digest(&before, &row);
    connection.execute(
        "INSERT INTO audit (seq, at, event, server, kind, name, digest, detail, chain)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        (
            row.seq,
            row.at.as_microsecond(),
            &row.event,
            &row.server,
            &row.kind,
            &row.name,
            &row.digest,
            &row.detail,
            chain,
        ),
    )?;
    Ok(())
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<AuditRow> {
    Ok(AuditRow {
        seq: row.get("seq")?,
        at: Timestamp::from_microsecond(row.get("at")?).unwrap_or_default(),
        event: row.get("event")?,
        server: row.get("server")?,
        kind: row.get("kind")?,
        name: row.get("name")?,
        digest: row.get("digest")?,
        detail: row.get("detail")?,
    })
}

fn chain_digest(before: &str, row: &AuditRow) -> String {
    Digest::new("audit")
        .with(before)
        .with(&row.seq.to_string())
        .with(&row.at.as_microsecond().to_string())
        .with(&row.event)
        .with(&row.server)
        .with(&row.kind)
        .with(&row.name)
        .with(&row.digest)
        .with(&row.detail)
        .hex()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(event: &'static str, name: &str, digest: &str) -> AuditNote {
        AuditNote {
            event,
            server: "evil".to_owned(),
            kind: "tool".to_owned(),
            name: name.to_owned(),
            digest: digest.to_owned(),
            detail: "secret_read".to_owned(),
        }
    }

    fn events(audit: &Audit) -> Vec<String> {
        let rows = audit.list().unwrap().into_iter();
        rows.map(|row| format!("{} {} {} {}", row.seq, row.event, row.name, row.digest)).collect()
    }

    #[test]
    fn what_is_told_again_is_kept_once_and_what_is_new_follows() {
        let folder = tempfile::tempdir().unwrap();
        let audit = Audit::in_state_folder(folder.path());
        assert_eq!(events(&audit), [""; 0]);
        for (event, name, digest) in [
            (AuditNote::FLAGGED, "add", "1"),
            (AuditNote::FLAGGED, "add", "1"),
            (AuditNote::APPROVED, "add", "1"),
            (AuditNote::FLAGGED, "add", "1"),
            (AuditNote::FLAGGED, "add", "2"),
            (AuditNote::REVOKED, "add", "1"),
        ] {
            audit.add(&[note(event, name, digest)]).unwrap();
        }
        assert_eq!(
            events(&audit),
            [
                "1 definition.flagged add 1",
                "2 definition.approved add 1",
                "3 definition.flagged add 2",
                "4 definition.revoked add 1",
            ]
        );
        assert_eq!(audit.find_tampering().unwrap(), None);
        Audit::off().add(&[note(AuditNote::FLAGGED, "add", "1")]).unwrap();
        assert_eq!(Audit::off().list().unwrap(), []);
    }

    #[test]
    fn a_row_that_was_changed_or_removed_is_found() {
        let end = |kept| TamperEvidence::End { kept, once: 3 };
        for (change, expected) in [
            ("UPDATE audit SET detail = 'nothing' WHERE seq = 2", TamperEvidence::Note(2)),
            ("DELETE FROM audit WHERE seq = 1", TamperEvidence::Note(1)),
            ("UPDATE audit SET at = at + 1 WHERE seq = 3", TamperEvidence::Note(3)),
            ("DELETE FROM audit WHERE seq = 3", end(2)),
            ("DELETE FROM audit", end(0)),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let audit = Audit::in_state_folder(folder.path());
            audit.add(&["a", "b", "c"].map(|name| note(AuditNote::FLAGGED, name, "1"))).unwrap();
            let path = folder.path().join("record").join("audit.db");
            Connection::open(path).unwrap().execute_batch(change).unwrap();
            assert_eq!(audit.find_tampering().unwrap(), Some(expected), "{change}");
            // Later notes do not hide the tampering.
            audit
                .add(&["d", "e", "f", "g"].map(|name| note(AuditNote::FLAGGED, name, "1")))
                .unwrap();
            assert!(audit.find_tampering().unwrap().is_some(), "{change}");
        }
    }

    type Tamper = fn(&Path);

    fn forge(record: &Path) {
        let mark = record.join("audit.seal");
        let text = std::fs::read_to_string(&mark).unwrap();
        std::fs::write(mark, text.replace("\"seq\":2", "\"seq\":1")).unwrap();
    }

    fn remove_notes(record: &Path) {
        std::fs::remove_file(record.join("audit.db")).unwrap();
    }

    fn remove_mark(record: &Path) {
        std::fs::remove_file(record.join("audit.seal")).unwrap();
    }

    #[test]
    fn notes_that_are_gone_with_their_file_or_their_mark_are_missed() {
        let cases: [(Tamper, TamperEvidence); 3] = [
            (remove_notes, TamperEvidence::End { kept: 0, once: 2 }),
            (remove_mark, TamperEvidence::Mark),
            (forge, TamperEvidence::Mark),
        ];
        for (tamper, expected) in cases {
            let folder = tempfile::tempdir().unwrap();
            let audit = Audit::in_state_folder(folder.path());
            audit.add(&["a", "b"].map(|name| note(AuditNote::FLAGGED, name, "1"))).unwrap();
            assert_eq!(audit.find_tampering().unwrap(), None);
            tamper(&folder.path().join("record"));
            assert_eq!(audit.find_tampering().unwrap(), Some(expected));
        }
    }
}
