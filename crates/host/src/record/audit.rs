//! What became of definitions: found suspicious, approved, taken back. Rows are only ever added, and each is bound to the one before.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, TransactionBehavior};

use super::entry::Opened;
use super::error::LedgerError;
use super::file::{self, enter};
use super::ledger::LedgerOptions;
use super::schema::{Schema, connect_to_read};
use crate::digest::Digest;

/// The table; the mark reads `SWBA`.
const AUDIT: Schema = Schema { application: 0x5357_4241, migrations: &[FORMAT_1] };

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

/// Something that happened to a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditNote {
    /// What, such as `definition.flagged`.
    pub event: &'static str,
    /// Whose definition it is.
    pub server: String,
    /// What it describes, in one word.
    pub kind: String,
    /// Its name or address; empty for instructions.
    pub name: String,
    /// The fingerprint of its canonical text.
    pub digest: String,
    /// More about it.
    pub detail: String,
}

/// A note as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    /// Its place, from 1.
    pub seq: i64,
    /// When.
    pub at: Timestamp,
    /// What happened.
    pub event: String,
    /// Whose definition it is.
    pub server: String,
    /// What it describes, in one word.
    pub kind: String,
    /// Its name or address; empty for instructions.
    pub name: String,
    /// The fingerprint of its canonical text.
    pub digest: String,
    /// More about it.
    pub detail: String,
}

/// The notes of one state folder. Everything here blocks.
#[derive(Clone, Debug)]
pub struct Audit(Option<PathBuf>);

impl Audit {
    /// The file beside the ledger, below a folder for state.
    #[must_use]
    pub fn below(state: &Path) -> Self {
        Self(Some(state.join("record").join("audit.db")))
    }

    /// Keeps nothing.
    #[must_use]
    pub const fn off() -> Self {
        Self(None)
    }

    /// Adds notes. One that tells the same of a definition as the last of its kind is left out.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn add(&self, notes: &[AuditNote]) -> Result<(), LedgerError> {
        let Some(path) = self.0.as_deref().filter(|_| !notes.is_empty()) else { return Ok(()) };
        let (_owners, gate) = enter(path)?;
        let options = LedgerOptions::default();
        let mut connection = file::open(path, &options, &AUDIT, &mut Opened::default())?;
        drop(gate);
        add(&mut connection, notes).map_err(|error| LedgerError::from_write(&error))
    }

    /// The notes, the oldest first.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn list(&self) -> Result<Vec<AuditRow>, LedgerError> {
        self.read(|connection| {
            let mut statement = connection.prepare("SELECT * FROM audit ORDER BY seq")?;
            statement.query_map([], row)?.collect()
        })
    }

    /// The first note that is not as it was written, or that is missing.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn broken(&self) -> Result<Option<i64>, LedgerError> {
        let rows = self.read(|connection| {
            let mut statement = connection.prepare("SELECT * FROM audit ORDER BY seq")?;
            let with_chain = |found: &Row<'_>| Ok((row(found)?, found.get::<_, String>("chain")?));
            statement.query_map([], with_chain)?.collect::<rusqlite::Result<Vec<_>>>()
        })?;
        let mut before = String::new();
        for (place, (row, chain)) in (1..).zip(rows) {
            if row.seq != place || link(&before, &row) != chain {
                return Ok(Some(place));
            }
            before = chain;
        }
        Ok(None)
    }

    fn read<T: Default>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, LedgerError> {
        let Some(path) = self.0.as_deref().filter(|path| path.exists()) else {
            return Ok(T::default());
        };
        let read = connect_to_read(path).and_then(|connection| work(&connection));
        read.map_err(|error| LedgerError::from_read(&error))
    }
}

fn add(connection: &mut Connection, notes: &[AuditNote]) -> rusqlite::Result<()> {
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
        // A definition that is still what a person decided about is not found anew at every start.
        let decided = "SELECT EXISTS (SELECT 1 FROM audit WHERE server = ?1 AND kind = ?2
            AND name = ?3 AND digest = ?4 AND event = ?5 AND detail = ?6)";
        let values = (&note.server, &note.kind, &note.name, &note.digest, note.event, &note.detail);
        let is_known = note.event == FLAGGED
            && transaction.query_row(decided, values, |row| row.get::<_, bool>(0))?;
        if is_known || last.is_some_and(same) {
            continue;
        }
        insert(&transaction, note)?;
    }
    transaction.commit()
}

/// The event of a definition in which the scanner found something.
pub const FLAGGED: &str = "definition.flagged";
/// The event of a definition that a person stands by.
pub const APPROVED: &str = "definition.approved";
/// The event of a definition that a person does not stand by any more.
pub const REVOKED: &str = "definition.revoked";

fn insert(connection: &Connection, note: &AuditNote) -> rusqlite::Result<()> {
    let last: Option<(i64, String)> = connection
        .query_row("SELECT seq, chain FROM audit ORDER BY seq DESC LIMIT 1", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    let (seq, before) = last.unwrap_or_default();
    // The file has microseconds, and the chain is over what the file has.
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
    let chain = link(&before, &row);
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

fn row(row: &Row<'_>) -> rusqlite::Result<AuditRow> {
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

fn link(before: &str, row: &AuditRow) -> String {
    Digest::of("audit")
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
        let audit = Audit::below(folder.path());
        assert_eq!(events(&audit), [""; 0]);
        for (event, name, digest) in [
            (FLAGGED, "add", "1"),
            (FLAGGED, "add", "1"),
            (APPROVED, "add", "1"),
            (FLAGGED, "add", "1"),
            (FLAGGED, "add", "2"),
            (REVOKED, "add", "1"),
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
        assert_eq!(audit.broken().unwrap(), None);
        Audit::off().add(&[note(FLAGGED, "add", "1")]).unwrap();
        assert_eq!(Audit::off().list().unwrap(), []);
    }

    #[test]
    fn a_row_that_was_changed_or_removed_is_found() {
        for (change, place) in [
            ("UPDATE audit SET detail = 'nothing' WHERE seq = 2", 2),
            ("DELETE FROM audit WHERE seq = 1", 1),
            ("UPDATE audit SET at = at + 1 WHERE seq = 3", 3),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let audit = Audit::below(folder.path());
            audit.add(&["a", "b", "c"].map(|name| note(FLAGGED, name, "1"))).unwrap();
            let path = folder.path().join("record").join("audit.db");
            Connection::open(path).unwrap().execute_batch(change).unwrap();
            assert_eq!(audit.broken().unwrap(), Some(place), "{change}");
        }
    }
}
